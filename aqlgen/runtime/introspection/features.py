# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How well an operation answers a question, beside the words that they share: eleven features, each from -1 to 1."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise

from .postings import Hit
from .questions import Question
from .synonyms import ENDING, READING, synonyms, verb_class
from .terms import stem, terms

__all__ = ["WEIGHTS", "Features"]

WEIGHTS = {
    "words": 4.7,
    "name": 2.0,
    "summary": 2.2,
    "all words": 2.5,
    "pairs": 2.1,
    "verb": 0.7,
    "effect": 0.7,
    "harm": 0.8,
    "object": 0.5,
    "number": 0.2,
    "own list": 1.4,
    "unmet": 1.0,
}
"""The weights of one conditional logit, fitted on every second task of `python -m bench search`."""


class Features:
    """One question, against which operations are judged."""

    def __init__(
        self,
        asked: Question,
        forms: Mapping[str, Mapping[str, float]],
        rarity: Callable[[Mapping[str, float]], float],
        rarity_of: Callable[[str], float],
        prefixes: Collection[str],
    ) -> None:
        """Take a question; `forms` are the terms that its words may be, `prefixes` those of several APIs' names."""
        self._asked, self._rarity_of, self._prefixes = asked, rarity_of, prefixes
        self._meant = {form for word, shares in forms.items() for form in (word, *shares, *synonyms(word))}
        self._known = [(rarity(shares), shares) for shares in forms.values() if shares]
        self._total = sum(known for known, _ in self._known) or 1.0
        self._verbs = verb_class(asked.verb)
        self._reading = not self._verbs or READING in self._verbs
        self._nouns = {asked.noun} | synonyms(asked.noun)

    def of(self, hit: Hit, score: float) -> dict[str, float]:
        """Return the features of an operation whose words are worth a score."""
        asked, verbs, meant = self._asked, self._verbs, self._meant
        prefix, _, rest = hit.name.partition("_")
        bare = rest if rest and prefix in self._prefixes else hit.name
        name, summary, thing = terms(bare), terms(hit.summary), terms(hit.resource)[-1:]
        does = verb_class(name[0]) if name else frozenset[int]()
        acts = does | (verb_class(summary[0]) if summary else does)
        last = bare.rsplit("_", 1)[-1]
        many = bare.startswith(("list_", "search_")) or (last.endswith("s") and stem(last) != last)
        pairs = asked.pairs & {*pairwise(name), *pairwise(summary)}
        texts = {*name, *summary, *thing}
        covered = sum(rarity for rarity, shares in self._known if not texts.isdisjoint(shares))
        return {
            "words": score / 10,
            "name": self._covered(name[1:] if does else name),
            "summary": self._covered(summary),
            "all words": covered / self._total,
            "pairs": len(pairs) / max(1, min(len(asked.pairs), 4)),
            "verb": _sign(bool(acts & verbs) or asked.verb in name) if verbs else 0.0,
            "effect": _sign((hit.family == "read") == self._reading) if verbs else 0.0,
            "harm": -1.0 if hit.family == "delete" and not verbs & ENDING else 0.0,
            "object": _sign(thing[0] in self._nouns) if asked.noun and thing else 0.0,
            "number": _sign(many == asked.many) if asked.noun and self._reading and hit.family == "read" else 0.0,
            "own list": -1.0 if asked.many and asked.noun in hit.needs and asked.noun not in asked.identified else 0.0,
            "unmet": -sum(need not in meant for need in hit.needs) / 3,
        }

    def _covered(self, words: Sequence[str]) -> float:
        """Return the share of some words that was asked for, a rare one for more than a common one."""
        rarities = [(self._rarity_of(word), word in self._meant) for word in words]
        total = sum(rarity for rarity, _ in rarities)
        return sum(rarity for rarity, known in rarities if known) / total if total else 0.5


def _sign(answers: bool) -> float:
    return 1.0 if answers else -1.0
