"""A step of a workflow as a step of a plan (Arazzo 1.0, Step Object)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from aqlgen.document.positions import split
from aqlgen.ir import Json
from aqlgen.runtime.steps.plan import LOCAL
from aqlgen.runtime.steps.references import INPUTS
from aqlgen.runtime.table import Row
from aqlgen.runtime.text import folded
from aqlgen.workflows.expressions import DoneStep, Scope, UnsayableError, check_criteria, is_expression, member

_PLACE: Final = "$components.parameters."
_FIELDS: Final = "fields"
_WRITE_FIELDS: Final = "Write the payload as an object, each field with its value or expression."


class Written(NamedTuple):
    """A step of a plan, and what later ones know of it."""

    step: dict[str, Json]
    done: DoneStep


@dataclass(frozen=True, slots=True)
class Api:
    """The operations that steps can name, and the components of the document."""

    rows: tuple[Row, ...]
    source: str
    """The name of the one description of an API."""
    components: Mapping[str, Json]

    def row(self, step: Mapping[str, Json], pointer: str) -> Row:
        """Return the operation of a step. Raises UnsayableError."""
        named = [key for key in ("operationId", "operationPath", "workflowId") if key in step]
        if len(named) != 1:
            raise UnsayableError("a step names one of operationId, operationPath and workflowId", pointer)
        key, value = named[0], step[named[0]]
        place = member(pointer, key)
        if key == "workflowId":
            raise UnsayableError("a step is another workflow", place, "Write the steps of that workflow into this one.")
        if not isinstance(value, str):
            raise UnsayableError(f"{key} is not a text", place)
        wanted = value.removeprefix(f"$sourceDescriptions.{self.source}.")
        by_id = [row for row in self.rows if row.operation_id == wanted]
        rows = by_id if key == "operationId" else self._by_path(value)
        if len(rows) != 1:
            raise UnsayableError(
                f"the adapter has {'no' if not rows else 'more than one'} operation {value[:120]!r}",
                place,
                "Name an operation of the API's document that is served; `aqlgen explain` lists them.",
            )
        return rows[0]

    def _by_path(self, path: str) -> list[Row]:
        source, _, pointer = path.partition("#")
        parts = split(pointer)
        if source.strip("{}") != f"$sourceDescriptions.{self.source}.url" or len(parts) != 3 or parts[0] != "paths":
            return []
        return [row for row in self.rows if (row.method, row.path) == (parts[2].upper(), parts[1])]


def write_step(
    step: Mapping[str, Json], number: int, shared: Json, api: Api, scope: Scope, pointer: str, *, last: bool
) -> Written:
    """Return a step. `shared` are the parameters of the whole workflow. Raises UnsayableError."""
    row = api.row(step, pointer)
    step_id = step.get("stepId")
    if not isinstance(step_id, str) or step_id in scope.steps:
        raise UnsayableError("a step has no unique stepId", pointer)
    _refuse_actions(step, pointer, last=last)
    params = _params(step, shared, row, api, scope, pointer)
    outputs = step["outputs"] if isinstance(step.get("outputs"), dict) else {}
    check_criteria(step.get("successCriteria"), row, member(pointer, "successCriteria"))
    if row.family != "read" and outputs:  # a write answers with little unless it is asked for more
        params |= {name: "full" for name in row.adapter_parameters if row.parameters[name].wire == _FIELDS}
    named = {"id": step_id} if _is_name(step_id) else {}
    written = {**named, "operation": row.name, "params": params}
    return Written(written, DoneStep(step_id if named else str(number), row, outputs))


def _is_name(step_id: str) -> bool:
    """Return True for an id that a plan can have as it is."""
    plain = step_id.replace("-", "").replace("_", "")
    return (
        len(step_id) <= 64
        and plain.isascii()
        and plain.isalnum()
        and (step_id[0].isalpha() or step_id[0] == "_")
        and step_id not in (*LOCAL, INPUTS)
    )


def _refuse_actions(step: Mapping[str, Json], pointer: str, *, last: bool) -> None:
    """Raise UnsayableError for actions other than what a plan does: to go on after a success, to end at a failure."""
    for key, harmless in (("onSuccess", last), ("onFailure", True)):
        for index, action in enumerate(_list(step.get(key))):
            place = member(member(pointer, key), str(index))
            if not isinstance(action, dict) or action.get("type") != "end" or not harmless:
                raise UnsayableError(
                    f"{key} does something else than a plan: to go on after a success, and to end at a failure",
                    place,
                    "Remove the action. The adapter retries where that is safe.",
                )


def _params(step: Mapping[str, Json], shared: Json, row: Row, api: Api, scope: Scope, pointer: str) -> dict[str, Json]:
    """Return the parameters that a step sends, by the agent's names. Raises UnsayableError."""
    params = dict(_parameters(step, shared, row, api, scope, pointer))
    if "requestBody" in step:
        params |= _body(step["requestBody"], row, scope, member(pointer, "requestBody"))
    missing = [name for name, item in row.shown_parameters.items() if item.required and name not in params]
    if missing:
        raise UnsayableError(f"{row.name} needs {', '.join(missing)}", pointer, "Give it in the step's parameters.")
    return params


