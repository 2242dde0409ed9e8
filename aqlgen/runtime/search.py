# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Finding operations by words: ranked, with plurals and the usual verbs folded together (R-INT-6)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

__all__ = ["Index", "words"]

_WORD = re.compile(r"[a-z]+|[0-9]+|[^\W\d_a-z]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SAME = {
    "add": "create", "new": "create", "make": "create", "insert": "create", "register": "create",
    "fetch": "get", "show": "get", "view": "get", "retrieve": "get", "read": "get", "lookup": "get",
    "all": "list", "query": "search", "find": "search",
    "edit": "update", "modify": "update", "change": "update", "patch": "update", "set": "update",
    "remove": "delete", "destroy": "delete", "erase": "delete",
    "run": "execute", "start": "execute", "trigger": "execute", "invoke": "execute",
}  # fmt: skip
_STOP = frozenset(
    ("a", "an", "the", "of", "for", "to", "in", "on", "by", "with", "and", "or", "from", "is", "be", "as", "that")
)
_NAME, _RESOURCE, _SUMMARY = 4.0, 3.0, 1.5
_SHORTEST, _LEFT_OUT = 3, 3
"""A word of the table is short for an asked one that goes on with so many letters more: repo, org, config, admin."""


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def words(text: str) -> list[str]:
    """Give the stems of a text's words, in order."""
    found = _WORD.findall(_CAMEL.sub(" ", text).lower())
    return [_stem(word) for word in found if word not in _STOP]


class Index:
    """Ranks documents of (name, resource, summary), keyed by name."""

    def __init__(self, documents: Iterable[tuple[str, str, str]]) -> None:
        self._weights: dict[str, dict[str, float]] = {}
        self._length: dict[str, int] = {}
        for name, resource, summary in documents:
            own = words(name)
            self._length[name] = len(own)
            best: dict[str, float] = dict.fromkeys(words(summary), _SUMMARY)
            best.update(dict.fromkeys(words(resource), _RESOURCE))
            best.update(dict.fromkeys(own, _NAME))
            for word, weight in best.items():
                self._weights.setdefault(word, {})[name] = weight

    def search(self, text: str) -> list[str]:
        """Give the names that share a word with the text, the best first, equal ones in the order of the table."""
        asked = Counter(words(text))
        scores: dict[str, float] = {}
        matched: Counter[str] = Counter()
        for word in asked:
            for name, score in self._one(word).items():
                scores[name] = scores.get(name, 0.0) + score
                matched[name] += 1
        # Every asked word that is missing costs more than any weight can win; a longer name says more than was asked.
        order = {name: (-matched[name], -score / (8 + self._length[name])) for name, score in scores.items()}
        position = {name: index for index, name in enumerate(self._length)}
        return sorted(scores, key=lambda name: (*order[name], position[name]))

    def having_all(self, text: str) -> set[str]:
        """Give the names that every word of the text is found for; none for a text without words."""
        found = [set(self._one(word)) for word in set(words(text))]
        return set.intersection(*found) if found else set()

    def _one(self, word: str) -> Mapping[str, float]:
        best: dict[str, float] = {}
        short = (
            (word[:cut], 0.8) for cut in range(_SHORTEST, len(word) - _LEFT_OUT + 1) if word[:cut] in self._weights
        )
        for form, share in ((word, 1.0), (_SAME.get(word, ""), 0.8), *short):
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
