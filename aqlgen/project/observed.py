"""Entries of overrides.yaml that were observed, beside a newer document: where it no longer says what it said then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import yaml

from aqlgen.decide.decision import OBSERVABLE, Decision, observation, observed
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import Json
from aqlgen.pipeline import Options, Prepared, Progress, prepare
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.overriding import overridden
from aqlgen.runtime.schema import resolve, union_of
from aqlgen.runtime.table import Row
from aqlgen.table.model import Table

__all__ = ["contradicted"]

_FIELDS: Final = OBSERVABLE | {"body"}
"""The keys of the file under which observations stand."""


def contradicted(project: Project, options: Options, newer: Prepared, progress: Progress) -> Iterator[Diagnostic]:
    """Yield a warning for each observed field of which the newer document says something else than the kept one."""
    fields = {
        decision.operation.key: [field for field in decision.override.sources if observed(decision.override, field)]
        for decision in newer.decisions
    }
    if not any(fields.values()):
        return
    silent = _without_observed((project.folder / OVERRIDES).read_bytes())
    kept = overridden(project.options(), project.folder, silent)
    before = prepare(kept, progress)
    after = prepare(replace(overridden(options, project.folder, silent), strict=False), progress, newer)
    words = [{row.decision.operation.key: row.row for row in each.table.rows} for each in (before, after)]
    for decision in newer.decisions:
        key = decision.operation.key
        old, new = (rows.get(key) for rows in words)
        for field in fields[key]:
            if old and new and _word(old, field, before.table) != _word(new, field, after.table):
                yield _warning(decision, field, str(project.folder / OVERRIDES))


def _without_observed(content: bytes) -> bytes:
    """Return overrides without what was observed: what the document and the owner say."""
    entries: dict[str, Any] = yaml.safe_load(content) or {}
    for key, entry in entries.items():
        if isinstance(entry, Mapping) and observation(entry.get("why")):
            entries[key] = {field: value for field, value in entry.items() if field not in _FIELDS}
    return yaml.safe_dump(entries, sort_keys=False).encode()


def _word(row: Row, field: str, table: Table) -> object:
    """Return what decides about a field where nothing was observed."""
    kind, _, name = field.partition(".")
    if kind == "send":
        return row.update
    if kind == "parameters":
        return _schema(row, name.rpartition(":")[2], table)
    if kind == "content_type":
        return None if row.body is None else row.body.content_type
    return (row.danger, row.asked) if kind == "reversible" else getattr(row, kind)


def _schema(row: Row, wire: str, table: Table) -> Json:
    """Return the schema of a parameter, or of a field of an update, by the API's name."""
    inner = {} if row.body is None else dict(union_of(table.types, row.body.schema).properties.values())
    schemas = inner | {parameter.wire: parameter.schema for parameter in row.parameters.values()}
    return dict(resolve(schemas.get(wire, {}), table.types))


def _warning(decision: Decision, field: str, file: str) -> Diagnostic:
    kind, _, name = field.partition(".")
    override = decision.override
    line, column = override.parameters[name].place if kind == "parameters" else override.places[field]
    seen = observed(override, field).partition(":")[0]
    return Diagnostic(
        "contradicted-observation",
        Severity.WARNING,
        f"the document changed {decision.operation.key} since its `{field}` was observed on {seen}",
        file=file,
        line=line,
        column=column,
        help="Run `aqlgen learn` again, or delete the field if the document is right now. Until then it holds.",
    )
