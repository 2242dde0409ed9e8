"""Overrides that aqlgen adds to overrides.yaml: accepted hosts, and old names as aliases; and those that
were observed, where a newer document no longer says the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final

import yaml

from aqlgen.decide.decision import OBSERVABLE, Alias, Decision, observation, observed
from aqlgen.decide.naming.uniqueness import followed
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Json
from aqlgen.pipeline import Options, Prepared, Progress, prepare
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.insertion import InsertionError, insert
from aqlgen.resources import own_templates
from aqlgen.runtime.schema import resolve, union_of
from aqlgen.runtime.table import Row
from aqlgen.table.model import Table


def overridden(options: Options, folder: Path, overrides: bytes | None) -> Options:
    """Return the options with overrides that the project's file is to have; None keeps those of the options."""
    return options if overrides is None else replace(options, overrides=folder / OVERRIDES, overrides_text=overrides)


def aliases(
    names: Mapping[str, str], ids: Mapping[str, str], decisions: Iterable[Decision], until: date
) -> dict[str, dict[str, Json]]:
    """Return the overrides by `METHOD /path`; `names` and `ids` are the former names and operationIds.

    A name that another operation has now, or has as its operationId, or that is an alias already, is left out.
    """
    served = list(decisions)
    taken = {decision.name for decision in served}
    taken |= {alias.name for decision in served for alias in decision.override.aliases}
    today = {decision.operation.key: decision.operation.operation_id or "" for decision in served}
    by_id = {decision.operation.id_as_name: decision.operation.key for decision in served}
    known = followed(names, today, ids, today)
    overrides: dict[str, dict[str, Json]] = {}
    for decision in served:
        old = known.get(decision.operation.key)
        if old is not None and old not in taken and by_id.get(old, decision.operation.key) == decision.operation.key:
            taken.add(old)
            extended = (*decision.override.aliases, Alias(old, until))
            former = [
                {"name": each.name, "until": each.until.isoformat()} if each.until else each.name for each in extended
            ]
            overrides[decision.operation.key] = {"aliases": former}
    return overrides


def with_entries(folder: Path, added: Mapping[str, Mapping[str, Json]], what: str) -> bytes:
    """Return the overrides of a folder with more fields. Raises OptionError where there is no place for them."""
    path = folder / OVERRIDES
    return _inserted(path.read_bytes().decode("utf-8") if path.is_file() else "", added, path, what)


def with_hosts(path: Path | None, entry: Mapping[str, Mapping[str, Json]]) -> bytes:
    """Return the overrides of a new project, with more accepted hosts. Raises OptionError where there is no place.

    `entry` is as `entry_of` returns it.
    """
    source = own_templates() / "templates/project" / OVERRIDES if path is None else path
    text = source.read_text(encoding="utf-8")
    before: dict[str, Any] = yaml.safe_load(text) or {}

    def extended(section: Mapping[str, Json] | None, more: Mapping[str, Json]) -> dict[str, Json]:
        return {**(section or {}), "hosts": [*((section or {}).get("hosts") or ()), *more["hosts"]]}

    added: dict[str, dict[str, Json]] = {}
    if "adapter" in entry:
        added["adapter"] = {"hosts": extended(before.get("adapter"), entry["adapter"])["hosts"]}
    if "apis" in entry:
        sections = before.get("apis") or {}
        added["apis"] = {api: extended(sections.get(api), more) for api, more in entry["apis"].items()}
    return _inserted(text, added, source, "hosts")


def _inserted(text: str, added: Mapping[str, Mapping[str, Json]], path: Path, what: str) -> bytes:
    try:
        return insert(text, added).encode("utf-8")
    except InsertionError as error:
        message = f"the {what} of {error} cannot be added to its overrides"
        raise OptionError.of("bad-override", message, file=str(path), help="Put them there by hand.") from None


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
    """Return the value that decides about a field where nothing was observed."""
    kind, _, name = field.partition(".")
    if kind == "send":
        return row.update
    if kind == "parameters":
        return _schema(row, name.rpartition(":")[2], table)
    if kind == "content_type":
        return None if row.body is None else row.body.content_type
    return (row.danger, row.asked) if kind == "can_undo" else getattr(row, kind)


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
