# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A plan written out as an Arazzo 1.0 document, in the API's own names, for other tools (R-STEP-3).

What Arazzo has no form for is refused: repetition, selection of items, pages, updates that read first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..errors import Code, Failure
from ..schema.field_names import Names, Way, other_name
from ..table import ADAPTER, Adapter, Row, Table, chosen
from .plan import Plan, Step
from .references import Reference, is_reference, read_reference

__all__ = ["arazzo_document"]

VERSION: Final = "1.0.1"
_ANSWER: Final = "answer"
"""The output of every step that later ones refer to: the body of its answer."""
_SIGNS: Final = {"eq": "==", "ne": "!=", "gt": ">", "gte": ">=", "lt": "<", "lte": "<="}
_SUCCESS: Final = "$statusCode >= 200 && $statusCode < 300"


def arazzo_document(
    adapter: Adapter, table: Table, plan: Plan, rows: Mapping[int, Row], *, name: str, url: str
) -> dict[str, Any]:
    """Return a checked plan as a document; `name` is its workflowId, `url` that of the API's document.

    Raises Failure for what Arazzo cannot say.
    """
    writer = _Writer(adapter.name, Names(table), plan, rows)
    steps = [writer.step(step) for step in plan.steps]
    workflow: dict[str, Any] = {"workflowId": name, "steps": steps}
    if plan.returns is not None:
        workflow["outputs"] = dict(writer.outputs(plan.returns))
    for step in plan.steps:
        if step.number in writer.referred:
            steps[step.number - 1]["outputs"] = {_ANSWER: "$response.body"}
    return {
        "arazzo": VERSION,
        "info": {"title": f"A plan for {adapter.title or adapter.name}", "version": adapter.version},
        "sourceDescriptions": [{"name": adapter.name, "url": url, "type": "openapi"}],
        "workflows": [workflow],
    }


