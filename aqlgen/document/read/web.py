"""Fetching http(s) URLs within limits of time and size; redirects never carry headers to another origin.

An origin that only a redirect names is connected to at public addresses alone, and never without the encryption that
there was (see `aqlgen.runtime.hosts`).
"""

from __future__ import annotations

import re
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

from aqlgen import __version__
from aqlgen.diagnostics.errors import FileError
from aqlgen.document.read.limits import Limits, too_large
from aqlgen.runtime.hosts import CheckedConnections, Origin, is_same_private_host, proxy_for
from aqlgen.runtime.wire import PrivateAddress

if TYPE_CHECKING:
    import asyncio

    import httpx2

_REDIRECTS = 10
_UNREACHABLE_HELP = "Check the address and the network, or download it elsewhere and give the file."
_SILENT_HELP = "Is the API running, and not busy? Else download it elsewhere and give the file."
_PASSWORD = re.compile(rb"""<input[^>]{0,500}\btype\s*=\s*["']?password""", re.IGNORECASE)
_ERRNO = re.compile(r"^\[Errno -?\d+\] ")
_ACCEPT = "application/vnd.oai.openapi+json, application/json, application/yaml;q=0.9, */*;q=0.5"

Headers: TypeAlias = Sequence[tuple[str, str]]
"""Names and values; only sent to the origin of the URL that the user named."""


class Web:
    """A client for the URLs of one document, with persistent connections; only the origin of `spec` gets `headers`.

    `named` are further URLs that the user named: like `spec`, they may be at private addresses.
    """

    def __init__(self, spec: str, headers: Headers, limits: Limits, named: Iterable[str] = ()) -> None:
        self._origin = Origin.of(spec)
        self._named = {self._origin, *map(Origin.of, named)}
        self._headers = [*headers, *_from_userinfo(spec, headers)]
        self._limits = limits
        self._deadline = time.monotonic() + limits.all_seconds
        self._runner: asyncio.Runner | None = None
        self._client: httpx2.AsyncClient | None = None
        self._checked = CheckedConnections()

    def get(
        self, url: str, permits: Callable[[str], bool] = lambda _url: True, silence: float | None = None
    ) -> tuple[str, bytes]:
        """Return the final URL after redirects, without credentials, and its content.

        Raises FileError, also for a redirect that `permits` denies or that leads to a login page, and for an answer
        that does not begin within the seconds of `silence`; DocumentError over the size limit.
        """
        import asyncio  # here, since only URLs should pay for importing it

        import httpx2

        self._runner = self._runner or asyncio.Runner()
        name = without_credentials(url)
        parts = _split(url)
        if parts is None or not parts.hostname:
            raise _unreachable(name, "not a usable address: it names no server")
        seconds = min(self._limits.seconds, self._deadline - time.monotonic())
        try:
            return self._runner.run(self._fetch_in_time(seconds, name, permits, silence or self._limits.silence))
        except TimeoutError:
            raise _unreachable(
                name, f"not finished after {self._limits.seconds:g} seconds", _UNREACHABLE_HELP
            ) from None
        except PrivateAddress as error:
            problem = f"redirected to {error}, which is another host and has no public address"
            raise _unreachable(name, problem, "If you trust it, give the URL of the redirect.") from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, ValueError) as error:
            raise _unreachable(name, f"not a usable address: {error}") from None
        except (httpx2.HTTPError, OSError) as error:
            raise _unreachable(name, *_cause(name, error)) from None

    def close(self) -> None:
        """Close the connections."""
        if self._runner is not None:
            if self._client is not None:
                self._runner.run(self._client.aclose())
            self._runner.run(self._checked.aclose())
            self._runner.close()

    async def _fetch_in_time(
        self, seconds: float, url: str, permits: Callable[[str], bool], silence: float
    ) -> tuple[str, bytes]:
        """Limit the total time: a server that sends its headers byte by byte would outlast other timeouts."""
        import asyncio

        async with asyncio.timeout(seconds):
            return await self._follow(url, permits, silence)

    async def _follow(self, name: str, permits: Callable[[str], bool], silence: float) -> tuple[str, bytes]:
        url = name
        for _ in range(_REDIRECTS + 1):
            answer = await self._request(name, url, silence)
            if isinstance(answer, bytes):
                if _is_login(name, url, answer):
                    raise _refused(name, 401, "", f"the server redirects to a login page, {url.partition('?')[0]}")
                return url, answer
            before, url = url, without_credentials(urljoin(url, answer))
            if not urlsplit(url).scheme.startswith("http"):
                raise _unreachable(name, f"redirected to an address of another kind, {urlsplit(url).scheme}")
            if urlsplit(before).scheme == "https" and urlsplit(url).scheme != "https":
                raise _unreachable(name, f"redirected to {url}, which is not encrypted as the address before it is")
            if not permits(url):
                advice = "If it is a login page, give a credential with --header."
                raise _unreachable(name, f"redirected to {url}, which is outside", advice)
        raise _unreachable(name, f"more than {_REDIRECTS} redirects")

    async def _request(self, name: str, url: str, silence: float) -> bytes | str:
        """Return the body, or the location of a redirect."""
        import asyncio

        origin = Origin.of(url)
        headers = self._headers if origin is not None and origin == self._origin else []
        client = self._connected()
        request = client.build_request("GET", url, headers=headers)
        try:
            async with asyncio.timeout(silence):
                sent = client.send(request, stream=True) if self._is_named(origin) else self._checked.send(request)
                response = await sent
        except TimeoutError:
            raise _unreachable(name, f"no answer within {silence:g} seconds", _SILENT_HELP) from None
        try:
            if response.has_redirect_location:
                return str(response.headers["location"])
            if not response.is_success:
                raise _refused(name, response.status_code, response.reason_phrase)
            data = bytearray()
            async for chunk in response.aiter_bytes():
                data += chunk
                if len(data) > self._limits.size:
                    raise too_large(name, self._limits)
            return bytes(data)
        finally:
            await response.aclose()

    def _is_named(self, origin: Origin | None) -> bool:
        """Return True if the user named an origin, or it is another port of the private host that they named."""
        if origin is None or self._origin is None:
            return False
        return origin in self._named or is_same_private_host(self._origin.host, origin.host)

    def _connected(self) -> httpx2.AsyncClient:
        import httpx2

        if self._client is None:
            headers = {"accept": _ACCEPT, "user-agent": f"aqlgen/{__version__}"}
            self._client = httpx2.AsyncClient(timeout=None, headers=headers)
        return self._client


