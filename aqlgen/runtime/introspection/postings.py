"""The index of operations by their words: `search.txt`, made at generation and read at the first search.

Its first line says its format. Then come the operations, a line each: id, name, family, danger, resource, what its
path needs, and summary, between tabs. After an empty line come the terms, a line each, sorted: the term, then for
each level from 31 to 1 the ids of its operations, short names first. The level is how much an operation is about a
term (BM25F over the fields below). An id is four characters of a hash of the name, and the mean lengths of fields are
constants, so that a new operation changes only the lines of its own terms.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..text import line
from .vocabulary import terms

FILE = "search.txt"
_HEAD = "# machine: the index of `introspect` with `search`, format 2; replaced by `aqlgen update`."
_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID = 4
LEVELS = 31
_MENTION = 8
"""The highest level of a mere mention. A term that a tenth of all operations mention tells none from the others."""
_COMMON, _ALWAYS = 10, 60
_MOST_READ = 500


class Field(NamedTuple):
    """The weight of a term in a text, how much a long text thins its terms (b of BM25), and the usual length."""

    weight: float
    thinning: float
    length: int


FIELDS = {
    "name": Field(2.0, 0.5, 12),
    "summary": Field(1.2, 0.3, 6),
    "parameters": Field(2.0, 0.75, 10),
    "texts": Field(1.0, 0.75, 35),
    "fields": Field(0.1, 0.75, 40),
}
"""Name, path and operation id; summary; names and values of parameters; descriptions; fields of both ways."""


class Hit(NamedTuple):
    """An operation as a search shows it; the members are those of its line."""

    name: str
    family: str
    danger: str
    resource: str
    needs: tuple[str, ...]
    summary: str


class Entry(NamedTuple):
    """One operation as it is indexed: its line, and the terms of its fields."""

    hit: Hit
    texts: Mapping[str, Sequence[str]]

    def levels(self) -> dict[str, int]:
        """Return how much the operation is about each of its terms, from 1 to 31."""
        impacts: dict[str, float] = defaultdict(float)
        for name, text in self.texts.items():
            field = FIELDS[name]
            weight = field.weight / (1 - field.thinning + field.thinning * len(text) / field.length)
            counts = dict.fromkeys(text, 1)
            for term, count in (counts if len(counts) == len(text) else Counter(text)).items():
                impacts[term] += weight * count
        return {term: round(LEVELS * impact / (1 + impact)) or 1 for term, impact in impacts.items()}


def plain_entry(name: str, family: str, danger: str, resource: str, summary: str, path: str = "") -> Entry:
    """Return the entry of something that is found by name, resource, summary and path alone."""
    texts = {"name": terms(f"{name} {resource} {path}"), "summary": terms(summary[:300])}
    return Entry(Hit(name, family, danger, resource, (), summary), texts)


def index_text(entries: Iterable[Entry]) -> str:
    """Return the text of the index; no entry is kept, since their terms take much memory."""
    hits: list[Hit] = []
    groups: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, entry in enumerate(entries):
        hits.append(entry.hit)
        for term, level in entry.levels().items():
            groups[term][level].append(number)
    ids: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(hit.name for hit in hits):
        ids[name] = next(short for short in _candidates(name) if short not in taken)
        taken.add(ids[name])
    operations = sorted(f"{ids[hit.name]}\t{_operation_line(hit)}" for hit in hits)
    order = sorted(range(len(hits)), key=lambda number: (hits[number].name.count("_"), hits[number].name))
    ranks = {number: rank for rank, number in enumerate(order)}
    shorts = [ids[hits[number].name] for number in order]
    bound = max(_ALWAYS, len(hits) // _COMMON)
    return "\n".join((_HEAD, *operations, "", *_term_lines(groups, ranks, shorts, bound))) + "\n"


def _candidates(name: str) -> Iterator[str]:
    """Yield the ids that a name may have; of two names that would share one, the later in the alphabet gets another."""
    while True:
        number = int.from_bytes(hashlib.sha256(name.encode("utf-8", "replace")).digest()[:8])
        yield "".join(_ALPHABET[number // len(_ALPHABET) ** place % len(_ALPHABET)] for place in range(_ID))
        name += " "


def _operation_line(hit: Hit) -> str:
    return "\t".join((*hit[:4], ",".join(hit.needs), line(hit.summary, 200)))


def _term_lines(
    groups: Mapping[str, Mapping[int, list[int]]], ranks: Mapping[int, int], ids: Sequence[str], bound: int
) -> Iterator[str]:
    """Yield the lines of the terms; `ranks` are the places of entries, which have their ids in this order."""
    for term, levels in sorted(groups.items()):
        mentions = sum(len(numbers) for level, numbers in levels.items() if level <= _MENTION)
        listed = [
            f"{level:02} {' '.join([ids[rank] for rank in sorted(map(ranks.__getitem__, levels[level]))])}"
            for level in sorted(levels, reverse=True)
            if level > _MENTION or mentions <= bound
        ]
        if listed:
            yield "\t".join((term, *listed))


class _Lines:
    """Sorted lines of a key, a tab and a text, found by bisection, and those that were added."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._text, self._start, self._end = text, start, end
        self._added: dict[str, str] = {}
        self._found = lru_cache(maxsize=8192)(self._find)

    def __contains__(self, key: str) -> bool:
        return self.get(key) is not None

    def get(self, key: str) -> str | None:
        """Return the text of a key, None without one."""
        return self._added[key] if key in self._added else self._found(key)

    def add(self, key: str, text: str) -> None:
        """Add a line, or a part behind a tab to the text of one."""
        known = self.get(key)
        self._added[key] = text if known is None else f"{known}\t{text}"

    def _find(self, key: str) -> str | None:
        text, low, high = self._text, self._start, self._end
        while low < high:
            begin = text.rfind("\n", low, (low + high) // 2) + 1 or low
            stop = text.find("\n", begin, high)
            stop = high if stop < 0 else stop
            tab = text.find("\t", begin, stop)
            known = text[begin:tab] if tab >= 0 else text[begin:stop]
            if known == key:
                return text[tab + 1 : stop]
            low, high = (stop + 1, high) if known < key else (low, begin)
        return None


class Postings:
    """An index in memory; the lines of its terms are read when they are asked for."""

    def __init__(self, text: str) -> None:
        """Read an index. Raises ValueError when it is none."""
        head, begin = text.find("\n"), text.find("\n\n")
        if text[:head] != _HEAD or begin < 0:
            raise ValueError("not an index of operations")
        self.operations = dict(row.split("\t", 1) for row in text[head + 1 : begin + 1].split("\n") if "\t" in row)
        self.lines = _Lines(text, begin + 2, len(text))
        self._included: dict[str, str] = {}
        self.hit = lru_cache(maxsize=4096)(self._hit)
        self.levels = lru_cache(maxsize=64)(self._levels)

    def include(self, entries: Iterable[Entry]) -> None:
        """Add operations that the text does not have, such as those of the protocol."""
        for number, entry in enumerate(entries):
            short = f"~{number:03}"
            self.operations[short] = _operation_line(entry.hit)
            self._included[entry.hit.name] = short
            for term, level in entry.levels().items():
                self.lines.add(term, f"{level:02} {short}")

    def _hit(self, short: str) -> Hit:
        """Return the operation of an id."""
        name, family, danger, resource, needs, summary = self.operations[short].split("\t", 5)
        return Hit(name, family, danger, resource, tuple(needs.split(",")) if needs else (), summary)

    def named(self, name: str) -> str | None:
        """Return the id of the operation of a name, None if there is none; only its own line is read."""
        for short in _candidates(name):
            row = self.operations.get(short)
            if row is None:
                return self._included.get(name)
            if row.partition("\t")[0] == name:
                return short
        return None

    def groups(self, term: str) -> list[tuple[int, str]]:
        """Return the levels of a term, each with the text of its ids."""
        return [(int(group[:2]), group[3:]) for group in (self.lines.get(term) or "").split("\t") if group]

    def _levels(self, term: str) -> dict[str, int]:
        """Return the levels of a term by the ids of operations, the highest first, until `_MOST_READ` are read."""
        levels: dict[str, int] = {}
        for level, ids in self.groups(term):
            if len(levels) < _MOST_READ:
                levels.update(dict.fromkeys(ids.split(" "), level))
        return levels

    def mass(self, term: str) -> float:
        """Return how much a term is used in all: the sum of its levels, without reading the ids."""
        return sum(level * ((len(ids) + 1) // (_ID + 1)) for level, ids in self.groups(term)) / LEVELS
