"""How an adapter element says what an operation sends: `maps_to`, paging, and what the protocol has no words for.

By its rule a parameter that is no placeholder of the path goes into the query of a GET or DELETE, and into the JSON
body of any other method, under its own name. Where a request is otherwise, `response: {x-request: …}` says so, which
`aqlgen from-schema` reads: the protocol's schema leaves room for other keys only there and in `auth`.
"""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from aqlgen.ir import Json
from aqlgen.runtime.encode.urls import placeholders, replaced_placeholders, server_url
from aqlgen.runtime.media import JSON
from aqlgen.runtime.table import ADAPTER, Adapter, Parameter, Row, encode

__all__ = ["base_url", "maps_to", "pagination", "request_notes"]

NO_SERVER = "https://example.invalid"
IN_QUERY = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
"""Methods whose parameters go into the query by the element's rule."""

_STYLES = {"page": "page", "offset": "offset"}
"""The protocol's words for ways of paging; it calls all others `cursor`."""


def base_url(adapter: Adapter) -> str:
    """Return the address of the API, one that leads nowhere if the document has none."""
    url = server_url(adapter.servers[0]) if adapter.servers else NO_SERVER
    return (url if urlsplit(url).scheme else f"{NO_SERVER}/{url.lstrip('/')}").rstrip("/")


def maps_to(row: Row) -> str:
    """Return method and path, with the agent's names of parameters in braces, and values that are fixed."""
    names = {item.wire: name for name, item in row.parameters.items() if item.location == "path"}
    fixed = {item.wire: item.preset for item in row.fixed.values() if item.location == "path"}

    def part(wire: str) -> str:
        return quote(str(fixed[wire]), safe="") if wire in fixed else f"{{{names.get(wire, wire)}}}"

    return f"{row.method} {replaced_placeholders(row.path, part)}"


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


def request_notes(row: Row) -> dict[str, Json]:
    """Return what is otherwise than the element's rule has it, {} if nothing is."""
    in_path = {item.wire for item in row.parameters.values() if item.location == "path"} & {*placeholders(row.path)}
    places = {name: place for name, item in row.shown_parameters.items() if (place := _place(row, item, in_path))}
    fixed = [item for item in row.fixed.values() if item.location in ("query", "header")]
    headers = {**row.headers, **{item.wire: item.preset for item in fixed if item.location == "header"}}
    query = {**row.query, **{item.wire: item.preset for item in fixed if item.location == "query"}}
    paging: dict[str, Json] = {} if row.pagination is None else encode(row.pagination)
    notes: dict[str, Json] = {
        "places": places,
        "headers": headers,
        "query": query,
        "content_type": row.body.content_type if row.body is not None and row.body.content_type != JSON else None,
        "pagination": {key: value for key, value in paging.items() if key not in ("parameters", "demanded")},
        "security": None if row.security is None else list(map(list, row.security)),
    }
    return {key: value for key, value in notes.items() if value or (key == "security" and value is not None)}


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
