"""The operations of an adapter element: requests (`maps_to`), parameters and paging, as those of OpenAPI 3.1."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from aqlgen.diagnostics import Diagnostic
from aqlgen.document.element.grammar import Path, finding, shown, written
from aqlgen.document.positions import Origins, join
from aqlgen.ir import Json, Origin
from aqlgen.runtime.encode.urls import placeholders
from aqlgen.runtime.schema import JSON_TYPES
from aqlgen.runtime.table import Pagination
from aqlgen.runtime.text import has_unseen
from aqlgen.runtime.wire import FORM, JSON
from aqlgen.words import snake

_IN_QUERY: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
"""Methods whose parameters go into the query, if nothing else is said; those of others go into the JSON body."""
_COPIED: Final = ("pattern", "format", "minimum", "maximum", "minLength", "maxLength", "enum", "default")
_NAME: Final = "1 to 200 visible characters without spaces around"
_RELATIVE: Final = re.compile(r" \(a kind of [a-z_]{1,40}\)$")
"""What aqlgen adds to the description of an operation whose verb is not canonical (R-NAME-2)."""
_AGENT_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_RESERVED: Final = frozenset({"input", "operation", "params"})
"""Names that the protocol keeps for itself (R-REQ-2); such a parameter is named as in any document."""


class Place(NamedTuple):
    """The place of a parameter in a request: path, query or body, and the API's name of it."""

    location: str
    wire: str


@dataclass(frozen=True, slots=True)
class Request:
    """A method, a path with fixed values of the query, and the place of each parameter by the element's name."""

    method: str
    path: str
    places: Mapping[str, Place]


def read_request(operation: Mapping[str, Any]) -> Request:
    """Read `METHOD /path?type=all&q={text}`.

    A placeholder in the query is a parameter under that name of the API; the rest is sent as it stands.
    """
    method, _, target = operation["maps_to"].partition(" ")
    path, _, query = target.partition("?")
    named: dict[str, Place] = {}
    fixed = []
    for pair in filter(None, query.split("&")):
        wire, _, value = pair.partition("=")
        if value.startswith("{") and value.endswith("}"):
            named[value[1:-1]] = Place("query", wire)
        else:
            fixed.append(pair)
    path += "?" + "&".join(fixed) if fixed else ""
    in_path = {name: Place("path", name) for name in placeholders(path)}
    usual = "query" if method in _IN_QUERY else "body"
    others = {name: Place(usual, name) for name in operation.get("params", {})}
    return Request(method, path, {**others, **named, **in_path})


def operation_findings(operation: Mapping[str, Any], family: str, path: Path) -> Iterator[Diagnostic]:
    """Yield the errors of an operation that its form does not show."""
    target, parameters = operation["maps_to"].partition(" ")[2], operation.get("params", {})
    here = (*path, "maps_to")
    segments = set(map(unquote, re.split(r"/|\\|%2f|%5c", target.partition("?")[0], flags=re.IGNORECASE)))
    rest = re.sub(r"\{[^{}]{1,200}\}", "", target)
    if segments & {".", ".."} or set(rest) & {"{", "}"} or has_unseen(target):
        expected = "a path as it is sent, without . and .., hidden characters and unmatched braces"
        yield finding("schema-invalid-value", here, f"{written(here)} must be {expected}", expected, shown(target))
        return
    request = read_request(operation)
    for key in ("param_name", "per_page_param"):
        if (name := operation.get("pagination", {}).get(key)) is not None and name not in parameters:
            yield _unresolved((*path, "pagination", key), name, parameters)
    for name in request.places.keys() - parameters.keys():
        yield _unresolved(here, name, parameters)
    path_names, in_query = placeholders(target.partition("?")[0]), placeholders(target.partition("?")[2])
    for name in {name for name in in_query if in_query.count(name) > 1 or name in path_names}:
        message = f"{written(here)} sends {shown(name)} in several places, and a parameter has one"
        hint = "Give each place a parameter of its own."
        yield finding("schema-invalid-value", here, message, "one place for each parameter", shown(target), hint)
    yield from _misnamed(parameters, path)
    if request.method == "DELETE" and (family == "read" or operation.get("danger_level") == "safe"):
        expected = "a family and a danger for DELETE, which is not a safe read"
        hint = "List it under `delete` with the danger that it has, at least `reversible`."
        yield finding(
            "schema-invalid-value", here, f"{written(path)} must have {expected}", expected, shown(target), hint
        )


