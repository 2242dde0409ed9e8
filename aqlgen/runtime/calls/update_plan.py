"""How one operation updates: what it reads first, where the resource is, what of it is kept, and what may be lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..encode.urls import counterparts
from ..errors import NOT_PERFORMED, Code, Failure
from ..schema import MISSING, agent_path, as_schema, at, pointer_of, schema_at, shape_of, steps_of, union_of
from ..table import JsonSchema, first_success
from ..text import listed
from .merge import differences, filled, lacks, merged, operations
from .resource import Carried, carried, field_path, located, nested

if TYPE_CHECKING:
    from ..table import Row, Table

_MOST_FIELDS = 20


@dataclass(frozen=True, slots=True)
class UpdatePlan:
    """How one operation updates: `reader` is the operation that reads first, `patches` says that JSON Patch is sent."""

    row: Row
    table: Table
    reader: Row | None
    named: Mapping[str, str]
    patches: bool

    def reading(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of the reader."""
        return {name: params[parameter] for name, parameter in self.named.items() if parameter in params}

    def identifying(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of the reader without those that may shape its answer, such as `fields`."""
        declared = {} if self.reader is None else self.reader.parameters
        return {
            name: value
            for name, value in self.reading(params).items()
            if declared[name].required or declared[name].location == "path"
        }

    @property
    def bare_reader(self) -> Row | None:
        """The reader without the owner's defaults of parameters that may shape its answer."""
        parameters = {} if self.reader is None else self.reader.shown_parameters
        shaping = {
            name: replace(parameter, preset=None)
            for name, parameter in parameters.items()
            if parameter.preset is not None and not parameter.required and parameter.location != "path"
        }
        return (
            replace(self.reader, shown_parameters={**parameters, **shaping}) if self.reader and shaping else self.reader
        )

    def resource(self, answer: Any) -> Any:
        """Return the resource in an answer of the reader, None if it is not where it is declared."""
        inner = at(answer, steps_of(self.row.update.read_at if self.row.update is not None else ""))
        return None if inner is MISSING else inner

    def needs_reading(self, change: Any) -> bool:
        """Return True if a change is sent with something that has to be read first."""
        if self.reader is None or self.row.update is None:
            return False
        return not self.row.update.fills or lacks(change, self.table.types, self.written)

    def operations(self, change: Any) -> Any:
        """Return the operations of a change to a resource that was not read."""
        return list(operations(change)) if self.patches and isinstance(change, dict) else change

    def patch(self, answer: Any, change: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the operations of a change to a resource as it was read.

        Of a field that an object within it has, as within an envelope, nothing is known, unless it is there or declared
        there. Nor is anything of what has none of the declared fields.
        """
        there = self.resource(answer)
        declared = {wire for wire, _ in union_of(self.table.types, self.source).properties.values()}
        is_read = isinstance(there, dict) and not (there and declared and declared.isdisjoint(there))
        known = {
            key: value
            for key, value in change.items()
            if is_read and (key in there or key in declared or located(there, None, (key,)) == ())
        }
        yield from differences(there, merged(there, known)) if known else ()
        yield from operations({key: value for key, value in change.items() if key not in known})

    @property
    def written(self) -> JsonSchema:
        """The schema of the whole body."""
        return {} if self.row.body is None else self.row.body.schema

    @property
    def steps(self) -> tuple[str, ...]:
        """The path of the resource in the body."""
        return () if self.row.update is None else steps_of(self.row.update.write_at)

    @property
    def target(self) -> JsonSchema:
        """The schema of the resource as it is written; that of a file has no fields."""
        return {} if {"contentEncoding", "x-file"} & self.written.keys() else self._within(self.written, self.steps)

    @property
    def source(self) -> JsonSchema:
        """The schema of the resource as it is read."""
        if self.row.update is None or self.reader is None:
            return {}
        return self._within(_answer(self.reader), steps_of(self.row.update.read_at))

    def state(self, answer: Any, change: Mapping[str, Any]) -> Carried | None:
        """Return the part of the resource to write back, None for a new resource. Raises Failure if it is unclear."""
        update, reader = self.row.update, self.reader
        assert update is not None and reader is not None  # noqa: S101, PT018 - prepared so
        steps = None if update.undeclared else steps_of(update.read_at)
        if _is_nothing(answer, steps):
            return None
        inner = at(change, self.steps)
        names = {wire for wire, _ in union_of(self.table.types, self.target).properties.values()}
        path = located(answer, steps, names or (inner if isinstance(inner, dict) else ()))
        if path is None:
            raise unreadable(reader)
        return carried(self.table.types, at(answer, path), self.target, self._within(_answer(reader), path))

    def _within(self, schema: JsonSchema, steps: tuple[str, ...]) -> JsonSchema:
        types = self.table.types
        return schema_at(types, schema, agent_path(types, schema, pointer_of(steps)))

    def body(self, state: Carried | None, change: Mapping[str, Any], *, is_new: bool = False) -> Any:
        """Return the body that makes the change. Raises Failure when the whole lacks what is required or was there."""
        there = {} if state is None else nested(state.value, self.steps)
        whole = merged(there, change, self.table.types, self.written)
        self._check(whole, change, state or Carried(), is_new=is_new)
        return whole

    def filled(self, state: Carried | None, change: Mapping[str, Any]) -> Any:
        """Return a patch with the required fields that it lacks, as they were read."""
        there = {} if state is None else nested(state.value, self.steps)
        return filled(change, there, self.table.types, self.written)

    def side_effects(self, before: Carried, after: Carried | None, change: Mapping[str, Any]) -> list[str]:
        """Return the fields that are not as they were before the change, and that it does not name.

        Only what the request can hold counts: the update did not write the rest. Null is the same as nothing.
        """
        types, named = self.table.types, at(change, self.steps)
        named = named if isinstance(named, Mapping) else {}
        declared = {wire for wire, _ in union_of(types, self.target).properties.values()}
        expected = merged(before.value, named, types, self.target)
        labels = []
        for operation in differences(_without_nulls(expected), _without_nulls({} if after is None else after.value)):
            path = field_path(types, self.target, steps_of(operation["path"]))
            if path.path and (not declared or path.path[0] in declared) and not path.is_named(named):
                labels.append(path.label)
        return list(dict.fromkeys(labels))

    def _check(self, whole: Any, change: Mapping[str, Any], state: Carried, *, is_new: bool) -> None:
        """Raise Failure for what has to be given: what is required, and what is there in a form that is not taken."""
        types = self.table.types
        inner = at(change, self.steps)
        unfit = list(dict.fromkeys(dropped.label for dropped in state.unfit if not dropped.is_named(inner)))
        masked = {dropped.path for dropped in state.masked}
        levels = list(self._levels(whole))
        missing: list[str] = []
        hidden: list[str] = []
        for depth, (schema, value, prefix) in enumerate(levels, 1):
            there = value if isinstance(value, Mapping) else {}
            shape = shape_of(types, schema)
            wires = {
                f"{prefix}.{name}": shape.properties[name][0] for name in shape.properties if name in shape.required
            }
            for label, wire in wires.items():
                if wire not in there and label not in unfit:
                    (hidden if depth == len(levels) and (wire,) in masked else missing).append(label)
        if missing or hidden or unfit:
            raise _lacking(self.row, missing, hidden, unfit, is_new=is_new)

    def _levels(self, whole: Any) -> Iterator[tuple[JsonSchema, Any, str]]:
        """Yield the schema, the value and the path of each object down to the changed one."""
        schema, value, prefix = self.written, whole, "input"
        yield schema, value, prefix
        for step in self.steps:
            (name,) = agent_path(self.table.types, schema, pointer_of((step,)))
            schema, value, prefix = self._within(schema, (step,)), at(value, (step,)), f"{prefix}.{name}"
            yield schema, value, prefix


def _without_nulls(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without_nulls(inner) for key, inner in value.items() if inner is not None}


def _is_nothing(answer: Any, steps: tuple[str, ...] | None) -> bool:
    """Return True if nothing of a resource is there that an update could lose."""
    if steps is None:
        return answer == {} or not isinstance(answer, (dict, list))
    return answer is None or answer == {} or at(answer, steps) is None


def prepare(row: Row, table: Table) -> UpdatePlan:
    """Find out how an operation updates."""
    update = row.update
    patches = update is not None and update.strategy == "json-patch"
    reader, named = None, None
    if update is not None and (update.reads_first or update.fills):
        reader = table.find(update.read or "", "read")
        named = None if reader is None else _named(row, reader)
    if named is None:
        reader = None
    return UpdatePlan(row, table, reader, named or {}, patches)


def replaced_fields(plan: UpdatePlan, params: Mapping[str, Any]) -> list[str]:
    """Return the optional fields that a replacement lacks: what was there of them may be lost."""
    row = plan.row
    if plan.reader is not None or row.update is None or not row.update.replaces or row.body is None:
        return []
    types = plan.table.types
    asked = at(params.get(row.body.parameter or ""), agent_path(types, plan.written, row.update.write_at))
    if not isinstance(asked, Mapping):
        return []
    shape = union_of(types, plan.target)
    return [name for name in shape.properties if name not in shape.required and name not in asked]


def replacement(row: Row, table: Table) -> str:
    """Return a sentence on what an update keeps of what it does not name, "" where the API keeps all of it."""
    update = row.update
    if update is None or row.body is None:
        return ""
    if not update.replaces:
        patch = "In a merge patch a list replaces the whole list." if update.strategy == "merge-patch" else ""
        reader = prepare(row, table).reader if update.fills else None
        return patch if reader is None else f"Required fields left out are read with {reader.name}. {patch}".rstrip()
    return _replaced(prepare(row, table))


def _replaced(plan: UpdatePlan) -> str:
    """Return a sentence on what an update that sends the whole keeps."""
    types, update = plan.table.types, plan.row.update
    target = union_of(types, plan.target)
    optional = [name for name in target.properties if name not in target.required]
    if plan.reader is None:
        if not optional or len(target.properties) < 2:
            return "Replaces the whole."
        return f"Replaces the whole: fields left out of {listed(optional, _MOST_FIELDS)} may be lost."
    kept = f"Fields left out are read with {plan.reader.name} and sent back; a list replaces the whole list"
    kept = f"Creates a missing resource. {kept}" if update is not None and update.creates else kept
    if update is not None and update.undeclared:
        return f"{kept}."
    readable = {wire for wire, _ in union_of(types, plan.source).properties.values()}
    unread = [name for name in optional if target.properties[name][0] not in readable]
    return kept + (f", except {listed(unread, _MOST_FIELDS)}, which cannot be read." if unread else ".")


def unreadable(reader: Row) -> Failure:
    """Build the failure of an answer that a change cannot be merged into."""
    return Failure(
        Code.INTERNAL_ERROR,
        f"'{reader.name}' deviates from the API's document, so the change cannot be merged. "
        "Nothing was written; tell the adapter's owner.",
        {"operation": reader.name, "outcome": NOT_PERFORMED},
    )


def _lacking(row: Row, missing: list[str], hidden: list[str], unfit: list[str], *, is_new: bool) -> Failure:
    """Build the failure of fields that the caller has to give."""
    reasons = []
    if missing:
        reasons.append(f"{listed(missing)}: the resource must have it")
    if hidden:
        reasons.append(f"{listed(hidden)}: the resource must have it, and the API does not show it")
    if unfit:
        reasons.append(
            f"{listed(unfit)}: its form differs between answers and requests. Give it, or null to remove it; if the "
            "API keeps omitted fields, the adapter's owner can set `send: named` in overrides.yaml"
        )
    names = [*missing, *hidden, *unfit]
    details = {"param_name": names[0], "operation": row.name, "missing_params": names}
    message = f"Missing required parameter {'; '.join(reasons)}"
    if is_new:
        message += f". This '{row.resource}' does not exist yet; the update would create it"
    return Failure(Code.MISSING_PARAM, message, details)


def _named(row: Row, reader: Row) -> dict[str, str] | None:
    """Map the reader's parameters to the update's that have the same value; None if a required one has none."""
    named = counterparts(reader, row)
    return named if all(name in named for name, parameter in reader.parameters.items() if parameter.required) else None


def _answer(reader: Row) -> JsonSchema:
    return as_schema(first_success(reader.responses).get("schema"))
