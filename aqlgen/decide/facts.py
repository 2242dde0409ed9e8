"""An operation with what its path, its name, its summary and its answer say, read once and when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from aqlgen.decisions import Category
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Operation
from aqlgen.words import split

from .answers import answers_many, answers_nothing
from .phrase import Phrase, phrase
from .shape import Shape, is_plural, shape, thing_called
from .verbs import Verb, find, leading

__all__ = ["Facts"]


@dataclass(frozen=True)
class Facts:
    """An operation with what its path and its name say; `given` is a name that the document gives it elsewhere."""

    operation: Operation
    resolver: Resolver | None = None
    given: str | None = None

    @cached_property
    def method(self) -> str:
        """The method in capitals."""
        return self.operation.method.upper()

    @cached_property
    def shape(self) -> Shape:
        """What the path says, and people of it: an action that they speak of as a thing is one."""
        read = shape(self.method, self.operation.path)
        if len(read.action) < 2 or self.phrase is None or self.named is None or not self.named.strong:
            return read
        if self.named.word in _REPEATING or self.named.word in read.action:
            return read
        return thing_called(read, self.phrase.object)

    @cached_property
    def phrase(self) -> Phrase | None:
        """What people called it."""
        return phrase(self.operation, self.given)

    @cached_property
    def action(self) -> Verb | None:
        """The verb at the path's end."""
        found = leading(self.shape.action)
        return found[0] if found else None

    @cached_property
    def named(self) -> Verb | None:
        """The verb that people used."""
        return self.phrase.verb if self.phrase else None

    @cached_property
    def summary(self) -> Verb | None:
        """The verb at the head of the summary, or of the description where there is none; only a strong one."""
        words = _past_opening(split((self.operation.summary or self.operation.description)[:100]))
        if not words:
            return None
        if words[0] in _ANSWERS:
            words = ("get", *words[1:])
        found = leading(words) or leading((_bare(words[0]), *words[1:]))
        if found is None and len(words) > 1 and words[0].endswith("ly"):
            found = leading(words[1:]) or leading((_bare(words[1]), *words[2:]))
        return found[0] if found and found[0].strong and found[0].word not in _VAGUE else None

    @cached_property
    def told(self) -> tuple[str, Category] | None:
        """The path's end where people tell that it is a verb, though none that is known for one; its category."""
        if self.method != "POST":
            return None
        segment = self.operation.path.rstrip("/").rsplit("/", 1)[-1]
        word = split(segment) if "{" not in segment else ()
        if len(word) != 1 or is_plural(word):
            return None
        known = find(word[0])
        if self.summary or (self.named and self.named.strong) or (known and known.strong):
            return None
        head, *rest = split(self.operation.summary[:60]) or ("",)
        said = self.phrase.words if self.phrase else ()
        inflected = head != word[0] and head.startswith(word[0][:-1]) and head.endswith("s")
        sentence = (
            bool(rest)
            and rest[0] not in ("of", "for")
            and (inflected or rest[0] in _ARTICLES or word in (said[:1], said[-1:]))
        )
        if (sentence and (head == word[0] or inflected)) or (len(said) > 1 and said[:1] == word):
            return word[0], known.category if known else Category.EXECUTE
        return None

    @cached_property
    def many(self) -> bool | None:
        """Whether it answers with a list; None where the document does not tell."""
        last = self.shape.nouns[-1].words if self.shape.nouns else ()
        return answers_many(self.operation, last, self.resolver)

    @cached_property
    def nothing(self) -> bool:
        """Whether it succeeds without an answer."""
        return answers_nothing(self.operation)


_REPEATING: Final = frozenset({"post", "put", "patch", "get", "set", "update"})
"""Verbs that may only repeat the method, before the real one (`post_clear_tasks`).

The object of any other is a thing, be it called by a verb (`createRemoveToken` of `…/remove-token`).
"""
_VAGUE: Final = frozenset({"manage"})
"""What summaries say of operations of every kind."""
_ANSWERS: Final = frozenset({"returns"})
_ARTICLES: Final = frozenset("a an the all this your one some multiple several".split())
_OPENINGS: Final = (
    ("allows", "you", "to"),
    ("allows", "to"),
    ("used", "to"),
    ("use", "this", "endpoint", "to"),
    ("use", "this", "method", "to"),
    ("use", "this", "to"),
    ("endpoint", "to"),
    ("api", "to"),
    ("deprecated",),
    ("beta",),
    ("experimental",),
)
"""How summaries begin before they come to the verb."""


def _past_opening(words: tuple[str, ...]) -> tuple[str, ...]:
    for opening in _OPENINGS:
        if words[: len(opening)] == opening and len(words) > len(opening):
            return words[len(opening) :]
    return words


def _bare(word: str) -> str:
    """Take the third person from a verb: lists is list, searches is search, modifies is modify."""
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes", "oes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
