# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Search of operations by words: ranked, with plurals and synonymous verbs taken as one (R-INT-6)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping

from ..text import words

__all__ = ["Index"]

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
