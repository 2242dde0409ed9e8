"""Examples of updates that are merged into what was read: they name what cannot be written back as it is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from aqlgen.ir import MISSING, Json
from aqlgen.runtime.calls.resource import carried
from aqlgen.runtime.schema.reader import agent_path, as_schema, at, schema_at, steps_of, union_of
from aqlgen.runtime.table import JsonSchema, Update
from aqlgen.table.example_calls import ExampleMaker
from aqlgen.table.model import DecidedRow
from aqlgen.table.sample_values import Schemas

__all__ = ["with_unfit_fields"]


def with_unfit_fields(rows: Iterable[DecidedRow], types: Schemas, maker: ExampleMaker) -> Iterator[DecidedRow]:
    """Yield the rows, each example with the fields without which the adapter would refuse it (R-UPD-1)."""
    by_name = {row.name: row for row in rows}
    for decided in by_name.values():
        update = decided.row.update
        reader = by_name.get(update.read or "") if update is not None and update.reads_first else None
        if update is None or reader is None or update.undeclared or decided.decision.override.example:
            yield decided
        else:
            yield _completed(decided, update, reader, types, maker)


def _completed(
    decided: DecidedRow, update: Update, reader: DecidedRow, types: Schemas, maker: ExampleMaker
) -> DecidedRow:
    row, body = decided.row, decided.row.body
    change = (row.example or {}).get("input")
    if body is None or not isinstance(change, dict):
        return decided
    steps = steps_of(update.write_at)
    written = schema_at(types, body.schema, agent_path(types, body.schema, update.write_at))
    whole: Mapping[str, Json] = change
    for path in _unfit(reader, update, written, types, maker):
        whole = _with_field(whole, (*steps, *path), body.schema, types, maker)
    if whole == change or maker.problem(row.parameters["input"].schema, whole) is not None:
        return decided
    return replace(decided, row=replace(row, example={**(row.example or {}), "input": whole}))


def _with_field(
    change: Mapping[str, Json], path: tuple[str, ...], schema: JsonSchema, types: Schemas, maker: ExampleMaker
) -> Mapping[str, Json]:
    """Return a change that also names what is at a path of the API's names; the same if there is no value for it."""
    fields = {wire: (name, inner) for name, (wire, inner) in union_of(types, schema).properties.items()}
    name, inner = fields.get(path[0], ("", {}))
    if not name:
        return change
    if name not in change:
        value = maker.value(inner)
    elif path[1:] and isinstance(change[name], dict):
        value = _with_field(change[name], path[1:], inner, types, maker)
    else:
        return change
    return change if value is MISSING else {**change, name: value}


def _unfit(
    reader: DecidedRow, update: Update, written: JsonSchema, types: Schemas, maker: ExampleMaker
) -> list[tuple[str, ...]]:
    """Return the paths of fields that are read in another form than they are written, by schema and by example."""
    good = sorted(status for status in reader.row.responses if status.startswith("2"))
    answer = as_schema(reader.row.responses[good[0]].get("schema")) if good else {}
    read = schema_at(types, answer, agent_path(types, answer, update.read_at))
    example: Any = at(reader.mock.get("body"), steps_of(update.read_at))
    resources = [maker.answer(read), *([example] if isinstance(example, Mapping) else ())]
    unfit = (path for resource in resources for path in carried(types, resource, written, read).unfit)
    return list(dict.fromkeys(path.path for path in unfit if path.path))
