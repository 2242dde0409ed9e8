"""The words of an operation's name: the verb by category and number, the nouns from the path or from people's words.

The path gives the nouns, the operationId the verb and the evidence of which nouns are needed: with
`issues/list-comments-for-repo`, `/repos/{owner}/{repo}/issues/comments` keeps repo, issue and comment.

An action is named by its words: `/runs/{id}/submit_tool_outputs` is submit_run_tool_outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category, Evidence, Reason
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain, nearest, needed_nouns, parents
from aqlgen.decide.naming.noun import AREAS, MOVING, PREPOSITIONS, Words, alike, head_size, is_plural, join, singulars
from aqlgen.decide.naming.number import with_number
from aqlgen.decide.naming.phrase import Phrase
from aqlgen.decide.naming.verb_rules import GENERIC, ChosenVerb, heard_verb, is_shown_anyway
from aqlgen.decide.naming.verbs import ADVERBS, CANONICAL, Verb, find_verb, leading_verb
from aqlgen.words import plural, singular

_LONG: Final = 7
"""More words than these are a sentence, no name."""


def action_wording(facts: Facts, chain: NounChain, verb: ChosenVerb, *, whole: bool = False) -> tuple[Words, Words]:
    """Name an action by the item it acts on; return the words of its verb and of its nouns.

    With `whole` every noun of the path is kept.
    """
    lead, rest = _verb_words(facts.shape.action, verb.shown)
    if not chain.nouns:
        return lead, rest
    last = chain.nouns[-1]
    noun = _numbered_item(facts, chain, verb, rest)
    if whole:
        return lead, (*chain.full[: -len(last.words)], *noun, *rest)
    before = parents(facts, chain)
    if not before and not last.parameters and not rest:
        before = nearest(chain)[: -len(last.words)]
    mine = ("my",) if chain.mine and before[:1] != ("my",) else ()
    return lead, (*mine, *join(before, noun), *rest)


def _verb_words(action: Words, shown: str) -> tuple[Words, Words]:
    """Return the words of the verb, with its adverbs, and the words of the action behind it."""
    match = leading_verb(action)
    if match is None:
        return tuple(shown.split("_")), action[1:]
    verb, used = match
    if shown not in (verb.word, CANONICAL.get(verb.word), "get", "list"):
        return tuple(shown.split("_")), action  # the path's end is a noun to people's verb: create a schedule preview
    if {"and", "or"} & set(action[:used]):
        return action[:used], action[used:]  # find one and delete: both are said
    before = action[: max(0, used - len(verb.word.split("_")))]
    adverbs = tuple(word for word in before if word in ADVERBS)
    return (*adverbs, *shown.split("_")), action[used:]


def _numbered_item(facts: Facts, chain: NounChain, verb: ChosenVerb, rest: Words) -> Words:
    """Return the last noun in the singular, or in the path's number where it is read."""
    last = chain.nouns[-1]
    if last.parameters:
        many = verb.shown == "list" and not chain.mass
        return (*last.one[:-1], plural(last.one[-1])) if many else last.one
    if chain.mass:
        return last.words
    noun = last.words if _reads_all(facts, verb.shown, rest) else last.one
    many = verb.shown == "list"
    return (*noun[:-1], plural(singular(noun[-1]))) if many else noun


def _reads_all(facts: Facts, shown: str, rest: Words) -> bool:
    known = find_verb(shown)
    if known is None or known.category is not Category.READ or (rest and rest[0] != "by"):
        return False
    return shown != "get" or facts.action_verb is None or facts.action_verb.word == "get"


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
    """Use the words of a function in the API's code, unless they make the operation look milder than it is."""
    facts, category, phrase = subject.facts, subject.category, subject.facts.phrase
    if phrase is None or not phrase.of_function:
        return None
    verb, thing = phrase.verb, phrase.object
    head = thing[: head_size(thing)]
    many = is_plural(head) and head[-1] not in AREAS and facts.answers_list is not False
    reading = "list" if many else "get"
    if verb is None:
        lead, thing = ((reading,), thing) if category is Category.READ else _as_noun(facts, thing, subject.verb.shown)
    elif verb.category is not category and (verb.category is Category.READ or category is Category.DELETE):
        return None
    else:
        lead = _function_verb(phrase, verb, reading)
    omitted = sum(noun.one[-1] not in singulars(thing) for noun in subject.chain.nouns)
    return _Words(lead, thing, omitted, note=f"a function's name in operationId {facts.operation.operation_id}")


def _function_verb(phrase: Phrase, verb: Verb, reading: str) -> Words:
    """Return the canonical verb, with its adverbs, but of what is added to a thing its own; get or list as they are."""
    word = verb.word if MOVING & set(phrase.object) else CANONICAL.get(verb.word, verb.word)
    word = reading if word == "get" else word
    return phrase.lead if word == verb.word != "list" else (*(each for each in phrase.lead if each in ADVERBS), word)


