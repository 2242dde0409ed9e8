# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The order in which a search shows operations (R-INT-6), by one additive score.

The score is the sum of the words that an operation shares with the search, each worth its rarity times its level in
the index (`postings.py`), and of the features (`features.py`), each times its weight. So no feature outvotes the words
of a long question, and a low score says that nothing fits well (`WEAK`).
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple

from .features import WEIGHTS, Features
from .postings import FINDS, LEVELS, READS, Hit, Postings
from .questions import Question, question
from .synonyms import synonyms
from .terms import plain_words, stem

__all__ = ["Found", "Ranking"]

WEAK = 5.0
"""The score below which the first operation is probably not what is meant."""
_EXACT = 1000.0
"""The score of a name or summary that was asked for word by word."""
_SYNONYM, _SLIP, _PART = 0.4, 0.8, 0.4
"""The shares of a term that means the same as an asked word, is misspelt or run together in it, or begins with it."""
_IDENTIFIER = 3.0
"""The worth of the exact name of a parameter, in words."""
_CANDIDATES, _MOST = 60, 100
"""How many operations are judged by more than their words, and how many are shown."""
_FORMS = 8
_ENOUGH = 300
"""How many operations rarer words have to bring before a common word adds no others."""
_PAGE, _FIRM, _STEPS = 10, 3, 3
"""The operations of a page, those before the first step, and the steps of a kind."""
_SLIPS, _ALIKE = 2, 0.85
"""How many letters longer or shorter a mistyped name may be, and how alike it must be (difflib)."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
Wanted = Callable[[Hit], bool]


class Found(NamedTuple):
    """The operations that a search may mean, the best first, whether that is probably not meant, and unknown words."""

    hits: Sequence[Hit]
    weak: bool
    unknown: Sequence[str]


class Ranking:
    """Searches of one index."""

    def __init__(
        self, postings: Postings, prefixes: Collection[str] = (), weights: Mapping[str, float] = WEIGHTS
    ) -> None:
        """Search an index; `prefixes` are the words that several APIs put before names."""
        self._postings = postings
        self._prefixes = prefixes
        self._weights = weights
        self._count = max(1, len(postings.operations))
        self._masses: dict[str, float] = {}
        self._rarity_of = lru_cache(maxsize=4096)(lambda term: self._rarity({term: 1.0}))

    def search(self, text: str, wanted: Wanted | None = None, most: int = _MOST) -> Found:
        """Return the operations that have to do with a text; with `wanted` those alone."""
        asked = question(text)
        hit, named, plain = self._postings.hit, self._postings.named(text.strip()), plain_words(text)
        joined = {stem(a + b) for a, b in asked.pairs} & self._postings.lines.keys()
        forms = {word: dict(self._forms(word)) for word in (*asked.words, *sorted(joined))}
        forms |= {name: {name: _IDENTIFIER} for name in sorted(asked.identifiers & self._postings.lines.keys())}
        scores = self._scores(forms)
        if named is not None:
            scores.setdefault(named, 0.0)
        if wanted is not None:
            scores = {short: score for short, score in scores.items() if wanted(hit(short))}
        best = heapq.nlargest(max(most, _CANDIDATES), scores, key=lambda short: (short == named, scores[short]))
        features = Features(asked, forms, self._rarity, self._rarity_of, self._prefixes)
        weighed: dict[str, float] = {}
        for short in best[:_CANDIDATES]:
            values = features.of(hit(short), scores[short])
            weighed[short] = sum(self._weights[key] * value for key, value in values.items())
            for exact, same in enumerate((hit(short).summary, hit(short).name), 1):
                weighed[short] += _EXACT * exact * bool(plain and plain == plain_words(same))
            weighed[short] += 4 * _EXACT * (short == named)
        order = sorted(weighed, key=lambda short: (-weighed[short], hit(short).name))
        weak = not order or weighed[order[0]] < WEAK
        if wanted is None and asked.quoted | bool(asked.names - self._postings.lines.keys()):
            order = self._with_steps(asked, order)
        hits = [hit(short) for short in dict.fromkeys((*order, *best))][:most]
        return Found(hits, weak, [word for term, word in asked.words.items() if not forms[term]])

    def hits(self) -> Iterator[Hit]:
        """Yield all operations."""
        return map(self._postings.hit, self._postings.operations)

    def mistyped(self, text: str, most: int) -> list[Hit]:
        """Return the operations whose names differ from a text by few letters, the most alike first."""
        from difflib import get_close_matches

        near = {name: short for name, short in self._postings.names() if abs(len(name) - len(text)) <= _SLIPS}
        return [self._postings.hit(near[name]) for name in get_close_matches(text.lower(), near, most, _ALIKE)]

    # Words

    def _scores(self, forms: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Return the sum over the asked words of level times rarity, by operation; of several forms the best counts.

        A common word adds only to what rarer ones brought, if that is much.
        """
        scores: dict[str, float] = {}
        rated = sorted(((self._rarity(shares), list(shares.items())) for shares in forms.values()), reverse=True)
        for rarity, shares in rated:
            added: dict[str, float] = {}
            for form, share in shares:
                levels, worth = self._postings.levels(form), share * rarity / LEVELS
                few = len(scores) >= _ENOUGH and len(levels) > len(scores)
                for short in scores.keys() & levels.keys() if few else levels:
                    added[short] = max(added.get(short, 0.0), worth * levels[short])
            for short, score in added.items():
                scores[short] = scores.get(short, 0.0) + score
        return scores

    def _forms(self, word: str) -> list[tuple[str, float]]:
        """Return the terms of the index that an asked word may be, each with its share."""
        lines = self._postings.lines
        known = [(word, 1.0)] if word in lines else []
        known += [(other, _SYNONYM) for other in sorted(synonyms(word)) if other in lines]
        return known or (list(self._unknown(word)) if len(word) > 2 else [])

    @cached_property
    def _vocabulary(self) -> list[str]:
        return sorted(self._postings.lines)

    def _unknown(self, word: str) -> Iterator[tuple[str, float]]:
        """Yield the terms that an unknown word may mean: by its beginning, its parts, a slip of the fingers."""
        vocabulary, lines = self._vocabulary, self._postings.lines
        start = bisect_left(vocabulary, word)
        longer = [term for term in islice(vocabulary, start, start + _FORMS) if term.startswith(word)]
        cuts = [(word[:cut], word[cut:]) for cut in range(len(word) + 1)]
        parts = [(head, stem(rest)) for head, rest in cuts[3:-2] if head in lines]
        whole = next((pair for pair in parts if pair[1] in lines), None)
        if longer:
            yield from ((term, _PART) for term in longer)
        elif whole or parts:
            yield from ((term, _SLIP) for term in whole) if whole else [(parts[-1][0], _PART)]
        elif 3 < len(word) < 25:
            slips = [a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1] + [a + b[1:] for a, b in cuts if b]
            slips += [a + letter + rest for a, b in cuts for letter in _LETTERS for rest in (b[1:], b)]
            yield from islice(((term, _SLIP) for term in dict.fromkeys(slips) if term in lines), _FORMS)

    def _rarity(self, forms: Mapping[str, float]) -> float:
        """Return the rarity of a word that may be any of some terms, each with its share."""
        masses = self._masses
        for form in forms.keys() - masses.keys():
            masses[form] = self._postings.mass(form)
        return math.log(1 + (self._count + 0.5) / (sum(share * masses[form] for form, share in forms.items()) + 0.5))

    # Steps

    def _with_steps(self, asked: Question, order: list[str]) -> list[str]:
        """Put what finds and what reads the things that are named, not given by ids, among the first ten."""
        levels = self._postings.levels
        if FINDS not in self._postings.lines:
            return order
        needs = [
            need for short in order[:_PAGE] for need in self._postings.hit(short).needs if need not in asked.identified
        ]
        spoken = [other for word in asked.words for other in (word, *sorted(synonyms(word)))]
        things = dict.fromkeys([*(thing for thing in needs if thing in spoken), *needs, *spoken])
        finders = [short for thing in things for short in islice(levels(FINDS + thing), 1)] + list(levels(FINDS))
        readers = [short for thing in things for short in islice(levels(READS + thing), 1)]
        steps = [short for kind in (finders, readers) for short in list(dict.fromkeys(kind))[:_STEPS]]
        order = list(dict.fromkeys((*order[:_FIRM], *steps[:1], *order[_FIRM:])))
        more = [short for short in steps if short not in order[: _PAGE // 2]][: _PAGE // 2]
        return list(
            dict.fromkeys((*[short for short in order if short not in more][: _PAGE - len(more)], *more, *order))
        )
