"""The ordered steps that make a noun chain of a path's nouns: the caller, parts of items, lookup fields, adjectives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain
from aqlgen.decide.naming.noun import (
    AREAS,
    FEW,
    IDS,
    NAMES,
    ONE_OF,
    PREPOSITIONS,
    Noun,
    Words,
    alike,
    is_plural,
    thing,
)
from aqlgen.decide.naming.verbs import ADVERBS, ONE_THING, find_verb
from aqlgen.decide.naming.vocabulary import Vocabulary
from aqlgen.words import singular

__all__ = ["is_adjective", "is_participle", "read_chain"]

_MASS: Final = frozenset(
    "history activity inventory feed usage traffic content media timeline audience weather search code".split()
)
"""Singulars that stand for many."""
_ONE_FORM: Final = AREAS | _MASS

_SOME_OF: Final = frozenset(
    "recent trending popular featured active archived deleted pending upcoming top new public private available enabled"
    " disabled saved shared hidden blocked assigned starred watched all expired unread remote".split()
)
"""Adjectives that pick several things of many."""
_NOUNS_IN_ED: Final = frozenset("breed creed newsfeed speed steed".split())
_FIELDS: Final = frozenset({"field", "property", "attribute"})
"""Parameters that choose a part of a thing."""
_ME: Final = frozenset({"me", "self", "myself", "my"})
_MINE: Final = frozenset({"authenticated", "current", "my", "me", "own", "logged"})


@dataclass(slots=True)
class _Draft:
    """A noun chain while the steps work on it."""

    facts: Facts
    vocabulary: Vocabulary
    nouns: tuple[Noun, ...]
    by: Words = ()
    mine: bool = False
    participle: bool = False
    settled: bool = False
    adverb: Words = ()
    area: Words = ()

    @property
    def spoken(self) -> Words:
        """All words of the name that people gave the operation."""
        return self.facts.phrase.words if self.facts.phrase else ()


def read_chain(facts: Facts, vocabulary: Vocabulary) -> NounChain:
    """Read the nouns of an operation's path; `vocabulary` tells which words the document runs together."""
    draft = _Draft(facts, vocabulary, facts.shape.nouns)
    for step in STEPS:
        if not draft.nouns:
            break
        step(draft)
    last = draft.nouns[-1] if draft.nouns else None
    mass = last is not None and not last.parameters and last.words[-1] in _ONE_FORM
    return NounChain(draft.nouns, draft.by, draft.mine, mass, draft.participle, draft.settled, draft.adverb, draft.area)


def _spell_out(draft: _Draft) -> None:
    """Take run-together words apart and spell abbreviated ones out."""
    draft.nouns = tuple(_spelled_out(noun, draft) for noun in draft.nouns)


def _spelled_out(noun: Noun, draft: _Draft) -> Noun:
    words = tuple(piece for word in noun.words for piece in draft.vocabulary.apart(word, draft.facts.operation))
    if len(words) == 1 and len(words[0]) == 1:
        words = _without_abbreviation(words, noun, draft)
    if len(words) == 1 and len(noun.parameters) == 1 and draft.facts.phrase:
        words = _longer_name(words, thing(noun.parameters[0]), draft.spoken)
    return noun if words == noun.words else replace(noun, words=words)


def _without_abbreviation(words: Words, noun: Noun, draft: _Draft) -> Words:
    """Read a single letter as the thing that its parameter or the namespace names (`/b/{bucket}`)."""
    phrase = draft.facts.phrase
    names = noun.parameters[:1] or ((phrase.namespace[-1:],) if phrase else ())
    return next((thing(name) for name in names if name and name[0].startswith(words[0])), words)


def _longer_name(words: Words, name: Words, spoken: Words) -> Words:
    """Prefer the parameter's name for the thing if people use it too (`/sas/{sas-definition-name}`)."""
    if len(name) < 2 or name[0] != singular(words[0]) or name[-1] not in _before_by(spoken):
        return words
    return words if _repeats_parameter(name, spoken) else name


def _repeats_parameter(name: Words, spoken: Words) -> bool:
    """Return True if a parameter's name follows its noun, as in a path: `issuer-issuer_ref` names no thing."""
    ends = range(1, len(spoken) - len(name) + 1)
    return any(spoken[at : at + len(name)] == name and singular(spoken[at - 1]) == name[0] for at in ends)


def _before_by(words: Words) -> frozenset[str]:
    """Return the words, in the singular, before those that tell how a thing is found (`getDisputeByToken`)."""
    end = next((at for at, word in enumerate(words) if at and word in ("by", "with")), len(words))
    return frozenset(singular(word) for word in words[:end])


