"""Carries requests to the API over HTTP: time-outs, bounded answers, redirects that keep credentials on their host.

Retries, rate limits and renewed credentials have their place in `HttpTransport.send`, around `_exchange`.
"""

from __future__ import annotations

import ssl
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING

import anyio

from .errors import Code, Failure
from .truncation import refusal
from .wire import ApiRequest, ApiResponse

if TYPE_CHECKING:
    import httpx2

    from .table import Row

__all__ = ["HttpTransport"]

_CONNECT_TIMEOUT = 10.0
_MOST_REDIRECTS = 5
_AHEAD = 32 * 1024 * 1024
"""Bytes that are read beyond the bound, so that a list can be cut and yet counted (see `truncation`)."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS", "QUERY"})
"""Methods by which nothing is changed (RFC 9110, 9.2.1), so that another try costs nothing."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class HttpTransport:
    """A pool of connections, opened at the first request. `timeout` (seconds) bounds a whole exchange."""

    def __init__(
        self,
        timeout: float,
        max_response: int,
        *,
        verify: ssl.SSLContext | bool = True,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._timeout = timeout
        self._max_response = max_response
        self._most_read = max_response + _AHEAD
        self._verify = verify
        self._transport = transport
        self._client: httpx2.AsyncClient | None = None

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:  # noqa: ARG002 - the protocol gives both
        """Send and read the answer. Raises Failure: INTERNAL_ERROR, or PAYLOAD_TOO_LARGE for too long an answer."""
        import httpx2

        try:
            with anyio.fail_after(self._timeout):
                try:
                    return await self._follow(request)
                except (httpx2.ConnectError, httpx2.ConnectTimeout):
                    if request.method not in _SAFE:
                        raise
                    return await self._follow(request)  # nothing was sent: a second try is free
        except (TimeoutError, httpx2.TimeoutException):
            raise _failed(f"the API did not answer within {self._timeout:g} seconds") from None
        except httpx2.ConnectError as error:
            raise _failed(_unreachable(error, request)) from None
        except httpx2.DecodingError:
            raise _failed("the API's answer could not be decompressed") from None
        except httpx2.ProxyError:
            raise _failed("the proxy between the adapter and the API refused the request") from None
        except (httpx2.TransportError, httpx2.StreamError):
            raise _failed("the connection to the API broke before its answer was complete") from None
        except (httpx2.InvalidURL, httpx2.TooManyRedirects, UnicodeError, ValueError):
            raise _failed("the request to the API could not be formed") from None

    async def aclose(self) -> None:
        """Close every connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _follow(self, request: ApiRequest) -> ApiResponse:
        """Exchange, and follow redirects of a GET as long as they stay on the host and keep its encryption."""
        import httpx2

        url = httpx2.URL(request.url)
        response = await self._exchange(request, url)
        for _ in range(_MOST_REDIRECTS):
            target = _redirect(request, response, url)
            if target is None:
                return response
            url = target
            response = await self._exchange(request, url)
        if _redirect(request, response, url) is not None:
            raise _failed(f"the API redirected the request more than {_MOST_REDIRECTS} times")
        return response

    async def _exchange(self, request: ApiRequest, url: httpx2.URL) -> ApiResponse:
        import httpx2

        headers = [(name.encode("ascii"), value.encode("utf-8")) for name, value in request.headers]
        headers.append((b"Accept-Encoding", b"gzip, deflate"))
        sent = httpx2.Request(request.method, url, headers=headers, content=request.content)
        timeout = httpx2.Timeout(self._timeout, connect=min(_CONNECT_TIMEOUT, self._timeout))
        sent.extensions["timeout"] = timeout.as_dict()
        response = await self._opened().send(sent, stream=True)
        try:
            content = await self._read(response, performed=request.method not in _SAFE)
        finally:
            await response.aclose()
        return ApiResponse(response.status_code, dict(response.headers), content)

    async def _read(self, response: httpx2.Response, *, performed: bool) -> bytes:
        """Read the answer whole, but stop as soon as it is too long even to be cut (see `truncation`)."""
        told = response.headers.get("content-length", "")
        if told.isdigit() and int(told) > self._most_read:
            raise refusal(self._max_response, int(told), performed=performed)
        chunks: list[bytes] = []
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > self._most_read:
                raise refusal(self._max_response, size, performed=performed)
            chunks.append(chunk)
        return b"".join(chunks)

    def _opened(self) -> httpx2.AsyncClient:
        if self._client is None:
            import httpx2

            self._client = httpx2.AsyncClient(
                verify=self._verify,
                transport=self._transport,
                follow_redirects=False,
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # one caller's cookies are not another's
            )
        return self._client


def _redirect(request: ApiRequest, response: ApiResponse, url: httpx2.URL) -> httpx2.URL | None:
    """Give where to go on, or None when the answer is final."""
    location = response.headers.get("location")
    if response.status not in _REDIRECTS or not location or request.method not in ("GET", "HEAD"):
        return None
    target = url.join(location)
    same = target.host == url.host and target.port == url.port and target.scheme == url.scheme
    upgraded = target.host == url.host and url.scheme == "http" and target.scheme == "https" and target.port is None
    return target if same or (upgraded and url.port is None) else None


def _unreachable(error: BaseException, request: ApiRequest) -> str:
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


def _failed(what: str) -> Failure:
    return Failure(Code.INTERNAL_ERROR, f"Internal error: {what}")
