# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Several processes that serve one address: each is the whole adapter, and the kernel divides the connections.

The parent serves nothing: it starts the processes, starts one again that ended by itself, and passes a signal on.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress
from typing import Protocol

__all__ = ["can_fork", "supervise"]

_HOPELESS = (2, 3)
_SHORTEST_LIFE = 5.0
"""Seconds: a process that ends sooner is started again only after a pause, so that a broken one does not spin."""


def can_fork() -> bool:
    """Return True where this system has what it takes."""
    return hasattr(os, "fork")


class Serve(Protocol):
    """The work of a process; `first` is True for the first one that is started."""

    def __call__(self, *, first: bool) -> int:
        """Serve until a signal arrives. Returns the exit code."""
        ...


def supervise(count: int, serve: Serve) -> int:
    """Run `serve` in so many child processes until a signal arrives; return the worst exit code of the last ones.

    A process that cannot be started with these settings (exit code 2 or 3) ends all.
    """
    children: dict[int, float] = {}
    stopping = False

    def stop(number: int, _: object = None) -> None:
        nonlocal stopping
        stopping = True
        for child in children:
            _signal(child, number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    for index in range(count):
        children[_start(serve, first=not index)] = time.monotonic()
    worst = 0
    while children:
        try:
            child, status = os.wait()
        except ChildProcessError:
            break
        began = children.pop(child, None)
        if began is None:
            continue
        code = os.waitstatus_to_exitcode(status)
        if code in _HOPELESS and not stopping:
            stop(signal.SIGTERM)
        if stopping:
            worst = max(worst, code)
            continue
        if time.monotonic() - began < _SHORTEST_LIFE:
            time.sleep(1)
        if not stopping:
            children[_start(serve, first=False)] = time.monotonic()
    return worst


def _start(serve: Serve, *, first: bool) -> int:
    """Start a process and return its id."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        code = serve(first=first)
    finally:
        sys.stderr.flush()
        os._exit(code)


def _signal(child: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(child, number)
