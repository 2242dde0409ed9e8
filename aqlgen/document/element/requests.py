"""The request of an element's operation: method, path and query of `maps_to`, and `response: {x-request: …}`.

`x-request` says what the protocol has no words for. aqlgen writes it, and a hand-written element may have it too:
`places` (of parameters, as in `header X-Tenant`), `styles` (of lists and objects, as OpenAPI has them), `headers` and
`query` (sent as they stand), `content_type`, `accept` (of the answer), `list` (pointer to the list in it, "" for the
whole), `input` (the query parameters that an update's `input` holds), `pagination` (as in overrides.yaml) and
`security` (alternatives of the schemes in `auth`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, get_args
from urllib.parse import unquote

from aqlgen.document.element.model import Place, Request
from aqlgen.document.element.reader import Field, Node, Reader
from aqlgen.runtime.encode.urls import placeholders
from aqlgen.runtime.table import Pagination, PagingStyle
from aqlgen.runtime.wire import JSON as JSON_TYPE

__all__ = [
    "CREDENTIAL",
    "IN_QUERY",
    "METHODS",
    "read_maps_to",
    "read_notes",
    "read_path",
    "read_requirements",
]

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
IN_QUERY: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
"""Methods whose parameters go into the query, if nothing else is said; those of others go into the JSON body."""

CREDENTIAL: Final = "credential"
"""The place of a placeholder that a credential fills, which no element can give."""

LOCATIONS: Final = ("path", "query", "header", "cookie", "body")
ALONE: Final = ("whole", "rest", "adapter", CREDENTIAL)
"""Places without a name: the parameter is the body, holds further fields of it, is the adapter's own, or a credential.
"""

_NOTES: Final[Mapping[str, Field]] = {
    "places": Field("object"),
    "styles": Field("object"),
    "headers": Field("object"),
    "query": Field("object"),
    "content_type": Field(""),
    "accept": Field(""),
    "list": Field(),
    "input": Field("array"),
    "pagination": Field("object"),
    "security": Field("array"),
}
_STYLE: Final[Mapping[str, Field]] = {
    "style": Field(values=("matrix", "label", "simple", "form", "spaceDelimited", "pipeDelimited", "deepObject")),
    "explode": Field("boolean"),
}
_MAPS_TO: Final = "METHOD /path, as in `GET /pets/{pet_id}`"
_CONTENT_TYPE: Final = re.compile(r"[\w.*+-]{1,100}/[\w.+*-]{1,100}(?:; ?[\w.=\"-]{1,100}){0,4}")
_LONGEST: Final = 4_000
_DEEPEST: Final = 20


def read_maps_to(reader: Reader, node: Node) -> Request | None:
    """Return method, path and query of `METHOD /path?type=all&q={text}`; None after a report of what is wrong.

    What stands in the query in braces is a parameter under that name of the API; the rest is sent as it stands.
    """
    if not reader.is_readable(node):
        return None
    method, _, target = node.value.strip().partition(" ")
    target = target.strip()
    if method.upper() in METHODS and method != method.upper():
        reader.bad_value(node, _MAPS_TO, f"Write the method in capitals: `{method.upper()} {target[:200]}`.")
        return None
    if method not in METHODS:
        reader.bad_value(node, f"{_MAPS_TO} ({', '.join(METHODS)})", "Begin with one of these methods.")
        return None
    return read_path(reader, node, method, target)


def read_path(reader: Reader, node: Node, method: str, target: str) -> Request | None:
    """Return the request of a method and a path, None after a report of what is wrong."""
    segments = re.split(r"/|\\|%2f|%5c", target.partition("?")[0], flags=re.IGNORECASE)
    spelled = f"`{method} /{target.lstrip('/').replace(' ', '%20')[:200]}`"
    for is_unfit, expected, hint in (
        (
            "://" in target or target.startswith("//"),
            "a path below base_url, without a host",
            "Leave the host out: requests and credentials go to base_url alone.",
        ),
        (target[:1] != "/" or " " in target or len(target) > _LONGEST, _MAPS_TO, f"Write {spelled}."),
        ("#" in target, "a path without #", "Remove the part after #: it is never sent."),
        (
            not {".", ".."}.isdisjoint(map(unquote, segments)),
            "a path without the segments . and ..",
            "Write the path as it is sent: it stays below base_url.",
        ),
        (
            not {"{", "}"}.isdisjoint(re.sub(r"\{[^{}]{1,200}\}", "", target)),
            "a path with matching braces",
            "Write a placeholder as in `/pets/{pet_id}`.",
        ),
    ):
        if is_unfit:
            reader.bad_value(node, expected, hint)
            return None
    path, mark, query = target.partition("?")
    places: dict[str, Place] = {}
    fixed: list[str] = []
    for pair in query.split("&") if mark else ():
        wire, _, value = pair.partition("=")
        names = placeholders(value)
        if len(names) == 1 and value == f"{{{names[0]}}}" and wire:
            places[names[0]] = Place("query", wire)
        elif names or "{" in wire:
            reader.bad_value(node, "a query of pairs like `q={text}` or `type=all`", "Give each placeholder a pair.")
        else:
            fixed.append(pair)
    return Request(method, path + ("?" + "&".join(fixed) if fixed else ""), places)


def read_notes(reader: Reader, node: Node | None, request: Request) -> Request:
    """Return a request with what `x-request` says of it."""
    if node is None:
        return request
    notes = reader.fields(node, _NOTES)
    places = dict(request.places)
    for name, place in _texts(reader, notes.get("places")).items():
        if name in places:
            reader.bad_value(place, "the place that the query of maps_to gives it", "Say it once.")
        location, _, wire = place.value.strip().partition(" ")
        if location in ALONE and not wire:
            places[name] = Place(location, name)
        elif location in LOCATIONS and reader.is_readable(place):
            places[name] = Place(location, wire.strip() or name)
        else:
            expected = f"{', '.join(LOCATIONS)} with the API's name behind it, or {', '.join(ALONE)}"
            reader.bad_value(place, expected, "Write it as in `header X-Tenant`.")
    styles = {name: reader.fields(member, _STYLE) for name, member in _members(notes.get("styles"))}
    return Request(
        request.method,
        request.path,
        places,
        {name: {key: part.value for key, part in members.items()} for name, members in styles.items()},
        headers=_values(reader, notes.get("headers")),
        query=_values(reader, notes.get("query")),
        content_types=_content_types(reader, notes.get("content_type")),
        accept=_content_types(reader, notes.get("accept")),
        items=_pointer(reader, notes.get("list")),
        input=_listed(reader, notes["input"]) if "input" in notes else (),
        pagination=read_pagination(reader, notes.get("pagination")),
        security=read_requirements(reader, notes["security"]) if "security" in notes else None,
    )


def _pointer(reader: Reader, node: Node | None) -> str | None:
    """Return a JSON pointer, None if there is none or it cannot be used."""
    if node is None or not node.value or (node.value.startswith("/") and node.value.count("/") <= _DEEPEST):
        return None if node is None else node.value
    reader.bad_value(node, "a JSON pointer", 'Write "" for the answer itself, or as in `/items`.')
    return None


def _content_types(reader: Reader, node: Node | None) -> tuple[str, ...]:
    """Return the content types that a call can choose from, the usual one first; JSON if there are none."""
    if node is None:
        return (JSON_TYPE,)
    kinds = []
    for item in node.items() if isinstance(node.value, list) else (node,):
        if reader.is_of(item, "string"):
            if _CONTENT_TYPE.fullmatch(item.value):
                kinds.append(item.value)
            else:
                reader.bad_value(item, "a content type", "Write it as in `application/json`.")
    return tuple(kinds) or (JSON_TYPE,)


def _values(reader: Reader, node: Node | None) -> dict[str, str]:
    """Return texts that are sent as they stand."""
    return {name: text.value for name, text in _texts(reader, node).items() if reader.is_readable(text)}


def _texts(reader: Reader, node: Node | None) -> dict[str, Node]:
    """Return the members of an object that are texts."""
    return {key: member for key, member in _members(node) if reader.is_of(member, "string")}


def _members(node: Node | None) -> list[tuple[str, Node]]:
    return [] if node is None else list(node.members())


def read_requirements(reader: Reader, node: Node) -> tuple[tuple[str, ...], ...]:
    """Return alternatives of security schemes, each a list of names."""
    return tuple(_listed(reader, item) for item in node.items() if reader.is_of(item, "array"))


def _listed(reader: Reader, node: Node) -> tuple[str, ...]:
    """Return the texts of a list."""
    return tuple(item.value for item in node.items() if reader.is_of(item, "string"))


_PAGING: Final[Mapping[str, Field]] = {
    (each.metadata.get("key") or each.name): Field("integer" if each.name == "size_max" else "string")
    for each in fields(Pagination)
    if each.name not in ("parameters", "demanded")
}
_STYLES: Final[tuple[str, ...]] = get_args(PagingStyle)


def read_pagination(reader: Reader, node: Node | None) -> Pagination | None:
    """Return a pagination in the keys of the operation table; None if there is none, or it cannot be used."""
    if node is None:
        return None
    chosen = {"style": Field(values=_STYLES, required=True), "next_in": Field(values=("header",))}
    members = reader.fields(node, {**_PAGING, **chosen, "in": Field(values=("body",))})
    values: dict[str, Any] = {"location" if key == "in" else key: member.value for key, member in members.items()}
    return Pagination(**values) if "style" in values else None
