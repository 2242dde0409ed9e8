"""Names of operations whose operationId holds the name of a function: its own words, with the canonical verbs."""

from __future__ import annotations

from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.noun import AREAS, Words, head_size, is_plural
from aqlgen.decide.naming.phrase import Phrase
from aqlgen.decide.naming.verb_rules import DISTINCT, GENERIC
from aqlgen.decide.naming.verbs import ADVERBS, CANONICAL, Verb
from aqlgen.words import singular

__all__ = ["function_wording"]

_MOVING: Final = frozenset("to from into".split())
"""Prepositions of joining: what is added to a cart is not created."""
_LOOKING: Final = frozenset("search query find lookup count export browse filter".split())
"""Verbs that take the collection before them for their object (`/items/search`)."""


def function_wording(facts: Facts, category: Category, verb_of_category: str) -> tuple[Words, Words] | None:
    """Return the words of the verb and of the nouns as the function has them; None where they do not name it."""
    phrase = facts.phrase
    if phrase is None or not phrase.of_function:
        return None
    verb, thing = phrase.verb, (*phrase.namespace, *phrase.object)
    if verb is None:
        return _without_verb(facts, category, thing, verb_of_category)
    if _is_milder(verb, category) or not (thing or _is_whole(facts, verb)):
        return None
    adverbs = tuple(word for word in phrase.namespace if word in ADVERBS)
    thing = (*(word for word in phrase.namespace if word not in ADVERBS), *phrase.object)
    return (*adverbs, *_lead(facts, category, phrase, verb)), thing


def _without_verb(facts: Facts, category: Category, thing: Words, verb: str) -> tuple[Words, Words]:
    """Put a verb before a noun; a function that sends something mostly begins with a verb, though it is unknown."""
    if category is Category.READ:
        return ("list" if _names_many(facts, thing) else "get",), thing
    last = facts.last_noun
    item = (*thing[:-1], singular(thing[-1]))
    collected = last is not None and is_plural(last.words) and item[-1] == last.one[-1]
    if is_plural(thing) or collected or facts.method != "POST":
        return (verb,), item
    return thing[:1], thing[1:]


def _is_milder(verb: Verb, category: Category) -> bool:
    """Return True if a verb makes the operation look milder than it is: a DELETE called `get_user`."""
    if verb.category is category:
        return False
    return verb.category is Category.READ or (category is Category.DELETE and verb.word in GENERIC)


def _is_whole(facts: Facts, verb: Verb) -> bool:
    """Return True if a verb alone is a name: `calculate` of `/tools/calculate`, but not `cancel` of an item."""
    last, action = facts.last_noun, facts.action_verb
    if action is None or action.word != verb.word or verb.word in GENERIC | _LOOKING:
        return False
    return last is None or not last.parameters


def _lead(facts: Facts, category: Category, phrase: Phrase, verb: Verb) -> Words:
    """Return the words of the verb, canonical where that says as much."""
    moving = not _MOVING.isdisjoint(phrase.object)
    word = verb.word if moving or (facts.method, verb.word) in DISTINCT else CANONICAL.get(verb.word, verb.word)
    if word == "get" and category is Category.READ:
        word = "list" if _names_many(facts, phrase.object or phrase.namespace) else "get"
    if word == verb.word and word not in ("get", "list"):
        return phrase.lead
    return (*(adverb for adverb in phrase.lead if adverb in ADVERBS), word)


def _names_many(facts: Facts, thing: Words) -> bool:
    """Return True if what a function reads is named in the plural, before the first preposition, and is a list."""
    head = thing[: head_size(thing)]
    return is_plural(head) and head[-1] not in AREAS and facts.answers_list is not False
