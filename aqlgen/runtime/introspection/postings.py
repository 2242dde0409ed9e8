# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The index of operations by their words: `search.txt`, made at generation and read at the first search.

Its first line says its format. Then come the operations, a line each: id, name, family, danger, resource, what its
path needs, and summary, between tabs. After an empty line come the terms, a line each, sorted: the term, then for
each weight from 9 to 1 the ids of its operations, short names first. An id is four characters of a hash of the name,
so that a new operation changes only the lines of its own terms. `?` before a term lists the operations that find such
things by words, `=` those that read one by its id, `+` those that bring such things without an id, and `@` those that
take the id of one beside their path.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from ..text import line
from .terms import terms

__all__ = [
    "FILE", "FINDS", "LISTS", "READS", "TAKES", "WEIGHTS", "Entry", "Hit", "Postings", "index_text", "name_weights",
    "plain_entry",
]  # fmt: skip

FILE = "search.txt"
_HEAD = "# machine: the index of `introspect` with `search`, format 1; replaced by `aqlgen update`."
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID = 4
FINDS, READS, LISTS, TAKES = "?", "=", "+", "@"
_COMMON = 10
"""A term that more than a tenth of all operations merely mention tells none of them from the others."""
_ALWAYS = 60
_MENTION = 3
"""The highest weight of a mention: in a field, a parameter or a description."""


WEIGHTS = {
    "name": 9.0,
    "resource": 5.0,
    "summary": 7.0,
    "path": 7.0,
    "operation id": 6.0,
    "tags": 1.0,
    "description": 2.0,
    "parameter": 2.0,
    "parameter text": 3.0,
    "request": 1.0,
    "answer": 3.0,
}
"""The weight of a term by where it stands, from 1 to 9; where it stands several times, the highest counts.

Rounded from what was found on one half of the tasks of `python -m bench search`; it reports the other half, too.
"""
_PLACEHOLDER = re.compile(r"\{[^{}]{0,200}+\}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One operation as it is indexed: its line, the weights (1 to 9) of its terms, what it needs and finds."""

    name: str
    family: str
    danger: str
    resource: str
    summary: str
    weights: Mapping[str, int]
    needs: tuple[str, ...] = ()
    finds: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    """The things of which it takes ids otherwise than in its path."""


def name_weights(name: str, resource: str, summary: str, path: str = "") -> dict[str, float]:
    """Return the weights of the terms that tell operations apart first: those of names, summary and path."""
    weights = dict.fromkeys(terms(_PLACEHOLDER.sub(" ", path)), WEIGHTS["path"])
    for text, key in ((resource, "resource"), (summary[:200], "summary"), (name, "name")):
        for term in terms(text):
            weights[term] = max(WEIGHTS[key], weights.get(term, 0.0))
    return weights


def plain_entry(name: str, family: str, danger: str, resource: str, summary: str, path: str = "") -> Entry:
    """Return the entry of something that is found by name, resource, summary and path alone."""
    weights = name_weights(name, resource, summary, path)
    return Entry(name, family, danger, resource, summary, {term: round(weight) for term, weight in weights.items()})


class Hit(NamedTuple):
    """An operation as a search shows it; the fields are those of its line."""

    name: str
    family: str
    danger: str
    resource: str
    needs: tuple[str, ...]
    summary: str


_NEEDS = Hit._fields.index("needs")


def _ids(names: Iterable[str]) -> dict[str, str]:
    """Return a short id for each name; of two that would share one, the later in the alphabet gets another."""
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(names):
        ids[name] = next(short for short in _candidates(name) if short not in taken)
        taken.add(ids[name])
    return ids


def _candidates(name: str) -> Iterator[str]:
    """Yield the ids that a name may have, in the order in which they are tried."""
    while True:
        yield _short(name)
        name += " "


def _short(text: str) -> str:
    number = int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8])
    letters = []
    for _ in range(_ID):
        number, index = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[index])
    return "".join(letters)


_WEIGHTLESS: Mapping[str, int] = MappingProxyType({})


