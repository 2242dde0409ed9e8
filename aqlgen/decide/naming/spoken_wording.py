"""Names in people's own words: where their verb says more than the canonical ones, or the path offers no noun.

An operationId that holds the name of a function gives its own words, with the canonical verbs.
"""

from __future__ import annotations

from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain
from aqlgen.decide.naming.noun import AREAS, IDS, PREPOSITIONS, Words, alike, head_size, is_plural, singulars
from aqlgen.decide.naming.nouns import names_last
from aqlgen.decide.naming.phrase import Phrase
from aqlgen.decide.naming.verb_rules import DISTINCT, GENERIC, heard_verb, is_shown_anyway
from aqlgen.decide.naming.verbs import ADVERBS, CANONICAL, ONE_THING, Verb
from aqlgen.words import singular, split

__all__ = ["function_wording", "spoken_wording"]

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


_LONG: Final = 7
"""More words than these are a sentence, no name."""


def spoken_wording(facts: Facts, category: Category, chain: NounChain) -> tuple[Words, Words] | None:
    """Return the words of the verb and of the nouns as people say them; None where those of the path are better."""
    phrase, verb = facts.phrase, heard_verb(facts, chain)
    if phrase is None or verb is None or len(phrase.object) > _LONG:
        return None
    if verb.category is not category and not is_shown_anyway(facts, category, verb):
        return None
    telling = _says_more(verb)
    better = not _is_on_path(phrase, facts, chain) if telling else _wants_words(phrase, facts, chain)
    thing = _acted_on(phrase, chain) if better and not _is_action_alone(phrase, verb, facts) else ()
    if not thing:
        return None
    if verb.word in ONE_THING:
        thing = (*thing[:-1], singular(thing[-1]))
    kept = telling or (facts.method, verb.word) in DISTINCT
    return phrase.lead if kept else (_canonical(verb, thing),), thing


def _says_more(verb: Verb) -> bool:
    return CANONICAL.get(verb.word, verb.word) not in GENERIC and verb.word not in GENERIC


def _is_on_path(phrase: Phrase, facts: Facts, chain: NounChain) -> bool:
    """Return True if the path's nouns are what people act on, so that only the verb is theirs."""
    if not chain.nouns or (phrase.object and all(noun.bare for noun in chain.nouns)):
        return False
    if facts.shape.action or chain.participle:
        return False
    return _heads_path(phrase, facts, chain) and names_last(facts, chain)


def _heads_path(phrase: Phrase, facts: Facts, chain: NounChain) -> bool:
    """Return True if people act on a noun of the path, not on its property: the signatures of `/sync_committees`."""
    words = phrase.object
    head = words[head_size(words) - 1] if words and words[0] not in PREPOSITIONS else ""
    if not head or (chain.mine and singular(head) == "user"):
        return True
    known = (*split(facts.operation.path), *(word for noun in chain.nouns for word in noun.words))
    return any(alike(singular(head), singular(word)) for word in known)


def _is_action_alone(phrase: Phrase, verb: Verb, facts: Facts) -> bool:
    """Return True if people only repeat the path's action."""
    return facts.action_verb is not None and facts.action_verb.word == verb.word and not phrase.object


def _wants_words(phrase: Phrase, facts: Facts, chain: NounChain) -> bool:
    """Return True if the path has no words of its own for what people act on."""
    if not phrase.object:
        return False
    if all(noun.bare for noun in chain.nouns) or facts.shape.procedure:
        return True
    return _names_bare(phrase, chain) or _is_loose(phrase, chain) or _is_strange(phrase, facts, chain)


def _names_bare(phrase: Phrase, chain: NounChain) -> bool:
    """Return True if only people name what a last noun belongs to: `/{group}/{plural}/{name}/status`."""
    *before, last = chain.nouns
    more = len(phrase.object) > len(last.words) and phrase.object[-len(last.words) :] == last.one
    return bool(before) and more and all(noun.bare and noun.parameters for noun in before)


def _is_loose(phrase: Phrase, chain: NounChain) -> bool:
    """Return True if the path ends in an adjective, and people's words are more than what it belongs to."""
    before = {word for noun in chain.nouns[:-1] for word in noun.one}
    return chain.unsettled and not set(singulars(phrase.object)) <= before


def _is_strange(phrase: Phrase, facts: Facts, chain: NounChain) -> bool:
    """Return True if people speak of what the path does not: the access token of `/authn/{login}/authenticate`."""
    action = facts.action_verb
    if action is None or len(phrase.object) < 2 or (phrase.verb and action.word == phrase.verb.word):
        return False
    path = {singular(word) for noun in chain.nouns for word in noun.words} | set(facts.shape.action)
    spoken = singulars(phrase.object[: head_size(phrase.object)])
    return not any(alike(word, known) for word in spoken for known in path)


def _acted_on(phrase: Phrase, chain: NounChain) -> Words:
    """Return what people say is acted on, with the item it belongs to: `pulls/request-reviewers` is pull reviewers."""
    thing = _without_lookup(_without_parameters(phrase.object, chain))
    space = tuple(singulars(phrase.namespace[-1:]))
    if not thing:
        return (*phrase.namespace[-3:-1], *space) or (chain.nouns[-1].one if chain.nouns else ())
    owner = _owner(phrase.namespace, chain)
    if owner and {*space, *owner}.isdisjoint(singulars(thing)):
        return (*owner, *thing)
    return (*space, *thing) if space and thing[0] in PREPOSITIONS else thing


def _without_parameters(thing: Words, chain: NounChain) -> Words:
    """Leave out the parameters of the path, from `by` on, if an id is among them (`ByIdCardByIdChecklist`)."""
    at = next((at for at, word in enumerate(thing) if at and word == "by"), len(thing))
    field = {word for word in thing[at:] if word != "by"}
    parameters = {word for noun in chain.nouns for name in noun.parameters for word in name}
    return thing[:at] if field & IDS and field <= parameters else thing


def _without_lookup(thing: Words) -> Words:
    """Leave out how a thing is found: by id, for the authenticated user."""
    if thing[-2:] in (("with", "id"), ("by", "id")):
        thing = thing[:-2]
    user = thing[-2:] == ("authenticated", "user") and thing[-3:-2] in (("for",), ("by",), ("of",))
    return thing[:-3] if user and len(thing) > 3 else thing


def _owner(namespace: Words, chain: NounChain) -> Words:
    """Return the words of the path's noun that the namespace names; () where there is none."""
    spaces = tuple(singulars(namespace))
    nouns = [noun.one for noun in chain.nouns]
    if not spaces:
        return ()
    single = (noun for noun in nouns if len(noun) == 1 and alike(noun[0], spaces[-1]))
    whole = (noun for noun in nouns if len(noun) > 1 and spaces[-len(noun) :] == noun)
    versioned = (noun for noun in nouns if len(noun) == 2 and _is_version_of(noun, spaces[-1]))
    return next(single, ()) or next(whole, ()) or next(versioned, ())


def _is_version_of(noun: Words, word: str) -> bool:
    """Return True if a noun is a word with a version behind it (`kv-v2`)."""
    return noun[0] == word and noun[1][:1] == "v" and noun[1][1:].isdigit()


def _canonical(verb: Verb, thing: Words) -> str:
    word = CANONICAL.get(verb.word, verb.word)
    if word != "get":
        return word
    noun = thing[head_size(thing) - 1]
    return "list" if singular(noun) != noun else "get"
