"""OpenAPI documents in few words: schemas, parameters, bodies, responses and operations, which tests put together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

TEXT, INTEGER, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
JSON = "application/json"


def object_of(*required: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these properties."""
    return {"type": "object", "properties": properties} | ({"required": list(required)} if required else {})


def list_of(items: Any) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def ref(name: str) -> dict[str, Any]:
    """Return a reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def parameter(name: str, place: str = "query", schema: Any = None, **more: Any) -> dict[str, Any]:
    """Return a parameter, which is a text unless a schema says otherwise; those of a path are required."""
    return {
        "name": name,
        "in": place,
        "required": place == "path",
        "schema": TEXT if schema is None else schema,
        **more,
    }


def body_of(schema: Any, *kinds: str) -> dict[str, Any]:
    """Return a required body, in JSON unless other media types are given."""
    return {"required": True, "content": {kind: {"schema": schema} for kind in kinds or (JSON,)}}


def replies(schema: Any = None, status: str = "200", *headers: str) -> dict[str, Any]:
    """Return the responses of an operation: one, with or without a body and headers."""
    content = {} if schema is None else {"content": {JSON: {"schema": schema}}}
    named = {"headers": {name: {"schema": TEXT} for name in headers}} if headers else {}
    return {status: {"description": "ok", **named, **content}}


def paths_of(operations: Mapping[str, Any]) -> dict[str, Any]:
    """Return path items for operations by `METHOD /path`, with the parameters of their paths as texts.

    What stands under another key is a path item already.
    """
    paths: dict[str, Any] = {}
    for key, entry in operations.items():
        method, _, path = key.partition(" /")
        if method == key:
            paths[key] = entry
            continue
        item = paths.setdefault(f"/{path}", {})
        item[method.lower()] = entry
        if names := re.findall(r"\{(\w+)\}", path):
            item["parameters"] = [parameter(name, "path") for name in names]
    return paths
