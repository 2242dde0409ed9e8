"""The words of an operation's name: the verb by category and number, the nouns from the path or from people's words.

The path gives the nouns, the operationId the verb and the evidence of which nouns are needed: with
`issues/list-comments-for-repo`, `/repos/{owner}/{repo}/issues/comments` keeps repo, issue and comment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category, Evidence, Reason
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.action_wording import action_wording
from aqlgen.decide.naming.chain import NounChain
from aqlgen.decide.naming.function_wording import function_wording
from aqlgen.decide.naming.noun import Words, join, singulars
from aqlgen.decide.naming.nouns import needed_nouns, without_verb
from aqlgen.decide.naming.number import with_number
from aqlgen.decide.naming.spoken_wording import spoken_wording
from aqlgen.decide.naming.suffixes import prerelease, suffixes
from aqlgen.decide.naming.verb_rules import ChosenVerb
from aqlgen.decide.naming.verbs import ONE_THING
from aqlgen.words import singular

__all__ = ["NOUN_RULES", "NounRule", "Wording", "choose_words"]


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of the verb and of the nouns, how many nouns of the path they leave out, and the reason."""

    lead: Words
    thing: Words
    omitted: int
    reason: Reason
    verb_rule: str
    """The rule that chose the verb."""


class _Words(NamedTuple):
    """The words that a rule found; `unsure` where it found no noun."""

    lead: Words
    thing: Words
    omitted: int = 0
    note: str = ""
    unsure: bool = False


@dataclass(frozen=True, slots=True)
class _Subject:
    """The operation to be named, with its noun chain and its verb."""

    facts: Facts
    category: Category
    chain: NounChain
    verb: ChosenVerb

    @property
    def suffixes(self) -> Words:
        return suffixes(self.facts, self.chain, self.category)

    @property
    def prerelease(self) -> Words:
        return prerelease(self.facts, self.chain)

    @property
    def area(self) -> Words:
        """The subject of a path without nouns: the group of `/apis/rbac.authorization.k8s.io/v1/`."""
        words = [word for word in self.facts.shape.residue if word.isalpha() and word not in ("api", "apis", "rest")]
        return tuple(words[:1])


class NounRule(NamedTuple):
    """A named rule: `apply` returns the words of the name, None where it does not apply."""

    name: str
    evidence: Evidence
    confidence: float
    apply: Callable[[_Subject], _Words | None]
    chooses_verb: bool = False
    """Its words have a verb of their own, rather than the one that a verb rule chose."""


def choose_words(facts: Facts, category: Category, chain: NounChain, verb: ChosenVerb) -> Wording:
    """Choose the words of the name."""
    subject = _Subject(facts, category, chain, verb)
    for rule in NOUN_RULES:
        words = rule.apply(subject)
        if words is not None:
            confidence = _UNSURE if words.unsure else rule.confidence
            reason = Reason(rule.name, rule.evidence, confidence, words.note)
            verb_rule = rule.name if rule.chooses_verb else verb.rule
            return Wording(words.lead, words.thing, words.omitted, reason, verb_rule)
    raise AssertionError("the last rule knows every operation")


_UNSURE: Final = 0.5


def _as_function(subject: _Subject) -> _Words | None:
    phrase = subject.facts.phrase
    words = None if phrase is None else function_wording(subject.facts, subject.category, subject.verb.shown)
    if words is None:
        return None
    lead, thing = words
    omitted = sum(noun.one[-1] not in singulars(thing) for noun in subject.chain.nouns)
    return _Words(lead, thing, omitted, note=f"a function's name in operationId {subject.facts.operation.operation_id}")


def _in_people_words(subject: _Subject) -> _Words | None:
    facts, chain = subject.facts, subject.chain
    words = None if subject.verb.acting else spoken_wording(facts, subject.category, chain)
    if words is None:
        return None
    lead, thing = words
    if not chain.nouns:
        thing = join(subject.prerelease, subject.area, thing)
    tail = subject.suffixes
    if tail[:1] == ("via",) and thing[:1] == tail[1:]:
        thing = thing[1:]
    if tail[:1] != ("by",) and thing[-len(tail) :] != tail:
        thing = (*thing, *tail)
    return _Words(lead, thing, note=f"operationId {facts.operation.operation_id}")


def _by_action(subject: _Subject) -> _Words | None:
    facts, chain = subject.facts, subject.chain
    if not facts.shape.action:
        return None
    lead, thing = action_wording(facts, chain, subject.verb)
    words = join(subject.prerelease, (*thing, *subject.suffixes))
    adverbs = tuple(word for word in chain.adverb if word not in lead)
    return _Words((*adverbs, *lead), words, note="the path ends in an action")


def _by_path(subject: _Subject) -> _Words | None:
    facts, chain, verb = subject.facts, subject.chain, subject.verb
    if not chain.nouns:
        return None
    thing, kept = needed_nouns(facts, chain, many=verb.shown == "list")
    thing = without_verb(facts, chain, verb.shown, with_number(facts, chain, thing, verb.shown))
    if verb.api_verb in ONE_THING:
        thing = (*thing[:-1], singular(thing[-1]))
    spoken = facts.phrase is not None and facts.named_verb is not None and facts.named_verb.word == verb.shown
    lead = facts.phrase.lead if spoken and facts.phrase else (verb.shown,)
    words = join(subject.prerelease, (*thing, *subject.suffixes))
    return _Words((*chain.adverb, *lead), words, len(chain.nouns) - kept)


def _by_path_with_adjective(subject: _Subject) -> _Words | None:
    words = _by_path(subject) if subject.chain.unsettled else None
    return words and words._replace(note=f"`{'_'.join(subject.chain.nouns[-1].words)}` is no noun")


def _by_path_and_people(subject: _Subject) -> _Words | None:
    return _by_path(subject) if subject.facts.phrase else None


def _by_path_alone(subject: _Subject) -> _Words | None:
    words = _by_path(subject)
    return words and words._replace(note="no operationId that says more")


def _without_path(subject: _Subject) -> _Words:
    phrase = subject.facts.phrase
    words = join(subject.area, phrase.object if phrase else ())
    return _Words((subject.verb.shown,), (*(words or ("root",)), *subject.suffixes), unsure=not words)


NOUN_RULES: Final = (
    NounRule("function's name", Evidence.RULE, 0.9, _as_function, chooses_verb=True),
    NounRule("people's words", Evidence.RULE, 0.85, _in_people_words, chooses_verb=True),
    NounRule("action and item", Evidence.RULE, 0.85, _by_action),
    NounRule("path with an adjective", Evidence.HEURISTIC, 0.65, _by_path_with_adjective),
    NounRule("path and people's words", Evidence.RULE, 0.9, _by_path_and_people),
    NounRule("path", Evidence.RULE, 0.85, _by_path_alone),
    NounRule("no noun in the path", Evidence.HEURISTIC, 0.7, _without_path),
)
"""The rules in order; the last one knows every operation."""
