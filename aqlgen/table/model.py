"""The operation table as the generator builds it: the rows that the adapter reads, with the decisions behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aqlgen.decide.decision import Category, Decision
from aqlgen.ir import Json
from aqlgen.runtime.table import FAMILIES, Adapter, Row, encode

__all__ = ["FAMILIES", "DecidedRow", "Schema", "Table"]

Schema = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class DecidedRow:
    """A row of the table with the decision behind it."""

    row: Row
    decision: Decision
    mock: Mapping[str, Json] | None
    """The document's own example of the response: status, content type and body."""

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.row.name

    @property
    def family(self) -> str:
        """The endpoint family: `create`, `read`, …"""
        return self.row.family

    def as_json(self) -> dict[str, Json]:
        """Return the row as it stands in its file."""
        return encode(self.row)


@dataclass(frozen=True, slots=True)
class Table:
    """All rows sorted by name, the types, and what `adapter.json` says."""

    rows: tuple[DecidedRow, ...]
    types: Mapping[str, Schema]
    adapter: Adapter

    def of(self, family: str) -> tuple[DecidedRow, ...]:
        """Return the rows of one family."""
        category = Category(family.upper())
        return tuple(row for row in self.rows if row.decision.category is category)
