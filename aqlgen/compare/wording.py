"""Changes as sentences. The caller says how texts of the API are written, and how many of a list."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from aqlgen.compare.model import Change, Place

__all__ = ["Writer", "limit_per_rule"]

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
        """Return what changed, without the operations."""
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
            return names, f"(in {self._join([self._place_of_several(each) for each in change.places])})"
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

    def _place_of_several(self, place: Place) -> str:
        return "parameters" if place == Place("parameter") else self._place(place)

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
