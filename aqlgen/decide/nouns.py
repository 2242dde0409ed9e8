"""Which nouns of a path a name needs, and whether it speaks of one thing or of many.

What is left out is left out for a reason that lies in the operation itself, so that no other operation can change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from aqlgen.words import plural, singular

from .chain import AREAS, FEW, IDS, ONE_OF, PREPOSITIONS, Chain, alike, form, join
from .facts import Facts
from .reading import is_adjective
from .shape import Noun, is_plural
from .verbs import CANONICAL, find

__all__ = ["fitting", "names_last", "nearest", "number", "parents", "told"]

_LISTED_AT_ROOT: Final = frozenset("actions metrics credentials permissions insights".split())
"""Areas that are listed where they belong to no item: `/metrics`, but `/users/{id}/metrics`."""


def number(facts: Facts, links: Chain) -> bool:
    """Whether a READ gives many things: by the verb people used, the answer's schema, or a plural at the path's end."""
    said = CANONICAL.get(facts.named.word, facts.named.word) if facts.named else ""
    if said == "list" and not (links.item and facts.many is not True and not _said_many(facts)):
        return True
    if said == "get" and facts.many and facts.phrase and facts.phrase.object[-1:] == ("list",) != links.last:
        return True  # `getKnowledgeBaseList`
    if said == "get" and facts.many is not True and facts.phrase and facts.phrase.object:
        return facts.many is None and _gets_a_collection(facts, links)
    if not links.nouns:
        words = facts.phrase.object if facts.phrase else facts.shape.action[1:]
        return is_plural(words[-1:]) and words[-1] not in AREAS
    last = links.nouns[-1]
    if facts.shape.qualifier or (links.by and last.parameters):
        return False
    if (head := _before_preposition(last.words)) and is_plural(head) and not links.itself:
        return True  # /stops-for-route/{routeId}
    if last.parameters:  # what is found by something else than itself: `/objects/{entity}`
        return facts.many is True and not links.item
    if last.words[0] in ONE_OF:
        return False
    if links.participle and not links.settled and facts.named is None:
        return True
    if facts.many is not None and facts.named is None:
        return facts.many
    if facts.many and (links.mass or singular(last.words[-1]) == plural(last.words[-1]) or _said_many(facts)):
        return True
    rooted = last.words[-1] in _LISTED_AT_ROOT and not any(noun.parameters for noun in links.nouns)
    return is_plural(last.words) and (rooted or last.words[-1] not in AREAS)


def _gets_a_collection(facts: Facts, links: Chain) -> bool:
    """Whether people get what the path ends in, and both are plural (`getLinks` of `/links`)."""
    last = links.nouns[-1] if links.nouns else None
    if last is None or links.mass or links.participle or facts.shape.qualifier or not facts.phrase:
        return False
    head, said = _before_preposition(last.words), facts.phrase.object
    if head:
        return is_plural(head) and head == said[: len(head)] and not links.itself
    plain = not last.parameters and last.words[-1] not in AREAS
    return plain and is_plural(last.words) and last.words[-1] in said and is_plural(said[-1:])


def _said_many(facts: Facts) -> bool:
    said = facts.phrase.object[-1:] if facts.phrase else ()
    return is_plural(said) and said[0] not in AREAS


def _before_preposition(words: tuple[str, ...]) -> tuple[str, ...]:
    """Give what stands before a preposition inside some words: (stops, for, route) is (stops,)."""
    at = next((at for at, each in enumerate(words) if at and each in PREPOSITIONS), 0)
    return words[:at] if at < len(words) - 1 else ()


def nearest(links: Chain) -> tuple[str, ...]:
    """Give the last noun with what stands before it up to the nearest parent item: (run, job), (my, playlist)."""
    return _joined(links, _near(links))


def _near(links: Chain) -> tuple[Noun, ...]:
    groups = links.groups
    parent = groups[-2][-1:] if len(groups) > 1 and not links.mine else ()
    return (*parent, *groups[-1][:-1][-2:], groups[-1][-1])


def _joined(links: Chain, nouns: Sequence[Noun]) -> tuple[str, ...]:
    return join(("my",) if links.mine else (), *(form(noun) for noun in nouns[:-1]), nouns[-1].words)


def names(evidence: frozenset[str], noun: Noun) -> bool:
    """Whether people's words hold a noun: its last word, or any when only a parameter gives the noun."""
    return _known(singular(noun.words[-1]), evidence)


@lru_cache(maxsize=16384)
def _known(word: str, said: frozenset[str]) -> bool:
    return word in said or any(alike(word, each) for each in said)


@lru_cache(maxsize=16384)
def _but_participles(said: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in said if not word.endswith("ed"))


