# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Finding operations: by words, ranked (R-INT-6), and by what may be meant by a name (R-REQ-2)."""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from functools import cached_property
from typing import NamedTuple

from ..table import Table
from ..text import folded, words

__all__ = ["Alias", "Aliases", "Index", "Spellings"]


_SYNONYMS = {
    "add": "create", "new": "create", "make": "create", "insert": "create", "register": "create",
    "fetch": "get", "show": "get", "view": "get", "retrieve": "get", "read": "get", "lookup": "get",
    "all": "list", "query": "search", "find": "search",
    "edit": "update", "modify": "update", "change": "update", "patch": "update", "set": "update",
    "remove": "delete", "destroy": "delete", "erase": "delete",
    "run": "execute", "start": "execute", "trigger": "execute", "invoke": "execute",
}  # fmt: skip
_NAME, _RESOURCE, _SUMMARY = 4.0, 3.0, 1.5
_SHORTEST, _LEFT_OUT = 3, 3
"""A word of the table is a short form of an asked one that has so many letters more: repo, org, config, admin."""


class Index:
    """Ranks documents of (name, resource, summary), keyed by name."""

    def __init__(self, documents: Iterable[tuple[str, str, str]]) -> None:
        self._weights: dict[str, dict[str, float]] = {}
        self._length: dict[str, int] = {}
        for name, resource, summary in documents:
            name_words = words(name)
            self._length[name] = len(name_words)
            best: dict[str, float] = dict.fromkeys(words(summary), _SUMMARY)
            best.update(dict.fromkeys(words(resource), _RESOURCE))
            best.update(dict.fromkeys(name_words, _NAME))
            for word, weight in best.items():
                self._weights.setdefault(word, {})[name] = weight

    def search(self, text: str) -> list[str]:
        """Return the names that share a word with the text, the best first, equal ones in the order of the table."""
        asked = Counter(words(text))
        scores: dict[str, float] = {}
        matched: Counter[str] = Counter()
        for word in asked:
            for name, score in self._scores(word).items():
                scores[name] = scores.get(name, 0.0) + score
                matched[name] += 1
        # Every asked word that is missing costs more than any weight can win; a longer name says more than was asked.
        order = {name: (-matched[name], -score / (8 + self._length[name])) for name, score in scores.items()}
        position = {name: index for index, name in enumerate(self._length)}
        return sorted(scores, key=lambda name: (*order[name], position[name]))

    def having_all(self, text: str) -> set[str]:
        """Return the names that match every word of the text; none for a text without words."""
        matches = [set(self._scores(word)) for word in set(words(text))]
        return set.intersection(*matches) if matches else set()

    def _scores(self, word: str) -> Mapping[str, float]:
        """Return the score of each name for one word, by the word itself, its synonym or a short form of it."""
        best: dict[str, float] = {}
        short = (
            (word[:cut], 0.8) for cut in range(_SHORTEST, len(word) - _LEFT_OUT + 1) if word[:cut] in self._weights
        )
        for form, share in ((word, 1.0), (_SYNONYMS.get(word, ""), 0.8), *short):
            for name, weight in self._weights.get(form, {}).items():
                best[name] = max(best.get(name, 0.0), weight * share * self._rarity(form))
        if not best and len(word) >= 3:
            for form in self._weights:
                if form.startswith(word):
                    for name, weight in self._weights[form].items():
                        best[name] = max(best.get(name, 0.0), weight * 0.5 * self._rarity(form))
        return best

    def _rarity(self, word: str) -> float:
        return math.log(1 + len(self._length) / len(self._weights[word]))


_MOST = 5


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

    def near(self, text: str, names: Iterable[str], index: Index) -> list[str]:
        """Return the operations that an unknown name may mean, the best first.

        First come those of that path, then those that have all its words, those spelled alike, those that share words.
        """
        ranked, complete = index.search(text), set(index.having_all(text))
        alike = difflib.get_close_matches(text.lower(), names, n=3, cutoff=0.7)
        likely = (*self._at(text), *(name for name in ranked if name in complete), *alike, *ranked)
        return list(dict.fromkeys(likely))[:_MOST]

    @cached_property
    def _by_operation_id(self) -> Mapping[str, str]:
        return _unique((operation_id or name, name) for name, _, (operation_id,) in self._table.values("operation_id"))

    @cached_property
    def _by_name(self) -> Mapping[str, str]:
        return _unique((folded(name), name) for name, _ in self._table.names())

    @cached_property
    def _by_address(self) -> Mapping[str, str]:
        rows = list(self._table.values("operation_id", "method", "path"))
        ids = ((folded(operation_id or name), name) for name, _, (operation_id, _, _) in rows)
        return _unique((*ids, *((folded(f"{method} {path}"), name) for name, _, (_, method, path) in rows)))

    def _at(self, text: str) -> list[str]:
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
