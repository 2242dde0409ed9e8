"""Which nouns of a path a name needs, and whether it speaks of one thing or of many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from aqlgen.words import singular

from .facts import Facts
from .shape import Noun, is_plural
from .verbs import ADVERBS

__all__ = ["AREAS", "Chain", "chain", "evidenced", "join", "names_last", "nearest", "number"]

AREAS: Final = frozenset(
    "actions settings analytics metrics permissions preferences stats statistics credentials details contents "
    " insights options capabilities basics graphics billing me self".split()
)
"""Plurals that stand for one thing."""

_MASS: Final = frozenset(
    "history activity inventory feed usage traffic content media timeline audience weather search code".split()
)
"""Singulars that stand for many."""

_ONE_OF: Final = frozenset("latest default current next previous random first last effective".split())
_SOME_OF: Final = frozenset(
    "recent trending popular featured active archived deleted pending upcoming top new public private available enabled"
    " disabled saved shared hidden blocked assigned starred watched all expired unread".split()
)
_ME: Final = frozenset({"me", "self", "myself", "my"})
_MINE: Final = frozenset({"authenticated", "current", "my", "me", "own", "logged"})


@dataclass(frozen=True, slots=True)
class Chain:
    """The nouns of a path past the API's scope, in order, grouped at the items that they pass through.

    `by` tells by which field an item is found (`/alerts/customer_id/{customer_id}`); `mine` that the path starts at the
    caller (`/me`); `adverb` holds a last segment such as `/bulk`; `mass` that the last noun has one form; `participle`
    that it is no noun at all (`/user/starred`), and
    `settled` that its adjective was put before the noun it belongs to.
    """

    nouns: tuple[Noun, ...]
    by: tuple[str, ...] = ()
    mine: bool = False
    mass: bool = False
    participle: bool = False
    settled: bool = False
    adverb: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[tuple[Noun, ...], ...]:
        """The nouns, a new group after each one with parameters."""
        found: list[list[Noun]] = [[]]
        for noun in self.nouns:
            found[-1].append(noun)
            if noun.parameters:
                found.append([])
        return tuple(tuple(group) for group in found if group)

    @property
    def full(self) -> tuple[str, ...]:
        """Every noun, parents in the singular."""
        return self._words(self.nouns)

    @property
    def wider(self) -> tuple[str, ...]:
        """The nouns of the last two groups."""
        return self._words([noun for group in self.groups[-2:] for noun in group])

    @property
    def raw(self) -> tuple[str, ...]:
        """Every noun as the path has it."""
        return join(*(noun.words for noun in self.nouns))

    @property
    def bent(self) -> bool:
        """Whether a parent that is no item was put in the singular all the same (`/files/content`)."""
        return any(not noun.parameters and form(noun) != noun.words for noun in self.nouns[:-1])

    @property
    def parameters(self) -> tuple[str, ...]:
        """The words of the last noun's parameters."""
        return tuple(word for name in self.nouns[-1].parameters for word in name) if self.nouns else ()

    def _words(self, nouns: Sequence[Noun]) -> tuple[str, ...]:
        words = [form(noun) for noun in nouns[:-1]] + [noun.words for noun in nouns[-1:]]
        return join(("my",) if self.mine else (), *words)


def form(noun: Noun) -> tuple[str, ...]:
    """Give a parent's words: in the singular, but for areas such as actions or settings."""
    return noun.words if noun.words[-1] in AREAS and not noun.parameters else noun.one


def join(*parts: tuple[str, ...]) -> tuple[str, ...]:
    """Join words without stutter: a part is dropped where the next begins with it (user, user_key is user_key)."""
    words: list[str] = []
    for part in parts:
        fresh = part
        for size in range(min(len(words), len(fresh)), 0, -1):
            if [singular(word) for word in words[-size:]] == [singular(word) for word in fresh[:size]]:
                del words[-size:]
                break
        words += fresh
    return tuple(words)


def chain(facts: Facts, scope: int) -> Chain:
    """Read the nouns of an operation's path, without the first `scope` of them where others follow."""
    nouns = facts.shape.nouns
    nouns, by = _found_by(nouns[scope:] if len(nouns) > scope else nouns[-1:])
    mine = False
    if len(nouns) > 1 and nouns[-1].words[-1] in _ME and not nouns[-1].parameters:
        mine, nouns = True, (*nouns[:-2], Noun(nouns[-2].words, (nouns[-1].words,)))
    while len(nouns) > 1 and _is_me(facts, nouns):
        mine, nouns = True, nouns[1:]
    verb = facts.named or facts.action
    if verb and len(nouns) > 1:
        nouns = tuple(noun for noun in nouns if noun.words != (verb.word,)) or nouns
    if not nouns:
        return Chain((), by, mine)
    adverb: tuple[str, ...] = ()
    if len(nouns) > 1 and len(nouns[-1].words) == 1 and nouns[-1].words[0] in ADVERBS and not nouns[-1].parameters:
        adverb, nouns = nouns[-1].words, nouns[:-1]
    participle = not nouns[-1].parameters and _is_adjective(nouns[-1].words)
    moved = _adjective_first(nouns) if participle else None
    nouns = moved or nouns
    mass = not nouns[-1].parameters and nouns[-1].words[-1] in AREAS | _MASS
    return Chain(nouns, by, mine, mass, participle, moved is not None, adverb)


