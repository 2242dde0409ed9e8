"""Changes in words. Whoever shows them says how texts of the API are written, and how many of a list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from aqlgen.compare.model import Change, Place

__all__ = ["Words", "chosen"]

_NUMBER: Final = re.compile(r"\[([^|\[\]]*)\|([^|\[\]]*)\]")
_HOLE: Final = re.compile(r"(\{\*?\})")


def chosen(changes: Sequence[Change], most: int) -> list[tuple[Change, int]]:
    """Choose what to show: of each rule the first, the last of them with the number of those that are left out."""
    numbers = Counter(one.rule for one in changes)
    seen: Counter[str] = Counter()
    found = []
    for one in changes:
        seen[one.rule] += 1
        left = numbers[one.rule] - most
        if left <= 1 or seen[one.rule] <= most:
            found.append((one, left if left > 1 and seen[one.rule] == most else 0))
    return found


@dataclass(frozen=True, slots=True)
class Words:
    """How to write: `code` makes a text of the API harmless, lists show no more than `most` (0: all)."""

    code: Callable[[str], str]
    most: int = 0

    def sentence(self, change: Change) -> str:
        """Say what changed, without where it is felt."""
        number = len(change.leaves if any(change.leaves) else change.holders or change.operations)
        form = _NUMBER.sub(lambda found: found[2] if number > 1 else found[1], change.form)
        values = iter(change.values)
        parts = [
            self.listed(change.listed) if part == "{*}" else self.code(next(values, "")) if part == "{}" else part
            for part in _HOLE.split(form)
        ]
        subject, places = self._subject(change)
        return " ".join(filter(None, (subject, "".join(parts), places)))

    def listed(self, names: Sequence[str], more: str = "") -> str:
        """Write a list: all names, or the first and how many more there are."""
        shown = names[: self.most] if self.most and len(names) > self.most + 1 else names
        left = len(names) - len(shown)
        if left:
            return f"{', '.join(map(self.code, shown))} and {left:,} more{f' {more}' if more else ''}"
        *first, last = map(self.code, shown) if shown else ("",)
        return f"{', '.join(first)} and {last}" if first else last

    def place(self, place: Place) -> str:
        """Name a place that holds what changed."""
        way = self.code(place.way) if place.is_field else ""
        name = self.code(place.name) if place.name else ""
        whole = {"type": name, "parameter": f"the parameter {name}".strip(), "answer": "the answer"}[place.kind]
        if not place.is_field:
            return f"each item of {whole}" if place.path else whole
        return f"{way} of {whole}" if place.kind == "type" else f"{way} in {whole}"

    def _subject(self, change: Change) -> tuple[str, str]:
        """Give the subject, and behind the sentence the places when there are several."""
        if not change.holders:
            return "", ""
        leaves, holders = change.leaves, change.holders
        first = holders[0]
        if not any(leaves):
            if first.kind == "type":
                whole = [self.place(one) for one in holders]
                return f"the type{'s' if len(whole) > 1 else ''} {self._joined(whole)}", ""
            return self._joined([self.place(one) for one in holders]), ""
        names = self.listed(leaves)
        if len(holders) > 1:
            return names, f"(in {self._joined([self._in(one) for one in holders])})"
        if first == Place("parameter"):
            return f"the parameter{'s' if len(leaves) > 1 else ''} {names}", ""
        if first.kind == "type" and not first.path:
            return f"{names} of {self.place(first)}", ""
        return f"{names} in {self.place(first)}", ""

    def _in(self, place: Place) -> str:
        return "parameters" if place == Place("parameter") else self.place(place)

    def _joined(self, written: Sequence[str]) -> str:
        return Words(lambda text: text, self.most).listed(written)
