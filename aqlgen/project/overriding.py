"""Overrides that aqlgen adds to overrides.yaml: accepted hosts, old names as aliases, answers and observations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from aqlgen.decide.decision import Alias, Decision
from aqlgen.decide.naming.uniqueness import followed
from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Json
from aqlgen.pipeline import Options
from aqlgen.project import OVERRIDES
from aqlgen.project.insertion import InsertionError, insert
from aqlgen.resources import own_templates


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
