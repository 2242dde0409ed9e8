"""Overrides that aqlgen adds to overrides.yaml: accepted hosts, and old names as aliases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from aqlgen.decide.decision import Alias, Decision
from aqlgen.decide.naming.uniqueness import followed
from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Json
from aqlgen.pipeline import Options, Prepared
from aqlgen.project import OVERRIDES
from aqlgen.project.insertion import InsertionError, insert
from aqlgen.resources import own_templates

__all__ = ["aliases", "overridden", "renamed", "with_entries", "with_hosts"]


def overridden(options: Options, folder: Path, overrides: bytes | None) -> Options:
    """Return the options with overrides that the project's file is to have; None keeps those of the options."""
    return options if overrides is None else replace(options, overrides=folder / OVERRIDES, overrides_text=overrides)


def renamed(
    options: Options, days: int | None, prepared: Prepared, names: Mapping[str, str]
) -> dict[str, dict[str, Json]]:
    """Return the overrides that keep the old names of renamed operations for some days, {} for None.

    `names` are the former names by `METHOD /path`.
    """
    if days is None:
        return {}
    return aliases(names, options.ids, prepared.decisions, datetime.now(UTC).date() + timedelta(days=days))


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
            overrides[decision.operation.key] = {"aliases": [_as_json(alias) for alias in extended]}
    return overrides


def _as_json(alias: Alias) -> Json:
    return alias.name if alias.until is None else {"name": alias.name, "until": alias.until.isoformat()}


def with_entries(folder: Path, added: Mapping[str, Mapping[str, Json]], what: str) -> bytes:
    """Return the overrides of a folder with more fields. Raises OptionError where there is no place for them."""
    path = folder / OVERRIDES
    overrides = path.read_bytes() if path.is_file() else b""
    try:
        return insert(overrides.decode("utf-8"), added).encode("utf-8")
    except InsertionError as error:
        message = f"the {what} of {error} cannot be added to its overrides"
        raise OptionError.of("bad-override", message, file=str(path), help="Put them there by hand.") from None


def with_hosts(path: Path | None, entry: Mapping[str, Mapping[str, Json]]) -> bytes:
    """Return the overrides of a new project, with more accepted hosts. Raises OptionError where there is no place.

    `entry` is as `entry_of` returns it.
    """
    if path is None:
        text = (own_templates() / "templates/project" / OVERRIDES).read_text(encoding="utf-8")
    else:
        text = path.read_text(encoding="utf-8")
    before: dict[str, Any] = yaml.safe_load(text) or {}
    added: dict[str, dict[str, Json]] = {}
    if "adapter" in entry:
        listed = (before.get("adapter") or {}).get("hosts") or ()
        added["adapter"] = {"hosts": [*listed, *entry["adapter"]["hosts"]]}
    if "apis" in entry:
        sections = before.get("apis") or {}
        added["apis"] = {
            api: {
                **(sections.get(api) or {}),
                "hosts": [*((sections.get(api) or {}).get("hosts") or ()), *section["hosts"]],
            }
            for api, section in entry["apis"].items()
        }
    try:
        return insert(text, added).encode("utf-8")
    except InsertionError:
        message = "the hosts cannot be added to the adapter's overrides"
        raise OptionError.of("bad-override", message, file=str(path), help="Put them there by hand.") from None
