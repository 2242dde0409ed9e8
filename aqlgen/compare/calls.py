"""What changed about how an operation is called and what it answers: parameters, body, paging, answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from aqlgen.compare.bound import bound
from aqlgen.compare.facets import Aspect, described
from aqlgen.compare.fields import folded
from aqlgen.compare.model import Direction, Place
from aqlgen.compare.nodes import bare, worded
from aqlgen.compare.notes import Notes
from aqlgen.compare.surface import Operation, Surface
from aqlgen.compare.walk import Finding, Walk
from aqlgen.runtime.media import admits_json
from aqlgen.runtime.table import ADAPTER, Parameter
from aqlgen.table.model import Schema

__all__ = ["Calls"]

Parameters = Mapping[str, Parameter]

_PARTIAL: Final = frozenset({"merge-patch", "json-patch", "patch", "put-merge"})
_BODY: Final = frozenset({"body", "body_rest"})
_SPELLED: Final = frozenset({"field-renamed", "parameter-renamed", "parameter-respelled"})
_PAGING: Final = frozenset({"first", "after", "last", "before"})
_CHOOSING: Final = frozenset({"fields"})


class Calls:
    """Compares how operations are called; what is in their schemas goes to the walk."""

    def __init__(self, old: Surface, new: Surface, notes: Notes) -> None:
        self._old = old
        self._new = new
        self._notes = notes
        self.walk = Walk(old.types, new.types)

    def compare(self, old: Operation, new: Operation) -> None:
        """Compare one operation."""
        answers = self._answer(old, self._old), self._answer(new, self._new)
        alike = self._paged_alike(old, new, answers)
        ignored = (_CHOOSING if None in answers else frozenset()) | (
            frozenset() if (_paged(old) is None) == (_paged(new) is None) else _PAGING
        )
        self._parameters(old, new, ignored)
        if bound(old, self._old) != bound(new, self._new):
            self._notes.tell("checks-changed", new.name)
        if alike:
            self._answers(*answers, new.name)

    def _paged_alike(self, old: Operation, new: Operation, answers: tuple[Schema | None, Schema | None]) -> bool:
        """Whether pages are answered as before, or none as before; if not, it is noted."""
        before, after = _paged(old), _paged(new)
        if before is None or after is None:
            if before != after:
                told = "no longer [answers|answer]" if after is None else "now [answers|answer]"
                self._notes.tell("paging-changed", new.name, form=f"{told} page by page: items and pageInfo")
            return before == after
        if before == after or described(answers[0] or {}) == described(answers[1] or {}):
            return True
        form = "[answers|answer] pages of {} now, not of {}"
        self._notes.tell("paging-changed", new.name, after.lstrip("/"), before.lstrip("/"), form=form)
        return False

    def findings(self) -> Iterator[Finding]:
        """Give all that was found; where fields are spelled otherwise altogether, not that each of them is."""
        respelled = self._old.adapter.field_case != self._new.adapter.field_case
        for one in self.walk.findings():
            if not (respelled and one.aspect.rule in _SPELLED):
                yield one

    def _parameters(self, old: Operation, new: Operation, ignored: frozenset[str]) -> None:
        before, after = self._shown(old, new, ignored), self._shown(new, old, ignored)
        before, after = self._reshaped(old, new, before, after)
        renamed = _renamed(before, after)
        for name, entry in before.items():
            now = renamed.get(name, name)
            if now not in after:
                if not _still_taken(name, new):
                    self._say(Aspect("parameter-removed"), name, new)
                continue
            if now != name:
                known = folded(now) == folded(name) or name == after[now].wire
                self._say(Aspect("parameter-respelled" if known else "parameter-renamed", (now,)), name, new)
            self._parameter(entry, after[now], now, new)
        for name in after.keys() - before.keys() - set(renamed.values()):
            needed = after[name].required
            self._say(Aspect("required-parameter-added" if needed else "parameter-added"), name, new)

    def _parameter(self, old: Parameter, new: Parameter, name: str, operation: Operation) -> None:
        if old.required != new.required:
            self._say(Aspect("parameter-required" if new.required else "parameter-optional"), name, operation)
        if new.deprecated and not old.deprecated:
            self._say(Aspect("field-deprecated"), name, operation)
        partial = name == "input" and operation.update is not None and operation.update.strategy in _PARTIAL
        direction = Direction.PARTIAL if partial else Direction.INPUT
        self.walk.root(old.schema, new.schema, direction, Place("parameter", name), operation.name)

    def _shown(self, operation: Operation, other: Operation, ignored: frozenset[str]) -> Parameters:
        """Give the parameters; of those of the adapter's own, none that only say what the operation is."""
        alike = operation.family == other.family
        return {
            name: one
            for name, one in operation.shown_parameters.items()
            if one.location != ADAPTER or (alike and name not in ignored)
        }

    def _reshaped(
        self, old: Operation, new: Operation, before: Parameters, after: Parameters
    ) -> tuple[Parameters, Parameters]:
        """Compare the fields of a body that each were a parameter and are one parameter's now, or otherwise."""
        shapes = [None if one.body is None else one.body.shape for one in (old, new)]
        if shapes not in (["fields", "whole"], ["whole", "fields"]):
            return before, after
        whole = new if shapes[1] == "whole" else old
        name = (whole.body.parameter if whole.body is not None else None) or "input"
        form = f"{'takes' if whole is new else 'no longer takes'} the fields of its body within {{}}"
        form += " now" if whole is new else ", but each as a parameter"
        self._notes.tell("body-reshaped", new.name, name, form=form)
        was, now = (
            one.shown_parameters[name].schema if one is whole else _object(one.shown_parameters) for one in (old, new)
        )
        self.walk.root(was, now, Direction.INPUT, Place("parameter", name), new.name)
        return _outside(before), _outside(after)

    def _answers(self, before: Schema | None, after: Schema | None, name: str) -> None:
        if before is not None and after is not None:
            self.walk.root(before, after, Direction.OUTPUT, Place("answer"), name)
        elif after is not None:
            self._notes.tell("answer-added", name)
        elif before is not None:
            self._notes.tell("answer-removed", name)

    def _answer(self, operation: Operation, side: Surface) -> Schema | None:
        """Give the schema of what is answered, of pages that of an item where it is known; None when nothing is."""
        found = next((one for one in operation.responses.values() if "content_type" in one), None)
        if found is None:
            return None
        whole: Schema = found.get("schema", {} if admits_json(found["content_type"]) else {"type": "string"})
        pointer = _paged(operation)
        if pointer is None:
            return whole
        schema = whole
        for step in pointer.split("/")[1:]:
            schema = self._step(schema, step.replace("~1", "/").replace("~0", "~"), side)
        items: Schema | None = worded(bare(schema)[0], side.types).get("items")
        return items or whole

    def _step(self, schema: Schema, wire: str, side: Surface) -> Schema:
        properties = worded(bare(schema)[0], side.types).get("properties", {})
        return next((one for name, one in properties.items() if one.get("x-name", name) == wire), {})

    def _say(self, aspect: Aspect, name: str, operation: Operation) -> None:
        self.walk.note(aspect, Direction.INPUT, Place("parameter", name), operation.name)


def _paged(operation: Operation) -> str | None:
    """Give where in the API's answer the items are that an operation pages, None for one that does not page."""
    return None if operation.paging is None else operation.paging.items or ""


def _renamed(before: Parameters, after: Parameters) -> dict[str, str]:
    """Give the parameters that the API still spells as before, under the agent's name before and now."""
    now = {(one.wire, one.location): name for name, one in after.items() if name not in before}
    found = {name: now.get((one.wire, one.location)) for name, one in before.items() if name not in after}
    return {name: other for name, other in found.items() if other is not None}


def _still_taken(name: str, operation: Operation) -> bool:
    """Whether a parameter is shown no more but taken all the same, as those are that `first` and `after` stand for."""
    return name in operation.hidden_parameters


def _object(parameters: Parameters) -> Schema:
    """Give the object that the fields of a body make."""
    fields = {name: one for name, one in parameters.items() if one.location == "body"}
    return {
        "type": "object",
        "properties": {name: {**one.schema, "x-name": one.wire} for name, one in fields.items()},
        "required": [name for name, one in fields.items() if one.required],
    }


def _outside(parameters: Parameters) -> Parameters:
    return {name: one for name, one in parameters.items() if one.location not in _BODY}
