"""Paths, operations and responses: parameters are sorted by kind; a body or form becomes a request body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aqlgen.document.positions import escape, split
from aqlgen.document.upgrade.context import Upgrade
from aqlgen.document.upgrade.parameters import (
    MOVED_KEYS,
    Placed,
    form_body,
    is_form,
    operation_types,
    parameter,
    request_body,
    value_schema,
)
from aqlgen.document.upgrade.servers import operation_servers
from aqlgen.ir import Json
from aqlgen.runtime.wire import JSON, OCTETS, admits_json

REPLACED_IN_OPERATION = frozenset({"consumes", "produces", "schemes", "parameters", "responses"})
NO_BODY = frozenset({"get", "head", "options"})
"""Methods whose operations inherit no body from their path item."""


@dataclass(slots=True)
class _Parameters:
    """The parameters of an operation or path item, grouped by what they become."""

    plain: list[Json] = field(default_factory=list)
    bodies: list[Placed] = field(default_factory=list)
    fields: dict[str, Placed] = field(default_factory=dict)


def paths(context: Upgrade) -> Json:
    """Return the paths, including those that differ only in their query (`x-ms-paths`)."""
    regular, extended = context.root.get("paths", {}), context.root.get("x-ms-paths")
    if not isinstance(regular, dict):
        return regular
    new: dict[str, Json] = {}
    for key, entries in (("paths", regular), ("x-ms-paths", extended if isinstance(extended, dict) else {})):
        for path, item in entries.items():
            if path not in new:
                pointer = f"/{key}/{escape(path)}"
                context.place(new, path, item if path.startswith("x-") else _item(context, item, pointer), pointer)
    return new


def _item(context: Upgrade, raw: Json, pointer: str) -> Json:
    item, where = context.follow(raw, pointer)
    if not isinstance(item, dict) or "$ref" in item:
        return raw
    if item is not raw:
        item = {**{key: value for key, value in raw.items() if key != "$ref"}, **item}
    new: dict[str, Json] = {key: value for key, value in item.items() if key != "parameters"}
    context.origins.carry(item, new)
    common = _group(context, item.get("parameters"), f"{where}/parameters")
    if common.plain:
        new["parameters"] = common.plain
        context.origins.note(new, "parameters", context.origin(f"{where}/parameters"))
    for key, value in item.items():
        if isinstance(value, dict) and key != "parameters" and not key.startswith("x-"):
            origin = f"{where}/{escape(key)}"
            name = f"{key.upper()} {split(pointer)[-1]}"
            context.place(new, key, _operation(context, value, origin, common, name, key.lower()), origin)
    return new


def _operation(
    context: Upgrade, operation: dict[str, Json], pointer: str, common: _Parameters, name: str, method: str
) -> dict[str, Json]:
    new: dict[str, Json] = {key: value for key, value in operation.items() if key not in REPLACED_IN_OPERATION}
    context.origins.carry(operation, new)
    parameters = _group(context, operation.get("parameters"), f"{pointer}/parameters")
    if parameters.plain:
        new["parameters"] = parameters.plain
    body = _body(context, operation, pointer, parameters, common if method not in NO_BODY else _Parameters(), name)
    if body is not None:
        context.place(new, "requestBody", *body)
    responses = operation.get("responses")
    if isinstance(responses, dict):
        new["responses"] = _responses(context, responses, f"{pointer}/responses", operation)
    elif responses is not None:
        new["responses"] = responses
    servers = operation_servers(context, operation)
    if servers is not None:
        context.place(new, "servers", servers, f"{pointer}/schemes")
    return new


def _group(context: Upgrade, raw: Json, pointer: str) -> _Parameters:
    parameters = _Parameters()
    for index, entry in enumerate(raw if isinstance(raw, list) else ()):
        place = f"{pointer}/{index}"
        node, where = context.follow(entry, place)
        if isinstance(node, dict) and "$ref" in node:  # it leads nowhere
            context.append(parameters.plain, entry, place)
            continue
        kind = node.get("in") if isinstance(node, dict) else None
        if kind == "body":
            parameters.bodies.append((node, where))
        elif kind == "formData":
            parameters.fields[str(node.get("name"))] = (node, where)
        else:
            context.append(parameters.plain, parameter(context, node, where), where)
    return parameters


def _body(
    context: Upgrade,
    operation: Mapping[str, Json],
    pointer: str,
    parameters: _Parameters,
    common: _Parameters,
    name: str,
) -> tuple[Json, str] | None:
    """Return the request body and the pointer that it came from, None if there is none."""
    chosen = parameters if parameters.bodies else common
    bodies, fields = chosen.bodies, {**common.fields, **parameters.fields}
    consumes = operation_types(context, operation, "consumes")
    origin = f"{pointer}/parameters"
    if len(bodies) > 1 or (bodies and fields):
        bodies, fields = ([], fields) if fields and is_form(consumes) else (bodies[:1], {})
        kept = "the form is" if fields else "the first in body is"
        context.warn("several-bodies", f"{name} has several bodies, of which only {kept} kept", origin)
    if fields:
        first = next(iter(fields.values()))[1]
        where = origin if parameters.fields else first.rpartition("/")[0]
        return form_body(context, list(fields.values()), consumes), where
    if not bodies:
        return None
    node, where = bodies[0]
    return context.once(node, consumes, lambda: request_body(context, node, where, consumes)), where


def _responses(
    context: Upgrade, responses: dict[str, Json], pointer: str, operation: Mapping[str, Json]
) -> dict[str, Json]:
    new: dict[str, Json] = {}
    produces = operation_types(context, operation, "produces")
    for status, raw in responses.items():
        if status.startswith("x-"):
            new[status] = raw
            continue
        node, where = context.follow(raw, f"{pointer}/{escape(status)}")
        context.place(new, status, _response(context, node, where, produces), where)
    return new


REPLACED_IN_RESPONSE = frozenset({"schema", "examples", "headers"})


def _response(context: Upgrade, node: Json, pointer: str, produces: tuple[str, ...]) -> Json:
    """Return a response. An unreadable one stays as it is."""
    if not isinstance(node, dict) or "$ref" in node:
        return node
    return context.once(node, produces, lambda: _converted(context, node, pointer, produces))


def _converted(context: Upgrade, node: dict[str, Json], pointer: str, produces: tuple[str, ...]) -> dict[str, Json]:
    new: dict[str, Json] = {key: value for key, value in node.items() if key not in REPLACED_IN_RESPONSE}
    context.origins.carry(node, new)
    content = _content(context, node, pointer, produces)
    if content:
        new["content"] = content
    headers = node.get("headers")
    if isinstance(headers, dict):
        new["headers"] = {
            name: _header(context, header, f"{pointer}/headers/{escape(name)}") for name, header in headers.items()
        }
        context.origins.carry(headers, new["headers"])
    return new


def _content(context: Upgrade, node: Mapping[str, Json], pointer: str, produces: tuple[str, ...]) -> dict[str, Json]:
    examples = node.get("examples")
    examples = examples if isinstance(examples, dict) else {}
    by_type = {kind: example for kind, example in examples.items() if "/" in kind}
    content: dict[str, Json] = {}
    schema = node.get("schema")
    kinds = _kinds(schema, produces) if isinstance(schema, dict) else ()
    for kind in dict.fromkeys((*kinds, *by_type)):
        media: dict[str, Json] = {}
        if isinstance(schema, dict):
            context.place(media, "schema", context.schemas.convert(schema), f"{pointer}/schema")
        if kind in by_type:
            context.place(media, "example", by_type[kind], f"{pointer}/examples/{escape(kind)}")
        content[kind] = media
    return content


def _kinds(schema: Mapping[str, Json], produces: tuple[str, ...]) -> tuple[str, ...]:
    """Return the content types of a response with a schema; a file is not JSON, whatever the document says."""
    if schema.get("type") == "file":
        return tuple(content_type for content_type in produces if not admits_json(content_type)) or (OCTETS,)
    return produces or (JSON,)


def _header(context: Upgrade, node: Json, pointer: str) -> Json:
    if not isinstance(node, dict):
        return node
    new: dict[str, Json] = {key: value for key, value in node.items() if key not in MOVED_KEYS}
    context.place(new, "schema", value_schema(context, node), pointer)
    return new
