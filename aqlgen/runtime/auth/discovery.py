"""Authorization servers: small JSON exchanges with them, and their published metadata (RFC 8414, OpenID Connect)."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

import anyio

from ..encode.urls import is_safe

if TYPE_CHECKING:
    import httpx2

    from ..hosts.gate import Hosts

__all__ = ["Discovery", "Fetch", "Fetched", "Server", "Unreachable", "is_safe"]

_MAX_BYTES = 1024 * 1024
_ACCEPTED = {"Accept": "application/json", "Accept-Encoding": "identity"}


class Unreachable(Exception):
    """There was no usable answer; the message says why, as the end of a sentence."""


class Fetched(NamedTuple):
    """An answer; `body` is empty if it was no JSON object."""

    status: int
    body: Mapping[str, Any]

    @property
    def ok(self) -> bool:
        """True for a success, of which some servers answer 201 for a token."""
        return 200 <= self.status < 300


class Fetch:
    """Exchanges JSON with authorization servers. `timeout` (seconds) bounds a whole exchange.

    Answers are bounded, and redirects are not followed. With `hosts`, only accepted origins are asked: any other
    raises Failure (PERMISSION_DENIED).
    """

    def __init__(
        self,
        timeout: float = 30.0,
        *,
        verify: ssl.SSLContext | bool = True,
        transport: httpx2.AsyncBaseTransport | None = None,
        hosts: Hosts | None = None,
    ) -> None:
        self.timeout = timeout
        self._verify = verify
        self._transport = transport
        self._hosts = hosts

    def admit(self, url: str) -> None:
        """Raise Failure unless the owner accepted the origin of a URL."""
        if self._hosts is not None:
            self._hosts.admit_authorization(url)

    async def get(self, url: str) -> Fetched:
        """Read a document. Raises Unreachable."""
        return await self._ask("GET", url, {}, None)

    async def post(self, url: str, form: Mapping[str, str], headers: Mapping[str, str]) -> Fetched:
        """Send a form. Raises Unreachable."""
        all_headers = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        return await self._ask("POST", url, all_headers, urlencode(form).encode())

    async def _ask(self, method: str, url: str, headers: Mapping[str, str], content: bytes | None) -> Fetched:
        import httpx2

        self.admit(url)
        if self._verify is True:
            self._verify = httpx2.create_ssl_context()  # once: it reads every authority's certificate
        try:
            with anyio.fail_after(self.timeout):
                async with httpx2.AsyncClient(
                    verify=self._verify, transport=self._transport, timeout=self.timeout, follow_redirects=False
                ) as client:
                    sent = client.build_request(method, url, headers={**_ACCEPTED, **headers}, content=content)
                    response = await client.send(sent, stream=True)
                    try:
                        body = await _read(response)
                    finally:
                        await response.aclose()
        except (TimeoutError, httpx2.TimeoutException):
            raise Unreachable(f"did not answer within {self.timeout:g} seconds") from None
        except (httpx2.TransportError, httpx2.StreamError, httpx2.DecodingError, OSError):
            raise Unreachable("could not be reached") from None
        except (httpx2.InvalidURL, ValueError):
            raise Unreachable("has an address that cannot be used") from None
        return Fetched(response.status_code, body)


async def _read(response: httpx2.Response) -> Mapping[str, Any]:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise Unreachable("answered in a coding that was not asked for")  # a few bytes of it can be any number
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > _MAX_BYTES:
            raise Unreachable("answered with too much")
        chunks.append(chunk)
    try:
        body = json.loads(b"".join(chunks))
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


_WELL_KNOWN = "/.well-known/openid-configuration"
_CACHE_SECONDS = 3600.0


class Server(NamedTuple):
    """The endpoints of an authorization server; empty where it has none. `scopes` are those that it names.

    With `answers_issuer` it states that its answers to logins name the issuer (RFC 9207).
    """

    issuer: str
    token_url: str
    authorization_url: str
    scopes: tuple[str, ...]
    answers_issuer: bool = False


class Discovery:
    """Reads each server's metadata, at most once an hour."""

    def __init__(self, fetch: Fetch, clock: Callable[[], float]) -> None:
        self._fetch = fetch
        self._clock = clock
        self._cache: dict[str, tuple[float, Server]] = {}

    async def find(self, url: str) -> Server:
        """Return the server whose metadata a URL, or the issuer at it, publishes. Raises Unreachable."""
        cached = self._cache.get(url)
        if cached is not None and self._clock() < cached[0]:
            return cached[1]
        server = await self._read(url)
        if not server.token_url and "/.well-known/" not in url:
            server = await self._read(url.rstrip("/") + _WELL_KNOWN)  # the issuer was given, not its document
        if not server.token_url:
            raise Unreachable("does not name its token endpoint")
        self._cache[url] = (self._clock() + _CACHE_SECONDS, server)
        return server

    async def _read(self, url: str) -> Server:
        if not is_safe(url):
            raise Unreachable("has a URL that is neither https nor on this machine")
        answer = await self._fetch.get(url)
        body = answer.body if answer.status == 200 else {}
        keys = ("issuer", "token_endpoint", "authorization_endpoint")
        issuer, token, authorization = (value if isinstance(value := body.get(key), str) else "" for key in keys)
        if not all(is_safe(endpoint) for endpoint in (token, authorization) if endpoint):
            raise Unreachable("names an endpoint that is neither https nor on this machine")
        scopes = body.get("scopes_supported")
        names = tuple(scope for scope in scopes if isinstance(scope, str)) if isinstance(scopes, list) else ()
        answers_issuer = body.get("authorization_response_iss_parameter_supported") is True
        return Server(issuer, token, authorization, names, answers_issuer)