def _found_by(nouns: tuple[Noun, ...]) -> tuple[tuple[Noun, ...], tuple[str, ...]]:
    """Take apart `/alerts/customer_id/{customer_id}`: an alert, by customer id."""
    kept: list[Noun] = []
    by: tuple[str, ...] = ()
    for noun in nouns:
        if kept and not kept[-1].parameters and len(noun.words) > 1 and noun.words in noun.parameters:
            by = (*by, "by", *noun.words)
            kept[-1] = replace(kept[-1], parameters=noun.parameters)
        else:
            kept.append(noun)
    return tuple(kept), by


def _is_adjective(words: tuple[str, ...]) -> bool:
    if len(words) != 1:
        return False
    return words[0] in _ONE_OF | _SOME_OF or (words[0].endswith("ed") and len(words[0]) > 4)


def _adjective_first(nouns: tuple[Noun, ...]) -> tuple[Noun, ...] | None:
    """Put an adjective before its noun: `/releases/latest` is a latest release; None where it has none."""
    if len(nouns) < 2 or nouns[-2].parameters or len(nouns[-2].words) > 3:
        return None
    (adjective,) = nouns[-1].words
    noun = nouns[-2]
    if adjective not in _ONE_OF and not is_plural(noun.words):
        return None
    return (*nouns[:-2], Noun((adjective, *(noun.one if adjective in _ONE_OF else noun.words)), ()))


def _is_me(facts: Facts, nouns: tuple[Noun, ...]) -> bool:
    first = nouns[0]
    if first.parameters:
        return False
    if first.words[-1] in _ME or (first.words == ("users",) and nouns[1].words[0] in _ME):
        return True
    said = set(facts.phrase.words) if facts.phrase else set()
    return first.words == ("user",) and bool(said & _MINE)


def number(facts: Facts, links: Chain) -> bool:
    """Whether a READ gives many things: by the verb people used, the answer's schema, or a plural at the path's end."""
    if facts.named and facts.named.word == "list":
        return True
    if not links.nouns:
        words = facts.phrase.object if facts.phrase else facts.shape.action[1:]
        return is_plural(words[-1:]) and words[-1] not in AREAS
    if links.nouns[-1].parameters or links.by or facts.shape.qualifier:
        return False
    words = links.nouns[-1].words
    if words[0] in _ONE_OF:
        return False
    if links.participle and not links.settled and facts.named is None:
        return True
    if facts.named is None and _answers_many(facts):
        return True
    return is_plural(words) and words[-1] not in AREAS


def _answers_many(facts: Facts) -> bool:
    for response in facts.operation.responses:
        if response.status.startswith("2"):
            return any(
                isinstance(media.schema, dict) and media.schema.get("type") == "array" for media in response.media
            )
    return False


def nearest(links: Chain) -> tuple[str, ...]:
    """Give the last noun with what stands before it up to the nearest parent item: (run, job), (my, playlist)."""
    groups = links.groups
    last = groups[-1]
    words: list[tuple[str, ...]] = []
    if links.mine:
        words.append(("my",))
    elif len(groups) > 1:
        words.append(form(groups[-2][-1]))
    words += [form(noun) for noun in last[:-1][-2:]]
    return join(*words, last[-1].words)


def names_last(facts: Facts, links: Chain) -> bool:
    """Whether people name the last noun with all its words."""
    return facts.phrase is not None and facts.phrase.evidence >= {singular(word) for word in links.nouns[-1].words}


def evidenced(facts: Facts, links: Chain) -> tuple[tuple[str, ...], int] | None:
    """Give the nouns that people name, and how many; None when they do not even name the last one."""
    said = facts.phrase
    if said is None:
        return None
    evidence = said.evidence
    last = links.nouns[-1]
    if not evidence & {singular(word) for word in last.words}:
        return None
    kept = [noun for noun in links.nouns[:-1] if evidence >= {singular(word) for word in noun.words}]
    words = [form(noun) for noun in kept]
    return join(("my",) if links.mine else (), *words, last.words), len(kept) + 1
