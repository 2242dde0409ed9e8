"""Where a schema stands, as far as it decides how it is written."""

from __future__ import annotations

from dataclasses import dataclass

from aqlgen.ir import Json
from aqlgen.words import pascal, split


@dataclass(frozen=True, slots=True)
class Place:
    """Whether a request carries it, what to call it if it needs a name, how deep it lies."""

    request: bool
    hint: str
    """What the name begins with."""
    depth: int = 0
    inline: bool = False
    """Whether a referenced scalar or enumeration is written out instead of named."""
    around: tuple[Json, ...] = ()
    """The schemas that declare the fields of the value, where this one is a part of what is said of it."""
    steps: tuple[str, ...] = ()
    """What leads from there to the place; few places need a name, so it is only put together for those."""

    @property
    def name(self) -> str:
        """Give a name for what stands here."""
        return self.hint + "".join(pascal(split(step)) for step in self.steps)

    def within(self, name: str) -> Place:
        """Give the place of a part of the value."""
        return Place(self.request, self.hint, self.depth + 1, steps=(*self.steps, name))

    def beside(self, name: str, around: tuple[Json, ...]) -> Place:
        """Give the place of another schema of the same value."""
        return Place(self.request, self.hint, self.depth + 1, around=around, steps=(*self.steps, name))
