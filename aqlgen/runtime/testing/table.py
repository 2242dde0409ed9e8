# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The adapter's table as the tests ask for it: each operation with what a call of it gives."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from ..table import FAMILIES, Adapter, Table

_T = TypeVar("_T")
PACKAGE = __name__.partition(".runtime.")[0]
FOLDER = Path(import_module(PACKAGE).__file__ or "").resolve().parent
SAMPLE = int(os.environ.get("ADAPTER_SAMPLE") or 0)
"""About how many operations are tried; 0: all."""


@dataclass(frozen=True)
class Operation:
    """An operation by its row."""

    row: Any
    security: tuple[tuple[str, ...], ...]
    """The alternatives of security schemes, its own or the adapter's."""

    @property
    def name(self) -> str:
        return str(self.row.name)

    @property
    def family(self) -> str:
        return str(self.row.family)

    @property
    def danger(self) -> str:
        return str(self.row.danger)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters that are shown, by name."""
        shown: Mapping[str, Any] = self.row.shown_parameters
        return shown

    @property
    def example(self) -> Mapping[str, Any] | None:
        """The parameters of a call that is valid; None when none could be made."""
        example: Mapping[str, Any] | None = self.row.example
        return example

    @property
    def returns(self) -> Mapping[str, Any]:
        returns: Mapping[str, Any] = self.row.returns
        return returns

    @property
    def pages(self) -> bool:
        """True if it takes `first` and `after`."""
        return self.row.paging is not None

    @property
    def reads_first(self) -> bool:
        """True if it may read what it updates."""
        return self.row.update is not None and self.row.update.strategy in ("put-merge", "json-patch")

    @property
    def required(self) -> list[str]:
        return [name for name, parameter in self.parameters.items() if parameter.required]

    @property
    def params(self) -> dict[str, Any]:
        """The example, or, without one, something for each required parameter."""
        return dict.fromkeys(self.required, "x") if self.example is None else dict(self.example)


@cache
def adapter() -> Any:
    """Return what adapter.json says."""
    return Adapter.load(FOLDER)


@cache
def operations() -> tuple[Operation, ...]:
    """Return every operation that is tried, family by family; of each family one at least."""
    table = Table(FOLDER)
    names: list[tuple[str, str]] = list(table.names())
    chosen = []
    for family in FAMILIES:
        members = [key for key in names if key[1] == family]
        chosen += _spread(members, max(1, round(SAMPLE * len(members) / len(names)))) if SAMPLE else members
    rows = (row for name, family in chosen if (row := table.find(name, family)))
    return tuple(Operation(row, adapter().security if row.security is None else row.security) for row in rows)


def offered() -> list[str]:
    """Return the families that have a tool of their own: those with an operation, and read."""
    return [family for family in FAMILIES if family == "read" or adapter().counts[family]]


def sample(count: int) -> tuple[Operation, ...]:
    """Return at most `count` operations with an example, spread evenly over the table."""
    candidates = [operation for operation in operations() if operation.example is not None]
    return tuple(_spread(candidates, count))


def _spread(items: list[_T], count: int) -> list[_T]:
    """Return at most `count` items, spread evenly."""
    step = max(1, len(items) // count)
    return items[::step][:count]


def variables() -> dict[str, str]:
    """Return a value for every environment variable that holds a credential."""
    schemes = adapter().security_schemes.values()
    return {variable: f"test-{variable.lower()}" for scheme in schemes for variable in scheme["variables"]}
