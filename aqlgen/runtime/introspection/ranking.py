# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The order in which a search shows operations (R-INT-6), by one additive score.

A search says a verb, an object, one or many, and of which things it gives ids (`question`). The score is the sum of the
words that an operation shares with the search, each worth its rarity times its level in the index (`postings.py`), and
of eleven features, each from -1 to 1 times its weight. So no feature outvotes the words of a long question, and a low
score says that nothing fits well (`WEAK`).
"""

from __future__ import annotations

import heapq
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from ..text import without_unseen
from .postings import FINDS, LEVELS, READS, Hit, Postings
from .vocabulary import ENDING, READING, plain_verbs, plain_words, set_of, stem, synonyms, terms, verb_class, words_of

__all__ = ["WEIGHTS", "Features", "Found", "Question", "Ranking", "question"]


_VALUE = re.compile(
    r"\"[^\"]{1,200}+\"|(?<![\w'])'[^']{1,200}+'(?!\w)|<[^<>]{1,200}+>|`[^`]{1,200}+`|“[^”]{1,200}+”"
    r"|(?<![\w-])(?=[\w-]{0,40}\d)[A-Z0-9-][\w-]*+"
)
_PIECE = re.compile(r"[^\W_]++(?:[-_'][^\W_]++)*+|[.!?;,](?=\s|$)|\x00")
_NAME = re.compile(r"(?<=\w )[A-Z][^\W\d_]*[a-z]")
_QUOTED_NAME = re.compile(r"(?<![A-Za-z])(?:[A-Za-z]++(?:_[A-Za-z]++)++|[a-z]++(?:[A-Z][a-z]++)++)")
_MOST_WORDS = 60
_OPENERS = set_of(
    "please can could you i want need to would like help me let us d we should how do does tell a an the my our"
)
_JOINTS = set_of(
    "of in for on to from at across inside between about and or as into through that is are was were has have by with"
    " within per under whose which using named called titled where"
)
"""Words that end the object of a request."""
_ALL = set_of("list all every several many")
_NAMING = set_of("name named called titled title text message saying")
"""Words behind which a value is no id."""


@dataclass(frozen=True, slots=True)
class Question:
    """A search as its words, with the verb that it begins with and the object behind that."""

    words: Mapping[str, str]
    """Its words by their stems, in order."""
    identifiers: frozenset[str]
    """The identifiers in it, as terms: `cancel_at` is cancelat."""
    pairs: frozenset[tuple[str, str]]
    """The stems that stand side by side."""
    verb: str
    """The stem of the verb that it begins with; "" if it begins with none."""
    noun: str
    """The stem of the last word of its object; "" without one."""
    many: bool
    """Whether it asks for several of them."""
    identified: frozenset[str]
    """The stems of the things of which it gives ids."""
    quoted: bool
    """Whether it has text in quotes."""
    names: frozenset[str]
    """The stems of words that are written like names: with a capital, within a sentence."""


def question(text: str) -> Question:
    """Read a search; numbers, identifiers and quoted texts are no words of it unless nothing else is there."""
    text = plain_verbs(without_unseen(text)[:1000])
    bare = _VALUE.sub(" \x00 ", text)
    words: dict[str, str] = {}
    identified: set[str] = set()
    verb = noun = thing = ""
    many, opening, in_object, naming = False, True, True, False
    for piece in _PIECE.findall(bare):
        lower = piece.lower()
        naming = lower in _NAMING or (naming and lower in _JOINTS)
        if piece == "\x00":
            identified |= {thing} if thing and not naming else set()
        elif piece in ".!?;,":
            in_object = in_object and not words
        elif opening and lower in _OPENERS:
            continue
        elif in_object and not noun and lower in _ALL:
            many, opening, verb = True, False, verb or ("list" if lower == "list" else "")
        elif lower in _JOINTS:
            in_object = in_object and not noun
        else:
            for word in plain_words(piece):
                thing = stem(word)
                words[thing] = word
                if opening and verb_class(thing):
                    verb = thing
                elif in_object and not word.endswith("ly"):
                    noun = word
                opening = opening and word.endswith("ly")
    many = many or (noun.endswith("s") and stem(noun) != noun)
    words = dict(islice(words.items(), _MOST_WORDS)) or {stem(word): word for word in words_of(text)[:_MOST_WORDS]}
    identifiers = frozenset("".join(terms(name)) for name in _QUOTED_NAME.findall(bare))
    pairs = frozenset(pairwise(terms(bare)[:_MOST_WORDS]))
    quoted = any(value[0] in "'\"`“" for value in _VALUE.findall(text))
    names = frozenset(stem(name.lower()) for name in _NAME.findall(bare))
    return Question(words, identifiers, pairs, verb, stem(noun), many, frozenset(identified), quoted, names)


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
            weighed[short] += _EXACT * (4 * (short == named) + _exactness(plain, hit(short)))
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
        if longer:
            yield from ((term, _PART) for term in longer)
            return
        parts = [(word[:cut], stem(word[cut:])) for cut in range(3, len(word) - 1) if word[:cut] in lines]
        if parts:
            whole = next((pair for pair in parts if pair[1] in lines), None)
            yield from ((term, _SLIP) for term in whole) if whole else [(parts[-1][0], _PART)]
        elif 3 < len(word) < 25:
            yield from islice(((term, _SLIP) for term in dict.fromkeys(_slips(word)) if term in lines), _FORMS)

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


def _slips(word: str) -> Iterator[str]:
    """Yield a word with two letters changed round, one left out, one changed, or one more."""
    cuts = [(word[:cut], word[cut:]) for cut in range(len(word) + 1)]
    yield from (head + rest[1] + rest[0] + rest[2:] for head, rest in cuts if len(rest) > 1)
    yield from (head + rest[1:] for head, rest in cuts if rest)
    yield from (head + letter + end for head, rest in cuts for letter in _LETTERS for end in (rest[1:], rest))


def _exactness(words: Sequence[str], hit: Hit) -> int:
    """Return 1 for a search that is an operation's summary, 2 more for one that is its name."""
    return (words == plain_words(hit.summary)) + 2 * (words == plain_words(hit.name)) if words else 0
