"""An adapter element as a tree of OpenAPI 3.1, with the origins of its parts, and the owner's word beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from aqlgen.document.element.model import Element, ElementOperation, ElementParameter, Stated, Word
from aqlgen.document.positions import Origins
from aqlgen.ir import Json, Origin
from aqlgen.runtime.wire import JSON
from aqlgen.words import snake

__all__ = ["as_openapi", "as_stated"]

VERSION: Final = "3.1.1"
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
        "security": [{name: []} for name in element.auth.schemes],
        "paths": paths,
        "components": {"securitySchemes": dict(element.auth.schemes)},
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


def _operation(operation: ElementOperation, origins: Origins) -> dict[str, Json]:
    parameters: list[Json] = []
    node: dict[str, Json] = {"operationId": operation.name, "parameters": parameters}
    if operation.description:
        short = "\n" not in operation.description and len(operation.description) <= 120
        node |= {"summary" if short else "description": operation.description}
    for parameter in operation.parameters:
        if parameter.place.location != "body":
            parameters.append(_parameter(parameter))
            origins.note(parameters, len(parameters) - 1, Origin(parameter.pointer))
    body = _body(operation, origins)
    if body is not None:
        node["requestBody"] = body
        origins.note(node, "requestBody", Origin(operation.pointer))
    if operation.returns is None:
        node["responses"] = {"204": {"description": "Done"}}
    else:
        content = {JSON: {"schema": operation.returns}}
        node["responses"] = {"200": {"description": "The answer", "content": content}}
    return node


def _parameter(parameter: ElementParameter) -> dict[str, Json]:
    place = parameter.place
    node: dict[str, Json] = {"name": place.wire, "in": place.location, "schema": parameter.schema}
    return {**node, **({"required": True} if parameter.required else {}), **_about(parameter)}


def _body(operation: ElementOperation, origins: Origins) -> dict[str, Json] | None:
    """Return the body, an object of fields; None for an operation without any."""
    fields = [item for item in operation.parameters if item.place.location == "body"]
    if not fields:
        return None
    properties: dict[str, Json] = {}
    for item in fields:
        properties[item.place.wire] = {**item.schema, **_about(item)}
        origins.note(properties, item.place.wire, Origin(item.pointer))
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    content = {"content": {operation.request.content_type: {"schema": schema}}}
    required = [item.place.wire for item in fields if item.required]
    if not required:
        return content
    schema["required"] = required
    return {"required": True, **content}


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
        if is_free and not follows and (operation.family != "update" or location == "path"):
            names[f"{location}:{wire}"] = item.name
    return names
