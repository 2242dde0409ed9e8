# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Which redirects are followed, and with what (RFC 9110, 15.4). Credentials never leave the API's own origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ..hosts import is_public_host
from ..redaction import occurs
from ..wire import ApiRequest, ApiResponse

if TYPE_CHECKING:
    import httpx2

__all__ = ["READS", "changes_origin", "redirected"]

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
    """Return the absolute target, None for one that is not a URL of the web."""
    import httpx2

    try:
        target = source.join(location).copy_with(fragment=None)
    except (httpx2.InvalidURL, ValueError, UnicodeError):
        return None
    return target if target.scheme in ("http", "https") and target.host else None


def _same_origin(source: httpx2.URL, target: httpx2.URL) -> bool:
    if target.userinfo and target.userinfo != source.userinfo:
        return False
    if target.host != source.host:
        return False
    upgraded = source.scheme == "http" and target.scheme == "https" and source.port is None and target.port is None
    return upgraded or (target.scheme == source.scheme and target.port == source.port)
