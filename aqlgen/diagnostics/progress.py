"""The stage at work and, in a long run, how much of it is done: `deciding`, `deciding: 3,000 of 11,422 operations`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextvars import ContextVar
from typing import Final, TypeAlias, TypeVar

__all__ = ["SHOWN", "Progress", "counted"]

T = TypeVar("T")
Progress: TypeAlias = Callable[[str], None]
"""Shows a stage, in a long run with a count."""
SHOWN: Final[ContextVar[Progress | None]] = ContextVar("SHOWN", default=None)
"""What shows the progress of this run, so that no stage needs to be told of it."""
_EVERY: Final = 500
"""The number of operations between two counts."""


def counted(stage: str, operations: Collection[T]) -> Iterator[T]:
    """Yield operations, and show now and then how many of them are done."""
    show = SHOWN.get()
    for done, operation in enumerate(operations):
        if show is not None and done and not done % _EVERY:
            show(f"{stage}: {done:,} of {len(operations):,} operations")
        yield operation
