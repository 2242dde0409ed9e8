"""Responses: a schema for each content type of `produces`, examples by content type, headers with schemas."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.document.positions import escape
from aqlgen.document.upgrade.context import Upgrade
from aqlgen.document.upgrade.parameters import GONE, value_schema
from aqlgen.ir import Json
from aqlgen.runtime.media import JSON, OCTETS, admits_json

REPLACED = frozenset({"schema", "examples", "headers"})


def response(up: Upgrade, node: Json, pointer: str, produces: tuple[str, ...]) -> Json:
    """Give a response, converted once for the same content types. What cannot be read stays as it is."""
    if not isinstance(node, dict) or "$ref" in node:
        return node
    key = ("response", id(node), produces)
    known = up.memory.get(key)
    if known is None:
        known = up.memory[key] = (node, _response(up, node, pointer, produces))
    return known[1]


def _response(up: Upgrade, node: dict[str, Json], pointer: str, produces: tuple[str, ...]) -> dict[str, Json]:
    new: dict[str, Json] = {key: value for key, value in node.items() if key not in REPLACED}
    up.origins.carry(node, new)
    content = _content(up, node, pointer, produces)
    if content:
        new["content"] = content
    headers = node.get("headers")
    if isinstance(headers, dict):
        new["headers"] = {name: _header(up, one, f"{pointer}/headers/{escape(name)}") for name, one in headers.items()}
        up.origins.carry(headers, new["headers"])
    return new


def _content(up: Upgrade, node: Mapping[str, Json], pointer: str, produces: tuple[str, ...]) -> dict[str, Json]:
    examples = node.get("examples")
    examples = examples if isinstance(examples, dict) else {}
    by_type = {kind: one for kind, one in examples.items() if "/" in kind}
    content: dict[str, Json] = {}
    schema = node.get("schema")
    if isinstance(schema, dict):
        kinds = _kinds(schema, produces)
    elif by_type or not examples:
        kinds = ()
    else:
        kinds = produces or (JSON,)
    for kind in dict.fromkeys((*kinds, *by_type)):
        media: dict[str, Json] = {}
        if isinstance(schema, dict):
            up.place(media, "schema", up.schemas.convert(schema), f"{pointer}/schema")
        if kind in by_type:
            up.place(media, "example", by_type[kind], f"{pointer}/examples/{escape(kind)}")
        content[kind] = media
    if examples and not by_type and content:  # named as in 3.0, not by content type
        next(iter(content.values()))["example"] = next(iter(examples.values()))
    return content


def _kinds(schema: Mapping[str, Json], produces: tuple[str, ...]) -> tuple[str, ...]:
    """Give the content types of a response that has a schema; a file is not JSON, whatever the document says."""
    if schema.get("type") == "file":
        return tuple(one for one in produces if not admits_json(one)) or (OCTETS,)
    return produces or (JSON,)


def _header(up: Upgrade, node: Json, pointer: str) -> Json:
    if not isinstance(node, dict):
        return node
    new: dict[str, Json] = {key: value for key, value in node.items() if key not in GONE}
    up.place(new, "schema", value_schema(up, node, pointer), pointer)
    return new
