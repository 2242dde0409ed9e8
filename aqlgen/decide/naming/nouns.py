"""Which nouns of a path a name needs.

What is left out is left out for a reason that lies in the operation itself, so that no other operation can change it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from aqlgen.decide.facts import Facts
from aqlgen.decide.naming.chain import NounChain
from aqlgen.decide.naming.noun import FEW, IDS, Noun, Words, alike, join, parent_words
from aqlgen.words import singular

__all__ = ["nearest", "needed_nouns", "parents"]

_SENTENCE: Final = 120
"""How many characters of a summary are read."""


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
        words[index] = join(words[index], parent)
    return join(("my",) if chain.mine else (), *words, last.words), sum(map(bool, words)) + 1


def _needed_parents(chain: NounChain, evidence: frozenset[str], *, many: bool) -> list[int]:
    """Return the indexes of the parents that a name needs though people may not say them."""
    count, last = len(chain.nouns), chain.nouns[-1]
    if not _is_spoken(last, evidence):
        return [index for index, noun in enumerate(chain.nouns[:-1]) if any(noun is each for each in _near(chain))]
    needed = -1
    if not last.parameters and len(chain.groups) > 1:
        needed = count - 1 - len(chain.groups[-1])
    elif many:
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


def spoken_words(facts: Facts, chain: NounChain, noun: Noun) -> Words:
    """Return a parent's words as far as people say them; the rest of `/{pki_mount_path}/` is none of their words.

    A word of a parent's parameter that people say is one too: with `aws-read-role`, `/auth/{aws_path}/role` is aws.
    """
    if facts.phrase is None:
        return parent_words(noun)
    evidence = frozenset(word for word in facts.phrase.evidence if not word.endswith("ed"))
    words = parent_words(noun) if _is_said(singular(noun.words[-1]), evidence) else ()
    if not noun.parameters:
        return words
    known = frozenset(singular(word) for each in chain.nouns for word in each.words)
    unexplained = [name for name in noun.parameters if not any(_is_said(singular(word), known) for word in name)]
    return (*(word for name in unexplained for word in name if word in evidence and word not in IDS), *words)


def _is_spoken(noun: Noun, evidence: frozenset[str]) -> bool:
    """Return True if people say a word of a noun."""
    return any(_is_said(singular(word), evidence) for word in noun.words)


@lru_cache(maxsize=16384)
def _is_said(word: str, evidence: frozenset[str]) -> bool:
    return word in evidence or any(alike(word, spoken) for spoken in evidence)
