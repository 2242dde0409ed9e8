"""The order in which a search shows operations (R-INT-6), by one additive score.

A search says a verb, an object and its context, and one or many (`question`). The score is the sum of the
words that an operation shares with the search, each worth its rarity times its level in the index (`postings.py`), and
of features, each from -1 to 1 times its weight. So no feature outvotes the words of a long question, and a low
score says that nothing fits well (`WEAK`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice, pairwise
from operator import mul
from typing import NamedTuple

from ..text import without_unseen
from .postings import LEVELS, Hit, Postings
from .vocabulary import (
    CREATING,
    ENDING,
    FINDING,
    READING,
    plain_verbs,
    plain_words,
    set_of,
    stem,
    synonyms,
    terms,
    verb_class,
    words_of,
)

_VALUE = re.compile(
    r"\"[^\"]{1,200}+\"|(?<![\w'])'[^']{1,200}+'(?!\w)|<[^<>]{1,200}+>|`[^`]{1,200}+`|“[^”]{1,200}+”"
    r"|(?<![\w-])(?=[\w-]{0,40}\d)[A-Z0-9-][\w-]*+"
)
_KINDS = {
    "date": re.compile(
        r"\b(?:\d{4}([-./])\d\d?\1\d\d?|\d\d?([-./])\d\d?\2\d\d(?:\d\d)?|\d\d?(?:st|nd|rd|th))\b"
        r"|\b[A-Z][a-z]{2,8}\.? \d\d?,"
    ),
    "time": re.compile(r"\b\d\d?:\d\d\b|\b\d\d? ?[AaPp]\.?[Mm]\b"),
}
"""The forms of values whose kind is a word of the operations that take them."""
_PIECE = re.compile(r"[^\W_]++(?:[-_'][^\W_]++)*+|[.!?;,](?=\s|$)")
_IDENTIFIER = re.compile(r"(?<![A-Za-z])(?:[A-Za-z]++(?:_[A-Za-z]++)++|[a-z]++(?:[A-Z][a-z]++)++)")
_MOST_WORDS = 60
_LONGEST = 1000
_OPENERS = set_of(
    "please can could you i want need to would like help me let us d we should how do does tell a an the my our"
)
_JOINTS = set_of(
    "of in for on to from at across inside between about and or as into through that is are was were has have by with"
    " within per under whose which using named called titled where"
)
"""Words that end the object of a request."""
_ALL = set_of("list all every everything several many")
_ASKING = set_of("what when where which who whom whose is am are was were does did")
"""Words that begin a question, which reads, whatever verbs follow: `which shared folders are there`."""
_MAY_ASK = set_of("all any everything how has have")
"""Words that begin a question unless a verb follows that does something else: `how do I share a folder`."""
_ARTICLES = set_of("a an the this my our your their")
"""Words before which a word that ends with an s is a verb: `posts a message`, but `posts with a tag`."""


@dataclass(frozen=True, slots=True)
class Question:
    """A search as its words, with the verb that it begins with and the object behind that."""

    words: Mapping[str, str]
    """Its words by their stems, in order."""
    identifiers: frozenset[str]
    """The identifiers in it, as terms: `cancel_at` is cancelat."""
    kinds: tuple[str, ...]
    """The kinds of its values by their form: `2026-11-30` is a date."""
    pairs: frozenset[tuple[str, str]]
    """The stems that stand side by side."""
    verb: str
    """The stem of the verb that it begins with; "" if it begins with none."""
    things: tuple[str, ...]
    """The stems of what it may be about: the words of its object from the last to the first, then the others."""
    context: frozenset[str]
    """The stems of the other words: the owner of the object, as `task` in `the label of a task`."""
    many: bool
    """Whether it asks for several of them."""
    tells: bool
    """True for a sentence without a verb of reading, such as `she got a raise`: it is probably for a change."""


@dataclass(slots=True)
class _Reading:
    """A search as far as it is read, and what its next piece may be."""

    words: dict[str, str] = field(default_factory=dict)
    verb: str = ""
    object: list[str] = field(default_factory=list)
    context: list[str] = field(default_factory=list)
    many: bool = False
    opening: bool = True
    in_object: bool = True

    def take(self, piece: str) -> None:
        """Read a word or a sign."""
        lower = piece.lower()
        if piece in ".!?;,":
            self.in_object &= not self.words
        elif self.opening and lower in _OPENERS:
            return
        elif self.in_object and not self.object and lower in _ALL:
            self.many, self.opening = True, False
            self.verb = self.verb or ("list" if lower == "list" else "")
        elif lower in _JOINTS:
            self.in_object &= not self.object
        else:
            for word in plain_words(piece):
                thing, is_adverb = stem(word), word.endswith("ly")
                self.words[thing] = word
                if self.opening and verb_class(thing):
                    self.verb = thing
                elif not is_adverb:
                    (self.object if self.in_object else self.context).append(word)
                self.opening &= is_adverb


def _kinds(text: str) -> tuple[str, ...]:
    return tuple(kind for kind, form in _KINDS.items() if form.search(text))


def _asks(words: Sequence[str], by: frozenset[str]) -> bool:
    """Return True for the first words of a question, also behind `could you tell me`."""
    return not by.isdisjoint((words[0], next((word for word in words if word not in _OPENERS), "")))


def _tells(text: str) -> bool:
    """Return True for a sentence, which has stop words, without a verb of reading."""
    words = plain_words(text)
    return len(words) < len(words_of(text)) and not any(READING in verb_class(stem(word)) for word in words)


def question(text: str) -> Question:
    """Read a search; numbers, identifiers and quoted texts are no words of it unless nothing else is there."""
    raw = without_unseen(text[:_LONGEST])
    first, *behind = opening = [word for word in words_of(raw[:100]) if word != "please"] or [""]
    text = plain_verbs(raw)
    are_things = first.endswith("s") and stem(first) == stem(first[:-1]) and _ARTICLES.isdisjoint(behind[:1])
    bare, reading = _VALUE.sub(" ", text), _Reading(opening=not are_things)
    for piece in _PIECE.findall(bare):
        reading.take(piece)
    about = [*reversed(reading.object), *reading.context]
    many = reading.many or ("".join(about[:1]).endswith("s") and stem(about[0]) != about[0])
    verb = reading.verb or "get" * (are_things or _asks(opening, _MAY_ASK))
    if _asks(opening, _ASKING) and READING not in verb_class(verb):
        verb = "get"
    words = dict(islice((reading.words or {stem(word): word for word in words_of(text)}).items(), _MOST_WORDS))
    return Question(
        words, frozenset("".join(terms(name)) for name in _IDENTIFIER.findall(bare)),
        _kinds(text),
        frozenset(pairwise(terms(bare)[:_MOST_WORDS])), verb,
        tuple(map(stem, about)), frozenset(map(stem, reading.context)), many,
        _tells(bare),
    )  # fmt: skip


WEIGHTS = {
    "words": 5.5,
    "name": 1.05,
    "summary": 2.1,
    "pairs": 2.0,
    "effect": 0.8,
    "harm": 1.6,
    "other": 4.0,
    "own list": 1.6,
    "unmet": 0.9,
}
"""Fitted on every second task of `python -m bench search`: by a conditional logit, then one weight after the other.