def _as_noun(facts: Facts, words: Words, shown: str) -> tuple[Words, Words]:
    """Return verb and nouns of a function without a known verb: its head may be one that is not known."""
    item, last = (*words[:-1], singular(words[-1])), facts.last_noun
    collected = last is not None and is_plural(last.words) and item[-1] == last.one[-1]
    if facts.method == "POST" and not collected:
        return words[:1], words[1:]
    return (shown,), tuple(word for word in item if word != shown) or item


def _in_people_words(subject: _Subject) -> _Words | None:
    """Use people's words for the verb and its object, if their verb says more than the category."""
    facts, chain, phrase = subject.facts, subject.chain, subject.facts.phrase
    if phrase is None or len(phrase.object) > _LONG or not _says_more(subject):
        return None
    thing = phrase.object
    if chain.nouns and not facts.shape.action and singulars(thing) == singulars(chain.nouns[-1].words):
        return None  # the path says it
    space = tuple(singulars(phrase.namespace))
    is_service = len(space) > 1 and space[-1] == "service"  # of gRPC: AuthService_SignIn
    thing = _owned(thing, space[:-1] if is_service else space, chain)
    if not thing:
        return None
    tail = facts.shape.query_words
    tail = () if thing[-len(tail) :] == tail else tail
    thing = (*(thing if chain.nouns else join(subject.area, thing)), *tail)
    return _Words(phrase.lead, thing, note=f"operationId {facts.operation.operation_id}")


def _says_more(subject: _Subject) -> bool:
    """Return True if people's verb fits the operation, and says more than its category."""
    facts, category, verb = subject.facts, subject.category, heard_verb(subject.facts, subject.chain)
    if verb is None or subject.verb.acting or CANONICAL.get(verb.word, verb.word) in GENERIC:
        return False
    if facts.shape.action and not (facts.phrase and facts.phrase.object):
        return False
    return verb.category is category or is_shown_anyway(facts, category, verb)


def _owned(thing: Words, space: Words, chain: NounChain) -> Words:
    """Put a thing behind the noun of the path that the namespace names, unless it has it."""
    owners = (noun.one for noun in chain.nouns if space and alike(noun.one[-1], space[-1]))
    owner = next(owners, ())
    if not thing or thing[0] in PREPOSITIONS:
        return (*(owner or space), *thing)
    return thing if {*owner, *space[-1:]} & {*singulars(thing)} else (*owner, *thing)


def _by_action(subject: _Subject) -> _Words | None:
    facts, chain = subject.facts, subject.chain
    if not facts.shape.action:
        return None
    lead, thing = action_wording(facts, chain, subject.verb)
    return _Words(lead, (*thing, *facts.shape.query_words), note="the path ends in an action")


def _by_path(subject: _Subject, *, named: bool = False) -> _Words | None:
    facts, chain, verb = subject.facts, subject.chain, subject.verb
    if not chain.nouns or (named and facts.phrase is None):
        return None
    thing, kept = needed_nouns(facts, chain, many=verb.shown == "list")
    thing = with_number(facts, chain, thing, verb.shown)
    thing = _without_verb(thing, subject)
    spoken = facts.phrase and facts.phrase.verb and facts.phrase.verb.word == verb.shown
    lead = facts.phrase.lead if facts.phrase and spoken else (verb.shown,)
    note = "" if facts.phrase else "no operationId that says more"
    return _Words(lead, (*thing, *facts.shape.query_words), len(chain.nouns) - kept, note)


def _without_verb(thing: Words, subject: _Subject) -> Words:
    """Leave out the verb where the path has it too: a report is reported, `/CreateInvoice` creates an invoice."""
    nouns, shown = subject.chain.nouns, subject.verb.shown
    if shown not in GENERIC and (not nouns[-1].parameters or any(noun.one == (shown,) for noun in nouns)):
        return tuple(word for word in thing if singular(word) != shown) or thing
    return thing


def _without_path(subject: _Subject) -> _Words:
    phrase = subject.facts.phrase
    words = join(subject.area, phrase.object if phrase else ())
    return _Words((subject.verb.shown,), (*(words or ("root",)), *subject.facts.shape.query_words), unsure=not words)


NOUN_RULES: Final = (
    NounRule("function's name", Evidence.RULE, 0.9, _as_function, chooses_verb=True),
    NounRule("operationId or summary", Evidence.RULE, 0.85, _in_people_words, chooses_verb=True),
    NounRule("action and item", Evidence.RULE, 0.85, _by_action),
    NounRule("path and operationId", Evidence.RULE, 0.9, lambda subject: _by_path(subject, named=True)),
    NounRule("path", Evidence.RULE, 0.85, _by_path),
    NounRule("no noun in the path", Evidence.HEURISTIC, 0.7, _without_path),
)
"""The rules in order; the last one knows every operation."""
