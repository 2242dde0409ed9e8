"""A bound of CPU time, so that an attack that gets through fails instead of never ending."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooSlowError(BaseException):
    """The bound was reached; no handler of exceptions may take it for a fault of the document."""


@contextmanager
def cpu_seconds(most: float) -> Iterator[None]:
    """Interrupt what takes more CPU time; without such a timer (on Windows) nothing is interrupted."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError(f"more than {most} s of CPU time")

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
