"""One thing or many: the rules that choose between get and list, and the number of a name's last noun."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain, is_participle
from aqlgen.decide.naming.noun import AREAS, Words, head_size, is_plural
from aqlgen.decide.naming.verbs import CANONICAL, find_verb
from aqlgen.decide.payloads import sends_list
from aqlgen.words import plural, singular

_LISTED_AT_ROOT: Final = frozenset("actions metrics credentials permissions insights".split())
"""Areas that are listed where they belong to no item: `/metrics`, but `/users/{id}/metrics`."""


class NumberRule(NamedTuple):
    """A named rule: `apply` returns True if a READ answers with many things, None where it does not apply."""

    name: str
    apply: Callable[[Facts, NounChain], bool | None]


def answers_many(facts: Facts, chain: NounChain) -> tuple[bool, str]:
    """Return True if a READ answers with many things, with the name of the rule that says so."""
    for rule in NUMBER_RULES:
        many = rule.apply(facts, chain)
        if many is not None:
            return many, rule.name
    raise AssertionError("the last rule knows every noun")


def _named_verb(facts: Facts) -> str:
    return CANONICAL.get(facts.named_verb.word, facts.named_verb.word) if facts.named_verb else ""


def _called_list(facts: Facts, chain: NounChain) -> bool | None:
    if _named_verb(facts) != "list":
        return None
    return None if chain.item and facts.answers_list is not True and not _says_many(facts) else True


def _called_get(facts: Facts, chain: NounChain) -> bool | None:
    """Believe people who say get, unless what they get is a plural of the path (`getLinks` of `/links`)."""
    if _named_verb(facts) != "get" or facts.answers_list or not facts.phrase or not facts.phrase.object:
        return None
    plain = bool(chain.nouns) and not (chain.nouns[-1].parameters or chain.mass)
    return facts.answers_list is None and plain and is_plural(chain.last) and _says_many(facts)


def _without_noun(facts: Facts, chain: NounChain) -> bool | None:
    if chain.nouns:
        return None
    words = facts.phrase.object if facts.phrase else facts.shape.action[1:]
    return is_plural(words[-1:]) and words[-1] not in AREAS


def _by_parameter(facts: Facts, chain: NounChain) -> bool | None:
    """Read what is found by something else than itself (`/objects/{entity}`) as its response is."""
    return facts.answers_list is True and not chain.item if chain.nouns[-1].parameters else None


def _response(facts: Facts, chain: NounChain) -> bool | None:
    """Believe the response where nobody named a verb, and a list of what has one form or is said in the plural."""
    if facts.named_verb is None:
        return facts.answers_list
    uncounted = chain.mass or singular(chain.last[0]) == plural(chain.last[0])
    return True if facts.answers_list and (uncounted or _says_many(facts)) else None


def _plural_noun(_: Facts, chain: NounChain) -> bool:
    last = chain.nouns[-1].words
    rooted = last[-1] in _LISTED_AT_ROOT and not chain.within
    return is_plural(last) and (rooted or last[-1] not in AREAS)


NUMBER_RULES: Final = (
    NumberRule("called-list", _called_list),
    NumberRule("called-get", _called_get),
    NumberRule("no-noun", _without_noun),
    NumberRule("by-parameter", _by_parameter),
    NumberRule("response", _response),
    NumberRule("plural-noun", _plural_noun),
)
"""The rules in order of trust; the last one knows every noun."""


def _takes_many(facts: Facts, verb: str) -> bool:
    return verb != "create" or bool(sends_list(facts.operation, facts.schemas))


def _says_many(facts: Facts) -> bool:
    spoken = facts.phrase.object[-1:] if facts.phrase else ()
    return is_plural(spoken) and spoken[0] not in AREAS


def with_number(facts: Facts, chain: NounChain, thing: Words, verb: str) -> Words:
    """Put the last noun in the singular or plural, as the verb and the path ask."""
    if not thing:
        return thing
    noun, last, known = chain.nouns[-1], thing[-1], find_verb(verb)
    if verb == "list" and not chain.mass:
        start = max(len(thing) - len(noun.words), 0)
        at = head_size(thing, start + 1) - 1  # before a preposition of the path's own noun
        return (*thing[:at], thing[at] if is_participle(thing[at]) else plural(thing[at]), *thing[at + 1 :])
    if not noun.parameters:
        if chain.mass or facts.method in ("PUT", "PATCH") or (known and known.category is Category.READ):
            return thing  # what is read or changed as a whole
        if facts.phrase and plural(last) in facts.phrase.object and _takes_many(facts, verb):
            return (*thing[:-1], plural(last))
        if facts.method == "DELETE":
            return thing
    return (*thing[:-1], noun.one[-1] if noun.words[-1] == last else singular(last))
