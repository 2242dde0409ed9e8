"""The names that fit an operation, best first (R-NAME-2, R-NAME-3), each a pure function of the one operation.

No other operation is looked at, so that what else the document holds renames an operation only where two names meet;
then the candidates grow by parents, by the API's own verb, by what an item is found by, and end in one that is always
free.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category, Evidence, Reason
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain, read_chain
from aqlgen.decide.naming.noun import PREPOSITIONS, Words, head_size, join, singulars
from aqlgen.decide.naming.number import with_number
from aqlgen.decide.naming.spelling import fit, hashed
from aqlgen.decide.naming.verb_rules import DISTINCT, ChosenVerb, choose_verb
from aqlgen.decide.naming.verbs import leading_verb
from aqlgen.decide.naming.vocabulary import Vocabulary
from aqlgen.decide.naming.wording import action_wording, choose_words
from aqlgen.words import plural, singular, split

_DISGUISED: Final = 0.6
"""The most confidence in the name of an operation that the document gives a milder one."""
_WIDE: Final = 40
"""A longer name is taken only where no shorter one is free."""


@dataclass(frozen=True)
class Names:
    """The names that fit an operation, with the verb, the noun and the reason of the best one."""

    base: Words
    verb: str
    resource: str
    reason: Reason
    omitted: int
    facts: Facts
    category: Category
    chain: NounChain
    chosen: ChosenVerb
    verb_rule: str

    @property
    def noun(self) -> str:
        """The last word of the resource."""
        return self.resource.rsplit("_", 1)[-1]

    @cached_property
    def shortened(self) -> Words:
        """The first candidate, without the nouns at its front that make it long."""
        begins = {word for noun in self.chain.nouns for word in (noun.words[0], noun.one[0])}
        size = len(self.verb.split("_"))
        last = head_size(self.base, size + 1) - 1  # a noun behind a preposition is where the thing is found
        places = (at for at in range(size, last) if at == size or self.base[at] in begins)
        shorter = ((*self.base[:size], *self.base[at:]) for at in places)
        return next((words for words in shorter if len("_".join(words)) <= _WIDE), self.base)

    @cached_property
    def best(self) -> str:
        """The first candidate, the one that nearly every operation gets."""
        return fit(self.shortened) or self.candidates(versioned=False)[0]

    @cached_property
    def rank(self) -> tuple[int, ...]:
        """The operation's claim to its first candidate: it leaves out little, and its method is the usual one."""
        facts, chain = self.facts, self.chain
        order = ("PATCH", "PUT", "POST") if self.verb == "update" else ("GET", "POST", "PUT", "PATCH", "DELETE")
        unusual = order.index(facts.method) if facts.method in order else len(order)
        digits = [int(digits[:9]) for word in facts.shape.residue for digits in re.findall(r"\d+", word)]
        versions = (*digits, 0, 0, 0)
        return (
            -int(facts.operation.deprecated),
            int(chain.itself) if self.verb == "get" else 0,
            -self.omitted,
            -len(chain.nouns),
            -unusual,
            -len(chain.nouns[-1].parameters) if chain.nouns else 0,
            sum(len(noun.parameters) for noun in chain.nouns),
            -int(chain.raw != chain.full),
            *(-number for number in versions[:3]),  # the oldest first, so that a new one beside it renames nothing
        )

    @cached_property
    def version(self) -> Words:
        """The words of the API version that the operation is in."""
        return tuple(word for word in self.facts.shape.residue if re.match(r"v?\d", word))

    @cached_property
    def twin(self) -> tuple[object, ...]:
        """The operation's identity, apart from its API version."""
        shape = self.facts.shape
        return self.facts.method, self.chain.nouns, shape.action, shape.query_words

    @property
    def acting(self) -> bool:
        """True if the path ends in an action."""
        return bool(self.facts.shape.action)

    @property
    def item(self) -> bool:
        """True if the last noun has parameters."""
        return bool(self.chain.nouns) and bool(self.chain.nouns[-1].parameters)

    @cached_property
    def full(self) -> Words:
        """The verb with every noun of the path."""
        suffixes = self.facts.shape.query_words
        if self.acting:
            lead, thing = action_wording(self.facts, self.chain, self.chosen, whole=True)
            return join(lead, (*thing, *suffixes))
        thing = with_number(self.facts, self.chain, self.chain.full, self.chosen.shown)
        return join((self.chosen.shown,), (*thing, *suffixes))

    @property
    def plain_path(self) -> list[str]:
        """Every word of the path that is no residue."""
        return [word for word in split(self.facts.operation.path) if word not in self.facts.shape.residue]

    def candidates(self, *, versioned: bool) -> tuple[str, ...]:
        """Return all candidates, those with the version only if it is asked for."""
        names = (name for rule, name in self._spelled if versioned or rule != "version")
        return tuple(dict.fromkeys((*names, hashed(self.base, self.facts.operation.key))))

    @cached_property
    def _spelled(self) -> list[tuple[str, str]]:
        """Each candidate with the way that makes it; worked out only where another operation wants the first one."""
        phrases = ((rule.name, words) for rule in CANDIDATES for words in rule.make(self) if words)
        return [(rule, name) for rule, words in phrases if (name := fit(words))]


