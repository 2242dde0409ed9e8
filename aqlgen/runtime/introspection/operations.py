# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Operations as introspection shows them: OperationInfo and OperationDetails (introspection document, 3.1 and 3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..protocol_operations import ProtocolOperation
from ..schema.groups import group_notes, parameters_by_field
from ..schema.reader import Types, parts
from ..schema.wording import presence_notes
from ..settings.config import Config
from ..table import Row, Table
from ..text import clean, folded
from .names import Alias
from .protocol import INTROSPECT, PERMISSIONS, tool_name
from .types import kind_of, parameter_info

__all__ = ["introspect_details", "operation_details", "operation_info", "protocol_operation_details"]

_PLACES = {
    "path": "Goes in the path.",
    "query": "Goes in the query.",
    "querystring": "Is the whole query.",
    "header": "Goes in a header.",
    "cookie": "Goes in a cookie.",
    "body": "Goes in the body.",
    "body_rest": "Goes in the body.",
    "adapter": "The adapter's own, not sent.",
}


def operation_info(name: str, family: str, description: str) -> dict[str, Any]:
    """Return an operation as lists show it."""
    return {"name": name, "semantic_category": family.upper(), "endpoint": family, "description": description}


def _header(config: Config, name: str, family: str, description: str) -> dict[str, Any]:
    """Return what the details of every operation begin with."""
    return {
        "name": name,
        "semantic_category": family.upper(),
        "endpoint": family,
        "mcpTool": tool_name(config, family),
        "description": description,
        "permissions": dict(PERMISSIONS[family.upper()]),
    }


def operation_details(row: Row, table: Table, config: Config, alias: Alias | None) -> dict[str, Any]:
    """Return an operation of the API in full; `alias` is the old name by which it was asked for."""
    types, places = table.types, _places(row)
    description = " ".join([_description(row, table), *_body_notes(row, types)])
    details = {
        **_header(config, row.name, row.family, description if alias is None else alias.describe(description)),
        "parameters": [
            parameter_info(parameter, types, places.get(name, ""))
            for name, parameter in row.parameters.items()
            if name not in row.hidden_parameters
        ],
        "returns": _returns(row, types),
    }
    if row.example is not None:
        details["examples"] = [{"request": {"operation": row.name, "params": dict(row.example)}}]
    return details


def _description(row: Row, table: Table) -> str:
    text = clean(row.description, 4000)
    if row.relative:
        text += f" (a kind of {row.relative})"
    if row.update is not None and row.update.replaces:
        from ..calls.update_plan import replacement

        text += f" {replacement(row, table)}"
    return f"Deprecated. {text}" if row.deprecated else text


def _body_notes(row: Row, types: Types) -> Iterator[str]:
    """Yield what a body demands of its fields together: what neither a parameter nor a type of one can say."""
    body = row.body
    if body is None:
        return
    if body.shape == "whole":
        yield from group_notes(body.schema, types, of=body.parameter or "")
        return
    if not body.validate:
        return
    names = parameters_by_field(row, types)
    yield from group_notes(body.schema, types, names)
    for part in parts(body.schema, types):
        yield from presence_notes(part, list(names), names)


def _places(row: Row) -> dict[str, str]:
    """Return where each parameter goes whose name the API has in several places."""
    shown = {name: item for name, item in row.parameters.items() if name not in row.hidden_parameters}
    places: dict[str, set[str]] = {}
    for parameter in shown.values():
        places.setdefault(folded(parameter.wire), set()).add(parameter.location)
    return {
        name: _PLACES[parameter.location]
        for name, parameter in shown.items()
        if len(places[folded(parameter.wire)]) > 1
    }


def _returns(row: Row, types: Types) -> dict[str, Any]:
    """Return what the row says, with the kind that the type's own details show."""
    returns: dict[str, Any] = {**row.returns}
    schema = types.get(returns["name"])
    if schema is not None:
        returns["kind"] = kind_of(schema, types)
    return returns


def protocol_operation_details(operation: ProtocolOperation, config: Config) -> dict[str, Any]:
    """Return an operation of the protocol in full."""
    details = {
        **_header(config, operation.name, operation.family, operation.description),
        "parameters": [dict(parameter) for parameter in operation.parameters],
        "returns": dict(operation.returns),
        "examples": [
            {"description": description, "request": {"operation": operation.name, "params": dict(params)}}
            for description, params in operation.examples
        ],
    }
    if operation.lifecycle is not None:
        details["lifecycle"] = dict(operation.lifecycle)
    return details


def introspect_details(config: Config, operation: str, resource: str) -> dict[str, Any]:
    """Return `introspect` itself in full; its examples name an operation and a resource of the adapter."""
    words = {"{operation}": operation, "{resource}": resource}
    parameters: Sequence[Mapping[str, Any]] = INTROSPECT["parameters"]
    return {
        **_header(config, INTROSPECT["name"], INTROSPECT["endpoint"], INTROSPECT["description"]),
        "parameters": [
            {**parameter, "maximum": config.max_list} if parameter["name"] == "first" else parameter
            for parameter in parameters
        ],
        "returns": INTROSPECT["returns"],
        "examples": [
            {
                "description": example["description"],
                "request": {
                    "operation": "introspect",
                    "params": {key: words.get(value, value) for key, value in example["params"].items()},
                },
            }
            for example in INTROSPECT["examples"]
        ],
    }
