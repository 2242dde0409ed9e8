"""A path's nouns, read: what belongs to the caller, adjectives, parts of items, and what an item is found by."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from aqlgen.decisions import Category
from aqlgen.words import singular

from .chain import AREAS, FEW, IDS, NAMES, ONE_OF, PREPOSITIONS, Chain, alike
from .facts import Facts
from .shape import Noun, is_plural, thing
from .verbs import ADVERBS, ONE, find
from .vocabulary import Vocabulary

__all__ = ["chain", "is_adjective", "is_participle"]

_MASS: Final = frozenset(
    "history activity inventory feed usage traffic content media timeline audience weather search code".split()
)
"""Singulars that stand for many."""

_SOME_OF: Final = frozenset(
    "recent trending popular featured active archived deleted pending upcoming top new public private available enabled"
    " disabled saved shared hidden blocked assigned starred watched all expired unread remote".split()
)
_NOUNS_IN_ED: Final = frozenset("breed creed newsfeed speed steed".split())
_FIELDS: Final = frozenset({"field", "property", "attribute"})
"""Parameters that choose a part of a thing."""
_ME: Final = frozenset({"me", "self", "myself", "my"})
_MINE: Final = frozenset({"authenticated", "current", "my", "me", "own", "logged"})


def chain(facts: Facts, vocabulary: Vocabulary) -> Chain:
    """Read the nouns of an operation's path."""
    read = tuple(_spelled(noun, facts, vocabulary) for noun in facts.shape.nouns)
    if len(read) > 1 and facts.phrase and facts.phrase.verb and read[-1].words == facts.phrase.words:
        read = read[:-1]  # `/keys/{name}/unwrapkey`, which people call unwrapKey
    size = facts.shape.area if facts.phrase or len(read) > FEW else 0
    area = tuple(word for noun in read[:size] for word in noun.words)
    nouns, found = _with_parts(read[size:], facts)
    nouns, by = _found_by(nouns)
    by += found
    mine = False
    if len(nouns) > 1 and nouns[-1].words[-1] in _ME and not nouns[-1].parameters:
        mine, nouns = True, (*nouns[:-2], Noun(nouns[-2].words, (nouns[-1].words,)))
    while len(nouns) > 1 and _is_me(facts, nouns):
        mine, nouns = True, nouns[1:]
    if facts.told and len(nouns) > 1 and nouns[-1] == Noun((facts.told[0],), ()) and facts.told[1] is Category.EXECUTE:
        nouns = nouns[:-1]
    nouns = _without_told(nouns, facts)
    verb = facts.named or facts.action
    if verb and (verb.strong or verb.word in ONE) and len(nouns) > 1:
        nouns = tuple(noun for noun in nouns if noun.words != (verb.word,)) or nouns
    if len(nouns) == 1 and nouns[0] == Noun(("user",), ()) and facts.phrase:
        who = next((word for word in facts.phrase.words if word in ("authenticated", "current")), "")
        nouns = (Noun((who, "user"), ()),) if who else nouns
    if not nouns:
        return Chain((), by, mine, area=area)
    adverb: tuple[str, ...] = ()
    how = len(nouns[-1].words) == 1 and nouns[-1].words[0] in ADVERBS and facts.method != "GET"
    if len(nouns) > 1 and how and not nouns[-1].parameters:
        adverb, nouns = nouns[-1].words, nouns[:-1]
    within = len(nouns) > 1 and not nouns[-2].parameters
    participle = not nouns[-1].parameters and (
        is_adjective(nouns[-1].words) or (within and nouns[-1].words == ("global",))
    )
    moved = _adjective_first(nouns) if participle else None
    nouns = moved or nouns
    mass = not nouns[-1].parameters and nouns[-1].words[-1] in AREAS | _MASS
    return Chain(nouns, by, mine, mass, participle, moved is not None, adverb, area)


def _without_told(nouns: tuple[Noun, ...], facts: Facts) -> tuple[Noun, ...]:
    """Leave out the segment that is the summary's verb, where nobody else has one: `/chores/{id}/merge/{other}`."""
    verb = None if facts.named or facts.action else facts.summary
    if verb is None or (facts.method == "GET" and verb.category is not Category.READ):
        return nouns
    return tuple(noun for noun in nouns if noun.words != (verb.word,) or len(noun.parameters) > 1) or nouns


def _spelled(noun: Noun, facts: Facts, vocabulary: Vocabulary) -> Noun:
    words = tuple(piece for word in noun.words for piece in vocabulary.apart(word, facts.operation))
    if len(words) == 1 and len(words[0]) == 1:  # `/b/{bucket}`
        called = noun.parameters[:1] or ((facts.phrase.namespace[-1:],) if facts.phrase else ())
        words = next((thing(each) for each in called if each and each[0].startswith(words[0])), words)
    if len(noun.parameters) == 1 and facts.phrase:  # `/sas/{sas-definition-name}`, and people say it too
        longer = thing(noun.parameters[0])
        if (
            len(longer) > len(words) == 1
            and longer[0] == singular(words[0])
            and longer[-1] in _before_by(facts.phrase.words)
            and not _repeated(longer, facts.phrase.words)
        ):
            words = longer
    return noun if words == noun.words else replace(noun, words=words)