def names_for(facts: Facts, category: Category, vocabulary: Vocabulary) -> Names:
    """Return the names that fit an operation; `vocabulary` tells which words the document runs together."""
    chain = read_chain(facts, vocabulary)
    verb = choose_verb(facts, category, chain)
    declared = facts.operation.extensions.get("x-mcpaql-name")
    disguise = isinstance(declared, str) and _disguises(split(declared), facts, category)
    if isinstance(declared, str) and not disguise and (words := split(declared)):
        reason = Reason("declared", Evidence.METADATA, 1.0, "x-mcpaql-name")
        resource = "_".join(words[1:]) or words[0]
        return Names(words, words[0], resource, reason, 0, facts, category, chain, verb, reason.rule)
    wording = choose_words(facts, category, chain, verb)
    lead = "_".join(wording.lead)
    words = join(wording.lead, wording.thing)
    if words == ("lists",) and wording.lead == ("list",):
        words = ("list", "all", *words)  # a list of lists
    resource = _resource(wording.thing, chain) or lead
    reason, omitted, verb_rule = wording.reason, wording.omitted, wording.verb_rule
    if disguise:
        note = f"x-mcpaql-name claims {'_'.join(split(str(declared)))[:60]}, which does not fit {category}"
        reason = Reason(reason.rule, reason.evidence, min(reason.confidence, _DISGUISED), note)
    return Names(words, lead, resource, reason, omitted, facts, category, chain, verb, verb_rule)


def _disguises(words: Words, facts: Facts, category: Category) -> bool:
    """Return True if a declared name makes an operation look milder than it is (a DELETE called `get_user`)."""
    match = leading_verb(words)
    if match is None or category is Category.READ or match[0].category is category:
        return False
    milder = match[0].category is Category.READ or category is Category.DELETE or facts.method == "DELETE"
    return milder and match[0].category is not Category.DELETE


def _resource(thing: Words, chain: NounChain) -> str:
    """Return the noun for one, without what follows a preposition that is not part of the path's own noun."""
    last = singulars(chain.nouns[-1].words) if chain.nouns else []
    size = len(last)
    end = next((at + size for at in range(len(thing)) if last and singulars(thing[at : at + size]) == last), 0)
    for index in range(max(end, 1), len(thing)):
        if thing[index] in PREPOSITIONS and thing[index] != "of":
            thing = thing[:index]
            break
    if thing[:1] == ("my",) and len(thing) > 1:
        thing = thing[1:]
    if not thing:
        return ""
    return "_".join(thing if chain.mass else (*thing[:-1], singular(thing[-1])))


class Candidate(NamedTuple):
    """A named way to make candidates."""

    name: str
    make: Callable[[Names], Iterator[Words]]


def _base(names: Names) -> Iterator[Words]:
    yield names.shortened


def _own_verb(names: Names) -> Iterator[Words]:
    """Use the API's own verb for PUT and PATCH: replace beside patch."""
    base, verb = names.shortened, names.chosen
    if base[:1] == (verb.shown,) and (names.facts.method, verb.api_verb) in DISTINCT:
        yield verb.api_verb, *base[1:]


def _collection(names: Names) -> Iterator[Words]:
    """List what is called in the singular, beside its item (`/brand`)."""
    base, facts, chain = names.base, names.facts, names.chain
    if names.acting or base[:1] != ("get",) or len(base) < 2 or facts.method != "GET":
        return
    if chain.nouns and not names.item and not names.facts.shape.query_words and not chain.mass:
        yield "get" if facts.answers_list is False else "list", *base[1:-1], plural(base[-1])


def _full(names: Names) -> Iterator[Words]:
    yield names.full


def _list_all(names: Names) -> Iterator[Words]:
    if names.base[:1] == ("list",) and not names.chain.within:
        yield "list", "all", *names.base[1:]


def _by_parameters(names: Names) -> Iterator[Words]:
    if names.item and "by" not in names.facts.shape.query_words:
        yield *names.full, "by", *names.chain.parameters


def _via_method(names: Names) -> Iterator[Words]:
    yield *names.full, "via", names.facts.method.lower()


def _version(names: Names) -> Iterator[Words]:
    """Add the version if another version has the operation too."""
    for words in (names.shortened, names.base, names.full):
        yield *words, *names.version


def _path(names: Names) -> Iterator[Words]:
    """Use every word of the path, behind the verb and then behind the method."""
    lead, method = names.chosen.shown.split("_"), names.facts.method.lower()
    yield *lead, *(word for word in names.plain_path if word not in lead)
    yield *lead, *names.plain_path
    yield method, *names.plain_path
    yield method, *split(names.facts.operation.path)


CANDIDATES: Final = (
    Candidate("base", _base),
    Candidate("own-verb", _own_verb),
    Candidate("version", _version),
    Candidate("collection", _collection),
    Candidate("full", _full),
    Candidate("list-all", _list_all),
    Candidate("by-parameters", _by_parameters),
    Candidate("via-method", _via_method),
    Candidate("path", _path),
)
"""The ways in order; behind them all stands a name with a hash of the operation's key, which is always free."""
