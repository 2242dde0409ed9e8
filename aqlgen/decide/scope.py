"""The part of every path that says nothing: nouns at the start that nearly all operations of an API share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from .facts import Facts

__all__ = ["depth", "scope"]

_SHARE: Final = 0.8
_ENOUGH: Final = 12


def scope(all_facts: Sequence[Facts]) -> tuple[tuple[str, ...], ...]:
    """Give the words of the leading nouns that at least four fifths of the operations share; none for small APIs."""
    if len(all_facts) < _ENOUGH:
        return ()
    shared: tuple[tuple[str, ...], ...] = ()
    while True:
        depth = len(shared) + 1
        heads = Counter(
            tuple(noun.words for noun in facts.shape.nouns[:depth])
            for facts in all_facts
            if len(facts.shape.nouns) > depth
        )
        if not heads:
            return shared
        head, count = heads.most_common(1)[0]
        if count < _SHARE * len(all_facts) or head[:-1] != shared:
            return shared
        shared = head


def depth(facts: Facts, shared: tuple[tuple[str, ...], ...]) -> int:
    """Count how many nouns at the start of an operation's path belong to the shared part."""
    count = 0
    for noun, words in zip(facts.shape.nouns, shared, strict=False):
        if noun.words != words:
            break
        count += 1
    return count
