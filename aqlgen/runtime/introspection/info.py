"""Operations as introspection shows them (introspection document, 3.1 to 3.4).

The details of an operation are written to the fullest detail that keeps within its size. What is cut is one call away:
`introspect` shows the parameters of an operation in full as a type, `create_thing.params`. Workflows are operations
with inputs and outputs, and with what they run (R-STEP-3).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..protocol_operations import ProtocolOperation
from ..schema import Types, kind_of
from ..schema.notation import Objects
from ..schema.wording import body_notes
from ..settings.config import Config
from ..table import Row, Table
from ..text import brief, clean, folded, line, listed
from . import UNBOUNDED, Bounds
from .fields import IN_FULL, Detail, Info, more_note, parameter_info, with_notes, within
from .protocol import API, INTROSPECT, PERMISSIONS, field, tool_name
from .search import Alias

_PLACES = {
    "path": "In the path.",
    "query": "In the query.",
    "querystring": "Is the whole query.",
    "header": "In a header.",
    "cookie": "In a cookie.",
    "body": "In the body.",
    "body_rest": "In the body.",
    "adapter": "The adapter's own, not sent.",
}


def operation_info(name: str, family: str, description: str) -> dict[str, Any]:
    """Return an operation as lists show it."""
    return {"name": name, "semantic_category": family.upper(), "endpoint": family, "description": description}


def _header(config: Config, name: str, family: str, description: str) -> dict[str, Any]:
    """Return the beginning of the details of every operation."""
    return {
        "name": name,
        "semantic_category": family.upper(),
        "endpoint": family,
        "mcpTool": tool_name(config, family),
        "description": description,
        "permissions": dict(PERMISSIONS[family.upper()]),
    }


@dataclass(frozen=True, slots=True)
class _Level:
    """How much the details of an operation say, and how many characters of JSON they may then have."""

    description: int
    required: Detail
    optional: Detail
    size: int


_LEVELS = (
    _Level(1000, Detail(400, 700, 50), Detail(300, 300, 50), 1400),
    _Level(600, Detail(300, 600, 30), Detail(160, 160, 20), 2200),
    _Level(400, Detail(200, 500, 20), Detail(90, 100, 12), 2900),
    _Level(300, Detail(120, 400, 10), Detail(50, 60, 6), 4000),
    _Level(300, Detail(80, 300, 8), Detail(0, 0, 4), 6000),
)
_WHOLE = _Level(4000, IN_FULL, IN_FULL, 24_000)
"""From the fullest to the tersest. Four characters are about a token: the budget is 300 to 700, and 2,000 at most."""
_LEAST_SIZE = 48
"""Characters of the shortest parameter: a level without room for so many is not tried."""
_MOST_NAMED = 1000
"""Characters of the names of the parameters that even the tersest details have no room for."""
_WORD = re.compile(r"[^\W_]+")
_NEAR = 100
"""Characters beyond its length within which a description says its summary."""
_MOST_REQUIRED, _MOST_SHOWN = 2_000, 200
"""Characters that required parameters may take beyond the size before they lose all but their type, and how many."""
_LONGEST_EXAMPLE = 16_000
PARAMETERS = ".params"
"""What follows the name of an operation in the name of the type that has its parameters."""


def operation_details(
    row: Row, table: Table, config: Config, alias: Alias | None, *, whole: bool = False
) -> dict[str, Any]:
    """Return an operation of the API in the fullest detail that fits, or `whole`; `alias` is the old name asked for."""
    notes = list(body_notes(row, table.types))
    details: dict[str, Any] = {}
    objects: Objects = {}
    for level in (_WHOLE, *_LEVELS) if whole else _LEVELS:
        if len(row.parameters) * _LEAST_SIZE > level.size and level is not _LEVELS[-1]:
            continue
        description = with_notes(brief(_description(row, table), level.description), notes)
        details = _header(config, row.name, row.family, description if alias is None else alias.describe(description))
        details |= {"parameters": [], "returns": _returns(row, table.types)}
        if any(row.parameters[name].wire == "aggregate" for name in row.adapter_parameters):
            details["aggregation_support"] = {"supported": True}
        if row.long_running is not None:
            from ..executions.states import lifecycle

            states = lifecycle(row, row.long_running)
            if states is not None:
                details["lifecycle"] = states
        if row.example is not None:
            details["examples"] = [{"request": {"operation": row.name, "params": dict(row.example)}}]
        parameters = _fitting(_parameters(row, table, level, objects), level.size - _size(details))
        if parameters is not None:
            return {**details, "parameters": parameters}
    if row.example is not None and _size(details["examples"]) > _LONGEST_EXAMPLE:
        del details["examples"]
    return _cut(details, row, table, _LEVELS[-1], objects)


def _parameters(row: Row, table: Table, level: _Level, objects: Objects) -> Iterator[Info]:
    """Yield the parameters; one that is the whole body is written as a required one is."""
    places, whole = _places(row), "input" if row.body is None else row.body.parameter
    for name, parameter in row.parameters.items():
        if name not in row.hidden_parameters:
            detail = level.required if parameter.required or name == whole else level.optional
            yield parameter_info(parameter, table.types, places.get(name, ""), detail.sharing(objects))


def _fitting(parameters: Iterable[Info], room: int) -> list[Info] | None:
    """Return the parameters if there is room for them; those behind the first without room are not made."""
    fitting: list[Info] = []
    for parameter in parameters:
        room -= _size(parameter) + (1 if fitting else 0)
        if room < 0:
            return None
        fitting.append(parameter)
    return fitting if room >= 0 else None


def _cut(details: dict[str, Any], row: Row, table: Table, level: _Level, objects: Objects) -> dict[str, Any]:
    """Return details without the optional parameters that there is no room for, which are only named."""
    places, whole = _places(row), "input" if row.body is None else row.body.parameter
    room = level.size - _size(details)
    kept: list[Info] = []
    others: list[str] = []
    names = [name for name in row.parameters if name not in row.hidden_parameters]
    needed = {name for name in names if row.parameters[name].required or name in row.choices}
    for name in sorted(names, key=lambda name: name not in needed):  # those first that a call has to give or choose by
        parameter = row.parameters[name]
        if len(kept) == _MOST_SHOWN or (room <= 0 and name not in needed):
            others.append(name)
            continue
        detail = level.required if parameter.required or name == whole else level.optional
        is_bare = room < -_MOST_REQUIRED and name not in row.choices
        detail = Detail(0, 0, 0) if is_bare else detail.sharing(objects)
        info = parameter_info(parameter, table.types, places.get(name, ""), detail)
        info = {key: info[key] for key in ("name", "type", "required")} if is_bare else info
        room -= _size(info)
        if room > 0 or name in needed:
            kept.append(info)
        else:
            others.append(name)
    note = f"Parameters in full: introspect types, name {row.name}{PARAMETERS}."
    if others:
        note += f" {len(others)} more: {line(', '.join(others), _MOST_NAMED)}."
    return {**details, "description": with_notes(details["description"], [note]), "parameters": kept}


def _size(value: Any) -> int:
    """Return the bytes of a value as JSON: characters, of which those of other scripts cost more."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def operation_type(row: Row, table: Table, bounds: Bounds = UNBOUNDED) -> Info:
    """Return the parameters of an operation in full, as the fields of a type. Raises Failure."""
    places = _places(row)
    objects: Objects = {}

    def field(name: str) -> Info:
        return within(
            bounds.tokens,
            IN_FULL,
            lambda detail: parameter_info(
                row.parameters[name], table.types, places.get(name, ""), detail.sharing(objects)
            ),
        )

    fields, left = bounds.taken([name for name in row.parameters if name not in row.hidden_parameters], field)
    info: Info = {"name": f"{row.name}{PARAMETERS}", "kind": "object", "fields": fields}
    note = more_note(left)
    return {**info, "description": note[0]} if note else info


