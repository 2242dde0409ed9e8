"""Which nouns of a path a name needs, and which repeat its verb.

What is left out is left out for a reason that lies in the operation itself, so that no other operation can change it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain
from aqlgen.decide.naming.chain_steps import is_adjective
from aqlgen.decide.naming.noun import FEW, IDS, Noun, Words, alike, join, parent_words, singulars
from aqlgen.decide.naming.verbs import CANONICAL, derived_verb, find_verb
from aqlgen.words import singular, split

__all__ = ["names_last", "nearest", "needed_nouns", "parents", "spoken_words", "without_verb"]

_THINGS_TOO: Final = frozenset("get list create delete add remove set view".split())
"""Verbs whose noun is a thing as well: a list of lists."""
_SHORTEST: Final = 3


def needed_nouns(facts: Facts, chain: NounChain, *, many: bool) -> tuple[Words, int]:
    """Return the words of the nouns that the name needs, and how many nouns they are.

    Those that people name; the item that a collection belongs to, or the area where it belongs to none; where people
    say nothing, all, unless they are too many.
    """
    if facts.phrase is None or not facts.phrase.evidence:
        kept = _few(chain)
        return chain.joined(kept), len(kept)
    *before, last = chain.nouns
    words = [spoken_words(facts, chain, noun) for noun in before]
    for index in _needed_parents(chain, facts.phrase.evidence, many=many):
        parent = parent_words(before[index])
        words[index] = words[index] if parent[-1:] == words[index][-1:] else join(words[index], parent)
    final = _as_ordered(last, facts.phrase.object)
    if last.bare:
        final = spoken_words(facts, chain, last) or last.words
    if reversed_words := _as_reversed(facts, chain, words, final):
        words[-1], final = (), reversed_words
    return join(("my",) if chain.mine else (), *words, final), sum(map(bool, words)) + 1


def _needed_parents(chain: NounChain, evidence: frozenset[str], *, many: bool) -> list[int]:
    """Return the indexes of the parents that a name needs though people may not say them."""
    count, last = len(chain.nouns), chain.nouns[-1]
    if not any(_is_said(singular(word), evidence) for word in last.words):
        near = _near(chain)
        return [index for index, noun in enumerate(chain.nouns[:-1]) if any(noun is each for each in near)]
    needed = -1
    if not last.parameters and len(chain.groups) > 1 and not chain.mine:
        needed = count - 1 - len(chain.groups[-1])
    elif many and not last.parameters and len(chain.groups) == 1:
        needed = count - 2
    return [needed] if 0 <= needed < count - 1 else []


def parents(facts: Facts, chain: NounChain) -> Words:
    """Return the nouns before the last that people name, or where they say nothing, all that are not too many."""
    if facts.phrase is None:
        return join(*map(parent_words, _few(chain)[:-1]))
    return join(*(spoken_words(facts, chain, noun) for noun in chain.nouns[:-1]))


def nearest(chain: NounChain) -> Words:
    """Return the last noun with what stands before it up to the nearest parent item: (run, job), (my, playlist)."""
    return chain.joined(_near(chain))


def _near(chain: NounChain) -> tuple[Noun, ...]:
    groups = chain.groups
    parent = groups[-2][-1:] if len(groups) > 1 and not chain.mine else ()
    return (*parent, *groups[-1][:-1][-2:], groups[-1][-1])


def _few(chain: NounChain) -> list[Noun]:
    """Leave out nouns until they are few: first those that are no items, from the path's start on."""
    kept = list(chain.nouns)
    while len(kept) > 2 and len(chain.joined(kept)) > FEW:
        index = next((index for index, noun in enumerate(kept[:-1]) if not noun.parameters), 0)
        del kept[index]
    return kept


def names_last(facts: Facts, chain: NounChain) -> bool:
    """Return True if people name the last noun with all its words."""
    if facts.phrase is None:
        return False
    evidence = facts.phrase.evidence
    return all(_is_said(singular(word), evidence) for word in chain.nouns[-1].words)


def spoken_words(facts: Facts, chain: NounChain, noun: Noun) -> Words:
    """Return a parent's words as far as people say them; the rest of `/{pki_mount_path}/` is none of their words.

    A word of a parent's parameter that people say is one too: with `aws-read-role`, `/auth/{aws_path}/role` is aws.
    """
    if facts.phrase is None:
        return parent_words(noun)
    evidence = _without_participles(facts.phrase.evidence)
    if noun.parameters and noun.bare:
        return tuple(word for word in noun.words if any(alike(singular(word), spoken) for spoken in evidence))
    words = parent_words(noun) if _is_said(singular(noun.words[-1]), evidence) else ()
    return (*_spoken_parameters(chain, noun, evidence), *words) if noun.parameters else words


