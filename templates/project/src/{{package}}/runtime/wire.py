"""What travels between the adapter and the API: a request, a response, and whoever carries them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .table import Row

__all__ = ["ApiRequest", "ApiResponse", "Transport"]


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
class ApiResponse:
    """An HTTP response, read whole; header names are lower-case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class Transport(Protocol):
    """Carries a request to the API, or to what stands in for it. `row` is the operation that it is made for."""

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Send and wait. Raises Failure (INTERNAL_ERROR) on time-out, refused connection or TLS failure."""
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...
