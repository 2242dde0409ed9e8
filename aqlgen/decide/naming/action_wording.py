"""Names of actions: `/runs/{id}/submit_tool_outputs` is submit_run_tool_outputs."""

from __future__ import annotations

from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain
from aqlgen.decide.naming.chain_steps import is_adjective
from aqlgen.decide.naming.noun import Words, join
from aqlgen.decide.naming.nouns import nearest, parents, spoken_words
from aqlgen.decide.naming.verb_rules import ChosenVerb
from aqlgen.decide.naming.verbs import ADVERBS, CANONICAL, find_verb, leading_verb
from aqlgen.words import plural, singular

__all__ = ["action_wording"]

_EMPTYING: Final = frozenset("clear empty flush prune purge truncate wipe".split())
"""Verbs that act on a whole collection."""
_TAKING_ALL: Final = frozenset("export reconcile refresh reindex reorder sync synchronize tidy".split())
"""Verbs that act on a whole collection where people say it in the plural."""
_MANY: Final = frozenset("batch bulk mass multi multiple".split())
"""Adverbs of acting on many things at once."""


def action_wording(facts: Facts, chain: NounChain, verb: ChosenVerb, *, whole: bool = False) -> tuple[Words, Words]:
    """Name an action by the item it acts on; return the words of its verb and of its nouns.

    With `whole` every noun of the path is kept.
    """
    lead, rest = _verb_words(facts.shape.action, verb.shown)
    if not chain.nouns:
        return lead, rest
    last = chain.nouns[-1]
    noun = _numbered_item(facts, chain, verb, lead, rest)
    if facts.phrase and last.bare:
        noun = spoken_words(facts, chain, last) or noun
    if rest and all(is_adjective((word,)) for word in rest):
        noun, rest = (*rest, *noun), ()
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
    if verb.word == "upsert":
        return tuple(shown.split("_")), action[used:]
    if shown not in (verb.word, CANONICAL.get(verb.word), "get", "list"):
        return tuple(shown.split("_")), action  # the path's end is a noun to people's verb: create a schedule preview
    if {"and", "or"} & set(action[:used]):
        return action[:used], action[used:]  # find one and delete: both are said
    before = action[: max(0, used - len(verb.word.split("_")))]
    adverbs = tuple(word for word in before if word in ADVERBS)
    return (*adverbs, *shown.split("_")), action[used:]


def _numbered_item(facts: Facts, chain: NounChain, verb: ChosenVerb, lead: Words, rest: Words) -> Words:
    """Return the last noun in the number in which it is acted on."""
    last = chain.nouns[-1]
    noun = last.words if not last.parameters and _acts_on_all(facts, chain, verb, rest) else last.one
    many = verb.shown == "list" or (lead[0] in _MANY and not last.parameters and not rest)
    return (*noun[:-1], plural(singular(noun[-1]))) if many and not chain.mass else noun


def _acts_on_all(facts: Facts, chain: NounChain, verb: ChosenVerb, rest: Words) -> bool:
    """Return True if the action reads, empties or takes all of a collection."""
    if chain.mass or verb.shown in _EMPTYING:
        return True
    last, spoken = chain.nouns[-1], facts.phrase.words if facts.phrase else ()
    if verb.shown in _TAKING_ALL and last.words[-1] in spoken and last.one[-1] not in spoken:
        return True
    known = find_verb(verb.shown)
    if known is None or known.category is not Category.READ or (rest and rest[0] != "by"):
        return False
    return verb.shown != "get" or facts.action_verb is None or facts.action_verb.word == "get"