def _drop_own_name(draft: _Draft) -> None:
    """Drop a last segment that is the operation's own name: `/keys/{name}/unwrapkey`, called unwrapKey."""
    phrase = draft.facts.phrase
    if len(draft.nouns) > 1 and phrase and phrase.verb and draft.nouns[-1].words == phrase.words:
        draft.nouns = draft.nouns[:-1]


def _set_area_aside(draft: _Draft) -> None:
    """Set the nouns before a version aside, unless they are few and people gave no name."""
    size = draft.facts.shape.area if draft.facts.phrase or len(draft.nouns) > FEW else 0
    draft.area = tuple(word for noun in draft.nouns[:size] for word in noun.words)
    draft.nouns = draft.nouns[size:]


def _split_parts(draft: _Draft) -> None:
    """Make a noun of what follows an item without a noun of its own, or else a lookup field.

    `/actions/{action_id}/{field}` is an action's field, `/tasks/{task_id}/{index}` a task by index; and what lies in an
    item of its own kind is its child.
    """
    nouns: list[Noun] = []
    for index, noun in enumerate(draft.nouns):
        parent = nouns[-1] if nouns else None
        child = parent is not None and parent.parameters and parent.one == noun.one
        if child and parent is not None and noun.words != parent.parameters[0]:
            noun = replace(noun, words=("child", *noun.words))
        size = _identity_size(draft.nouns[index])
        if size == len(noun.parameters):
            nouns.append(noun)
            continue
        (rest,) = noun.parameters[size:]
        last = index == len(draft.nouns) - 1
        part = _part_name(rest, draft.facts, last=last)
        if part is None:
            nouns.append(noun)
            draft.by = ("by", *rest)
        else:
            nouns += [replace(noun, parameters=noun.parameters[:size]), Noun(part, (rest,))]
    draft.nouns = tuple(nouns)


def _part_name(parameter: Words, facts: Facts, *, last: bool) -> Words | None:
    """Return the noun of a part of an item: people's word for it, else the parameter's; None if it is no part."""
    spoken = facts.phrase.object[-1:] if facts.phrase and last else ()
    if spoken and spoken[0].isalpha() and spoken[0] not in PREPOSITIONS and not _is_on_path(spoken[0], facts):
        return spoken
    is_part = not last or thing(parameter) != parameter or parameter[-1] in _FIELDS
    return thing(parameter) if is_part else None


def _is_on_path(word: str, facts: Facts) -> bool:
    words = {each for noun in facts.shape.nouns for part in (noun.words, *noun.parameters) for each in part}
    return any(alike(singular(word), singular(each)) for each in words)


def _identity_size(noun: Noun) -> int:
    """Return how many parameters it takes to find the noun: up to the one with its name, or else all."""
    count = len(noun.parameters)
    if count and noun.parameters[-1][-1] in _FIELDS and noun.words[-1] != noun.parameters[-1][-1]:
        return count - 1
    if count < 2:
        return count
    words = [singular(word) for word in noun.words]
    named = [any(alike(word, singular(each)) for word in words for each in name) for name in noun.parameters]
    return count - 1 if named[-2] and not named[-1] else count


def _join_lookup_fields(draft: _Draft) -> None:
    """Take the field out of `/alerts/customer_id/{customer_id}`: an alert, by customer id."""
    kept: list[Noun] = []
    by: Words = ()
    for noun in draft.nouns:
        plain = noun.words[-1] in IDS | NAMES
        if kept and not kept[-1].parameters and (len(noun.words) > 1 or plain) and noun.words in noun.parameters:
            by = (*by, "by", *noun.words) if not IDS & set(noun.words[-1:]) or len(noun.words) > 1 else by
            kept[-1] = replace(kept[-1], parameters=noun.parameters)
        else:
            kept.append(noun)
    draft.nouns, draft.by = tuple(kept), by + draft.by


def _read_trailing_me(draft: _Draft) -> None:
    """Read `/users/me` as the caller's own."""
    last = draft.nouns[-1]
    if len(draft.nouns) > 1 and last.words[-1] in _ME and not last.parameters:
        draft.mine, draft.nouns = True, (*draft.nouns[:-2], Noun(draft.nouns[-2].words, (last.words,)))


def _drop_leading_me(draft: _Draft) -> None:
    """Drop `/me` from the path's start, and `/user` where people say that it is the caller."""
    while len(draft.nouns) > 1 and _is_me(draft):
        draft.mine, draft.nouns = True, draft.nouns[1:]