class _Writer:
    def __init__(self, source: str, names: Names, plan: Plan, rows: Mapping[int, Row]) -> None:
        self._source = source
        self._names = names
        self._plan = plan
        self._rows = rows
        taken = {step.id for step in plan.steps}
        self._ids = {
            step.number: step.id
            or next(f"step{mark}{step.number}" for mark in ("", "_", "__") if f"step{mark}{step.number}" not in taken)
            for step in plan.steps
        }
        self.referred: set[int] = set()

    def step(self, step: Step) -> dict[str, Any]:
        """Return one step. Raises Failure."""
        for key in ("foreach", "where"):
            if getattr(step, key) is not None:
                raise _unsayable(step, f"Arazzo has nothing for {key}")
        row = chosen(self._rows[step.number], step.params)
        if row.update is not None and row.update.strategy == "put-merge":
            raise _unsayable(step, f"{row.name} reads before it writes, which is two requests")
        written: dict[str, Any] = {"stepId": self._ids[step.number], **self._operation(row)}
        parameters, body = self._sent(step, row)
        if parameters:
            written["parameters"] = parameters
        if body is not None:
            written["requestBody"] = body
        criteria = [_SUCCESS, *self._criteria(step, row)]
        written["successCriteria"] = [{"condition": condition} for condition in criteria]
        return written

    def _operation(self, row: Row) -> dict[str, str]:
        if row.operation_id:
            return {"operationId": row.operation_id}
        pointer = _pointer(["paths", row.path, row.method.lower()])
        return {"operationPath": f"{{$sourceDescriptions.{self._source}.url}}#{pointer}"}

    def _sent(self, step: Step, row: Row) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
        """Return the parameters and the body of a step's request."""
        parameters: list[dict[str, Any]] = []
        fields: dict[str, Any] = {}
        whole: list[Any] = []
        for name, agent_value in step.params.items():
            parameter = row.parameters.get(name)
            if parameter is None:
                raise _unsayable(step, f"'{name}' is not the name of a parameter; introspection has the names")
            if parameter.location == ADAPTER:
                if parameter.wire != "fields" and name not in row.choices:
                    raise _unsayable(step, f"'{name}' is the adapter's own, and not sent")
                continue
            value = self._value(self._names.to_wire(agent_value, parameter.schema), step)
            if not parameter.location.startswith("body"):
                parameters.append({"name": parameter.wire, "in": parameter.location, "value": value})
            elif row.body is not None and row.body.parameter == name:
                whole.append(value)
            elif parameter.location == "body_rest":
                fields |= value if isinstance(value, dict) else {}
            else:
                fields[parameter.wire] = value
        if row.body is None or not (whole or fields):
            return parameters, None
        return parameters, {"contentType": row.body.content_type, "payload": whole[0] if whole else fields}

    def _criteria(self, step: Step, row: Row) -> Iterator[str]:
        for field, tests in (step.expect or {}).items():
            if row.paging is not None:
                raise _unsayable(step, "expect is of an answer in pages")
            path = self._path(row, field.split("."), step)
            for key, wanted in tests.items():
                if key not in _SIGNS:
                    raise _unsayable(step, f"Arazzo has nothing for '{key}'")
                yield f"$response.body#{path} {_SIGNS[key]} {self._literal(wanted, step)}"

    def _literal(self, value: Any, step: Step) -> str:
        if is_reference(value):
            return self._expression(read_reference(value), step)
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        if value is None or isinstance(value, bool):
            return {None: "null", True: "true", False: "false"}[value]
        if isinstance(value, (int, float)):
            return str(value)
        raise _unsayable(step, "a condition compares with a list or an object")

    def outputs(self, returns: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield the outputs of the workflow. Raises Failure."""
        for name, value in returns.items():
            plain = name.replace("-", "").replace("_", "").replace(".", "")
            if not is_reference(value) or not (plain.isascii() and plain.isalnum()):
                raise _refusal(
                    f"return: '{name}' is not a reference with a plain name, and Arazzo has no other outputs"
                )
            yield name, self._expression(read_reference(value), None)

    def _value(self, value: Any, step: Step) -> Any:
        """Return a value with expressions for its references. Raises Failure."""
        if is_reference(value):
            return self._expression(read_reference(value), step)
        if isinstance(value, Mapping):
            return {key: self._value(inner, step) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._value(inner, step) for inner in value]
        if isinstance(value, str) and (value.startswith("$") or "{$" in value):
            raise _unsayable(step, "a text would be read as an expression")
        return value

    def _expression(self, reference: Reference, step: Step | None) -> str:
        target = self._plan.step_of(reference)
        if target is None:
            raise _unsayable(step, f"Arazzo has nothing for '{reference.text[:80]}'")
        self.referred.add(target.number)
        path = self._path(self._rows[target.number], reference.path, step)
        return f"$steps.{self._ids[target.number]}.outputs.{_ANSWER}" + (f"#{path}" if path else "")

    def _path(self, row: Row, path: Sequence[str | int | None], step: Step | None) -> str:
        """Return the JSON pointer of a part of an answer, in the API's names. Raises Failure."""
        schema = next((answer.get("schema") for status, answer in row.responses.items() if status[:1] == "2"), None)
        plan = self._names.plan(schema) if isinstance(schema, Mapping) else None
        tokens: list[str] = []
        if row.paging is not None:
            if path[:1] != ("items",) and list(path[:1]) != ["items"]:
                raise _unsayable(step, f"{row.name} answers in pages, of which Arazzo sees the items alone")
            path = path[1:]
            for token in (row.paging.items or "").split("/")[1:]:
                tokens.append(token.replace("~1", "/").replace("~0", "~"))
                plan = other_name(plan, Way.TO_AGENT, tokens[-1])[1]
        for part in path:
            if part is None:
                raise _unsayable(step, "Arazzo has nothing for [*], a field of each item")
            if isinstance(part, int):
                if part < 0:
                    raise _unsayable(step, "Arazzo counts from the beginning of a list")
                tokens.append(str(part))
                plan = None if plan is None else plan.items
            else:
                wire, plan = other_name(plan, Way.TO_WIRE, part)
                tokens.append(wire)
        return _pointer(tokens)


def _pointer(tokens: Sequence[str]) -> str:
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)


def _unsayable(step: Step | None, message: str) -> Failure:
    return _refusal(f"Step {step.number}: {message}" if step is not None else f"return: {message}")


def _refusal(message: str) -> Failure:
    return Failure(Code.INVALID_VALUE, message, {"param_name": "steps"})
