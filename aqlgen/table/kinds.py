"""Kinds of content: what a call chooses from where a body or an answer has several content types.

(RFC 9110, 12; OpenAPI, Media Type Object.) A content type is a kind of its own unless it says the same as another: JSON
under another name and of the same schema, the text of what JSON gives as data, a range beside types, an event stream
beside a whole, a problem (RFC 9457), which is not a success.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from aqlgen.decide.decision import Category, Decision
from aqlgen.decide.traits import patched_as
from aqlgen.ir import Json, MediaType
from aqlgen.runtime.table import ADAPTER, Choice, Kind, Parameter, Response, Update
from aqlgen.runtime.wire import (
    FORM,
    JSON,
    JSON_PATCH,
    OCTETS,
    is_csv,
    is_json,
    is_json_lines,
    is_patch,
    is_text,
    is_xml,
    stream_form,
)
from aqlgen.schemas import Types, shorten
from aqlgen.table import responses
from aqlgen.table.bodies import SEVERAL_KINDS, choose, rank, shape
from aqlgen.table.fields import ShapedBody
from aqlgen.table.parameters import MAX_DESCRIPTION, with_unique_names

SHORT: Final[Mapping[str, str]] = {
    FORM: "form",
    JSON: "json",
    "text/json": "json",
    OCTETS: "bytes",
    "multipart/form-data": "multipart",
    "text/plain": "text",
    "text/xml": "xml",
}
NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,30}")
RANGES: Final = frozenset({"*/*", "application/*", "application/*+json"})
PROBLEM: Final = re.compile(r"application/problem\+")
MOST: Final = 100
"""The most kinds that a call chooses from: more than any but a hostile document has."""
PATCHES: Final[Mapping[str, str]] = {
    "merge-patch": "replaces a list whole",
    "strategic-merge-patch": "merges lists by key",
    "json-patch": "takes a list of operations",
}
"""What each kind of patch does with lists, by its short name."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What an operation's choices add to its row: parameters, changes of those that all kinds share, the choices."""

    parameters: tuple[Parameter, ...] = ()
    changed: Mapping[str, Parameter] = field(default_factory=dict)
    by_parameter: Mapping[str, Choice] = field(default_factory=dict)

    def shown(self, parameters: Iterable[Parameter]) -> tuple[Parameter, ...]:
        """Return the parameters that agents are shown, those of all kinds."""
        return (*(self.changed.get(parameter.name, parameter) for parameter in parameters), *self.parameters)


def choices_of(
    decision: Decision,
    types: Types,
    shaped: ShapedBody | None,
    shown: Sequence[Parameter],
    others: Sequence[Parameter],
    *,
    by_owner: bool,
) -> Choices:
    """Return the choices of an operation; `shown` are the parameters of its default, `others` those beside them.

    `by_owner` says that the owner has chosen the content type of the body.
    """
    answers = _answers(decision, types)
    bodies = {} if by_owner or shaped is None else _bodies(decision, types)
    chooser = "as"
    by_parameter: dict[str, Choice] = {}
    added: list[Parameter] = []
    changed: Mapping[str, Parameter] = {}
    taken = [*shown, *others]
    if len(answers) > 1:
        parameter = _chooser("as", answers, "How the answer is written", taken)
        added.append(parameter)
        kinds = {name: Kind(name=name, responses=entries) for name, entries in answers.items()}
        by_parameter[parameter.name] = Choice(name=parameter.name, default=next(iter(kinds)), kinds=kinds)
        chooser = "send_as"
    if len(bodies) > 1:
        parameter = _chooser(chooser, bodies, "How the body is sent", taken)
        merged = _merged(bodies, shown, [*others, *added, parameter], parameter.name)
        added += [replace(parameter, description=_described(parameter, merged)), *merged.extras]
        changed = merged.changed
        default = next(iter(bodies))
        by_parameter[parameter.name] = Choice(name=parameter.name, default=default, kinds=merged.kinds)
    return Choices(tuple(added), changed, by_parameter)


def _chooser(name: str, kinds: Iterable[str], described: str, taken: Sequence[Parameter]) -> Parameter:
    names = list(kinds)
    schema = {"type": "string", "enum": names, "default": names[0]}
    parameter = Parameter(name=name, wire=name, location=ADAPTER, schema=schema, description=described)
    return with_unique_names((parameter,), taken)[0]


def _described(chooser: Parameter, merged: _Merged) -> str:
    """Return the description of the choice of a body: which parameters a kind needs that not every kind has."""
    always = {name for name, parameter in merged.changed.items() if parameter.required}
    needs = [f"{name} {PATCHES[name]}" for name in merged.kinds if name in PATCHES]
    for name, kind in merged.kinds.items():
        needed = [
            f"`{field_name}`"
            for field_name, parameter in kind.parameters.items()
            if parameter.required and field_name not in always
        ]
        if needed:
            needs.append(f"{name} needs {', '.join(needed)}")
    return shorten("; ".join([chooser.description, *needs]), MAX_DESCRIPTION)