def _is_me(draft: _Draft) -> bool:
    first, second = draft.nouns[:2]
    if first.parameters:
        return False
    if first.words[-1] in _ME or (first.words == ("users",) and second.words[0] in _ME):
        return True
    return first.words == ("user",) and not _MINE.isdisjoint(draft.spoken)


def _drop_spoken_action(draft: _Draft) -> None:
    """Drop the last segment if people use it as a verb."""
    spoken = draft.facts.spoken_action
    if spoken is None or len(draft.nouns) < 2 or spoken[1] is not Category.EXECUTE:
        return
    if draft.nouns[-1] == Noun((spoken[0],), ()):
        draft.nouns = draft.nouns[:-1]


def _drop_summary_verb(draft: _Draft) -> None:
    """Drop the segment that is the summary's verb, if there is no other verb: `/chores/{id}/merge/{other}`."""
    facts = draft.facts
    verb = None if facts.named_verb or facts.action_verb else facts.summary_verb
    if verb is None or (facts.method == "GET" and verb.category is not Category.READ):
        return
    kept = tuple(noun for noun in draft.nouns if noun.words != (verb.word,) or len(noun.parameters) > 1)
    draft.nouns = kept or draft.nouns


def _drop_verb(draft: _Draft) -> None:
    """Drop the segment that is the operation's verb."""
    verb = draft.facts.named_verb or draft.facts.action_verb
    if verb and (verb.strong or verb.word in ONE_THING) and len(draft.nouns) > 1:
        draft.nouns = tuple(noun for noun in draft.nouns if noun.words != (verb.word,)) or draft.nouns


def _name_current_user(draft: _Draft) -> None:
    """Read `/user` alone as the user that people call it: the authenticated user, the current user."""
    if draft.nouns != (Noun(("user",), ()),):
        return
    which = next((word for word in draft.spoken if word in ("authenticated", "current")), "")
    if which:
        draft.nouns = (Noun((which, "user"), ()),)


def _set_adverb_aside(draft: _Draft) -> None:
    """Set a last segment such as `/bulk` aside."""
    last = draft.nouns[-1]
    adverb = len(last.words) == 1 and last.words[0] in ADVERBS and draft.facts.method != "GET"
    if len(draft.nouns) > 1 and adverb and not last.parameters:
        draft.adverb, draft.nouns = last.words, draft.nouns[:-1]


def _settle_adjective(draft: _Draft) -> None:
    """Find an adjective at the path's end, and put it before its noun: `/releases/latest` is a latest release."""
    last = draft.nouns[-1]
    if last.parameters:
        return
    within = len(draft.nouns) > 1 and not draft.nouns[-2].parameters
    if not is_adjective(last.words) and not (within and last.words == ("global",)):
        return
    draft.participle = True
    moved = _adjective_first(draft.nouns)
    if moved is not None:
        draft.nouns, draft.settled = moved, True


def _adjective_first(nouns: tuple[Noun, ...]) -> tuple[Noun, ...] | None:
    """Put an adjective before its noun; None where it has none."""
    if len(nouns) < 2 or nouns[-2].parameters or len(nouns[-2].words) > 3:
        return None
    (adjective,) = nouns[-1].words
    noun = nouns[-2]
    if adjective not in ONE_OF and not is_plural(noun.words):
        return None
    return (*nouns[:-2], Noun((adjective, *(noun.one if adjective in ONE_OF else noun.words)), ()))


STEPS: Final[tuple[Callable[[_Draft], None], ...]] = (
    _spell_out,
    _drop_own_name,
    _set_area_aside,
    _split_parts,
    _join_lookup_fields,
    _read_trailing_me,
    _drop_leading_me,
    _drop_spoken_action,
    _drop_summary_verb,
    _drop_verb,
    _name_current_user,
    _set_adverb_aside,
    _settle_adjective,
)
"""The steps in order; they end where no noun is left."""


def is_adjective(words: Words) -> bool:
    """Return True if a segment is an adjective rather than a noun: latest, archived."""
    if len(words) != 1:
        return False
    return words[0] in ONE_OF | _SOME_OF or (words[0].endswith("ed") and len(words[0]) > 4)


def is_participle(word: str) -> bool:
    """Return True if a word says what was done to something: archived, viewed."""
    return word.endswith("ed") and len(word) > 4 and word not in _NOUNS_IN_ED and find_verb(word) is None