def _parameters(
    step: Mapping[str, Json], shared: Json, row: Row, api: Api, scope: Scope, pointer: str
) -> Iterator[tuple[str, Json]]:
    """Yield the parameters by the agent's names, those of the whole workflow first."""
    place = member(pointer, "parameters")
    for values, at in (
        (shared, member(pointer.rpartition("/steps/")[0], "parameters")),
        (step.get("parameters"), place),
    ):
        for index, entry in enumerate(_list(values)):
            yield _parameter(entry, row, api, scope, member(at, str(index)))


def _parameter(entry: Json, row: Row, api: Api, scope: Scope, pointer: str) -> tuple[str, Json]:
    if isinstance(entry, dict) and "reference" in entry:
        components = api.components.get("parameters")
        name = str(entry["reference"]).removeprefix(_PLACE)
        target = components.get(name) if isinstance(components, dict) else None
        entry = {**target, **entry} if isinstance(target, dict) else entry
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or "value" not in entry:
        raise UnsayableError("a parameter has no name or no value", pointer)
    wire, where = entry["name"], entry.get("in")
    for name, parameter in row.parameters.items():
        same = folded(parameter.wire) == folded(wire) if where == "header" else parameter.wire == wire
        if same and parameter.location == where:
            return name, scope.value(entry["value"], member(pointer, "value"))
    raise UnsayableError(
        f"{row.name} has no parameter {wire[:80]!r} in {str(where)[:20]}",
        pointer,
        "Remove values that the adapter sends itself, such as credentials; others must be in the API's document.",
    )


def _body(body: Json, row: Row, scope: Scope, pointer: str) -> dict[str, Json]:
    """Return the parameters that a request body stands for. Raises UnsayableError."""
    if not isinstance(body, dict) or row.body is None:
        raise UnsayableError(f"{row.name} takes no such body", pointer)
    params = dict(_content_type(body.get("contentType"), row, member(pointer, "contentType")))
    place = member(pointer, "payload")
    payload = _payload(body.get("payload"), place)
    if body.get("replacements"):
        raise UnsayableError("a payload has replacements", member(pointer, "replacements"), _WRITE_FIELDS)
    whole = _whole(row)
    if whole is not None:
        return {**params, whole: scope.value(payload, place)}
    if not isinstance(payload, dict):
        raise UnsayableError(f"the payload of {row.name} is not an object of its fields", place, _WRITE_FIELDS)
    return params | _fields(payload, row, scope, place)


def _fields(payload: Mapping[str, Json], row: Row, scope: Scope, place: str) -> dict[str, Json]:
    """Return the parameters that the fields of a payload stand for. Raises UnsayableError."""
    fields = {item.wire: name for name, item in row.parameters.items() if item.location == "body"}
    rest = next((name for name, item in row.parameters.items() if item.location == "body_rest"), None)
    unknown = [key for key in payload if key not in fields]
    if unknown and rest is None:
        raise UnsayableError(f"the body of {row.name} has no field {unknown[0][:80]!r}", member(place, unknown[0]))
    written = {key: scope.value(value, member(place, key)) for key, value in payload.items()}
    params = {fields[key]: value for key, value in written.items() if key in fields}
    return params | ({rest: {key: written[key] for key in unknown}} if rest is not None and unknown else {})


def _whole(row: Row) -> str | None:
    """Return the parameter that is the whole body, None for a body of fields."""
    if row.body is None or row.body.shape != "whole":
        return None
    if row.body.parameter is None and row.update is not None:
        return next((name for name, item in row.parameters.items() if item.location == "body"), None)
    return row.body.parameter


def _content_type(stated: Json, row: Row, pointer: str) -> Iterator[tuple[str, Json]]:
    """Yield the parameter that chooses the content type, if it is not what is sent anyway."""
    if stated is None or (row.body is not None and stated == row.body.content_type):
        return
    for name, choice in row.choices.items():
        for kind in choice.kinds.values():
            if kind.body is not None and kind.body.content_type == stated:
                yield name, kind.name
                return
    raise UnsayableError(f"{row.name} does not send {str(stated)[:80]!r}", pointer)


def _payload(payload: Json, pointer: str) -> Json:
    """Return a payload as data; one that is JSON text is read."""
    if not isinstance(payload, str) or is_expression(payload):
        return {} if payload is None else payload
    try:
        value: Json = json.loads(payload)
    except (ValueError, RecursionError):
        raise UnsayableError("the payload is a text, but not JSON", pointer, _WRITE_FIELDS) from None
    return value


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
