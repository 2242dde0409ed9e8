"""Run-together words taken apart by what the document itself writes apart: `resourcequotas` by its ResourceQuota.

Only names that other operations cannot change are looked at: those of the document's schemas and tags, and the
operation's own. So adding or removing operations never changes how a word is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Final

from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document, Operation
from aqlgen.words import plural, singular, split

from .verbs import find, leading

__all__ = ["Vocabulary", "spelled"]

_SHORT: Final = 7
"""Words of fewer letters are not worth taking apart."""
_SIGNS: Final = {ord(sign): None for sign in " _-./"}
_SENTENCE: Final = 120
_MOST: Final = 4
"""More words than these are not run together."""


class Vocabulary:
    """The words of a document's schemas and tags, read when the first long word asks for them."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = frozenset(names)

    @cached_property
    def _runs(self) -> dict[str, tuple[str, ...]]:
        return _runs(self._names)

    def apart(self, word: str, operation: Operation) -> tuple[str, ...]:
        """Take a word of the operation's path apart, where the document shows how; else it stays one word."""
        if len(word) < _SHORT:
            return (word,)
        if find(word):
            return (word,)
        stem = singular(word)
        letters, own = _own(operation.operation_id or "", operation.tags)
        if stem in letters or word in letters:
            if stem in _whole(own):
                return (word,)
            if found := _look_up(word, _runs(own)):
                return found
        if found := _look_up(word, self._runs):
            return found
        said = operation.summary[:_SENTENCE].lower()
        told = _look_up(word, _runs(frozenset({said}))) if stem in said.translate(_SIGNS) and stem not in said else ()
        return told if told and leading(told) else (word,)  # a noun is written alike in all operations


def spelled(document: Document, resolver: Resolver | None) -> Vocabulary:
    """Give the vocabulary of a document: the names of its schemas, where there is a resolver, and of its tags."""
    components = resolver.root.get("components") if resolver else None
    schemas = components.get("schemas") if isinstance(components, dict) else None
    names = schemas if isinstance(schemas, dict) else ()
    return Vocabulary((*(name for name in names if isinstance(name, str)), *(tag.name for tag in document.tags)))


def _look_up(word: str, runs: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Find a word as it is, or in its other number."""
    one, many = singular(word), plural(word)
    if word in runs:
        return runs[word]
    if one in runs:
        return (*runs[one][:-1], plural(runs[one][-1]))
    if many in runs:
        return (*runs[many][:-1], singular(runs[many][-1]))
    return ()


@lru_cache(maxsize=8192)
def _runs(names: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Give every run of words in these names by its letters, but for those that are also written as one word."""
    runs: dict[str, tuple[str, ...]] = {}
    whole: set[str] = set()
    for name in names:
        words = split(name)
        whole.update(words)
        whole.update(singular(word) for word in words)
        for start in range(len(words) - 1):
            for end in range(start + 2, min(start + _MOST, len(words)) + 1):
                run = words[start:end]
                letters = "".join(run)
                if len(letters) >= _SHORT and all(len(word) > 1 and word.isalpha() for word in run):
                    runs[letters] = min(runs.get(letters, run), run, key=lambda one: (len(one), one))
    return {letters: run for letters, run in runs.items() if letters not in whole}


@lru_cache(maxsize=8192)
def _own(operation_id: str, tags: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """Give the letters of what an operation is called, and the names themselves."""
    return f"{operation_id} {' '.join(tags)}".lower().translate(_SIGNS), frozenset((operation_id, *tags))


@lru_cache(maxsize=8192)
def _whole(names: frozenset[str]) -> frozenset[str]:
    return frozenset(singular(word) for name in names if len(words := split(name)) > 1 for word in words)