That of `other` is set by hand: no search for a thing may begin with the deletion of a part that it does not name, and
none for a part with the deletion of the whole.
"""

_STATEMENT = 0.5
"""The share of certainty that a search which tells something is for a change."""


class _Features:
    """One question, against which operations are judged."""

    def __init__(
        self,
        asked: Question,
        forms: Mapping[str, Mapping[str, float]],
        rarity: Callable[..., float],
        prefixes: Collection[str],
        judged: Collection[Hit],
    ) -> None:
        """Take a question; `forms` are the terms that its words may be, `prefixes` those of several APIs' names.

        `judged` are the operations that are judged: the question is about the resource of one of them.
        """
        self._asked, self._rarity, self._prefixes = asked, rarity, prefixes
        self._meant = {form for word, shares in forms.items() for form in (word, *shares, *synonyms(word))}
        self._verbs = verb_class(asked.verb)
        self._sure = 1.0 if self._verbs else _STATEMENT if asked.tells else 0.0
        things = {thing for hit in judged for thing in terms(hit.resource)[-1:]}
        self._noun = next((word for word in asked.things if word in things), next(iter(asked.things), ""))
        self._words = {self._noun, *synonyms(self._noun), *asked.words}
        self._has_part = self._noun in asked.context
        self._reads, self._most_pairs = READING in self._verbs, max(1, min(len(asked.pairs), 4))
        changes = bool(self._verbs) and not self._verbs & (CREATING | ENDING | {READING})
        self._many = asked.many and not changes

    def of(self, hit: Hit, score: float) -> dict[str, float]:
        """Return the features of an operation whose words are worth a score."""
        prefix, _, rest = hit.name.partition("_")
        name = terms(rest if rest and prefix in self._prefixes else hit.name)
        summary, thing = terms(hit.summary), terms(hit.resource)[-1:]
        is_part = self._noun in name and self._words.isdisjoint(thing)
        is_other = name[1:] == (self._noun,) if self._has_part else is_part
        of_one = not {self._noun, *thing}.isdisjoint(hit.needs)
        return {
            "words": score / 10,
            "name": self._covered(name[1:] if name and verb_class(name[0]) else name),
            "summary": (self._covered(summary) + self._covered(terms(hit.summary.partition(". ")[0]))) / 2,
            "pairs": len(self._asked.pairs & {*pairwise(name), *pairwise(summary)}) / self._most_pairs,
            "effect": self._sure if (hit.family == "read") == self._reads else -self._sure,
            "harm": -float(hit.family == "delete" and not self._verbs & ENDING),
            "other": -float(hit.family == "delete" and is_other),
            "own list": -float(self._many and of_one),
            "unmet": -sum(need not in self._meant for need in hit.needs) / 3,
        }

    def _covered(self, words: Sequence[str]) -> float:
        """Return the share of some words that was asked for, a rare one for more than a common one."""
        total = known = 0.0
        for word in words:
            rarity = self._rarity((word, 1.0))
            total += rarity
            known += rarity if word in self._meant else 0.0
        return known / total if total else 0.5


WEAK = 3.7
"""The score below which the first operation is probably not what is meant."""
_SYNONYM, _JOINED, _KIND, _SLIP, _WHOLE = 0.4, 0.5, 0.7, 0.8, 3.0
"""The shares of a synonym of an asked word, words run together, the kind of a value, a misspelt word, an identifier."""
_NAMED = 1000.0
_NEAR, _MOST_NEAR = 1.5, 3
"""How much less an operation may score that is meant nearly as probably as the first, and how many these may be."""
_CANDIDATES, _MOST = 60, 100
"""How many operations are judged by more than their words, and how many are shown."""
_ENOUGH = 300
"""How many operations rarer words have to bring before a common word adds no others."""
_FIRM, _STEPS, _PAGE, _LOOKED_AT = 5, 3, 10, 200
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_MOST_SLIPS = 8
Wanted = Callable[[Hit], bool]


class Found(NamedTuple):
    """The operations that a search may mean, the best first, whether that is probably not meant, and unknown words."""

    hits: Sequence[Hit]
    weak: bool
    unknown: Sequence[str]
    near: int = 0
    """How many operations behind the first may be meant as well."""


class Ranking:
    """Searches of one index."""

    def __init__(
        self, postings: Postings, prefixes: Collection[str] = (), weights: Mapping[str, float] = WEIGHTS
    ) -> None:
        """Search an index; `prefixes` are the words that several APIs put before names."""
        self._postings = postings
        self._prefixes = prefixes
        self._weights = weights
        self._rarity = lru_cache(maxsize=8192)(self._rarity_of)

    def search(self, text: str, wanted: Wanted | None = None, most: int = _MOST) -> Found:
        """Return the operations that have to do with a text; with `wanted` those alone."""
        asked = question(text := text[:_LONGEST])
        hit, named = self._postings.hit, self._postings.named(text.strip())
        stems, plain = terms(text), plain_words(text)
        forms = self._forms_of(asked, stems[:_MOST_WORDS])
        scores = self._scores(forms)
        if named is not None:
            scores[named] = scores.get(named, 0.0) + _NAMED
        if wanted is not None:
            scores = {short: score for short, score in scores.items() if wanted(hit(short))}
        best = sorted(scores, key=scores.__getitem__, reverse=True)[: max(most, _CANDIDATES)]
        judged = [hit(short) for short in best[:_CANDIDATES]]
        features = _Features(asked, forms, self._rarity, self._prefixes, judged)
        weighed = {}
        for short in best[:_CANDIDATES]:
            values = features.of(hit(short), scores[short])
            weighed[short] = sum(map(mul, map(self._weights.__getitem__, values), values.values()))

        def place(short: str) -> tuple[bool, bool, float, bool, str]:
            row = hit(short)
            is_name, is_summary = (
                terms(known) == stems != () and plain_words(known) == plain
                for known in (row.name, row.summary.partition(". ")[0])
            )
            is_name = is_name if named is None else short == named
            return not is_name, not is_summary, -weighed[short], row.family == "delete", row.name

        order = sorted(weighed, key=place)
        near = order[1:_MOST_NEAR] if order and False not in place(order[0])[:2] else []
        near = [short for short in near if weighed[order[0]] - weighed[short] < _NEAR]
        weak = not order or weighed[order[0]] < WEAK
        if wanted is None and len(order) >= _PAGE:
            order = self._with_steps(asked, order)
        hits = [hit(short) for short in dict.fromkeys((*order, *best))][:most]
        return Found(hits, weak, [word for term, word in asked.words.items() if not forms[term]], len(near))

    def hits(self) -> Iterator[Hit]:
        """Yield all operations."""
        return map(self._postings.hit, self._postings.operations)

    def _forms_of(self, asked: Question, stems: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return the terms of the index for each word, for words run together, and for identifiers."""
        lines = self._postings.lines
        windows = ("".join(stems[at : at + size]) for size in (2, 3, 4) for at in range(len(stems) - size + 1))
        joined = {form for window in windows for form in (window, stem(window)) if form in lines}
        return {
            **{kind: {kind: _KIND} for kind in asked.kinds if kind in lines},
            **{form: {form: _JOINED} for form in sorted(joined)},
            **{word: dict(self._forms(word)) for word in asked.words},
            **{name: {name: _WHOLE} for name in sorted(asked.identifiers) if name in lines},
        }

    def _scores(self, forms: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
        """Return the sums over the asked words of level times rarity by operation.

        Of several forms the best counts. Once the rarer words brought enough, a common word only adds to that.
        """
        scores: dict[str, float] = {}
        for rarity, shares in sorted(
            ((self._rarity(*shares.items()), [*shares.items()]) for shares in forms.values()), reverse=True
        ):
            added: dict[str, float] = {}
            is_enough = len(scores) >= _ENOUGH
            for form, share in shares:
                worth, levels = share * rarity / LEVELS, self._postings.levels(form)
                for short in scores.keys() & levels.keys() if is_enough else levels:
                    if added.get(short, 0.0) < worth * levels[short]:
                        added[short] = worth * levels[short]
            for short, score in added.items():
                scores[short] = scores.get(short, 0.0) + score
        return scores

    def _forms(self, word: str) -> list[tuple[str, float]]:
        """Return the terms of the index that an asked word may be, each with its share."""
        lines = self._postings.lines
        known = [(word, 1.0)] if word in lines else []
        known += [(other, _SYNONYM) for other in sorted(synonyms(word)) if other in lines]
        if known or not 3 < len(word) < 25:
            return known
        slips = (term for term in dict.fromkeys(_slips(word)) if term in lines)
        return [(term, _SLIP) for term in islice(slips, _MOST_SLIPS)]

    def _rarity_of(self, *shares: tuple[str, float]) -> float:
        """Return the rarity of a word that may be any of some terms, each with its share."""
        mass = sum(share * self._postings.mass(form) for form, share in shares)
        return math.log(1 + (len(self._postings.operations) + 0.5) / (mass + 0.5))

    def _with_steps(self, asked: Question, order: list[str]) -> list[str]:
        """Put what finds and what reads the things that are named, not given by ids, among the first ten."""
        needs = chain.from_iterable(self._postings.hit(short).needs for short in order[:_PAGE])
        finders, readers = [], []
        for thing in dict.fromkeys((*needs, *asked.words, *sorted(FINDING))):
            things = self._reads_of(thing)
            finders += [s for s, row in things if not row.needs and not FINDING.isdisjoint(terms(row.name)[:1])][:1]
            readers += [short for short, row in things if row.needs == (thing,)][:1]
        steps = [short for kind in (finders, readers) for short in [*dict.fromkeys(kind)][:_STEPS]]
        order = list(dict.fromkeys((*order[:_FIRM], *steps[:1], *order[_FIRM:])))
        more = [short for short in steps if short not in order[:_FIRM]][: _PAGE - _FIRM]
        kept = [short for short in order if short not in more]
        return [*kept[: _PAGE - len(more)], *more, *kept[_PAGE - len(more) :]]

    def _reads_of(self, thing: str) -> list[tuple[str, Hit]]:
        """Return the reads that have most to do with a thing and are about it."""
        near = [(short, self._postings.hit(short)) for short in islice(self._postings.levels(thing), _LOOKED_AT)]
        reads = [(short, row) for short, row in near if row.family == "read"]
        return [(short, row) for short, row in reads if thing in {*terms(row.resource)[-1:], *FINDING}]


def _slips(word: str) -> Iterator[str]:
    """Yield a word with two letters changed round, one left out, one changed, or one more."""
    cuts = [(word[:cut], word[cut:]) for cut in range(len(word) + 1)]
    yield from (head + rest[1] + rest[0] + rest[2:] for head, rest in cuts if len(rest) > 1)
    yield from (head + rest[1:] for head, rest in cuts if rest)
    yield from (head + letter + end for head, rest in cuts for letter in _LETTERS for end in (rest[1:], rest))
