# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The caller: the headers of the HTTP request that a call came in, for as long as it is answered.

They are in a context variable, so that calls answered concurrently never see the headers of each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["during", "headers"]

_HEADERS: ContextVar[Mapping[str, str] | None] = ContextVar("caller", default=None)


def headers() -> Mapping[str, str] | None:
    """Return the headers that the call came with; None over standard input and output."""
    return _HEADERS.get()


@contextmanager
def during(headers: Mapping[str, str] | None) -> Iterator[None]:
    """Set the headers of the caller while its call is answered."""
    token = _HEADERS.set(headers)
    try:
        yield
    finally:
        _HEADERS.reset(token)
