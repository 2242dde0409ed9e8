"""An adapter element as a tree of OpenAPI 3.1, with the origins of its parts, and the owner's word beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from aqlgen.document.element.model import Element, ElementOperation, ElementParameter, Stated, Word
from aqlgen.document.positions import Origins, split
from aqlgen.ir import Json, Origin
from aqlgen.words import snake

__all__ = ["as_openapi", "as_stated"]

VERSION: Final = "3.1.1"
_NUMBERS: Final = frozenset({"page_param", "offset_param", "size_param"})
"""Roles of parameters that are numbers, where the element does not describe them."""

_ID: Final = "id"
_AGENT_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_RESERVED: Final = frozenset({"input", "operation", "params"})
"""Names that the protocol keeps for itself (R-REQ-2); such a parameter is named as in any document."""


def as_openapi(element: Element, origins: Origins) -> dict[str, Json]:
    """Return the tree of an element."""
    paths: dict[str, Json] = {}
    root: dict[str, Json] = {
        "openapi": VERSION,
        "info": {"title": element.title, "version": element.version, "description": element.description},
        "servers": [{"url": element.base_url}],
        "security": _requirements(element.auth.security),
        "paths": paths,
        "components": {"securitySchemes": dict(element.auth.schemes), "schemas": dict(element.types)},
    }
    for (method, path), operation in _keyed(element):
        item = paths.setdefault(path, {})
        item[method] = _operation(operation, origins)
        origins.note(item, method, Origin(operation.pointer))
    return root


def _keyed(element: Element) -> list[tuple[tuple[str, str], ElementOperation]]:
    """Return the operations by method and path; a fragment, which is not sent, tells those of one request apart."""
    keyed: dict[tuple[str, str], ElementOperation] = {}
    for operation in element.operations:
        key = operation.request.method.lower(), operation.request.path
        if key in keyed:
            key = key[0], f"{operation.request.path}#{operation.name}"
        keyed[key] = operation
    return list(keyed.items())


def _requirements(security: tuple[tuple[str, ...], ...]) -> list[Json]:
    return [{name: [] for name in alternative} for alternative in security]


def _operation(operation: ElementOperation, origins: Origins) -> dict[str, Json]:
    parameters: list[Json] = []
    node: dict[str, Json] = {"operationId": operation.name, "parameters": parameters}
    if operation.description:
        short = "\n" not in operation.description and len(operation.description) <= 120
        node |= {"summary" if short else "description": operation.description}
    for parameter in operation.parameters:
        if parameter.place.location not in ("body", "whole", "rest") and not _is_input(operation, parameter):
            parameters.append(_parameter(parameter))
            origins.note(parameters, len(parameters) - 1, Origin(parameter.pointer))
    for location, values in (("header", operation.request.headers), ("query", operation.request.query)):
        for name, value in values.items():  # there is one value, which is sent without being asked for
            schema = {"type": "string", "enum": [value]}
            parameters.append({"name": name, "in": location, "required": True, "schema": schema})
    parameters += _paging_parameters(operation)
    parameters += [{"name": wire, "in": "query", "schema": {}} for wire in operation.request.input]
    body = _body(operation, origins)
    if body is not None:
        node["requestBody"] = body
        origins.note(node, "requestBody", Origin(operation.pointer))
    if operation.request.security is not None:
        node["security"] = _requirements(operation.request.security)
    if operation.returns is None:
        node["responses"] = {"204": {"description": "Done"}}
    else:
        media = {"schema": _answer(operation.returns, operation.request.items)}
        content = {"content": dict.fromkeys(operation.request.accept, media)}
        node["responses"] = {"200": {"description": "The answer", **content}}
    return node


def _answer(returns: Mapping[str, Json], items: str | None) -> Mapping[str, Json]:
    """Return the schema of an answer, which holds a list of it at the pointer `items`, if there is one."""
    if items is None:
        return returns
    answer: dict[str, Json] = {"type": "array", "items": returns or {"type": "object"}}
    for key in reversed(split(items)):
        answer = {"type": "object", "properties": {key: answer}}
    return answer


def _is_input(operation: ElementOperation, parameter: ElementParameter) -> bool:
    """Return True for the parameter that holds query parameters, which stand for it (R-UPD-1)."""
    return bool(operation.request.input) and parameter.name == "input"


def _parameter(parameter: ElementParameter) -> dict[str, Json]:
    place = parameter.place
    node: dict[str, Json] = {"name": place.wire, "in": place.location, "schema": parameter.schema, **parameter.style}
    return {**node, **({"required": True} if parameter.required else {}), **_about(parameter)}


def _paging_parameters(operation: ElementOperation) -> list[Json]:
    """Return the parameters by which an operation pages, and which agents are not shown."""
    paging = operation.request.pagination
    if paging is None or paging.within is not None or paging.location == "body":
        return []
    known = {item.place.wire for item in operation.parameters if item.place.location == "query"}
    return [
        {"name": wire, "in": "query", "schema": {"type": "integer" if role in _NUMBERS else "string"}}
        for role, wire in paging.roles
        if wire not in known
    ]


def _body(operation: ElementOperation, origins: Origins) -> dict[str, Json] | None:
    """Return the body: one parameter that is the whole of it, or an object of fields."""
    whole = next((item for item in operation.parameters if item.place.location == "whole"), None)
    schema = _fields(operation, origins) if whole is None else _whole(operation, whole)
    if schema is None:
        return None
    content = {"content": {kind: {"schema": schema} for kind in operation.request.content_types}}
    if whole is not None:
        return {"required": whole.required, **content}
    return {"required": True, **content} if "required" in schema else content


def _whole(operation: ElementOperation, parameter: ElementParameter) -> dict[str, Json]:
    is_object = operation.family == "update" and not operation.request.content_types[0].startswith("text/")
    schema = parameter.schema or ({"type": "object"} if is_object else {})
    return {**schema, **_about(parameter)}


def _fields(operation: ElementOperation, origins: Origins) -> dict[str, Json] | None:
    """Return the schema of a body that is an object of fields, None for no body."""
    fields = [item for item in operation.parameters if item.place.location == "body" and not _is_input(operation, item)]
    rest = any(item.place.location == "rest" for item in operation.parameters)
    if not fields and not rest:
        return None
    properties: dict[str, Json] = {}
    for item in fields:
        properties[item.place.wire] = {**item.schema, **_about(item)}
        origins.note(properties, item.place.wire, Origin(item.pointer))
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    required = [item.place.wire for item in fields if item.required]
    return schema | ({"required": required} if required else {}) | ({"additionalProperties": True} if rest else {})


def _about(parameter: ElementParameter) -> dict[str, Json]:
    return {"description": parameter.description} if parameter.description else {}


def as_stated(element: Element, file: str) -> Stated:
    """Return the owner's word on the operations of an element."""
    words = {
        f"{method.upper()} {path}": Word(
            written=operation.written,
            name=operation.name,
            category=operation.family.upper(),
            danger=operation.danger,
            parameters=_names(operation),
            pagination=operation.request.pagination,
        )
        for (method, path), operation in _keyed(element)
    }
    return Stated(file, element.name, words, element.auth.variables)


def _names(operation: ElementOperation) -> Mapping[str, str]:
    """Return the names of parameters that agents use and that do not follow from the API's own.

    Fields of an update's body have none: they are those of `input` (R-UPD-1).
    """
    names = {}
    for item in operation.parameters:
        location, wire = item.place.location, item.place.wire
        follows = snake(wire) == item.name and location != "path" and item.name != _ID
        is_free = _AGENT_NAME.fullmatch(item.name) is not None and item.name not in _RESERVED
        if location in ("whole", "rest") or follows or not is_free:
            continue
        if operation.family != "update" or location == "path":
            names[f"{location}:{wire}"] = item.name
    return names
