# shared: yours to edit; `aqlgen update` merges its own changes into it.
"""The adapter's table, read from its files without the runtime, so that the tests compare one with the other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FAMILIES = ("create", "read", "update", "delete", "execute")
PROJECT = Path(__file__).resolve().parent.parent
FOLDER = next(file.parent for file in sorted(PROJECT.glob("src/*/adapter.json")))
PACKAGE = FOLDER.name


@dataclass(frozen=True)
class Operation:
    """One row: `parameters` maps each name to its entry; `example` is None when none could be made.

    `pages` says that it takes `first` and `after`, `reads_first` that it may read what it updates.
    """

    name: str
    family: str
    parameters: Mapping[str, Mapping[str, Any]]
    example: Mapping[str, Any] | None
    returns: Mapping[str, Any]
    danger: str
    security: tuple[tuple[str, ...], ...]
    pages: bool
    reads_first: bool

    @property
    def required(self) -> list[str]:
        return [name for name, entry in self.parameters.items() if entry.get("required")]

    @property
    def params(self) -> dict[str, Any]:
        """Return the example, or, without one, a value for each required parameter."""
        return dict.fromkeys(self.required, "x") if self.example is None else dict(self.example)


@cache
def adapter() -> Mapping[str, Any]:
    """Return the content of adapter.json."""
    data: Mapping[str, Any] = json.loads((FOLDER / "adapter.json").read_bytes())
    return data


@cache
def operations() -> tuple[Operation, ...]:
    """Return every operation, family by family."""
    return tuple(_rows())


def offered() -> list[str]:
    """Return the families that have a tool of their own: those with an operation, and read."""
    return [family for family in FAMILIES if family == "read" or adapter()["counts"][family]]


def sample(count: int) -> tuple[Operation, ...]:
    """Return at most `count` operations with an example, spread evenly over the table."""
    callable_operations = [operation for operation in operations() if operation.example is not None]
    step = max(1, len(callable_operations) // count)
    return tuple(callable_operations[::step][:count])


def variables() -> dict[str, str]:
    """Return a value for every environment variable that holds a credential."""
    schemes = adapter()["security_schemes"].values()
    return {variable: f"test-{variable.lower()}" for scheme in schemes for variable in scheme["variables"]}


def _rows() -> Iterator[Operation]:
    for family in FAMILIES:
        rows = json.loads((FOLDER / "operations" / f"{family}.json").read_bytes())
        for name, row in rows.items():
            security = row.get("security", adapter()["security"])
            yield Operation(
                name=name,
                family=family,
                parameters=row["parameters"],
                example=row.get("example"),
                returns=row["returns"],
                danger=row["danger"],
                security=tuple(tuple(alternative) for alternative in security),
                pages="parameters" in row.get("pagination", {}),
                reads_first=row.get("update", {}).get("strategy") in ("put-merge", "json-patch"),
            )
