"""Where a schema stands, as far as it decides how it is written."""

from __future__ import annotations

from dataclasses import dataclass, replace

from aqlgen.ir import Json
from aqlgen.words import pascal, split


@dataclass(frozen=True, slots=True)
class Place:
    """Whether a request carries it, what to call it if it needs a name, how deep it lies."""

    request: bool
    hint: str
    depth: int = 0
    inline: bool = False
    """Whether a referenced scalar or enumeration is written out instead of named."""
    around: tuple[Json, ...] = ()
    """The schemas that declare the fields of the value, where this one is a part of what is said of it."""

    def within(self, name: str) -> Place:
        """Give the place of a part of the value."""
        return replace(self, hint=self.hint + pascal(split(name)), depth=self.depth + 1, inline=False, around=())

    def beside(self, name: str, around: tuple[Json, ...]) -> Place:
        """Give the place of another schema of the same value."""
        return replace(self.within(name), around=around)
