"""An operation with everything that its path, its name and its summary say, read once and only when asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from aqlgen.ir import Operation
from aqlgen.words import split

from .phrase import Phrase, phrase
from .shape import Shape, shape
from .verbs import Verb, leading

__all__ = ["Facts"]


@dataclass(frozen=True)
class Facts:
    """An operation with what its path and its name say, read once."""

    operation: Operation

    @cached_property
    def method(self) -> str:
        """The method in capitals."""
        return self.operation.method.upper()

    @cached_property
    def shape(self) -> Shape:
        """What the path says."""
        return shape(self.method, self.operation.path)

    @cached_property
    def phrase(self) -> Phrase | None:
        """What people called it."""
        return phrase(self.operation)

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
        """The verb at the head of the summary, if it is a strong one."""
        words = split(self.operation.summary[:80])
        found = leading(words) or leading((_bare(words[0]), *words[1:]) if words else ())
        return found[0] if found and found[0].strong else None


def _bare(word: str) -> str:
    """Take the third person from a verb: lists is list, searches is search."""
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