def is_url(spec: str) -> bool:
    """Return True if this is an http(s) URL."""
    return spec.lower().startswith(("http://", "https://"))


def without_credentials(url: str) -> str:
    """Return the URL without user name and password, so that it can be shown and stored."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _from_userinfo(spec: str, headers: Headers) -> Headers:
    """Return the credentials of a URL as a header (RFC 7617), unless the user set that header."""
    parts = _split(spec)
    if parts is None or "@" not in parts.netloc or any(name.lower() == "authorization" for name, _ in headers):
        return []
    pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return [("Authorization", f"Basic {b64encode(pair.encode()).decode()}")]


def _split(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None


def same_origin(url: str, other: str) -> bool:
    """Return True if two URLs have the same scheme, host and port."""
    return Origin.of(url) is not None and Origin.of(url) == Origin.of(other)


def _is_login(name: str, url: str, page: bytes) -> bool:
    """Return True for a page that a redirect led to and that asks for a password, or is to lead back afterwards."""
    here, there = urlsplit(name), urlsplit(url)
    if here.path == there.path or not page.lstrip().startswith(b"<"):
        return False
    return bool(_PASSWORD.search(page[:200_000])) or (len(here.path) > 1 and here.path in unquote(there.query))


def _cause(name: str, error: BaseException) -> tuple[str, str]:
    """Return why a connection failed, and what to do about it."""
    import ssl

    import httpx2

    message = _ERRNO.sub("", str(error)) or type(error).__name__
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    is_tls = any(isinstance(cause, ssl.SSLError) for cause in causes)
    proxy = proxy_for(httpx2.URL(name)) if isinstance(error, httpx2.ConnectError) and not is_tls else None
    if proxy is not None:
        problem = f"no connection could be made to the proxy '{proxy[0]}', which {proxy[1]} names"
        return problem, "Is the proxy running? NO_PROXY lists the hosts that are reached without it."
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return "the connection was refused: nothing listens there", "Is the API running, and at this port?"
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return message, "If you trust the server: SSL_CERT_FILE=FILE names the certificate, or that of its authority."
    host = name.partition("://")[2]
    if "WRONG_VERSION_NUMBER" in message:
        return "the server does not speak https at this port", f"Try http://{host}"
    if name.startswith("http:") and isinstance(error, (httpx2.RemoteProtocolError, httpx2.ReadError)):
        return "the server hung up without an answer", f"If it wants encryption: https://{host}"
    return message, _UNREACHABLE_HELP


def _refused(name: str, status: int, reason: str, message: str = "") -> FileError:
    advice = "Download it and give the file, if this stays."
    if status in (401, 403):
        advice = "It needs credentials: give them with --header, or download it and give the file."
    elif status in (404, 410):
        advice = "Check the URL. Some servers answer so without a credential: see --header."
    message = message or f"the server answered {status} {reason}".rstrip()
    refusal = FileError.of("url-unreadable", message, file=name, help=advice)
    refusal.status = status
    return refusal


def _unreachable(name: str, problem: str, advice: str = "") -> FileError:
    return FileError.of("url-unreadable", f"cannot be fetched: {problem}", file=name, help=advice)