def told(facts: Facts, links: Chain, noun: Noun) -> tuple[str, ...]:
    """Give a parent's words as far as people say them; the rest of `/{pki_mount_path}/` is none of their words.

    A word of a parent's parameter that people say is one too: with `aws-read-role`, `/auth/{aws_path}/role` is aws.
    """
    if facts.phrase is None:
        return form(noun)
    evidence = _but_participles(facts.phrase.evidence_for(one.words for one in links.nouns))
    if not noun.parameters:
        return form(noun) if names(evidence, noun) else ()
    if noun.bare:
        return tuple(word for word in noun.words if any(alike(singular(word), said) for said in evidence))
    known = {singular(word) for one in links.nouns for word in one.words}
    strange = [name for name in noun.parameters if not any(alike(singular(w), each) for w in name for each in known)]
    extra = [word for name in strange for word in name if word in evidence and word not in IDS]
    return (*extra, *(form(noun) if names(evidence, noun) else ()))


def names_last(facts: Facts, links: Chain) -> bool:
    """Whether people name the last noun with all its words."""
    if facts.phrase is None:
        return False
    evidence = facts.phrase.evidence
    return all(_known(singular(word), evidence) for word in links.nouns[-1].words)


def parents(facts: Facts, links: Chain) -> tuple[str, ...]:
    """Give the nouns before the last that people name, or where they say nothing, all that are not too many."""
    if facts.phrase is None:
        return join(*(form(noun) for noun in _few(links)[:-1]))
    return join(*(told(facts, links, noun) for noun in links.nouns[:-1]))


def fitting(facts: Facts, links: Chain, *, many: bool) -> tuple[tuple[str, ...], int]:
    """Give the nouns that the name needs, and how many.

    Those that people name; the item that a collection belongs to, or the area where it belongs to none; where people
    say nothing, all, unless they are too many.
    """
    nouns = links.nouns
    if facts.phrase is None or not facts.phrase.evidence:
        kept = _few(links)
        return _joined(links, kept), len(kept)
    evidence = facts.phrase.evidence_for(one.words for one in nouns)
    words = [told(facts, links, noun) for noun in nouns[:-1]]
    last = nouns[-1]
    wanted: set[int] = set()
    if not any(_known(singular(word), evidence) for word in last.words):
        near = _near(links)
        wanted = {index for index, noun in enumerate(nouns) if any(noun is one for one in near)}
    elif not last.parameters and len(links.groups) > 1 and not links.mine:
        wanted = {len(nouns) - 1 - len(links.groups[-1])}
    elif many and not last.parameters and len(links.groups) == 1:
        wanted = {len(nouns) - 2}
    for index in wanted & set(range(len(words))):
        own = form(nouns[index])
        words[index] = words[index] if own[-1:] == words[index][-1:] else join(words[index], own)
    final = _ordered(last, facts.phrase.object)
    if last.bare:
        final = told(facts, links, last) or last.words
    if turned := _turned(facts, links, words, final):
        words[-1], final = (), turned
    return join(("my",) if links.mine else (), *words, final), sum(bool(one) for one in words) + 1


def _turned(facts: Facts, links: Chain, words: list[tuple[str, ...]], final: tuple[str, ...]) -> tuple[str, ...]:
    """Give people's words where they say the last two nouns the other way round; () where they do not.

    So is `/stats/participation` participation stats, and `/duties/sync/{epoch}` sync committee duties; but what changes
    an item is about that item.
    """
    said = facts.phrase.object if facts.phrase else ()
    if not words or not words[-1] or (links.itself and facts.method in ("PUT", "PATCH", "DELETE")):
        return ()
    before = links.nouns[-2]
    verb = find(before.words[0])
    if before.parameters or is_adjective(before.words) or (verb is not None and verb.strong):
        return ()
    ones = [singular(word) for word in said]
    here = [singular(word) for word in words[-1]]
    last = [singular(word) for word in final]
    if last == here or (len(here) > 1 and not _within(last, said)):
        return ()
    start = next((at for at in range(len(ones)) if ones[at : at + len(last)] == last), len(ones))
    end = next((at for at in range(start + len(last), len(ones)) if ones[at : at + len(here)] == here), len(ones))
    if end + len(here) > len(ones) or end - start - len(last) > 1 or start > ones.index(here[0]):
        return ()
    return said[start : end + len(here)]


def _within(some: list[str], others: tuple[str, ...]) -> bool:
    return any(list(others[start : start + len(some)]) == some for start in range(len(others) - len(some) + 1))


def _ordered(noun: Noun, said: tuple[str, ...]) -> tuple[str, ...]:
    """Give a noun of many words in the order in which people say them, where they say them all in one run."""
    size = len(noun.words)
    if size < FEW or noun.parameters:
        return noun.words
    wanted = sorted(map(singular, noun.words))
    runs = (said[start : start + size] for start in range(len(said) - size + 1))
    return next((run for run in runs if sorted(map(singular, run)) == wanted), noun.words)


def _few(links: Chain) -> list[Noun]:
    """Leave out nouns until they are few: first those that are no items, from the path's start on."""
    kept = list(links.nouns)
    while len(kept) > 2 and len(_joined(links, kept)) > FEW:
        index = next((index for index, noun in enumerate(kept[:-1]) if not noun.parameters), 0)
        del kept[index]
    return kept
