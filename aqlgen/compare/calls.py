"""Changes of how an operation is called and of what it answers: parameters, body, paging, answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aqlgen.compare.facets import described
from aqlgen.compare.grouping import Findings
from aqlgen.compare.model import Difference, Direction, Place
from aqlgen.compare.nodes import Types, resolve, split_null
from aqlgen.compare.surface import Operation, Surface
from aqlgen.compare.walk import Walk
from aqlgen.ir import Json
from aqlgen.runtime.schema import steps_of
from aqlgen.runtime.table import ADAPTER, Parameter
from aqlgen.runtime.text import folded
from aqlgen.runtime.wire import admits_json
from aqlgen.table.model import Schema

Parameters = Mapping[str, Parameter]

_BODY: Final = frozenset({"body", "body_rest"})
_NAME_RULES: Final = frozenset({"field-renamed", "parameter-renamed", "parameter-respelled"})
_PAGING_PARAMETERS: Final = frozenset({"first", "after", "last", "before"})
_SELECTION_PARAMETERS: Final = frozenset({"fields"})
_ACROSS_FIELDS: Final = (
    "minProperties", "maxProperties", "patternProperties", "propertyNames", "unevaluatedProperties",
)  # fmt: skip
"""Keywords of a body that bind several of its fields."""


class Calls:
    """Compares how operations are called; their schemas are left to the walk."""

    def __init__(self, old: Surface, new: Surface, findings: Findings) -> None:
        self._old = old
        self._new = new
        self._findings = findings
        self.walk = Walk(old.types, new.types)

    def compare(self, old: Operation, new: Operation) -> None:
        """Compare one operation."""
        answers = self._answer(old, self._old), self._answer(new, self._new)
        is_same_paging = self._compare_paging(old, new, answers)
        ignored = (_SELECTION_PARAMETERS if None in answers else frozenset()) | (
            frozenset() if (_paged(old) is None) == (_paged(new) is None) else _PAGING_PARAMETERS
        )
        self._compare_parameters(old, new, ignored)
        if _rules_across_fields(old, self._old) != _rules_across_fields(new, self._new):
            self._findings.note("checks-changed", new.name)
        if is_same_paging:
            self._compare_answers(*answers, new.name)

    def _compare_paging(self, old: Operation, new: Operation, answers: tuple[Schema | None, Schema | None]) -> bool:
        """Note other paging; return True if pages of the same list are answered as before, or none as before."""
        before, after = _paged(old), _paged(new)
        if before is None or after is None:
            if before != after:
                verb = "no longer [answers|answer]" if after is None else "now [answers|answer]"
                self._findings.note("paging-changed", new.name, wording=f"{verb} page by page: items and pageInfo")
            return before == after
        if before == after or described(answers[0] or {}) == described(answers[1] or {}):
            return True
        wording = "[answers|answer] pages of {} now, not of {}"
        self._findings.note("paging-changed", new.name, after.lstrip("/"), before.lstrip("/"), wording=wording)
        return False

    def report(self) -> None:
        """Add all differences; those of single names only if the adapter spells fields as before."""
        respelled = self._old.adapter.field_case != self._new.adapter.field_case
        self.walk.report(self._findings, _NAME_RULES if respelled else ())

    def _compare_parameters(self, old: Operation, new: Operation, ignored: frozenset[str]) -> None:
        before, after = self._shown(old, new, ignored), self._shown(new, old, ignored)
        before, after = self._compare_shapes(old, new, before, after)
        renamed = _renamed(before, after)
        for name, entry in before.items():
            new_name = renamed.get(name, name)
            if new_name not in after:
                if name not in new.hidden_parameters:
                    self._add(Difference("parameter-removed"), name, new)
                continue
            if new_name != name:
                is_accepted = folded(new_name) == folded(name) or name == after[new_name].wire
                rule = "parameter-respelled" if is_accepted else "parameter-renamed"
                self._add(Difference(rule, (new_name,)), name, new)
            self._compare_parameter(entry, after[new_name], new_name, new)
        for name in sorted(after.keys() - before.keys() - set(renamed.values())):
            required = after[name].required
            self._add(Difference("required-parameter-added" if required else "parameter-added"), name, new)

    def _compare_parameter(self, old: Parameter, new: Parameter, name: str, operation: Operation) -> None:
        if old.required != new.required:
            self._add(Difference("parameter-required" if new.required else "parameter-optional"), name, operation)
        if new.deprecated and not old.deprecated:
            self._add(Difference("field-deprecated"), name, operation)
        is_partial = name == "input" and operation.update is not None and operation.update.is_partial
        direction = Direction.PARTIAL if is_partial else Direction.INPUT
        self.walk.compare(old.schema, new.schema, direction, Place("parameter", name), operation.name)

    def _shown(self, operation: Operation, other: Operation, ignored: frozenset[str]) -> Parameters:
        """Return the parameters without the adapter's own that are ignored, or that differ because the tool does."""
        same_family = operation.family == other.family
        return {
            name: parameter
            for name, parameter in operation.shown_parameters.items()
            if parameter.location != ADAPTER or (same_family and name not in ignored)
        }

    def _compare_shapes(
        self, old: Operation, new: Operation, before: Parameters, after: Parameters
    ) -> tuple[Parameters, Parameters]:
        """Compare a body whose fields were parameters and are fields of one parameter now, or the other way round.

        Returns the parameters that are left to compare.
        """
        shapes = [None if operation.body is None else operation.body.shape for operation in (old, new)]
        if shapes not in (["fields", "whole"], ["whole", "fields"]):
            return before, after
        whole = new if shapes[1] == "whole" else old
        name = (whole.body.parameter if whole.body is not None else None) or "input"
        wording = f"{'takes' if whole is new else 'no longer takes'} the fields of its body within {{}}"
        wording += " now" if whole is new else ", but each as a parameter"
        self._findings.note("body-reshaped", new.name, name, wording=wording)
        old_schema, new_schema = (
            operation.shown_parameters[name].schema if operation is whole else _object(operation.shown_parameters)
            for operation in (old, new)
        )
        self.walk.compare(old_schema, new_schema, Direction.INPUT, Place("parameter", name), new.name)
        return _outside(before), _outside(after)

    def _compare_answers(self, before: Schema | None, after: Schema | None, name: str) -> None:
        if before is not None and after is not None:
            self.walk.compare(before, after, Direction.OUTPUT, Place("answer"), name)
        elif after is not None:
            self._findings.note("answer-added", name)
        elif before is not None:
            self._findings.note("answer-removed", name)

    def _answer(self, operation: Operation, side: Surface) -> Schema | None:
        """Return the schema of the answer, for pages that of an item where it is known; None without an answer."""
        response = next((entry for entry in operation.responses.values() if "content_type" in entry), None)
        if response is None:
            return None
        whole: Schema = response.get("schema", {} if admits_json(response["content_type"]) else {"type": "string"})
        pointer = _paged(operation)
        if pointer is None:
            return whole
        schema = whole
        for step in steps_of(pointer):
            schema = self._step(schema, step, side)
        items: Schema | None = resolve(split_null(schema)[0], side.types).get("items")
        return items or whole

    def _step(self, schema: Schema, wire: str, side: Surface) -> Schema:
        properties = resolve(split_null(schema)[0], side.types).get("properties", {})
        return next((field for name, field in properties.items() if field.get("x-name", name) == wire), {})

    def _add(self, difference: Difference, name: str, operation: Operation) -> None:
        self.walk.add(difference, Direction.INPUT, Place("parameter", name), operation.name)


