# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Who calls: the headers of the HTTP request that a call came in, for as long as it is answered.

They are kept in a context variable, so that calls which are answered side by side never see each other's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["during", "headers"]

_HEADERS: ContextVar[Mapping[str, str] | None] = ContextVar("caller", default=None)


def headers() -> Mapping[str, str] | None:
    """Give the headers that the call came with; None over standard input and output."""
    return _HEADERS.get()


@contextmanager
def during(headers: Mapping[str, str] | None) -> Iterator[None]:
    """Answer a call that came with these headers."""
    token = _HEADERS.set(headers)
    try:
        yield
    finally:
        _HEADERS.reset(token)
