# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The order in which a search shows operations (R-INT-6).

First the operations that share words with the search are counted, a rare word for more than a common one. Then the
best of them are weighed (`weighing.py`). Last, what the best of them need rises: what finds things by their names,
and what lists them.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from operator import itemgetter

from .postings import FINDS, LISTS, READS, TAKES, Hit, Postings
from .questions import Question, question
from .synonyms import READING, synonyms
from .terms import stem, terms
from .weighing import EXACT, Weighing, Weights

__all__ = ["Ranking"]


_WEIGHED = 32
"""How many operations are weighed by more than their words."""
_MOST = 100
_FORMS = 8
_FINDERS = 3
_NEEDY = 6
"""How many of the best operations are asked what they need."""
_PAGE, _FIRM, _LEADING = 10, 7, 3
"""How many operations are looked at first, how many of them stay there, and whose needs of those count."""
_BEHIND = 0.99
"""The share of the score of the last of those that stay up to which the others come."""
_PARTS = 40
"""How many operations with a word in their names are looked at for one that reads things within others."""
_IN_NAME = 7
"""The least weight of a word of a name."""
_MOST_ALIKE = 4000
_SLIPS, _ALIKE = 2, 0.85
"""How many letters longer or shorter a mistyped name may be, and how alike it must be (difflib)."""
_ENOUGH = 300
"""How many operations rarer words have to bring before a common word adds no others."""
Wanted = Callable[[Hit], bool]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Ranking:
    """Searches of one index."""

    def __init__(self, postings: Postings, weights: Weights | None = None, *, prefixes: Collection[str] = ()) -> None:
        self._postings = postings
        self._prefixes = prefixes
        self._weights = weights or Weights()
        self._count = max(1, len(postings.operations))
        self._rarities: dict[str, float] = {}
        self._use: dict[str, float] = {}

    @cached_property
    def _vocabulary(self) -> list[str]:
        return sorted(self._postings.lines)

    def search(self, text: str, wanted: Wanted | None = None, most: int = _MOST) -> list[Hit]:
        """Return the operations that have to do with a text, the best first; with `wanted` those alone."""
        return [hit for hit, _ in self.ranked(text, wanted, most)]

    def ranked(self, text: str, wanted: Wanted | None = None, most: int = _MOST) -> list[tuple[Hit, float]]:
        """Return what `search` returns, each with its score; those behind the best of them have none (0)."""
        asked = self._joined(question(text))
        scores = self._scores(asked)
        hit = self._postings.hit
        best = self._best(scores, wanted, max(most, _WEIGHED))
        weighed = self._weighed(asked, text, {short: scores[short] for short in best[:_WEIGHED]})
        if weighed:
            self._lift(asked, weighed, scores)
            self._join(asked, weighed, scores)
        named = self._postings.named(text.strip())
        if named is not None:  # however common its words are
            weighed[named] = 3 * EXACT + weighed.get(named, 0.0) % EXACT  # before names of the same words
        if wanted is not None:
            weighed = {short: score for short, score in weighed.items() if wanted(hit(short))}
        order = sorted(weighed, key=lambda short: (-weighed[short], hit(short).name))
        order += (short for short in best if short not in weighed)
        return [(hit(short), weighed.get(short, 0.0)) for short in order[:most]]

    def nearest(self, text: str, wanted: Wanted | None = None, most: int = 10) -> list[Hit]:
        """Return operations with words that look like those of a text, or else those to begin with."""
        scores: dict[str, float] = {}
        for word in question(text).words:
            for term, likeness in self._alike(word.stem):
                for short, weight in self._postings.of_term(term).items():
                    scores[short] = max(scores.get(short, 0.0), weight * likeness)
        hits = [self._postings.hit(short) for short in self._best(scores, wanted, most)]
        return hits or list(islice(filter(wanted, map(self._postings.hit, self._postings.beginnings())), most))

    def hits(self) -> Iterator[Hit]:
        """Yield all operations."""
        return map(self._postings.hit, self._postings.operations)

    def mistyped(self, text: str, most: int) -> list[Hit]:
        """Return the operations whose names differ from a text by few letters, the most alike first."""
        from difflib import get_close_matches

        near = {name: short for name, short in self._postings.names() if abs(len(name) - len(text)) <= _SLIPS}
        return [self._postings.hit(near[name]) for name in get_close_matches(text.lower(), near, most, _ALIKE)]

    def _best(self, scores: Mapping[str, float], wanted: Wanted | None, most: int) -> list[str]:
        order = scores.__getitem__
        if wanted is None:
            return heapq.nlargest(most, scores, key=order)
        hit = self._postings.hit
        return list(islice((short for short in sorted(scores, key=order, reverse=True) if wanted(hit(short))), most))

    def _alike(self, word: str) -> list[tuple[str, float]]:
        """Return the terms that begin with the same letter and share half of their pairs of letters."""
        pairs = set(pairwise(word))
        start = bisect_left(self._vocabulary, word[:1])
        likenesses = []
        for term in islice(self._vocabulary, start, start + _MOST_ALIKE):
            if term[:1] != word[:1]:
                break
            others = set(pairwise(term))
            likeness = 2 * len(pairs & others) / ((len(pairs) + len(others)) or 1)
            if likeness >= 0.5:
                likenesses.append((term, likeness))
        return heapq.nlargest(_FORMS, likenesses, key=lambda item: item[1])

    # Words

    def _joined(self, asked: Question) -> Question:
        """Add the words of the index that two asked words make together, such as usergroup."""
        noun, more = asked.noun, []
        for before, after in pairwise(asked.words):
            joined = before.word + after.word
            if stem(joined) in self._postings.lines:
                more.append(replace(after, stem=stem(joined), word=joined))
                noun = joined if noun == after.word else noun
        return replace(asked, words=(*asked.words, *more), noun=noun) if more else asked

    def _scores(self, asked: Question) -> dict[str, float]:
        """Return the sum over the asked words of weight times rarity, by operation."""
        weights = self._weights
        places = (1.0, weights.circumstance, weights.particular, weights.afterthought, weights.vague)
        shares: dict[str, float] = {}
        for index, word in enumerate(asked.words):
            if not index and word.stem == asked.verb in READING and len(asked.words) > 1:
                continue
            shares[word.stem] = max(places[word.place], shares.get(word.stem, 0.0))
        names = {word.stem for word in asked.words if word.name}
        rated: dict[tuple[str, ...], dict[str, float]] = {}
        for term, share in shares.items():
            forms = dict(self._forms(term, expand=term not in names))
            factor = share * self._rarity_of(forms)
            same = rated.setdefault(tuple(sorted(forms)), {})
            for form, part in forms.items():
                same[form] = same.get(form, 0.0) + part * factor
        scores: dict[str, float] = {}
        for forms in sorted(rated.values(), key=lambda forms: -max(forms.values(), default=0.0)):
            added = self._of_word(forms, scores)
            if scores:
                for short, score in added.items():
                    scores[short] = scores.get(short, 0.0) + score
            else:
                scores = added
        return scores

    def _of_word(self, forms: Mapping[str, float], scores: Mapping[str, float]) -> dict[str, float]:
        """Return what one word adds, by operation; a common one adds only to what rarer ones brought, if that is much.

        Of several forms the best counts.
        """
        best: dict[str, float] = {}
        groups = [(part * weight, ids) for form, part in forms.items() for weight, ids in self._postings.groups(form)]
        groups.sort(key=itemgetter(0))
        if len(scores) >= _ENOUGH and sum(len(ids) for _, ids in groups) > len(scores):
            for score, ids in groups:
                best.update(dict.fromkeys(scores.keys() & ids, score))
        else:
            for score, ids in groups:
                best.update(dict.fromkeys(ids, score))
        return best

    def _forms(self, word: str, *, expand: bool) -> Iterator[tuple[str, float]]:
        """Yield the terms of the index that an asked word may be, each with its share."""
        lines, weights = self._postings.lines, self._weights
        known = False
        if word in lines:
            known = True
            yield word, 1.0
        for other in sorted(synonyms(word)):
            if other in lines:
                known = True
                yield other, weights.synonym
        if known or not expand or len(word) < 3:
            return
        yield from self._unknown(word)

    def _unknown(self, word: str) -> Iterator[tuple[str, float]]:
        """Yield the terms that an unknown word may mean: by its beginning, `re`, a short form, its parts, a slip."""
        vocabulary, lines, weights = self._vocabulary, self._postings.lines, self._weights
        start = bisect_left(vocabulary, word)
        longer = [term for term in islice(vocabulary, start, start + _FORMS) if term.startswith(word)]
        shorter = [word[:cut] for cut in range(3, len(word) - 2) if word[:cut] in lines]
        again = stem(word.removeprefix("re"))
        if not longer and len(word) > 5 and again in lines:
            yield again, weights.slip
            return
        if longer or shorter:
            yield from ((term, weights.part) for term in longer or shorter[-1:])
            return
        for cut in range(3, len(word) - 2):
            parts = word[:cut], stem(word[cut:])
            if parts[0] in lines and parts[1] in lines:
                yield from ((term, weights.slip) for term in parts)
                return
        if len(word) >= 4:
            yield from ((term, weights.slip) for term in [term for term in _slips(word) if term in lines][:_FORMS])

    def _rarity(self, term: str) -> float:
        """Return the rarity of a term; an operation that merely mentions it counts in part."""
        rarity = self._rarities.get(term)
        if rarity is None:
            rarity = self._rarities[term] = self._rarity_of({term: 1.0})
        return rarity

    def _rarity_of(self, forms: Mapping[str, float]) -> float:
        """Return the rarity of a word that may be any of some terms, each with its share."""
        uses = sum(part * self._uses(form) for form, part in forms.items())
        return math.log(1 + (self._count + 0.5) / (uses + 0.5))

    def _uses(self, term: str) -> float:
        uses = self._use.get(term)
        if uses is None:
            uses = self._use[term] = self._postings.uses(term) / 9
        return uses

    # Operations

    def _weighed(self, asked: Question, text: str, scores: Mapping[str, float]) -> dict[str, float]:
        weighing = Weighing(asked, text, self._weights, self._rarity, named=self._named(asked), prefixes=self._prefixes)
        hit, postings = self._postings.hit, self._postings
        takers = [
            (thing, postings.of_term(TAKES + thing)) for thing in asked.identified if TAKES + thing in postings.lines
        ]
        return {
            short: weighing.weigh(
                hit(short), score, [short in ids or thing in hit(short).needs for thing, ids in takers]
            )
            for short, score in scores.items()
        }

    def _named(self, asked: Question) -> bool:
        """Return True if a question has names of things, whose ids have to be found first."""
        if asked.verb and asked.quoted and not any(word.name for word in asked.words):
            return False
        return asked.quoted or any(word.name and word.stem not in self._postings.lines for word in asked.words)

    def _lift(self, asked: Question, weighed: dict[str, float], scores: Mapping[str, float]) -> None:
        """Let operations that find things by words rise, below the first, where names of things are asked for."""
        named = self._named(asked)
        weights, of_term = self._weights, self._postings.of_term
        top = max(weighed.values())
        top %= EXACT  # what an exact name or summary is worth beside that
        ranked = heapq.nlargest(_NEEDY, weighed, key=lambda short: weighed[short])
        needs = {need for short in ranked for need in self._postings.hit(short).needs}
        words = {word.stem for word in asked.words}
        lifts: dict[str, float] = {}
        for thing in {need for short in ranked for need in self._postings.hit(short).needs} - asked.identified:
            for short in of_term(LISTS + thing):
                lifts[short] = weights.listing * top
        for share, reading, things in (
            (weights.finding_other, 0.0, {""}),
            (weights.finding_needed, weights.details, needs),
            (weights.finding, weights.details, words.union(*map(synonyms, words))),
        ):
            if not named:
                break
            for thing in things:
                finders = of_term(FINDS + thing)
                for short in heapq.nlargest(_FINDERS, finders, key=lambda short: finders[short]):
                    lifts[short] = max(lifts.get(short, 0.0), share * top * min(1.0, 6 / len(finders)))
                if finders:
                    for short in of_term(READS + thing):
                        lifts[short] = max(lifts.get(short, 0.0), reading * top)
        for short, lift in lifts.items():
            if short in scores or short in weighed:
                before = weighed.get(short, scores.get(short, 0.0))
                weighed[short] = max(before, min(before + lift, 0.95 * top))
            else:
                weighed[short] = min(lift, 0.95 * top)

    def _join(self, asked: Question, weighed: dict[str, float], scores: Mapping[str, float]) -> None:
        """Bring into the first ten, behind the best of them, the steps beside those that the words name."""
        ranked = heapq.nlargest(_PAGE, weighed, key=lambda short: weighed[short])
        firm = ranked[:_FIRM]
        steps = [*self._parts(asked, ranked, weighed, scores), *self._details(asked, ranked)]
        places = {short: place for place, short in enumerate(dict.fromkeys(steps), 1) if short not in firm}
        if places:
            last = weighed[firm[-1]]
            for short in weighed.keys() - firm:
                weighed[short] = min(weighed[short], last * _BEHIND)
            for short, place in places.items():
                weighed[short] = last * (1.0 - (1.0 - _BEHIND) * place / (len(places) + 1))

    def _details(self, asked: Question, ranked: Sequence[str]) -> Iterator[str]:
        """Yield what reads the things that the best changes need."""
        for short in ranked[:_LEADING]:
            hit = self._postings.hit(short)
            if hit.family != "read":
                for need in hit.needs:
                    if need not in asked.identified:
                        yield from islice(self._postings.of_term(READS + need), _FINDERS)

    def _parts(
        self, asked: Question, ranked: Sequence[str], weighed: Mapping[str, float], scores: Mapping[str, float]
    ) -> Iterator[str]:
        """Yield what reads things that are spoken of within others, if names are asked for: songs of an album."""
        if not self._named(asked):
            return
        hit = self._postings.hit
        parts = [part for part in map(_part_of, map(hit, ranked)) if part]
        for thing in dict.fromkeys(word.stem for word in asked.words):
            things = {thing, *synonyms(thing)}
            if any(part in things and whole not in things for part, whole in parts):
                continue
            steps = [
                short
                for name in sorted(things)
                for weight, ids in self._postings.groups(name)
                if weight >= _IN_NAME
                for short in ids[:_PARTS]
                if (part := _part_of(hit(short))) and part[0] == name != part[1]
            ]
            yield from heapq.nlargest(2, steps, key=lambda short: weighed.get(short, scores.get(short, 0.0)))


def _part_of(hit: Hit) -> tuple[str, str] | None:
    """Return what an operation reads and within what, if it reads things within one other: track, album."""
    words = terms(hit.name)
    if hit.family != "read" or len(hit.needs) != 1 or words[-2:-1] != hit.needs:
        return None
    return words[-1], hit.needs[0]


@lru_cache(maxsize=256)
def _slips(word: str) -> tuple[str, ...]:
    """Return the words at one slip of the fingers from a word: a letter less, more, other, or two exchanged."""
    word = word[:24]
    halves = [(word[:cut], word[cut:]) for cut in range(len(word) + 1)]
    less = [left + right[1:] for left, right in halves if right]
    exchanged = [left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1]
    other = [left + letter + right[1:] for left, right in halves if right for letter in _LETTERS]
    more = [left + letter + right for left, right in halves for letter in _LETTERS]
    return tuple(dict.fromkeys((*exchanged, *less, *more, *other)))
