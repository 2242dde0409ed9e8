"""Names in people's own words: those of a function in the API's code, and those with a verb that says more."""

from __future__ import annotations

from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain
from aqlgen.decide.naming.noun import AREAS, MOVING, PREPOSITIONS, Words, alike, head_size, is_plural, singulars
from aqlgen.decide.naming.verb_rules import GENERIC, heard_verb, is_shown_anyway
from aqlgen.decide.naming.verbs import ADVERBS, CANONICAL, ONE_THING
from aqlgen.words import singular

__all__ = ["function_wording", "spoken_wording"]

_LOOKUPS: Final = (("with", "id"), ("by", "id"), ("for", "authenticated", "user"))
"""Ends of names that say how a thing is found."""
_LONG: Final = 7
"""More words than these are a sentence, no name."""


def function_wording(facts: Facts, category: Category, verb_of_category: str) -> tuple[Words, Words] | None:
    """Return the words of the verb and of the nouns as the function has them; None where they do not name it."""
    phrase = facts.phrase
    if phrase is None or not phrase.of_function:
        return None
    verb, adverbs = phrase.verb, tuple(word for word in phrase.namespace if word in ADVERBS)
    thing = (*(word for word in phrase.namespace if word not in ADVERBS), *phrase.object)
    head = thing[: head_size(thing)]
    many = is_plural(head) and head[-1] not in AREAS and facts.answers_list is not False
    if verb is None and category is Category.READ:
        return ("list" if many else "get",), thing
    if verb is None:
        last = facts.last_noun
        item = (*thing[:-1], singular(thing[-1]))
        collected = last is not None and is_plural(last.words) and item[-1] == last.one[-1]
        known = is_plural(thing) or collected or facts.method != "POST"
        return ((verb_of_category,), item) if known else (thing[:1], thing[1:])  # mostly a verb that is not known
    milder = verb.category is not category and (verb.category is Category.READ or category is Category.DELETE)
    if milder:
        return None
    if not thing:
        whole = verb == facts.action_verb and verb.word not in GENERIC and not facts.shape.item
        return (phrase.lead, ()) if whole else None  # `calculate` of `/tools/calculate`
    word = verb.word if MOVING & set(phrase.object) else CANONICAL.get(verb.word, verb.word)
    if word == "get" and category is Category.READ:
        word = "list" if many else "get"
    lead = phrase.lead if word == verb.word not in ("get", "list") else (*(ADVERBS & {*phrase.lead}), word)
    return (*adverbs, *lead), thing


def spoken_wording(facts: Facts, category: Category, chain: NounChain) -> tuple[Words, Words] | None:
    """Return people's words for the verb and its object, if their verb says more than the category."""
    phrase, verb = facts.phrase, heard_verb(facts, chain)
    if phrase is None or verb is None or len(phrase.object) > _LONG or (facts.shape.action and not phrase.object):
        return None
    if CANONICAL.get(verb.word, verb.word) in GENERIC or verb.word in ONE_THING:
        return None
    if verb.category is not category and not is_shown_anyway(facts, category, verb):
        return None
    ends = (end for end in _LOOKUPS if phrase.object[-len(end) :] == end)
    thing = phrase.object[: len(phrase.object) - len(next(ends, ()))]
    path_says_it = not facts.shape.action and chain.nouns and not chain.nouns[-1].bare
    if path_says_it and singulars(thing) == singulars(chain.nouns[-1].words):
        return None
    space = tuple(singulars(phrase.namespace))
    owners = (
        noun.one
        for noun in chain.nouns
        if space and (space[-len(noun.one) :] == noun.one or (len(noun.one) == 1 and alike(noun.one[0], space[-1])))
    )
    owner = next(owners, ())
    if not thing or thing[0] in PREPOSITIONS:
        thing = (*(owner or space), *thing)
    elif not {*owner, *space[-1:]} & {*singulars(thing)}:
        thing = (*owner, *thing)
    return (phrase.lead, thing) if thing else None
