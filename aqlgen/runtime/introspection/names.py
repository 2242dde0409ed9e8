# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Other names of operations: aliases, and the API's own spellings (R-REQ-2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from functools import cached_property
from typing import NamedTuple

from ..table import Table
from ..text import folded

__all__ = ["Alias", "Aliases", "Spellings", "spellings_of_resource"]


class Alias(NamedTuple):
    """Another name of an operation; it is answered to the end of the day `until` (UTC), if there is one."""

    name: str
    operation: str
    until: date | None

    @property
    def ended(self) -> bool:
        """True when its last day has passed."""
        return self.until is not None and datetime.now(UTC).date() > self.until

    def describe(self, description: str) -> str:
        """Return an operation's description for an agent that asks for it by this name."""
        until = "" if self.until is None else f" and ends after {self.until.isoformat()}"
        return f"The name '{self.name}' is deprecated{until}: use '{self.operation}'. {description}"


class Aliases:
    """The aliases of a table, read when a name is asked for that no operation has."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @cached_property
    def _by_name(self) -> dict[str, Alias]:
        return {
            former.name: Alias(former.name, name, former.until)
            for name, _, (aliases,) in self._table.values("aliases")
            for former in aliases
        }

    def find(self, name: str) -> Alias | None:
        """Return the alias of that name, None if there is none or it has ended."""
        alias = self._by_name.get(name)
        return None if alias is None or alias.ended else alias

    def ended(self, name: str) -> Alias | None:
        """Return the alias of that name if it has ended."""
        alias = self._by_name.get(name)
        return alias if alias is not None and alias.ended else None


class Spellings:
    """Other spellings of a table's operations, collected at the first name that no operation has."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, text: str) -> str | None:
        """Return the operation that a text means beyond doubt.

        The text may be its operation id, its method and path, or these or its name in other case or with hyphens.
        """
        name = self._by_operation_id.get(text)
        if name is None:
            plain = folded(" ".join(text.split()))
            name = self._by_name.get(plain) or self._by_address.get(plain)
        return name

    @cached_property
    def _by_operation_id(self) -> Mapping[str, str]:
        return _unique((operation_id or name, name) for name, _, (operation_id,) in self._table.values("operation_id"))

    @cached_property
    def _by_name(self) -> Mapping[str, str]:
        rows = self._table.values("operation_id")
        return _unique((folded(known), name) for name, _, (id_,) in rows for known in (name, id_ or name))

    @cached_property
    def _by_address(self) -> Mapping[str, str]:
        rows = list(self._table.values("method", "path", "api"))
        keys = ((folded(f"{method} {path}"), name) for name, _, (method, path, _) in rows)
        of_apis = ((folded(f"{api}:{method} {path}"), name) for name, _, (method, path, api) in rows if api)
        return _unique((*keys, *of_apis))

    def at(self, text: str) -> list[str]:
        """Return the operations whose path a method and path, or a path alone, fits; those of that method first."""
        method, _, path = text.strip().rpartition(" ")
        if not path.startswith("/"):
            return []
        steps = path.partition("?")[0].rstrip("/").split("/")
        fitting = [
            (known_method.lower() != (method.lower() or "get"), known_path.count("{"), name)
            for name, _, (known_method, known_path) in self._table.values("method", "path")
            if _fits(known_path.rstrip("/").split("/"), steps)
        ]
        fitting.sort(key=lambda item: item[:2])
        return [name for _, _, name in fitting]


def _unique(spellings: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return names by their spellings, without the spellings that two operations share."""
    names_by_spelling: dict[str, set[str]] = {}
    for spelling, name in spellings:
        names_by_spelling.setdefault(spelling, set()).add(name)
    return {spelling: next(iter(names)) for spelling, names in names_by_spelling.items() if len(names) == 1}


def _fits(template: list[str], steps: list[str]) -> bool:
    return len(template) == len(steps) and all(
        pattern == step or "{" in pattern for pattern, step in zip(template, steps, strict=True)
    )


def spellings_of_resource(resource: str) -> set[str]:
    """Return the names that a resource may have in the table, for what an agent calls it."""
    wanted = resource.strip().lower().replace("-", "_").replace(" ", "_")
    return {wanted, wanted.removesuffix("s")}
