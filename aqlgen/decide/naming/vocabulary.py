"""Run-together words taken apart by what the document itself writes apart: `resourcequotas` by its ResourceQuota.

Only names that other operations cannot change are looked at: those of the document's schemas and tags, and the
operation's own. So adding or removing operations never changes how a word is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Final

from aqlgen.decide.naming.noun import Noun, Words
from aqlgen.decide.naming.shape import shape
from aqlgen.decide.naming.spelling import LIMIT
from aqlgen.decide.naming.verbs import find_verb, leading_verb
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document, Operation
from aqlgen.words import plural, singular, split

_SHORT: Final = 7
"""Words of fewer letters are not worth taking apart."""
_SIGNS: Final = {ord(sign): None for sign in " _-./"}
_SENTENCE: Final = 120
_NEARLY_ALL: Final = 0.9
_FEWEST: Final = 20
"""Of fewer operations, what they have in common is their subject."""
_MOST: Final = 4
"""More words than these are not run together."""


class Vocabulary:
    """The words of a document's schemas and tags, read when the first long word asks for them."""

    def __init__(self, names: Iterable[str] = (), around: tuple[Noun, ...] = ()) -> None:
        self._names = frozenset(names)
        self.around = around
        """The nouns that nearly all paths begin with, which tell no two operations apart."""

    @cached_property
    def _runs(self) -> dict[str, Words]:
        return _runs(self._names)

    def apart(self, word: str, operation: Operation) -> Words:
        """Take a word of the operation's path apart if the document shows how; else return it as one word.

        A word that is longer than any name stays whole.
        """
        if not _SHORT <= len(word) <= LIMIT or find_verb(word):
            return (word,)
        stem = singular(word)
        letters, names = _names_of(operation.operation_id or "", operation.tags)
        if (stem in letters or word in letters) and (run := _look_up(word, _runs(names))):
            return run
        return _look_up(word, self._runs) or _by_summary(word, operation.summary[:_SENTENCE]) or (word,)


def vocabulary_of(document: Document, resolver: Resolver | None) -> Vocabulary:
    """Return the vocabulary of a document: the names of its schemas, if there is a resolver, and of its tags."""
    components = resolver.root.get("components") if resolver else None
    schemas = components.get("schemas") if isinstance(components, dict) else None
    names = schemas if isinstance(schemas, dict) else ()
    spoken = (*(name for name in names if isinstance(name, str)), *(tag.name for tag in document.tags))
    return Vocabulary(spoken, _around([shape(each.method, each.path).nouns for each in document.operations]))


def _around(paths: list[tuple[Noun, ...]]) -> tuple[Noun, ...]:
    """Return the nouns that nearly all of some paths begin with."""
    size, common = 0, len(paths) * _NEARLY_ALL
    while len(paths) >= _FEWEST:
        longer = Counter(path[: size + 1] for path in paths if len(path) > size)
        begin, count = longer.most_common(1)[0] if longer else ((), 0)
        if count < common:
            break
        size, paths = size + 1, [path for path in paths if path[: size + 1] == begin]
    return paths[0][:size] if size else ()


def _by_summary(word: str, summary: str) -> Words:
    """Take a word apart into the summary's verb and one of its words (`adduser`: "Add a user").

    A noun is written alike in all operations, whatever the summary of one says.
    """
    words, stem = split(summary), singular(word)
    if not words or stem in summary.lower():
        return ()
    if stem in summary.lower().translate(_SIGNS) and (run := _look_up(word, _runs(frozenset({summary})))):
        return run if leading_verb(run) else ()
    return ()


def _look_up(word: str, runs: dict[str, Words]) -> Words:
    """Find a word as it is, or in its other number."""
    if word in runs:
        return runs[word]
    if run := runs.get(singular(word)):
        return (*run[:-1], plural(run[-1]))
    return ()


@lru_cache(maxsize=8192)
def _runs(names: frozenset[str]) -> dict[str, Words]:
    """Return every run of words in these names by its letters, except those that are also written as one word."""
    runs: dict[str, Words] = {}
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
                    runs[letters] = min(runs.get(letters, run), run, key=lambda words: (len(words), words))
    return {letters: run for letters, run in runs.items() if letters not in whole}


@lru_cache(maxsize=8192)
def _names_of(operation_id: str, tags: Words) -> tuple[str, frozenset[str]]:
    """Return the letters of an operation's names, and the names themselves."""
    return f"{operation_id} {' '.join(tags)}".lower().translate(_SIGNS), frozenset((operation_id, *tags))