def index_text(entries: Iterable[Entry]) -> str:
    """Return the text of the index."""
    by_term: dict[str, dict[int, list[str]]] = {}
    kept = []  # without the weights, which take most of the memory
    for entry in entries:
        for term, weight in entry.weights.items():
            by_term.setdefault(term, {}).setdefault(weight, []).append(entry.name)
        fields = (entry.name, entry.family, entry.danger, entry.resource, entry.summary, _WEIGHTLESS)
        kept.append(Entry(*fields, entry.needs, entry.finds, entry.reads, entry.lists, entry.takes))
    ids = _ids(entry.name for entry in kept)
    central = _central(kept)
    for entry in kept:
        weight = max((central[thing] for thing in entry.finds if thing in central), default=1)
        for thing in dict.fromkeys(entry.finds):
            by_term.setdefault(FINDS + thing, {}).setdefault(weight, []).append(entry.name)
        for mark, things in ((READS, entry.reads), (LISTS, entry.lists), (TAKES, central.keys() & entry.takes)):
            for thing in things:
                by_term.setdefault(mark + thing, {}).setdefault(1, []).append(entry.name)
    bound = max(_ALWAYS, len(kept) // _COMMON)
    by_name = sorted(kept, key=lambda entry: entry.name)
    lines = [_HEAD, *(f"{ids[entry.name]}\t{_operation_line(entry)}" for entry in by_name)]
    lines.append("")
    shortest = sorted(ids, key=lambda name: (name.count("_"), name))
    lines.extend(_term_lines(by_term, bound, {name: rank for rank, name in enumerate(shortest)}, ids))
    return "\n".join(lines) + "\n"


def _central(entries: Iterable[Entry]) -> dict[str, int]:
    """Return how much each thing is needed by operations: 1 for one, 2 up to three, 3 up to seven, 9 at most."""
    counts = Counter(need for entry in entries for need in set(entry.needs))
    return {thing: min(9, count.bit_length()) for thing, count in counts.items()}


def _operation_line(entry: Entry) -> str:
    fields = (entry.name, entry.family, entry.danger, entry.resource, ",".join(entry.needs), line(entry.summary, 200))
    return "\t".join(fields)


def _term_lines(
    by_term: Mapping[str, Mapping[int, list[str]]], bound: int, ranks: Mapping[str, int], ids: Mapping[str, str]
) -> Iterator[str]:
    """Yield a line for each term: by weight, the ids of the operations that have it, the shortest names first."""
    for term in sorted(by_term):
        groups = dict(by_term[term])
        if sum(len(group) for weight, group in groups.items() if weight <= _MENTION) > bound:
            groups = {weight: group for weight, group in groups.items() if weight > _MENTION}
        if groups:
            ranked = (
                (weight, sorted(groups[weight], key=ranks.__getitem__)) for weight in sorted(groups, reverse=True)
            )
            yield "\t".join((term, *(f"{weight} {' '.join(map(ids.__getitem__, names))}" for weight, names in ranked)))


@dataclass(slots=True)
class Postings:
    """An index in memory: lines by id and by term, each read when it is asked for."""

    operations: dict[str, str]
    lines: dict[str, str]
    _groups: dict[str, list[tuple[int, list[str]]]] = field(default_factory=dict)
    _read: dict[str, dict[str, int]] = field(default_factory=dict)
    _hits: dict[str, Hit] = field(default_factory=dict)
    _included: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Postings:
        """Read an index. Raises ValueError when it is none."""
        head, _, rest = text.partition("\n")
        operations, parted, terms = f"\n{rest}".partition("\n\n")  # there may be no operation
        if head != _HEAD or not parted:
            raise ValueError("not an index of operations")
        return cls(
            dict(row.split("\t", 1) for row in operations.split("\n") if "\t" in row),
            dict(row.split("\t", 1) for row in terms.split("\n") if "\t" in row),
        )

    def include(self, entries: Iterable[Entry]) -> None:
        """Add operations that the text does not have, such as those of the protocol."""
        for number, entry in enumerate(entries):
            short = f"~{number:03}"
            self.operations[short] = _operation_line(entry)
            self._included[entry.name] = short
            for term, weight in entry.weights.items():
                known = self.lines.get(term)
                self.lines[term] = f"{weight} {short}" if known is None else f"{known}\t{weight} {short}"

    def hit(self, short: str) -> Hit:
        """Return the operation of an id."""
        known = self._hits.get(short)
        if known is None:
            fields: list[Any] = self.operations[short].split("\t", 5)
            fields[_NEEDS] = tuple(fields[_NEEDS].split(",")) if fields[_NEEDS] else ()
            if len(self._hits) > _KEPT_HITS:
                self._hits.clear()
            known = self._hits[short] = Hit._make(fields)
        return known

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the id of every operation."""
        return ((row.partition("\t")[0], short) for short, row in self.operations.items())

    def named(self, name: str) -> str | None:
        """Return the id of the operation of a name, None if there is none; only its own line is read."""
        for short in _candidates(name):
            row = self.operations.get(short)
            if row is None:
                return self._included.get(name)
            if row.partition("\t")[0] == name:
                return short
        return None

    def beginnings(self) -> Iterator[str]:
        """Yield the ids of all operations, those first that read without an id."""
        first = set()
        for short, row in self.operations.items():
            if "\tread\t" in row and "\t\t" in row and not row.split("\t", 5)[_NEEDS]:
                first.add(short)
                yield short
        yield from (short for short in self.operations if short not in first)

    def groups(self, term: str) -> Sequence[tuple[int, list[str]]]:
        """Return the weights of a term, the highest first, each with the ids that have it."""
        groups = self._groups.get(term)
        if groups is None:
            groups = [
                (int(weight), ids.split(" "))
                for weight, _, ids in (group.partition(" ") for group in self.lines.get(term, "").split("\t"))
                if ids
            ]
            if len(self._groups) > _KEPT:
                self._groups.clear()
            self._groups[term] = groups
        return groups

    def of_term(self, term: str) -> Mapping[str, int]:
        """Return the weights of a term by id."""
        weights = self._read.get(term)
        if weights is None:
            weights = {}
            for weight, ids in self.groups(term):
                weights.update(dict.fromkeys(ids, weight))
            if len(self._read) > _KEPT:
                self._read.clear()
            self._read[term] = weights
        return weights

    def uses(self, term: str) -> float:
        """Return how much a term is used: the sum of its weights, without reading the ids."""
        groups = self.lines.get(term, "").split("\t")
        return sum(int(group[0]) * ((len(group) - 1) // (_ID + 1)) for group in groups if group)


_KEPT, _KEPT_HITS = 64, 4096
"""Terms whose operations are kept in memory, and operations."""
