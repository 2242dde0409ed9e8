"""When a request is sent, and sent again (R-RATE-2), and what a broken connection tells: if it was sent, and why not.

The safe method of an operation that does not act is repeated whatever happened, and so is a write that carries an
idempotency key. An idempotent write is repeated only when no connection was made, so that nothing can have been sent;
any other write never. Pauses are random between 0 and a bound that doubles (full jitter), so that callers do not come
back together.

A redirect is followed by the same rules (RFC 9110, 15.4). Credentials never leave the API's own origin.
"""

from __future__ import annotations

import random
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import anyio

from ..hosts import Origin, is_public_host
from ..redaction import occurs
from ..wire import SAFE_METHODS, ApiRequest, ApiResponse

if TYPE_CHECKING:
    import httpx2

_IDEMPOTENT = frozenset({"PUT", "DELETE"})
_REPEATED_STATUSES = frozenset({429, 502, 503, 504})
_FIRST_DELAY, _LONGEST_DELAY = 0.25, 8.0
_MARGIN = 0.05
"""Seconds that are waited beyond Retry-After: a request that comes too early counts as another one."""


class Timing(NamedTuple):
    """The clock (seconds since the epoch), the pause, and the chance that retries go by; tests pass their own."""

    now: Callable[[], float] = time.time
    pause: Callable[[float], Awaitable[None]] = anyio.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often and how patiently a request is repeated. `always`: whatever happened; else only if nothing was sent."""

    limit: int
    always: bool

    @classmethod
    def of(cls, request: ApiRequest, limit: int, *, acts: bool = False) -> Backoff:
        """Return the backoff of a request; with `acts` it is a write by a safe method."""
        always = bool(request.idempotency_key) or (request.method in SAFE_METHODS and not acts)
        return cls(limit if always or request.method in _IDEMPOTENT else 0, always)

    def after_fault(self, tries: int, timing: Timing, *, unsent: bool) -> float | None:
        """Return the seconds to wait after a broken connection, None to give up; the first time hardly any."""
        if tries >= self.limit or not (self.always or unsent):
            return None
        return self._delay(tries - 1, timing) if tries else 0.05 * timing.chance()

    def after_response(self, tries: int, response: ApiResponse, timing: Timing) -> float | None:
        """Return the seconds to wait after a response that puts the caller off, None when it is final."""
        if response.status not in _REPEATED_STATUSES or tries >= self.limit or not self.always:
            return None
        if "retry-after" in response.headers:
            from ..decode.headers import retry_after

            wait = retry_after(response.headers["retry-after"], timing.now())
            if wait is not None:
                return wait + _MARGIN + 0.1 * timing.chance()
        return self._delay(tries, timing)

    @staticmethod
    def _delay(tries: int, timing: Timing) -> float:
        return min(_LONGEST_DELAY, _FIRST_DELAY * 2.0**tries) * timing.chance()


def is_unsent(error: Exception) -> bool:
    """Return True if an error came before anything was sent to the API."""
    import httpx2

    before = (
        httpx2.ConnectError,
        httpx2.ConnectTimeout,
        httpx2.PoolTimeout,
        httpx2.ProxyError,
        httpx2.UnsupportedProtocol,
        httpx2.InvalidURL,
    )
    return isinstance(error, before)


def is_tls(error: BaseException) -> bool:
    """Return True if an error came from TLS."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def unreachable(error: BaseException, request: ApiRequest) -> str:
    """Return why no connection could be made, as an agent reads it."""
    host = request.url.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"the TLS certificate of '{host}' is not valid"
        if isinstance(cause, ssl.SSLError):
            return f"no TLS connection could be made with '{host}'"
        if isinstance(cause, ConnectionRefusedError):
            return f"the connection to '{host}' was refused"
        cause = cause.__cause__ or cause.__context__
    return f"no connection could be made to '{host}'"


_STATUSES = frozenset({301, 302, 303, 307, 308})
READS = frozenset({"GET", "HEAD"})
_HEADERS_FOR_ANY_HOST = frozenset({"accept", "accept-language", "user-agent"})
_CONTENT_HEADERS = frozenset({"content-type", "content-encoding", "content-language", "content-location"})


def redirected(
    request: ApiRequest, response: ApiResponse, is_owners: Callable[[str], bool] = lambda _url: False
) -> ApiRequest | None:
    """Return the request that a redirect asks for, None when it is none, or one that is not safe to follow.

    On the same origin, or on the same host when it becomes encrypted, it goes on as it was: a read in any case, any
    other request for 307 and 308 only, while 303 turns it into a GET. Another host sees reads only, without anything
    that the API was given, and only when no encryption is lost. It is a public one, also for a request that comes from
    a private one, unless it is another port of the same or `is_owners` says that the owner named it.
    """
    import httpx2

    location = response.headers.get("location", "").strip()
    if response.status not in _STATUSES or not location:
        return None
    is_read = request.method in READS
    source = httpx2.URL(request.url)
    target = _target(source, location)
    if target is None or (not is_read and response.status in (301, 302)):
        return None
    if _same_origin(source, target):
        redirect = replace(request, url=str(target))
        return redirect if is_read or response.status != 303 else _as_read(redirect)
    if not is_read or occurs(location, request.secrets) or not _leads_safely(source, target, is_owners):
        return None
    return ApiRequest(request.method, str(target), tuple(_headers_for_any_host(request)), None, request.secrets)


def _leads_safely(source: httpx2.URL, target: httpx2.URL, is_owners: Callable[[str], bool]) -> bool:
    """Return True if a read may go on at another origin."""
    if target.userinfo or (source.scheme == "https" and target.scheme != "https"):
        return False
    return is_public_host(target.host) or target.host == source.host or is_owners(str(target))


def _as_read(request: ApiRequest) -> ApiRequest:
    headers = tuple(header for header in request.headers if header[0].lower() not in _CONTENT_HEADERS)
    return replace(request, method="GET", headers=headers, content=None)


def _headers_for_any_host(request: ApiRequest) -> Iterator[tuple[str, str]]:
    for name, value in request.headers:
        if name.lower() in _HEADERS_FOR_ANY_HOST and not occurs(value, request.secrets):
            yield name, value


def changes_origin(request: ApiRequest, target: ApiRequest) -> bool:
    """Return True if a redirect leads to another origin; the same host gaining encryption is none."""
    import httpx2

    return not _same_origin(httpx2.URL(request.url), httpx2.URL(target.url))


def _target(source: httpx2.URL, location: str) -> httpx2.URL | None:
    """Return the absolute target, None for one without a clear origin."""
    import httpx2

    try:
        target = source.join(location).copy_with(fragment=None)
    except (httpx2.InvalidURL, ValueError, UnicodeError):
        return None
    return target if Origin.of(str(target)) is not None else None


def _same_origin(source: httpx2.URL, target: httpx2.URL) -> bool:
    if target.userinfo and target.userinfo != source.userinfo:
        return False
    if target.host != source.host:
        return False
    upgraded = source.scheme == "http" and target.scheme == "https" and source.port is None and target.port is None
    return upgraded or (target.scheme == source.scheme and target.port == source.port)
