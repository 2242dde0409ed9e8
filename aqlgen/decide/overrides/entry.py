"""One entry of the file: what is decided about an operation, or about all operations of a tag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import yaml

from aqlgen.decisions import Alias, Category, Danger, Override, ParameterOverride, Place
from aqlgen.ir import MISSING, Json
from aqlgen.runtime.table import Pagination, decode

from .reader import Reader, place

__all__ = ["FIELDS", "PLACES", "SINGLE", "STYLES", "entry"]

FIELDS: Final = (
    "name",
    "aliases",
    "category",
    "danger",
    "hidden",
    "summary",
    "description",
    "confirmation",
    "parameters",
    "pagination",
    "example",
    "body",
)
SINGLE: Final = frozenset({"name", "aliases", "example"})
"""What can only be said of one operation."""

ALIAS: Final = ("name", "until")
PARAMETER: Final = ("name", "description", "hidden", "sensitive", "example")
PLACES: Final = ("path", "query", "header", "cookie", "body")

STYLES: Final[Mapping[str, tuple[str, ...]]] = {
    "page": ("page_param",),
    "offset": ("offset_param",),
    "cursor": ("cursor_param",),
    "token": ("cursor_param",),
    "link": ("next",),
    "next_url": ("next",),
}
"""The styles of paging, with what each needs."""

_PARAMS: Final = ("page_param", "offset_param", "cursor_param", "before_param", "size_param")
_POINTERS: Final = ("within", "items", "item_cursor", "has_more", "total")
_PAGING: Final = ("style", *_PARAMS, "size_max", *_POINTERS, "next", "next_in", "in")


def entry(reader: Reader, node: yaml.Node, where: Place, *, tag: bool) -> Override:
    """Read an entry; what is wrong is noted and left out."""
    allowed = tuple(one for one in FIELDS if not (tag and one in SINGLE))
    values = reader.known(node, "the override of a tag" if tag else "an override", allowed)
    body = values.get("body")
    chosen = reader.known(body, "body", ("content_type",)) if body is not None else {}
    return Override(
        name=reader.name(values.get("name")),
        category=reader.choice(values.get("category"), Category),
        danger=reader.choice(values.get("danger"), Danger),
        hidden=reader.flag(values.get("hidden"), "hidden"),
        summary=reader.text(values.get("summary"), "summary"),
        description=reader.text(values.get("description"), "description"),
        confirmation=reader.text(values.get("confirmation"), "confirmation"),
        parameters=_parameters(reader, values.get("parameters")),
        pagination=_pagination(reader, values.get("pagination")),
        example=_example(reader, values.get("example")),
        content_type=reader.text(chosen.get("content_type"), "content_type"),
        aliases=_aliases(reader, values.get("aliases")),
        place=where,
        places={key: place(one) for key, one in (values | chosen).items()},
    )


def _aliases(reader: Reader, node: yaml.Node | None) -> tuple[Alias, ...]:
    found = []
    for one in reader.items(
        node, "aliases", "Write `aliases: [old_name]`, or `- {name: old_name, until: 2030-12-31}`."
    ):
        alone = isinstance(one, yaml.ScalarNode)
        given = {"name": one} if alone else reader.known(one, "an alias", ALIAS)
        name = reader.name(given.get("name"))
        if "name" not in given and isinstance(one, yaml.MappingNode):
            reader.say(place(one), "an alias needs a `name`", "It is the name that agents may go on using.")
        elif name is not None:
            found.append(Alias(name, reader.day(given.get("until"), "until"), place(given["name"])))
    return tuple(found)


def _parameters(reader: Reader, node: yaml.Node | None) -> dict[str, ParameterOverride]:
    found: dict[str, ParameterOverride] = {}
    for key, value, where in reader.members(node, "`parameters`") if node is not None else ():
        given = reader.known(value, "the override of a parameter", PARAMETER)
        found[key] = ParameterOverride(
            name=reader.parameter_name(given.get("name")),
            description=reader.text(given.get("description"), "description"),
            hidden=bool(reader.flag(given.get("hidden"), "hidden")),
            sensitive=reader.flag(given.get("sensitive"), "sensitive"),
            example=reader.value(given.get("example")),
            place=where,
            places={name: place(one) for name, one in given.items()},
        )
    return found


def _example(reader: Reader, node: yaml.Node | None) -> Mapping[str, Json] | None:
    if node is None:
        return None
    if not isinstance(node, yaml.MappingNode):
        reader.say(place(node), "the example must be a mapping", "Write the parameters of a call, by their names.")
        return None
    value = reader.value(node)
    return None if value is MISSING else dict(value)


def _pagination(reader: Reader, node: yaml.Node | None) -> Pagination | Literal[False] | None:
    if node is None:
        return None
    if isinstance(node, yaml.ScalarNode):
        if node.tag.endswith(":bool") and node.value.lower() in ("false", "no", "off"):
            return False
        reader.say(place(node), "`pagination` must be a mapping or false", "Write `pagination: false` to turn it off.")
        return None
    given = reader.known(node, "`pagination`", _PAGING)
    style = reader.one_of(given.get("style"), "style", STYLES)
    if style is None:
        if "style" not in given:
            reader.say(place(node), "`pagination` needs a `style`", f"It is one of {', '.join(STYLES)}.")
        return None
    for key in STYLES[style]:
        if key not in given:
            reader.say(place(node), f"the style `{style}` needs a `{key}`", "See OPERATIONS.md for the names.")
    found: dict[str, Json] = {"style": style}
    found |= {key: reader.text(given[key], key) for key in _PARAMS if key in given}
    found |= {"size_max": reader.number(given.get("size_max"), "size_max")}
    found |= {key: _pointer(reader, given[key], key) for key in _POINTERS if key in given}
    header = reader.one_of(given.get("next_in"), "next_in", ("body", "header")) == "header" or style == "link"
    if "next" in given:
        found["next"] = reader.text(given["next"], "next") if header else _pointer(reader, given["next"], "next")
        found["next_in"] = "header" if header else None
    if reader.one_of(given.get("in"), "in", ("query", "body")) == "body":
        found["in"] = "body"
    return decode(Pagination, {key: value for key, value in found.items() if value is not None})


def _pointer(reader: Reader, node: yaml.Node, what: str) -> str | None:
    """Give a JSON pointer (RFC 6901); empty for the answer itself."""
    if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":str") and (not node.value or node.value[0] == "/"):
        return str(node.value)
    reader.say(place(node), f"`{what}` must be a JSON pointer", 'Write "/data/items", or "" for the answer itself.')
    return None
