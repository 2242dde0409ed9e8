"""How an adapter element says what an operation sends: `maps_to`, paging, and what the protocol has no words for.

By its rule a parameter that is no placeholder of the path goes into the query of a GET or DELETE, and into the JSON
body of any other method, under its own name. Where a request is otherwise, `response: {x-request: …}` says so, which
`aqlgen from-schema` reads: the protocol's schema leaves room for other keys only there and in `auth`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, urlsplit

from aqlgen.document.positions import join
from aqlgen.ir import Json
from aqlgen.runtime.calls.selection import items_path
from aqlgen.runtime.encode.urls import placeholders, replaced_placeholders, server_url
from aqlgen.runtime.schema import as_schema, schema_at, union_of
from aqlgen.runtime.table import ADAPTER, Adapter, Parameter, Row, encode
from aqlgen.runtime.wire import JSON
from aqlgen.table.model import Schema

__all__ = ["base_url", "maps_to", "pagination", "request_notes"]

NO_SERVER = "https://example.invalid"
IN_QUERY = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
"""Methods whose parameters go into the query by the element's rule."""

_OF_LISTS = "where"
"""The adapter's own parameter that operations have whose answer is known to be a list."""

_EVEN_EMPTY = ("security", "list")
"""Notes that say something when they are empty."""

_STYLES = {"page": "page", "offset": "offset"}
"""The protocol's words for ways of paging; it calls all others `cursor`."""


def base_url(adapter: Adapter) -> str:
    """Return the address of the API, one that leads nowhere if the document has none."""
    url = server_url(adapter.servers[0]) if adapter.servers else NO_SERVER
    return (url if urlsplit(url).scheme else f"{NO_SERVER}/{url.lstrip('/')}").rstrip("/")


def maps_to(row: Row) -> str:
    """Return method and path as they are sent, with the agent's names of parameters in braces, and fixed values."""
    names = {item.wire: name for name, item in row.parameters.items() if item.location == "path"}
    fixed = {item.wire: item.preset for item in row.fixed.values() if item.location == "path"}

    def part(wire: str) -> str:
        return quote(str(fixed[wire]), safe="") if wire in fixed else f"{{{names.get(wire, wire)}}}"

    return f"{row.method} {replaced_placeholders(row.path.partition('#')[0], part)}"


def pagination(row: Row) -> dict[str, Json]:
    """Return how an operation pages in the element's words, {} if it does not."""
    if row.pagination is None:
        return {}
    shown: dict[str, Json] = {"style": _STYLES.get(row.pagination.style, "cursor")}
    size = next((item for item in row.parameters.values() if item.wire == row.pagination.size_param), None)
    for key, value in (
        ("default_limit", size.schema.get("default") if size is not None else None),
        ("max_limit", row.pagination.size_max),
    ):
        if type(value) is int and value > 0:
            shown[key] = value
    return shown


def request_notes(row: Row, types: Mapping[str, Schema]) -> dict[str, Json]:
    """Return what is otherwise than the element's rule has it, {} if nothing is."""
    notes: dict[str, Json] = {
        "places": _places(row),
        "styles": {name: style for name, item in row.shown_parameters.items() if (style := _style(item))},
        "headers": {**row.headers, **_presets(row, "header")},
        "query": {**row.query, **_presets(row, "query")},
        "content_type": _contents(_sent_kinds(row)),
        "accept": _contents(_answered_kinds(row)),
        "list": _list(row, types),
        "input": [item.wire for item in row.update.parameters.values()] if row.update and row.update.parameters else [],
        "pagination": _paging(row),
        "security": None if row.security is None else list(map(list, row.security)),
    }
    return {key: value for key, value in notes.items() if value or (key in _EVEN_EMPTY and value is not None)}


def _places(row: Row) -> dict[str, str]:
    """Return where parameters go that go elsewhere than usual, and the placeholders that a credential fills."""
    named = placeholders(row.path)
    in_path = {item.wire for item in row.parameters.values() if item.location == "path"} & {*named}
    filled = {item.wire for item in row.sent_parameters.values() if item.location == "path"}
    places = {name: _place(row, item, in_path) for name, item in row.shown_parameters.items()}
    places |= {wire: "credential" for wire in named if wire not in filled}
    return {name: place for name, place in places.items() if place}


def _presets(row: Row, location: str) -> dict[str, Json]:
    """Return the fixed values in a place, by the API's names."""
    return {item.wire: item.preset for item in row.fixed.values() if item.location == location}


def _paging(row: Row) -> dict[str, Json]:
    paging = {} if row.pagination is None else encode(row.pagination)
    return {key: value for key, value in paging.items() if key not in ("parameters", "demanded")}


def _style(parameter: Parameter) -> dict[str, Json]:
    """Return how lists and objects are written in a place outside of the body, {} for as usual."""
    if parameter.location not in ("path", "query", "header", "cookie"):
        return {}
    stated = {"style": parameter.stated_style, "explode": parameter.stated_explode}
    return {key: value for key, value in stated.items() if value is not None}


def _contents(kinds: Iterable[str]) -> Json:
    """Return content types for an element: a text or a list, "" for JSON alone and for none."""
    distinct = list(dict.fromkeys(kinds))
    if len(distinct) > 1:
        return distinct
    return "" if not distinct or distinct[0] == JSON else distinct[0]


def _sent_kinds(row: Row) -> Iterator[str]:
    """Yield the content types that a body can have, the usual one first."""
    bodies = (kind.body for choice in row.choices.values() for kind in choice.kinds.values())
    yield from (body.content_type for body in (row.body, *bodies) if body is not None)


def _answered_kinds(row: Row) -> Iterator[str]:
    """Yield the content types that can be asked for, the usual one first."""
    kinds = (kind.responses for choice in row.choices.values() for kind in choice.kinds.values())
    for responses in (row.responses, *kinds):
        for status, answer in responses.items():
            if status.startswith("2") and "content_type" in answer:
                yield answer["content_type"]


def _list(row: Row, types: Mapping[str, Schema]) -> str | None:
    """Return the pointer to the list that a read answers with, "" for the whole answer; None if it gives no list."""
    if not any(item.location == ADAPTER and item.wire == _OF_LISTS for item in row.shown_parameters.values()):
        return None
    if row.paging is not None and row.paging.items is not None:
        return row.paging.items
    schemas = (as_schema(answer.get("schema")) for status, answer in row.responses.items() if status.startswith("2"))
    schema = next(schemas, {})
    if schema.get("type") == "array":
        return ""
    path, _ = items_path(types, schema)
    return join(path) if schema and union_of(types, schema_at(types, schema, path)).items else None


def _place(row: Row, parameter: Parameter, in_path: set[str]) -> str:
    """Return where a parameter goes and the API's name of it, "" where that is as usual."""
    location, wire = parameter.location, parameter.wire
    if location == ADAPTER or (location == "path" and wire in in_path):
        return "adapter" if location == ADAPTER else ""
    if row.body is not None and row.body.shape == "whole" and row.body.parameter == parameter.name:
        return "whole"
    if location == "body_rest":
        return "rest"
    usual = "query" if row.method in IN_QUERY else "body"
    return "" if location == usual and wire == parameter.name else f"{location} {wire}"
