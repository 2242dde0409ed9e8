# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Requests to the API, its responses, and the transport that carries them."""

from __future__ import annotations

from collections.abc import Awaitable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from .table import Row

__all__ = [
    "NO_CREDENTIALS",
    "QUOTA_HEADERS",
    "Account",
    "ApiRequest",
    "ApiResponse",
    "Applied",
    "PrivateAddress",
    "QuotaPaused",
    "SavedFile",
    "SentFile",
    "Spending",
    "Transport",
    "current_spending",
    "origin_of",
    "with_spending",
]

QUOTA_HEADERS = {
    f"{prefix}remaining{suffix}": (f"{prefix}limit{suffix}", f"{prefix}reset{suffix}", suffix)
    for prefix in ("x-ratelimit-", "ratelimit-", "x-rate-limit-", "rate-limit-")
    for suffix in ("", "-requests", "-second", "-minute", "-hour", "-day")
}
"""Headers of what is left of a quota, each with those of its size and its end, and the ending of its name."""


class SentFile(NamedTuple):
    """A file that a request carries, by the parameter or field that gives it."""

    parameter: str
    content: bytes
    filename: str | None = None
    mime_type: str | None = None


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """An HTTP request in its final form: `url` absolute and percent-encoded, header names as they are sent.

    `secrets` are the values that no log, error or dry run may show. `files` are those that the content holds. With an
    `idempotency_key` the API acts once, however often the request arrives.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes | None = None
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    files: tuple[SentFile, ...] = field(default=(), repr=False)
    idempotency_key: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """The credentials that a request carries; `query` and `cookies` are encoded pairs; `path` and `body` have values.

    `variables` are those that the credentials came from.
    """

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    secrets: frozenset[str] = frozenset()
    path: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, str] = field(default_factory=dict)
    variables: tuple[str, ...] = ()

    @property
    def is_sent(self) -> bool:
        """True if the request itself holds a credential."""
        return bool(self.headers or self.query or self.cookies or self.path or self.body)


NO_CREDENTIALS = Applied()


class Account(NamedTuple):
    """The adapter's statement about the credential of a request that the API did not accept."""

    is_sent: bool
    text: str


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file that a response was saved in."""

    path: str
    size: int
    mime_type: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """An HTTP response; header names are lower-case.

    It was read whole except for a stream, and for the answer to a write that broke off: `cut` says what ended the
    reading (events, bytes, time, break, coding, file) and is empty if the answer itself ended. `file` is where its
    content was saved, if it was. `uncertain`: an earlier attempt of the same call may have been carried out.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes
    cut: str = ""
    file: SavedFile | None = None
    uncertain: bool = False


def origin_of(url: str) -> str:
    """Return the scheme, host and port of a URL."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}"


class Transport(Protocol):
    """The way to the API, or to its stand-in. `row` is the operation that a request is made for."""

    def send(self, request: ApiRequest, row: Row) -> Awaitable[ApiResponse]:
        """Send a request and return its response.

        Raises Failure (INTERNAL_ERROR) on a time-out, a refused connection or a TLS failure. For a write its
        `details.outcome` says whether anything was sent.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


class PrivateAddress(Exception):
    """A host is, or resolves to, an address that is not of the open network; nothing was sent."""


class QuotaPaused(Exception):
    """A request that was not sent, since a quota of the owner's is so far used up that somebody must say to go on.

    `quotas` are known to the Spending that raised it.
    """

    def __init__(self, quotas: tuple[object, ...]) -> None:
        super().__init__("paused")
        self.quotas = quotas


class Spending(Protocol):
    """What one call of a tool spends of the owner's quotas; `quota.spending.CallSpending` implements it."""

    async def admit(self, row: Row, *, again: bool = False) -> None:
        """Count a request that is about to be sent; `again`: the call sent one before that this one goes on with.

        Raises Failure (RATE_LIMIT_QUOTA_EXHAUSTED), and QuotaPaused for a request that goes on with nothing.
        """
        ...

    async def go_on(self, row: Row, paused: QuotaPaused) -> None:
        """Return if the call may go on. Raises Failure (RATE_LIMIT_QUOTA_PAUSE) if nobody said so."""
        ...


_SPENDING: ContextVar[Spending | None] = ContextVar("spending", default=None)


def current_spending() -> Spending | None:
    """Return what the call that is being answered spends; None where there is no quota."""
    return _SPENDING.get()


@contextmanager
def with_spending(spending: Spending) -> Iterator[None]:
    """Set what a call spends while it is answered."""
    token = _SPENDING.set(spending)
    try:
        yield
    finally:
        _SPENDING.reset(token)