def _description(row: Row, table: Table) -> str:
    text, summary = clean(row.description, 4000), clean(row.summary)
    begin = f" {' '.join(_WORD.findall(text[: len(summary) + _NEAR].lower()))}"
    if not all(f" {word}" in begin for word in _WORD.findall(summary.lower())):  # "Deletes" says "Delete"
        text = with_notes(summary, [text])
    if row.relative:
        text += f" (a kind of {row.relative})"
    if row.update is not None:
        from ..calls.update_plan import replacement

        text = with_notes(text, list(filter(None, [replacement(row, table)])))
    return f"Deprecated. {text}" if row.deprecated else text


def _places(row: Row) -> dict[str, str]:
    """Return where each parameter goes whose name the API has in several places."""
    locations: dict[str, set[str]] = {}
    shown = {name: item for name, item in row.parameters.items() if name not in row.hidden_parameters}
    for parameter in shown.values():
        locations.setdefault(folded(parameter.wire), set()).add(parameter.location)
    return {
        name: _PLACES[parameter.location]
        for name, parameter in shown.items()
        if len(locations[folded(parameter.wire)]) > 1
    }


def _returns(row: Row, types: Types) -> dict[str, Any]:
    """Return the row's return type, with the kind that the type's own details show."""
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


def introspect_details(config: Config, operation: str, resource: str, apis: Sequence[str] = ()) -> dict[str, Any]:
    """Return `introspect` itself in full; its examples name an operation and a resource of the adapter.

    `apis` are the names of several APIs.
    """
    words = {"{operation}": operation, "{resource}": resource}
    parameters: Sequence[Mapping[str, Any]] = INTROSPECT["parameters"]
    if apis:
        parameters = [*parameters, {**API, "enum": list(apis)}]
    return {
        **_header(config, INTROSPECT["name"], INTROSPECT["endpoint"], INTROSPECT["description"]),
        "parameters": list(parameters),
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


DRY_RUN = "dry_run"
_DRY_RUN = field(DRY_RUN, "boolean", False, "Show the requests, as far as they are known, and send nothing")
_LONGEST_DESCRIPTION = 600
_MOST_NAMED_STEPS = 20


def workflow_operations(table: Table) -> Iterator[ProtocolOperation]:
    """Yield the workflows of a table as operations."""
    for workflow in table.workflows.values():
        infos = [parameter_info(parameter, {}) for parameter in workflow.inputs.values()]
        schemas = {name: parameter.schema for name, parameter in workflow.inputs.items()}
        outputs = listed(list(workflow.outputs), _MOST_NAMED_STEPS) if workflow.outputs else "every step with its data"
        yield ProtocolOperation(
            workflow.name,
            workflow.family,
            with_notes(
                brief(workflow.description, _LONGEST_DESCRIPTION),
                [f"Runs {listed(workflow.operations, _MOST_NAMED_STEPS)}."],
            ),
            (*infos, *([] if DRY_RUN in schemas else [dict(_DRY_RUN)])),
            {"name": "object", "kind": "object", "description": outputs},
            (),
            schemas=schemas,
        )