def _repeated(name: tuple[str, ...], said: tuple[str, ...]) -> bool:
    """Whether a parameter's name stands behind its noun, as in a path: `issuer-issuer_ref` is no word for the thing."""
    ends = range(1, len(said) - len(name) + 1)
    return any(said[at : at + len(name)] == name and singular(said[at - 1]) == name[0] for at in ends)


def _before_by(words: tuple[str, ...]) -> frozenset[str]:
    """Give the words, in the singular, that do not only tell what a thing is found by (`getDisputeByToken`)."""
    end = next((at for at, word in enumerate(words) if at and word in ("by", "with")), len(words))
    return frozenset(singular(word) for word in words[:end])


def _with_parts(nouns: tuple[Noun, ...], facts: Facts) -> tuple[tuple[Noun, ...], tuple[str, ...]]:
    """Make a noun of what follows an item without one of its own, or else tell what the item is found by too.

    `/actions/{action_id}/{field}` is an action's field, `/tasks/{task_id}/{index}` a task by index; and what lies in an
    item of its own kind is its child.
    """
    found: list[Noun] = []
    by: tuple[str, ...] = ()
    for index, noun in enumerate(nouns):
        size = _identity(noun)
        parent = found[-1] if found else noun
        if found and parent.parameters and parent.one == noun.one and noun.words != parent.parameters[0]:
            noun = replace(noun, words=("child", *noun.words))
        if size == len(noun.parameters):
            found.append(noun)
            continue
        (rest,) = noun.parameters[size:]
        last = index == len(nouns) - 1
        said = facts.phrase.object[-1:] if facts.phrase and last else ()
        if said and (not said[0].isalpha() or said[0] in PREPOSITIONS or _on_path(said[0], facts)):
            said = ()
        if said or not last or thing(rest) != rest or rest[-1] in _FIELDS:
            found += [replace(noun, parameters=noun.parameters[:size]), Noun(said or thing(rest), (rest,))]
        else:
            found.append(noun)
            by = ("by", *rest)
    return tuple(found), by


def _on_path(word: str, facts: Facts) -> bool:
    words = {each for noun in facts.shape.nouns for part in (noun.words, *noun.parameters) for each in part}
    return any(alike(singular(word), singular(each)) for each in words)


def _identity(noun: Noun) -> int:
    """Count the parameters that it takes to find the noun: up to the one that is called like it, or else all."""
    count = len(noun.parameters)
    if count and noun.parameters[-1][-1] in _FIELDS and noun.words[-1] != noun.parameters[-1][-1]:
        return count - 1
    words = [singular(word) for word in noun.words]
    called = [
        index
        for index, name in enumerate(noun.parameters, 1)
        if any(alike(word, singular(each)) for word in words for each in name)
    ]
    return count - 1 if called and called[-1] == count - 1 else count


def _found_by(nouns: tuple[Noun, ...]) -> tuple[tuple[Noun, ...], tuple[str, ...]]:
    """Take apart `/alerts/customer_id/{customer_id}`: an alert, by customer id."""
    kept: list[Noun] = []
    by: tuple[str, ...] = ()
    for noun in nouns:
        plain = noun.words[-1] in IDS | NAMES
        if kept and not kept[-1].parameters and (len(noun.words) > 1 or plain) and noun.words in noun.parameters:
            by = (*by, "by", *noun.words) if not IDS & set(noun.words[-1:]) or len(noun.words) > 1 else by
            kept[-1] = replace(kept[-1], parameters=noun.parameters)
        else:
            kept.append(noun)
    return tuple(kept), by


def is_adjective(words: tuple[str, ...]) -> bool:
    """Whether a segment is an adjective rather than a noun: latest, archived."""
    if len(words) != 1:
        return False
    return words[0] in ONE_OF | _SOME_OF or (words[0].endswith("ed") and len(words[0]) > 4)


def is_participle(word: str) -> bool:
    """Whether a word says what was done to something: archived, viewed."""
    return word.endswith("ed") and len(word) > 4 and word not in _NOUNS_IN_ED and find(word) is None


def _adjective_first(nouns: tuple[Noun, ...]) -> tuple[Noun, ...] | None:
    """Put an adjective before its noun: `/releases/latest` is a latest release; None where it has none."""
    if len(nouns) < 2 or nouns[-2].parameters or len(nouns[-2].words) > 3:
        return None
    (adjective,) = nouns[-1].words
    noun = nouns[-2]
    if adjective not in ONE_OF and not is_plural(noun.words):
        return None
    return (*nouns[:-2], Noun((adjective, *(noun.one if adjective in ONE_OF else noun.words)), ()))


def _is_me(facts: Facts, nouns: tuple[Noun, ...]) -> bool:
    first = nouns[0]
    if first.parameters:
        return False
    if first.words[-1] in _ME or (first.words == ("users",) and nouns[1].words[0] in _ME):
        return True
    said = set(facts.phrase.words) if facts.phrase else set()
    return first.words == ("user",) and bool(said & _MINE)
