# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Old names that operations still answer to, each for as long as the adapter's owner said (R-WARN-2).

They stand in no list and no search finds them: an agent that knows one may go on, and is told of the name to use.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import cached_property
from typing import NamedTuple

from .table import FAMILIES, Table

__all__ = ["Alias", "Aliases"]


class Alias(NamedTuple):
    """Another name of an operation; it is answered to the end of the day `until` (UTC), where there is one."""

    name: str
    operation: str
    until: date | None

    @property
    def over(self) -> bool:
        """Whether its time has passed."""
        return self.until is not None and datetime.now(UTC).date() > self.until

    def describe(self, description: str) -> str:
        """Give an operation's description for an agent that asks for it by this name."""
        until = "" if self.until is None else f" and ends after {self.until.isoformat()}"
        return f"The name '{self.name}' is deprecated{until}: use '{self.operation}'. {description}"


class Aliases:
    """The aliases of a table, read when a name is asked for that no operation has."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @cached_property
    def _found(self) -> dict[str, Alias]:
        return {
            one["name"]: Alias(one["name"], name, date.fromisoformat(one["until"]) if "until" in one else None)
            for family in FAMILIES
            for name, row in self._table.raw(family).items()
            for one in row.get("aliases", ())
        }

    def find(self, name: str) -> Alias | None:
        """Give the alias of that name, None when there is none or its time has passed."""
        alias = self._found.get(name)
        return None if alias is None or alias.over else alias

    def ended(self, name: str) -> Alias | None:
        """Give the alias of that name whose time has passed."""
        alias = self._found.get(name)
        return alias if alias is not None and alias.over else None