# The answers


def _answers(decision: Decision, types: Types) -> dict[str, dict[str, Response]]:
    """Return the changes that each kind of answer makes to the responses, the default first."""
    kinds: dict[str, dict[str, Response]] = {}
    for response in responses.successes(decision.operation.responses):
        main = responses.main_media(response)
        if main is None:
            continue
        offered = (media for media in response.media if media.content_type != JSON_PATCH)
        distinct = _distinct(main, offered, types)
        for name, media in _named(distinct).items() if len(distinct) > 1 else ():
            entry = responses.entry_of(decision, media, types) | responses.told_headers(response)
            kinds.setdefault(name, {})[response.status] = entry
    if not kinds:
        return {}
    first = next(iter(kinds))
    return {name: {} if name == first else entries for name, entries in list(kinds.items())[:MOST]}


# The bodies


def _bodies(decision: Decision, types: Types) -> dict[str, ShapedBody]:
    """Return the bodies that can be sent, by their kinds, the default first; none where an update is merged."""
    body, update = decision.operation.body, decision.trait(Update)
    if body is None or (update is not None and update.strategy == "put-merge"):
        return {}
    patches = decision.category is Category.UPDATE and decision.operation.method.upper() == "PATCH"
    offered = [
        media
        for media in body.media
        if rank(media, types) in SEVERAL_KINDS or (patches and media.content_type == JSON_PATCH)
    ]
    default = choose(body, types)
    if default not in offered:
        return {}
    shaped: dict[str, ShapedBody] = {}
    for name, media in list(_named(_distinct(default, offered, types)).items())[:MOST]:
        whole = shape(decision, types, media.content_type)
        if whole is not None:
            whole = whole if body.required else _optional(whole)
            shaped[name] = whole if not patches else _as_first(whole, shaped)
    return shaped


def _optional(shaped: ShapedBody) -> ShapedBody:
    """Return a body that may be left out, where it is one parameter: no kind needs it, so it is shown as optional."""
    if shaped.body.shape != "whole":
        return shaped
    parameters = tuple(replace(parameter, required=False) for parameter in shaped.parameters)
    return ShapedBody(replace(shaped.body, required=False), parameters, shaped.example)


def _as_first(whole: ShapedBody, shaped: Mapping[str, ShapedBody]) -> ShapedBody:
    """Return a patch whose one parameter, `input`, is that of the first one."""
    first = next(iter(shaped.values()), whole)
    if len(first.parameters) != 1 or len(whole.parameters) != 1:
        return whole
    return replace(whole, parameters=(replace(whole.parameters[0], wire=first.parameters[0].wire),))


@dataclass(frozen=True, slots=True)
class _Merged:
    """The parameters of several bodies as one list: those of the default, changed, and those of others alone."""

    changed: Mapping[str, Parameter]
    extras: tuple[Parameter, ...]
    kinds: Mapping[str, Kind]


def _merged(
    bodies: Mapping[str, ShapedBody], shown: Sequence[Parameter], others: Sequence[Parameter], chooser: str
) -> _Merged:
    """Merge the parameters of bodies; one that has the same name for the API is the same parameter."""
    known, fixed, default = _by_place(shown), _by_place(others), next(iter(bodies))
    extras = _extras(bodies, {**known, **fixed}, [*shown, *others], chooser)
    union: dict[tuple[str, str], Parameter] = {**known, **extras}
    of_kinds = {
        name: {
            place: replace(known[place], required=known[place].required and parameter.required)
            if name == default and place in known
            else replace(parameter, name=alike.name, description=alike.description, preset=alike.preset)
            for parameter in whole.parameters
            if (alike := union.get(place := _place(parameter))) and place not in fixed
        }
        for name, whole in bodies.items()
    }
    for place, parameter in union.items():
        union[place] = _shared(parameter, [places.get(place) for places in of_kinds.values()])
    kinds = {name: _kind(name, whole, of_kinds[name], union) for name, whole in bodies.items()}
    kinds[default] = replace(kinds[default], body=None, strategy=None)
    changed = {union[place].name: union[place] for place in known}
    return _Merged(changed, tuple(union[place] for place in extras), kinds)