def _spoken_parameters(chain: NounChain, noun: Noun, evidence: frozenset[str]) -> list[str]:
    """Return the words that people say of those parameters that no noun of the path explains."""
    known = {singular(word) for each in chain.nouns for word in each.words}
    unexplained = [
        name for name in noun.parameters if not any(alike(singular(word), each) for word in name for each in known)
    ]
    return [word for name in unexplained for word in name if word in evidence and word not in IDS]


@lru_cache(maxsize=16384)
def _is_said(word: str, evidence: frozenset[str]) -> bool:
    return word in evidence or any(alike(word, spoken) for spoken in evidence)


@lru_cache(maxsize=16384)
def _without_participles(evidence: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in evidence if not word.endswith("ed"))


def _as_ordered(noun: Noun, spoken: Words) -> Words:
    """Return a noun of many words in the order in which people say them, if they say them all in one run."""
    size = len(noun.words)
    if size < FEW or noun.parameters:
        return noun.words
    wanted = sorted(singulars(noun.words))
    runs = (spoken[start : start + size] for start in range(len(spoken) - size + 1))
    return next((run for run in runs if sorted(singulars(run)) == wanted), noun.words)


def _as_reversed(facts: Facts, chain: NounChain, words: list[Words], final: Words) -> Words:
    """Return people's words where they say the last two nouns the other way round; () where they do not.

    So is `/stats/participation` participation stats, and `/duties/sync/{epoch}` sync committee duties; but what changes
    an item is about that item.
    """
    if not words or not words[-1] or (chain.itself and facts.method in ("PUT", "PATCH", "DELETE")):
        return ()
    before = chain.nouns[-2]
    verb = find_verb(before.words[0])
    if before.parameters or is_adjective(before.words) or (verb is not None and verb.strong):
        return ()
    spoken = facts.phrase.object if facts.phrase else ()
    return _reversed_run(spoken, singulars(words[-1]), singulars(final))


def _reversed_run(spoken: Words, parent: list[str], last: list[str]) -> Words:
    """Return the run of words that holds the last noun and then its parent, with at most a word between; () if none."""
    if last == parent or (len(parent) > 1 and _find_run(list(spoken), last) == len(spoken)):
        return ()
    ones = singulars(spoken)
    start = _find_run(ones, last)
    behind = start + len(last)
    at = _find_run(ones, parent, behind)
    if at + len(parent) > len(ones) or at - behind > 1 or start > ones.index(parent[0]):
        return ()
    return spoken[start : at + len(parent)]


def _find_run(words: list[str], run: list[str], start: int = 0) -> int:
    """Return where a run of words begins from `start` on; the number of words if nowhere."""
    return next((at for at in range(start, len(words)) if words[at : at + len(run)] == run), len(words))


def without_verb(facts: Facts, chain: NounChain, verb: str, thing: Words) -> Words:
    """Leave the name's verb out of the last noun, if something is left: `/orders/{id}/amountUpdates`.

    An assignment preview is previewed, so its assignment is what the name needs.
    """
    last = chain.nouns[-1]
    at = len(thing) - len(last.words)
    same = len(last.words) > 1 and at >= 0 and _is_same_verb(thing[at], verb)
    if same and _acts_on(facts, thing[at], last.words[1:]):
        return join(thing[:at], thing[at + 1 :])
    if verb in _THINGS_TOO or len(thing) < 2:
        return thing
    if last.words == (verb,) and facts.phrase is not None:
        return thing[:-1]
    if last.parameters or len(thing[-2]) < _SHORTEST:
        return thing
    noun = singular(thing[-1])
    source = derived_verb(noun)
    return thing[:-1] if verb in (noun, source.word if source else "") else thing


def _is_same_verb(word: str, verb: str) -> bool:
    """Return True if a word is the verb itself, a verb that it is canonical for, or the other of get and list."""
    known = find_verb(word)
    if word == verb or known is None or not known.strong:
        return word == verb
    return CANONICAL.get(word) == verb or {word, verb} == {"get", "list"}


def _acts_on(facts: Facts, verb: str, rest: Words) -> bool:
    """Return True if people say that the verb is done to the rest, or call the operation so in one word."""
    if (facts.operation.operation_id or "").lower() == "".join((verb, *rest)):
        return True
    name = (*facts.phrase.lead, *facts.phrase.object) if facts.phrase else ()
    wanted = [verb, *singulars(rest)]
    return any(singulars(words[: len(wanted)]) == wanted for words in (name, split(facts.operation.summary[:80])))
