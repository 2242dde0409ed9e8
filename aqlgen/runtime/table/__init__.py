"""The operation table: plain data, one row an operation, from which everything the adapter does is read (R-INT-7).

This is the one definition of it: the generator builds and writes these types, the adapter reads them. `adapter.json`
says what the adapter is, `operations/<family>.json` hold the rows by name, and `types.json` holds the API's types.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .adapter import (
    FAMILIES,
    FORMAT,
    Accepted,
    Adapter,
    ApiSection,
    Flow,
    FormatError,
    SecurityScheme,
    check_format,
    chosen,
    read_data,
    scheme_of,
)
from .codec import Column, columns, decode, encode
from .parts import (
    ADAPTER,
    Body,
    Carried,
    CarriedPlace,
    Deprecation,
    Idempotency,
    JsonSchema,
    Location,
    LongRunning,
    Pagination,
    PagingStyle,
    Parameter,
    Strategy,
    Update,
)
from .row import Choice, DangerLevel, FormerName, Kind, Response, ReturnType, Row, Server, Workflow, first_success

__all__ = [
    "ADAPTER", "FAMILIES", "FORMAT", "READING_METHODS", "WORKFLOWS", "Accepted", "Adapter", "ApiSection",
    "Attribute", "Body", "Carried", "CarriedPlace", "Choice", "DangerLevel", "Deprecation", "Flow", "FormatError",
    "FormerName", "Idempotency", "JsonSchema", "Kind", "Location", "LongRunning", "Pagination", "PagingStyle",
    "Parameter", "Response", "ReturnType", "Row", "SecurityScheme", "Server", "Strategy", "Table", "Update", "Workflow",
    "check_format", "chosen", "decode", "encode", "first_success", "is_plain_read", "row_of", "scheme_of", "values_of",
]  # fmt: skip


WORKFLOWS = "workflows.json"
"""The file of the workflows, by name; there is none where there are no workflows."""


Attribute: TypeAlias = Literal[
    "aliases",
    "api",
    "asked",
    "danger",
    "danger_reason",
    "deprecated",
    "method",
    "effects",
    "operation_id",
    "path",
    "resource",
    "review",
    "rule",
    "scopes",
    "security",
    "servers",
    "summary",
    "tags",
]
"""The attributes of a row that are asked of all rows at once."""


READING_METHODS = frozenset({"GET", "HEAD", "QUERY"})
"""Methods that change nothing (RFC 9110, 9.2.1)."""
_OWNERS = frozenset({"override", "element"})
"""The rules of a category that the adapter's owner has stated."""
_PLAIN: tuple[Attribute, ...] = ("method", "danger", "rule")
"""The attributes by which a read is plain."""


def is_plain_read(family: str, method: str, danger: str, rule: str) -> bool:
    """Return True for a safe read whose method changes nothing, or of which the owner says that it is a READ.

    A name and a text are no evidence: an API that marks something as read by a POST calls it `read`, too.
    """
    return family == "read" and danger == "safe" and (method in READING_METHODS or rule in _OWNERS)


def row_of(name: str, family: str, entry: Mapping[str, Any]) -> Row:
    """Read one row. Raises TypeError or KeyError when something is missing."""
    return decode(Row, entry, name=name, family=family)


def values_of(entry: Mapping[str, Any], attributes: Iterable[Attribute]) -> tuple[Any, ...]:
    """Return a row's values of some attributes; MISSING for one without a default that it lacks."""
    by_attribute = _by_attribute()
    values: list[Any] = []
    for attribute in attributes:
        column = by_attribute[attribute]
        value = entry.get(column.key, column.default)
        values.append(value if column.read is None or column.key not in entry else column.read(value))
    return tuple(values)


@cache
def _by_attribute() -> Mapping[str, Column]:
    return {column.attribute: column for column in columns(Row).values()}


class Table:
    """The rows and the types of a package folder; `read_only` leaves out all but plain reads, as if there were none."""

    def __init__(self, folder: Path, *, read_only: bool = False) -> None:
        self._folder = folder
        self.read_only = read_only
        self._families: dict[str, dict[str, dict[str, Any]]] = {}
        self._rows: dict[str, Row] = {}

    def raw(self, family: str) -> Mapping[str, Mapping[str, Any]]:
        """Return the rows of one family as they stand in its file, by name, in order."""
        rows = self._families.get(family)
        if rows is None:
            rows = read_data(self._folder / "operations" / f"{family}.json")
            if self.read_only:
                rows = {name: row for name, row in rows.items() if is_plain_read(family, *values_of(row, _PLAIN))}
            self._families[family] = rows
        return rows

    def safe_reads(self) -> Table:
        """Return a table of the same folder that holds only plain reads."""
        return Table(self._folder, read_only=True)

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield every (name, family), family by family."""
        return ((name, family) for family in FAMILIES for name in self.raw(family))

    def values(self, *attributes: Attribute) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
        """Yield (name, family, values) for every row: what it has for some attributes, the rest of it unread."""
        for family in FAMILIES:
            for name, entry in self.raw(family).items():
                yield name, family, values_of(entry, attributes)

    def find(self, name: str, first: str | None = None) -> Row | None:
        """Return the row of that name, looking into family `first` before the others; None when there is none."""
        row = self._rows.get(name)
        if row is not None:
            return row
        for family in sorted(FAMILIES, key=lambda family: family != first):
            entry = self.raw(family).get(name)
            if entry is not None:
                row = self._rows[name] = row_of(name, family, entry)
                return row
        return None

    def text(self, name: str) -> str | None:
        """Return the text of a file beside the table; None when there is none that can be read."""
        try:
            return (self._folder / name).read_text(encoding="utf-8")
        except (OSError, ValueError):
            return None

    @cached_property
    def workflows(self) -> Mapping[str, Workflow]:
        """The workflows by name; of a table of plain reads those that do nothing else."""
        text = self.text(WORKFLOWS)
        entries: dict[str, dict[str, Any]] = {} if text is None else json.loads(text)
        workflows = {name: decode(Workflow, entry, name=name) for name, entry in entries.items()}
        if not self.read_only:
            return workflows
        return {name: item for name, item in workflows.items() if all(map(self.find, item.operations))}

    @cached_property
    def types(self) -> Mapping[str, JsonSchema]:
        """The API's types by name, as JSON Schemas of dialect 2020-12 under the agent's names."""
        types: dict[str, JsonSchema] = read_data(self._folder / "types.json")
        return types