def _extras(
    bodies: Mapping[str, ShapedBody],
    taken: Container[tuple[str, str]],
    parameters: Sequence[Parameter],
    chooser: str,
) -> dict[tuple[str, str], Parameter]:
    """Return the parameters that the default body does not have, under names that none of the parameters has."""
    new: dict[tuple[str, str], Parameter] = {}
    for name, whole in islice(bodies.items(), 1, None):
        for parameter in whole.parameters:
            place = _place(parameter)
            if place not in taken and place not in new:
                words = f"With `{chooser}` '{name}': {parameter.description}".rstrip(": ")
                new[place] = replace(parameter, required=False, description=shorten(words, MAX_DESCRIPTION))
    return {_place(parameter): parameter for parameter in with_unique_names(new.values(), parameters)}


def _kind(
    name: str,
    whole: ShapedBody,
    parameters: Mapping[tuple[str, str], Parameter],
    union: Mapping[tuple[str, str], Parameter],
) -> Kind:
    """Return a kind of body: how its parameters differ from those of all kinds."""
    content_type = whole.body.content_type
    return Kind(
        name=name,
        body=replace(whole.body, parameter=_whole_name(whole, union)),
        parameters={item.name: item for place, item in parameters.items() if item != union[place]},
        without=tuple(parameter.name for place, parameter in union.items() if place not in parameters),
        strategy=patched_as(content_type) if is_patch(content_type) else None,
    )


def _place(parameter: Parameter) -> tuple[str, str]:
    return parameter.location, parameter.wire


def _by_place(parameters: Iterable[Parameter]) -> dict[tuple[str, str], Parameter]:
    """Return the parameters of the body by their places."""
    return {_place(parameter): parameter for parameter in parameters if parameter.location in ("body", "body_rest")}


def _shared(parameter: Parameter, kinds: Sequence[Parameter | None]) -> Parameter:
    """Return a parameter as agents are shown it, for all kinds: required if each requires it, any of their schemas."""
    having = [variant for variant in kinds if variant is not None]
    distinct: list[Mapping[str, Json]] = []
    for variant in having:
        options = variant.schema["anyOf"] if variant.schema.keys() == {"anyOf"} else [variant.schema]
        distinct += [schema for schema in options if schema not in distinct]
    schema = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    required = len(having) == len(kinds) and all(variant.required for variant in having)
    return replace(parameter, schema=schema, required=required)


def _whole_name(whole: ShapedBody, union: Mapping[tuple[str, str], Parameter]) -> str | None:
    if whole.body.parameter is None:
        return None
    parameter = next(item for item in whole.parameters if item.name == whole.body.parameter)
    return union[_place(parameter)].name if _place(parameter) in union else parameter.name


# Which content types are kinds, and their names


def _distinct(default: MediaType, offered: Iterable[MediaType], types: Types) -> list[MediaType]:
    """Return the content types that are kinds of their own, the default first, at most `MOST`."""
    kinds = [default]
    for media in offered:
        if len(kinds) == MOST:
            break
        kind = media.content_type
        if "/" not in kind or kind in RANGES or PROBLEM.match(kind) or stream_form(kind) == "events":
            continue
        if not any(_says_the_same(media, known, types) for known in kinds):
            kinds.append(media)
    return kinds


def _says_the_same(media: MediaType, known: MediaType, types: Types) -> bool:
    kind, other = media.content_type, known.content_type
    if kind == other:
        return True
    if is_patch(kind) or not _same_schema(media, known, types):
        return False
    if other in RANGES:
        return is_json(kind)
    if any(is_of_form(kind) and is_of_form(other) for is_of_form in (is_json_lines, _is_data)):
        return True
    read = is_csv(kind) or is_xml(kind) or is_json_lines(kind)
    is_written = media.schema is not None and "string" not in types.kinds(media.schema)
    return is_text(kind) and not read and is_json(other) and is_written


def _is_data(kind: str) -> bool:
    """Return True for the content types that the adapter writes and reads as the same data."""
    return is_json(kind) or is_xml(kind) or kind == FORM


def _same_schema(media: MediaType, known: MediaType, types: Types) -> bool:
    if media.schema == known.schema:
        return True
    return bool(types.target(media.schema) == types.target(known.schema))


def _named(kinds: Sequence[MediaType]) -> dict[str, MediaType]:
    """Return content types by short names; those that share one stand under their own."""
    shorts = [_short(media.content_type) for media in kinds]
    often = Counter(shorts)
    return {
        short if often[short] == 1 and NAME.fullmatch(short) else media.content_type: media
        for short, media in zip(shorts, kinds, strict=True)
    }


def _short(content_type: str) -> str:
    """Return the short name of a content type: `json`, `form`, `csv`; of a vendor's type the last word, `raw`."""
    if content_type in SHORT:
        return SHORT[content_type]
    if content_type in RANGES:
        return "json"
    family, _, name = content_type.partition("/")
    if name == "*":
        return family
    return name.partition("+")[0].rpartition(".")[2].removeprefix("x-")
