# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Which operation a name means that is none: the API's own spellings (R-REQ-2), and the nearest of an unknown one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from .search import Index
from .shapes import folded
from .table import FAMILIES, Table

__all__ = ["Spellings"]

_MOST = 5


class Spellings:
    """Other ways to write the operations of a table; made at the first name that is not written as it is."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, text: str) -> str | None:
        """Give the operation that a text means beyond doubt.

        That is its operation id, its method and path, or either of them or its name in other case or with hyphens.
        """
        known = self._by_operation_id.get(text)
        if known is None:
            plain = folded(" ".join(text.split()))
            known = self._by_name.get(plain) or self._by_address.get(plain)
        return known

    def near(self, text: str, names: Iterable[str], index: Index) -> list[str]:
        """Give the operations that an unknown name may mean, the best first.

        First come those of that path, then those that have all its words, those spelled alike, those that share words.
        """
        found, whole = index.search(text), set(index.having_all(text))
        alike = difflib.get_close_matches(text.lower(), names, n=3, cutoff=0.7)
        likely = (*self._at(text), *(name for name in found if name in whole), *alike, *found)
        return list(dict.fromkeys(likely))[:_MOST]

    def _rows(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        return (item for family in FAMILIES for item in self._table.raw(family).items())

    @cached_property
    def _by_operation_id(self) -> Mapping[str, str]:
        return _unique((row.get("operation_id", name), name) for name, row in self._rows())

    @cached_property
    def _by_name(self) -> Mapping[str, str]:
        return _unique((folded(name), name) for name, _ in self._rows())

    @cached_property
    def _by_address(self) -> Mapping[str, str]:
        ids = ((folded(row.get("operation_id", name)), name) for name, row in self._rows())
        return _unique((*ids, *((folded(f"{row['method']} {row['path']}"), name) for name, row in self._rows())))

    def _at(self, text: str) -> list[str]:
        """Give the operations that a method and path, or a path alone, is filled in from; of that method first."""
        method, _, path = text.strip().rpartition(" ")
        if not path.startswith("/"):
            return []
        steps = path.partition("?")[0].rstrip("/").split("/")
        fitting = [(name, row) for name, row in self._rows() if _fits(row["path"].rstrip("/").split("/"), steps)]
        fitting.sort(key=lambda one: (one[1]["method"].lower() != (method.lower() or "get"), one[1]["path"].count("{")))
        return [name for name, _ in fitting]


def _unique(spelled: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Give names by their spellings, without those that two operations share."""
    found: dict[str, set[str]] = {}
    for spelling, name in spelled:
        found.setdefault(spelling, set()).add(name)
    return {spelling: next(iter(names)) for spelling, names in found.items() if len(names) == 1}


def _fits(template: list[str], steps: list[str]) -> bool:
    return len(template) == len(steps) and all(
        one == other or "{" in one for one, other in zip(template, steps, strict=True)
    )
