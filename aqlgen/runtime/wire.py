# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""What travels between the adapter and the API: a request, a response, and whoever carries them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .table import Row

__all__ = ["NO_CREDENTIALS", "QUOTA_HEADERS", "ApiRequest", "ApiResponse", "Applied", "SavedFile", "Transport"]

QUOTA_HEADERS = {
    f"{prefix}remaining{suffix}": (f"{prefix}limit{suffix}", f"{prefix}reset{suffix}", suffix)
    for prefix in ("x-ratelimit-", "ratelimit-", "x-rate-limit-", "rate-limit-")
    for suffix in ("", "-requests", "-second", "-minute", "-hour", "-day")
}
"""Headers of what is left of a quota, each with those of its size and its end, and the ending of its name."""


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """An HTTP request in its final form: `url` absolute and percent-encoded, header names as they are sent.

    `secrets` are the values that no log, error or dry run may show.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    content: bytes | None = None
    secrets: frozenset[str] = field(default=frozenset(), repr=False)


@dataclass(frozen=True, slots=True)
class Applied:
    """The credentials that a request carries; `query` and `cookies` are encoded pairs."""

    headers: tuple[tuple[str, str], ...] = ()
    query: tuple[str, ...] = ()
    cookies: tuple[str, ...] = ()
    secrets: frozenset[str] = frozenset()


NO_CREDENTIALS = Applied()


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file that an answer was saved in."""

    path: str
    size: int
    mime_type: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """An HTTP response; header names are lower-case.

    It was read whole but for a stream, where `cut` says what ended the reading (events, bytes, time, break); empty: the
    stream itself. `file` is where its content went, if it was saved.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes
    cut: str = ""
    file: SavedFile | None = None


class Transport(Protocol):
    """Carries a request to the API, or to what stands in for it. `row` is the operation that it is made for."""

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Send and wait. Raises Failure (INTERNAL_ERROR) on time-out, refused connection or TLS failure."""
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...
