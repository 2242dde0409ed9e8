"""The number of operations that a stage of a long run has done: `deciding: 3,000 of 11,422 operations`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")
SHOWN: Final[ContextVar[Callable[[str], None]]] = ContextVar("SHOWN", default=lambda _: None)
"""Shows the progress of this run, so that no stage needs to be told of it."""
_EVERY: Final = 500
"""The number of operations between two counts."""


def counted(stage: str, operations: Collection[T]) -> Iterator[T]:
    """Yield operations, and show now and then how many of them are done."""
    for done, operation in enumerate(operations):
        if done and not done % _EVERY:
            SHOWN.get()(f"{stage}: {done:,} of {len(operations):,} operations")
        yield operation