def _paged(operation: Operation) -> str | None:
    """Return the pointer to the items in the API's answer, None for an operation that does not page."""
    return None if operation.paging is None else operation.paging.items or ""


def _renamed(before: Parameters, after: Parameters) -> dict[str, str]:
    """Return the parameters that the API still spells as before: the agent's old name → the new one."""
    added = {(entry.wire, entry.location): name for name, entry in after.items() if name not in before}
    renamed = {name: added.get((entry.wire, entry.location)) for name, entry in before.items() if name not in after}
    return {name: new_name for name, new_name in renamed.items() if new_name is not None}


def _object(parameters: Parameters) -> Schema:
    """Return the object that the fields of a body make."""
    fields = {name: entry for name, entry in parameters.items() if entry.location == "body"}
    return {
        "type": "object",
        "properties": {name: {**entry.schema, "x-name": entry.wire} for name, entry in fields.items()},
        "required": [name for name, entry in fields.items() if entry.required],
    }


def _outside(parameters: Parameters) -> Parameters:
    return {name: entry for name, entry in parameters.items() if entry.location not in _BODY}


def _rules_across_fields(operation: Operation, side: Surface) -> Json:
    """Return the rules that bind the fields of a body to one another: equal for the same rules, None without any.

    Those of alternatives are the fields that each requires; the fields are parameters and compared as such.
    """
    body = operation.body
    if body is None or body.shape != "fields" or not body.validate:
        return None
    schema = resolve(body.schema, side.types)
    rules = {key: schema[key] for key in _ACROSS_FIELDS if key in schema}
    required = sorted({_required(branch, side.types) for branch in schema.get("anyOf", ())})
    return rules | ({"anyOf": required} if len(required) > 1 else {}) or None


def _required(branch: Json, types: Types) -> tuple[str, ...]:
    schema = resolve(branch, types) if isinstance(branch, Mapping) else {}
    return tuple(sorted(schema.get("required", ())))
