# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How well an operation answers a question, beside the words that they share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from .postings import Hit
from .questions import Question
from .synonyms import ENACTS, FINDS, READS, synonyms, verb_class
from .terms import plain_words, set_of, stem, terms

__all__ = ["EXACT", "Weighing", "Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """What decides the order; rounded from what was found on one half of the tasks of `python -m bench search`."""

    synonym: float = 0.4
    """The share of a word that another stands for."""
    part: float = 0.4
    """The share of a word of the index that an unknown word begins or shortens."""
    slip: float = 0.9
    """The share of a word of the index that an unknown word runs together or misspells."""
    circumstance: float = 0.95
    """The share of a word behind a preposition."""
    particular: float = 0.55
    """The share of a word among the particulars: behind `with`, `named`, `setting`."""
    afterthought: float = 0.8
    """The share of a word of a later sentence."""
    vague: float = 0.15
    """The share of a word such as `info` and `details`."""
    covered: float = 0.33
    """How much is lost by a name of which nothing was asked for."""
    summary: float = 0.13
    """How much is lost by a summary of which nothing was asked for."""
    wordless: float = 0.5
    """How much of a name or summary was asked for that says of no thing."""
    whole_summary: float = 0.13
    """What an operation gains whose whole summary the question says."""
    verb: float = 0.26
    """What a verb that means the same gains, and another loses."""
    exact_verb: float = 0.08
    """What the same verb gains besides, in the name or in the summary."""
    reading: float = 0.02
    """What reading gains where no verb is asked for."""
    finder: float = 0.1
    """What an operation that finds gains where finding is asked for."""
    change: float = 0.2
    """What a change loses where reading is asked for."""
    read: float = 0.1
    """What reading loses where a change is asked for."""
    object: float = 0.06
    """What an operation with the object in its name gains, and another loses."""
    head: float = 0.03
    """What the object's own operations gain over those of its parts."""
    number: float = 0.05
    """What one or many gains where one or many was asked for, and loses otherwise."""
    list: float = 0.1
    """What an operation that lists gains where all are asked for."""
    several: float = 0.4
    """What an operation for several at once gains where there are several values, and loses otherwise."""
    mine: float = 0.12
    """What an operation on what is the caller's loses if the question is not about that, or else gains."""
    within: float = 0.09
    """What an operation gains for each thing that it is within, if the question has its id or speaks of it."""
    unmet: float = 0.12
    """What an operation loses for each thing that it is within of which the question does not speak."""
    of_itself: float = 0.3
    """What an operation that needs the very thing of which a list is asked for loses."""
    anew: float = 0.4
    """What an operation that needs the very thing of which a new one is asked for loses."""
    takes: float = 0.2
    """What an operation gains for each thing of which the question has the id and it takes it, and loses otherwise."""
    finding: float = 0.5
    """What an operation that finds things by words gains when names of things are asked for: of what is spoken of, …"""
    finding_needed: float = 0.25
    """… of what the best operations need, …"""
    finding_other: float = 0.65
    """… of anything. An API has few of them."""
    details: float = 0.1
    """What an operation gains that reads one thing of which the name is asked for."""
    listing: float = 0.2
    """What an operation gains that brings without an id what the best operations need."""


_SAME, EXACT = 1.2, 1e6
"""What an operation gains whose name or summary has the words of the question in other forms, and the very words."""
_CHANGES = frozenset({"create", "update", "delete"})
_AT_ONCE = frozenset(map(stem, set_of("batch bulk multiple multi many")))


class Weighing:
    """What a question asks for, against which operations are weighed."""

    def __init__(
        self, asked: Question, text: str, weights: Weights, rarity: Callable[[str], float], *, named: bool,
        prefixes: Collection[str] = (),
    ) -> None:  # fmt: skip
        """Read the question `text`; with `named` it has names of things instead of ids.

        `prefixes` are the words that several APIs put before names: they say nothing of what is done.
        """
        self._prefixes = prefixes
        self._asked, self._text, self._weights, self._rarity = asked, text, weights, rarity
        self._terms = terms(text)
        self._words = {word.stem for word in asked.words}
        self._related = self._words.union(*map(synonyms, self._words))
        self._verbs = verb_class(asked.verb)
        self._reading = READS in self._verbs or not self._verbs
        self._noun = stem(asked.noun)
        self._nouns = {self._noun} | synonyms(self._noun)
        around = {word.stem for word in asked.words if word.stem != self._noun}
        self._held = around | asked.identified
        self._spoken = None if named else self._related
        self._new = "new" in self._words and not self._reading
        self._listed = asked.many or (self._reading and asked.noun != self._noun and asked.noun.endswith("s"))

    def weigh(self, hit: Hit, score: float, takes: Iterable[bool] = ()) -> float:
        """Return what an operation is worth whose words are worth a score.

        `takes` says for each thing of which the question has the id whether the operation takes it.
        """
        name = self._without_prefix(hit.name) if self._prefixes else hit.name
        words, summary = terms(name), terms(hit.summary)
        factor = self._coverage(words, summary) * self._needs(hit.needs, words)
        for taken in takes:
            factor *= _signed(taken, self._weights.takes)
        if self._noun:
            factor *= self._object(words, terms(hit.resource)[-1:])
            if self._noun in words:
                factor *= self._number(name.split("_"))
        if len(summary) > 1 and self._words.issuperset(summary):
            factor *= 1.0 + self._weights.whole_summary
        if self._verbs:
            factor *= self._verb(words, summary) * self._effect(hit.family)
        elif hit.family == "read":
            factor *= 1.0 - self._weights.read if self._asked.acts else 1.0 + self._weights.reading
        if "_my_" in hit.name:
            factor *= _signed(self._asked.mine, self._weights.mine)
        if not _AT_ONCE.isdisjoint(words) and _AT_ONCE.isdisjoint(self._words):
            factor *= _signed(self._asked.several, self._weights.several)
        if self._terms and self._terms in (words, summary):
            factor *= _SAME
            asked = plain_words(self._text)
            if asked in (plain_words(hit.name), plain_words(name)):
                return score * factor + 2 * EXACT
            if asked == plain_words(hit.summary):
                return score * factor + EXACT
        return score * factor

    def _without_prefix(self, name: str) -> str:
        prefix, _, rest = name.partition("_")
        return rest if rest and prefix in self._prefixes else name

    def _coverage(self, words: Sequence[str], summary: Sequence[str]) -> float:
        weights = self._weights
        nouns = words[1:] if verb_class(words[0] if words else "") else words
        if self._asked.several:
            nouns = [word for word in nouns if word not in _AT_ONCE]
        lost = weights.covered * (1.0 - self._covered(nouns)) + weights.summary * (1.0 - self._covered(summary))
        return 1.0 - lost

    def _covered(self, words: Sequence[str]) -> float:
        """Return the share of some words that was asked for, a rare one for more than a common one."""
        total = covered = 0.0
        for word in words:
            rarity = self._rarity(word)
            total += rarity
            if word in self._related:
                covered += rarity
        return covered / total if total else self._weights.wordless

    def _object(self, words: Sequence[str], head: Sequence[str]) -> float:
        factor = _signed(not self._nouns.isdisjoint(words), self._weights.object)
        return factor * _signed(head[0] in self._nouns, self._weights.head) if head else factor

    def _number(self, parts: Sequence[str]) -> float:
        if not (self._asked.many and self._reading):
            return _signed(self._asked.noun in parts, self._weights.number)
        noun = self._noun
        many = parts[0] != "get" or any(part != noun and stem(part) == noun for part in parts)
        return _signed(many, self._weights.number) * (1.0 + self._weights.list * (parts[0] == "list"))

    def _verb(self, words: Sequence[str], summary: Sequence[str]) -> float:
        asked, first = self._asked.verb, words[0] if words else ""
        classes = verb_class(first)
        meant = not self._verbs.isdisjoint(classes)
        if not meant and asked in words:
            meant = not classes or (asked == words[-1] and not classes.isdisjoint(ENACTS))
        factor = _signed(meant, self._weights.verb)
        if asked in FINDS and first in FINDS:
            factor *= 1.0 + self._weights.finder
        return factor * (1.0 + self._weights.exact_verb) if asked in (first, *summary[:1]) else factor

    def _effect(self, family: str) -> float:
        """Return the factor of changes where reading is asked for, and of reading where a change is."""
        if self._reading:
            return 1.0 - self._weights.change if family in _CHANGES else 1.0
        return 1.0 - self._weights.read if family == "read" else 1.0

    def _needs(self, needs: Sequence[str], words: Sequence[str]) -> float:
        weights, factor, identified = self._weights, 1.0, self._asked.identified
        if needs and needs[-1] not in identified:
            if self._new and needs[-1] == self._noun:
                factor *= 1.0 - weights.anew
            elif self._listed and self._verbs and words[:1] == ("get",) and needs == words[-1:]:
                factor *= 1.0 - weights.of_itself
        for need in needs:
            if need in self._held:
                factor *= 1.0 + weights.within
            elif self._spoken is not None and need not in self._spoken:
                factor *= 1.0 - weights.unmet
            if self._listed and need == self._noun and need not in identified:
                factor *= 1.0 - weights.of_itself
        return factor


def _signed(meant: bool, weight: float) -> float:
    return 1.0 + weight if meant else 1.0 - weight
