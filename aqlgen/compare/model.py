"""Changes as data and as sentences: what changed, by which rule, what it means for an agent, and where.

The caller says how texts of the API are written in a sentence, and how many of a list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal


class Level(StrEnum):
    """What a change means for an agent that knew the adapter before, the worst first.

    Breaking: a call that worked is refused now, does something else, or its answer lacks what it had. Attention: calls
    still work, but a person should have seen the change. Texts: what agents read has other words, which may instruct
    them. Compatible: nothing that worked before is any different.
    """

    BREAKING = "breaking"
    ATTENTION = "attention"
    TEXTS = "texts"
    COMPATIBLE = "compatible"

    @property
    def rank(self) -> int:
        """0 for breaking to 3 for compatible."""
        return list(Level).index(self)


class Direction(StrEnum):
    """Which way the values of a schema go: from the agent or to it. A partial input may lack required fields."""

    INPUT = "input"
    PARTIAL = "partial"
    OUTPUT = "output"


_CONTAINERS: Final = frozenset({"[]", "{}"})


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where a change is: in a parameter, the answer or a shared type, and the path within it.

    Steps of `path` are names of fields, `[]` for the items of a list and `{}` for the values of a map.
    """

    kind: Literal["parameter", "answer", "type"]
    name: str = ""
    path: tuple[str, ...] = ()

    def within(self, *steps: str) -> Place:
        """Return a place in this one."""
        return Place(self.kind, self.name, (*self.path, *steps))

    @property
    def is_field(self) -> bool:
        """True for a field; False for the whole parameter, answer or type and for its items."""
        return any(step not in _CONTAINERS for step in self.path)

    @property
    def field(self) -> str:
        """The last field on the path, with the marks of lists and maps behind it; without a field the whole path."""
        return _path_text(self.path[self._field_index() :])

    @property
    def parent(self) -> Place:
        """The place that the last field on the path is in."""
        return Place(self.kind, self.name, self.path[: self._field_index()])

    @property
    def path_text(self) -> str:
        """The path as text: `owner.tags[]`."""
        return _path_text(self.path)

    def _field_index(self) -> int:
        fields = (index for index in reversed(range(len(self.path))) if self.path[index] not in _CONTAINERS)
        return next(fields, 0)


def _path_text(path: tuple[str, ...]) -> str:
    return "".join(step if step in _CONTAINERS else f".{step}" for step in path).removeprefix(".")


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference: a rule with the texts for its wording.

    `values`, `items`: as of a Change. Of schemas `wording` takes the place of the first `{}` in that of the rule; of an
    operation or the adapter it replaces all of it, and `level` that of the rule.
    """

    rule: str
    values: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    wording: str = ""
    level: Level | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One change, with the operations that it affects: by today's names, or by earlier ones where they are gone.

    `wording` is a sentence without its subject. The texts of the API in it are `values`, each in place of a `{}`, and
    `items`, all in place of `{*}`. The subjects are `fields`, each of which is in each of the `places`; without places
    they are the operations or the adapter itself.
    """

    rule: str
    level: Level
    wording: str
    values: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    operations: tuple[str, ...] = ()
    directions: tuple[Direction, ...] = ()


_SINGULAR_OR_PLURAL: Final = re.compile(r"\[([^|\[\]]*)\|([^|\[\]]*)\]")
_PLACEHOLDER: Final = re.compile(r"(\{\*?\})")


def limit_per_rule(changes: Sequence[Change], limit: int) -> list[tuple[Change, int]]:
    """Return the first changes of each rule, each with 0, the last of them with how many more there are."""
    totals = Counter(change.rule for change in changes)
    seen: Counter[str] = Counter()
    shown = []
    for change in changes:
        seen[change.rule] += 1
        left_out = totals[change.rule] - limit
        if left_out <= 1 or seen[change.rule] <= limit:
            shown.append((change, left_out if left_out > 1 and seen[change.rule] == limit else 0))
    return shown


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes sentences: `code` makes a text of the API harmless, lists show no more than `limit` (0: all)."""

    code: Callable[[str], str]
    limit: int = 0

    def sentence(self, change: Change) -> str:
        """Return the sentence about a change, without the operations."""
        subjects = change.fields if any(change.fields) else change.places or change.operations
        number = 2 if len(subjects) > 1 else 1
        wording = _SINGULAR_OR_PLURAL.sub(lambda match: match[number], change.wording)
        values = iter(change.values)
        parts = [
            self._list(change.items) if part == "{*}" else self.code(next(values, "")) if part == "{}" else part
            for part in _PLACEHOLDER.split(wording)
        ]
        subject, places = self._subject(change)
        return " ".join(filter(None, (subject, "".join(parts), places)))

    def _subject(self, change: Change) -> tuple[str, str]:
        """Return the subject, and the places to be named after the sentence if there are several."""
        if not change.places:
            return "", ""
        place = change.places[0]
        if not any(change.fields):
            subject = self._join([self._place(each) for each in change.places])
            return f"the type{'s' if len(change.places) > 1 else ''} {subject}" if place.kind == "type" else subject, ""
        names = self._list(change.fields)
        if len(change.places) > 1:
            places = ["parameters" if each == Place("parameter") else self._place(each) for each in change.places]
            return names, f"(in {self._join(places)})"
        if place == Place("parameter"):
            return f"the parameter{'s' if len(change.fields) > 1 else ''} {names}", ""
        if place.kind == "type" and not place.path:
            return f"{names} of {self._place(place)}", ""
        return f"{names} in {self._place(place)}", ""

    def _place(self, place: Place) -> str:
        name = self.code(place.name) if place.name else ""
        whole = {"type": name, "parameter": f"the parameter {name}".strip(), "answer": "the answer"}[place.kind]
        if not place.is_field:
            return f"each item of {whole}" if place.path else whole
        return f"{self.code(place.path_text)} {'of' if place.kind == 'type' else 'in'} {whole}"

    def _list(self, texts: Sequence[str]) -> str:
        return self._join(texts, self.code)

    def _join(self, texts: Sequence[str], write: Callable[[str], str] = str) -> str:
        """Return a list in words: all texts, or the first and how many more there are."""
        shown = texts[: self.limit] if self.limit and len(texts) > self.limit + 1 else texts
        left_out = len(texts) - len(shown)
        if left_out:
            return f"{', '.join(map(write, shown))} and {left_out:,} more"
        *first, last = map(write, shown) if shown else ("",)
        return f"{', '.join(first)} and {last}" if first else last