def _misnamed(parameters: Collection[str], path: Path) -> Iterator[Diagnostic]:
    for name in parameters:
        if not name.isprintable() or not 0 < len(name.strip()) == len(name) <= 200:
            message = f"the name {shown(name)} must be {_NAME}"
            hint = "Write a name such as `user_name`."
            yield finding("schema-invalid-name", (*path, "params", name), message, _NAME, shown(name), hint)


def _unresolved(path: Path, name: str, parameters: Collection[str]) -> Diagnostic:
    message = f"{written(path)} names {shown(name)}, which is not a parameter of the operation"
    expected = f"one of the parameters ({', '.join(parameters)})" if parameters else "a parameter"
    return finding("schema-unresolved-ref", path, message, expected, shown(name), f"Add `{name[:80]}` to `params`.")


def operation_node(
    operation: Mapping[str, Any], request: Request, path: Path, origins: Origins, *, is_form: bool
) -> dict[str, Json]:
    """Return an operation as OpenAPI has it."""
    parameters: list[Json] = []
    fields: dict[str, Json] = {}
    required = []
    node: dict[str, Json] = {"operationId": operation["name"], "parameters": parameters}
    description = _RELATIVE.sub("", operation.get("description", ""))
    if description:
        short = "\n" not in description and len(description) <= 120
        node["summary" if short else "description"] = description
    for name, stated in operation.get("params", {}).items():
        place, origin = request.places[name], Origin(join(map(str, (*path, "params", name))))
        about = {"description": stated["description"]} if stated.get("description") else {}
        is_required = place.location == "path" or stated.get("required", False)
        if place.location == "body":
            fields[place.wire] = {**_schema(stated), **about}
            origins.note(fields, place.wire, origin)
            required += [place.wire] if is_required else []
        else:
            need = {"required": True} if is_required else {}
            parameters.append({"name": place.wire, "in": place.location, "schema": _schema(stated), **need, **about})
            origins.note(parameters, len(parameters) - 1, origin)
    if fields:
        schema = {"type": "object", "properties": fields, **({"required": required} if required else {})}
        content = {"content": {FORM if is_form else JSON: {"schema": schema}}}
        node["requestBody"] = {"required": True, **content} if required else content
        origins.note(node, "requestBody", Origin(join(map(str, path))))
    returns = operation.get("response", {}).get("type", "")
    answer = {"description": "The answer", "content": {JSON: {"schema": _type(returns)}}}
    node["responses"] = {"204": {"description": "Done"}} if returns == "none" else {"200": answer}
    return node


def _type(text: str) -> dict[str, Json]:
    """Return the schema of a type: a JSON type, several with `|` between, or any value for a type of the API."""
    types = [word.strip() for word in text.split("|")]
    if not (JSON_TYPES - {"null"}).issuperset(types):
        return {}
    return {"type": types[0]} if len(types) == 1 else {"anyOf": [{"type": each} for each in types]}


def _schema(stated: Mapping[str, Any]) -> dict[str, Json]:
    """Return the schema of a parameter."""
    schema = _type(stated["type"]) | {key: stated[key] for key in _COPIED if key in stated}
    if schema.get("type") == "array" and "items" in stated:
        schema["items"] = _schema(stated["items"])
    if schema.get("type") == "string" and stated.get("sensitive"):
        schema.setdefault("format", "password")
    return schema


def agent_names(operation: Mapping[str, Any], request: Request, family: str) -> dict[str, str]:
    """Return the names of parameters that agents use and that do not follow from the API's own.

    Fields of an update's body have none: they are those of `input` (R-UPD-1).
    """
    names = {}
    for name in operation.get("params", {}):
        location, wire = request.places[name]
        follows = snake(wire) == name and location != "path" and name != "id"
        is_free = _AGENT_NAME.fullmatch(name) is not None and name not in _RESERVED
        if is_free and not follows and (family != "update" or location == "path"):
            names[f"{location}:{wire}"] = name
    return names


def pagination_of(operation: Mapping[str, Any]) -> Pagination | None:
    """Return how an operation pages if the element names the parameter; without it the rules decide."""
    stated = operation.get("pagination", {})
    name, style = stated.get("param_name"), stated.get("style", "cursor")
    rest: dict[str, Any] = {
        "size_param": stated.get("per_page_param"),
        "size_max": stated.get("max_limit"),
        "items": "" if operation.get("response", {}).get("type") == "array" else None,
    }
    if style == "link_header":
        return Pagination(style="link", next="Link", next_in="header", **rest)
    return Pagination(style=style, **{f"{style}_param": name}, **rest) if name else None
