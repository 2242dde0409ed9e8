"""The guard of the page: the form that every request must have, and the sessions that may send it (R-OPS-1).

A browser is the one who is deceived here: by a name that leads to this machine (DNS rebinding), by a page that sends
requests for its own ends (CSRF), that frames this one (clickjacking), or that loads parts of it. So a request names
exactly the address that the page is at, comes from the page itself, and for what the page uses it for; and no answer
may be kept, framed, or read by another origin (RFC 9110, 7.2 and 7.4; Fetch Metadata).

The page is for whoever opened the address that the terminal showed, and for them alone. The address carries a key in
its fragment, which no browser sends to a server and no log holds. The page exchanges it, once, for two secrets, and
every request needs both:

- a cookie that no script reads. Browsers send it to every port of this machine, so a server of an agent's beside
  this one might see it.
- a token that the page keeps for its own origin, which is of this port alone, and sends in a header. No other page can
  send it without this server's leave, which is never given (CSRF).

Secrets are 256 random bits, known here by their digests only, and die with this process.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..server.access import came_through_proxy, respond

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BODY = 8 * 1024
"""Most bytes of a request's body."""

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "origin-agent-cluster": "?1",
    "permissions-policy": "clipboard-write=(self), clipboard-read=(), camera=(), geolocation=(), microphone=()",
}
"""What stands on every answer."""


class Route(NamedTuple):
    """How a path may be asked for: its methods, and what for (Sec-Fetch-Dest). `typed`: an address a person enters."""

    methods: tuple[str, ...]
    purpose: str
    typed: bool = False


_FILE = ("GET", "HEAD")
ROUTES: Mapping[str, Route] = {
    "/": Route(_FILE, "document", typed=True),
    "/operator.css": Route(_FILE, "style"),
    "/operator.js": Route(_FILE, "script"),
    "/icon.svg": Route(_FILE, "image"),
    "/api/enter": Route(("POST",), "empty"),
    "/api/events": Route(("GET",), "empty"),
    "/api/act": Route(("POST",), "empty"),
    "/api/leave": Route(("POST",), "empty"),
}
"""Every path there is."""


class _Refusal(NamedTuple):
    status: int
    code: str
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Guard:
    """An ASGI application that passes on requests of the page itself alone, and bounds what they carry.

    `hosts` are the addresses that it is at, each as `host:port`.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is not allowed; pass the others on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *headers]}
            await send(message)

        headers = _Headers(scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await respond(guarded, *refusal)
            return
        body = await _body(receive) if scope["method"] == "POST" else b""
        if body is None:
            await respond(guarded, 413, "too_large", f"A request may carry {MOST_BODY} bytes.")
            return
        await self._app({**scope, "operator.body": body}, receive, guarded)

    def _refusal(self, scope: Scope, headers: _Headers) -> _Refusal | None:
        return (
            _proxied(scope)
            or self._displaced(headers)
            or _misdirected(scope, headers)
            or self._foreign(scope, headers)
            or _misshapen(scope, headers)
        )

    def _displaced(self, headers: _Headers) -> _Refusal | None:
        """Refuse a request that names another host: its page reached this machine by a unique name."""
        hosts = headers.all("host")
        if len(hosts) == 1 and hosts[0] in self._hosts:
            return None
        return _Refusal(421, "host_not_allowed", "The operator's page answers under the address it printed alone.")

    def _foreign(self, scope: Scope, headers: _Headers) -> _Refusal | None:
        """Refuse a request that another page makes, or that is made for something else than the page does."""
        route = ROUTES[scope["path"]]
        origins, sites, purposes = (headers.all(name) for name in ("origin", "sec-fetch-site", "sec-fetch-dest"))
        wanted = [f"http://{headers.all('host')[0]}"]
        sites_allowed = (["same-origin"], ["none"]) if route.typed else (["same-origin"],)
        if (
            (origins and origins != wanted)
            or (scope["method"] == "POST" and origins != wanted)
            or (sites and sites not in sites_allowed)
            or (purposes and purposes != [route.purpose])
        ):
            message = "This request does not come from the operator's page itself. Type the address in by hand."
            return _Refusal(403, "origin_not_allowed", message)
        return None


class _Headers:
    """The headers of a request, by name in lower case."""

    def __init__(self, scope: Scope) -> None:
        self.pairs = [(name.lower().decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]

    def all(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for key, value in self.pairs if key == name]


def _proxied(scope: Scope) -> _Refusal | None:
    """Refuse what came through a proxy, which would lend the page to whoever reaches the proxy."""
    if not came_through_proxy(scope):
        return None
    message = (
        "This request came through a proxy. The operator's page answers on this machine alone: open it here, or by a "
        "tunnel of ssh (ssh -L) that leads to its port."
    )
    return _Refusal(403, "proxy_not_allowed", message)


def _misdirected(scope: Scope, headers: _Headers) -> _Refusal | None:
    """Refuse a path that is not there as it is written, or another method: no two spellings lead to one place."""
    path = scope["path"]
    route = ROUTES.get(path)
    written = scope.get("raw_path", b"")
    if route is None or written not in (path.encode(), b"") or scope.get("root_path"):
        return _Refusal(404, "not_found", "There is nothing here.")
    if scope.get("query_string"):
        return _Refusal(400, "no_query", "The operator's page takes nothing in a query.")
    if scope["method"] not in route.methods:
        allowed = ((b"allow", ", ".join(route.methods).encode()),)
        return _Refusal(405, "method_not_allowed", f"Use {' or '.join(route.methods)}.", allowed)
    if headers.all("authorization"):
        return _Refusal(400, "invalid_request", "The operator's page knows no Authorization header.")
    return None


def _misshapen(scope: Scope, headers: _Headers) -> _Refusal | None:
    """Refuse a body that is none of JSON, or that says that it is too large."""
    lengths = headers.all("content-length")
    if scope["method"] != "POST":
        has_body = headers.all("transfer-encoding") or any(length != "0" for length in lengths)
        return _Refusal(400, "invalid_request", "This request takes no body.") if has_body else None
    if lengths and headers.all("transfer-encoding"):
        return _Refusal(400, "invalid_request", "The request states the length of its body twice.")
    if any(len(length) > 6 or not length.isdecimal() or int(length) > MOST_BODY for length in lengths):
        return _Refusal(413, "too_large", f"A request may carry {MOST_BODY} bytes.")
    if headers.all("content-type") != ["application/json"] or headers.all("content-encoding"):
        return _Refusal(415, "unsupported_media_type", "The body must be application/json.")
    return None


async def _body(receive: Receive) -> bytes | None:
    """Return the body of a request, None for one that is too large."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        body += message.get("body", b"")
        if len(body) > MOST_BODY:
            return None
        if not message.get("more_body"):
            return bytes(body)


_BYTES = 32
_LONGEST = 200
_MOST_SESSIONS = 8
_KEY_SECONDS = 900.0
_IDLE_SECONDS = 12 * 3600.0


class Entry(NamedTuple):
    """The two secrets of a session, for the browser alone."""

    cookie: str
    token: str


@dataclass(slots=True)
class _Session:
    cookie: bytes
    token: bytes
    used: float


class Admission:
    """The key that opens the page next, and the sessions that keys have opened. `clock` is monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._key: tuple[bytes, float] | None = None
        self._sessions: list[_Session] = []

    def new_key(self) -> str:
        """Return a key that opens the page once, within 15 minutes; the one before it is void."""
        key = secrets.token_urlsafe(_BYTES)
        self._key = _digest(key), self._clock() + _KEY_SECONDS
        return key

    def enter(self, key: object) -> Entry | None:
        """Return the secrets of a new session for a key, None for one that is wrong, was used or has expired."""
        if self._key is None or not isinstance(key, str) or len(key) > _LONGEST:
            return None
        digest, expires = self._key
        if not secrets.compare_digest(digest, _digest(key)) or self._clock() >= expires:
            return None
        self._key = None
        entry = Entry(secrets.token_urlsafe(_BYTES), secrets.token_urlsafe(_BYTES))
        self._sessions = self._live()[1 - _MOST_SESSIONS :]
        self._sessions.append(_Session(_digest(entry.cookie), _digest(entry.token), self._clock()))
        return entry

    def admits(self, cookies: list[str], token: str, *, use: bool = False) -> bool:
        """Return True if one of the cookies and the token are of one session; to `use` it puts its end off."""
        self._sessions = self._live()
        session = self._session(cookies, token)
        if session is not None and use:
            session.used = self._clock()
        return session is not None

    def leave(self, cookies: list[str], token: str) -> None:
        """End a session."""
        session = self._session(cookies, token)
        self._sessions = [other for other in self._sessions if other is not session]

    def _session(self, cookies: list[str], token: str) -> _Session | None:
        if len(token) > _LONGEST or any(len(cookie) > _LONGEST for cookie in cookies):
            return None
        digests, wanted = [_digest(cookie) for cookie in cookies], _digest(token)
        for session in self._sessions:
            if secrets.compare_digest(session.token, wanted) and any(
                secrets.compare_digest(session.cookie, digest) for digest in digests
            ):
                return session
        return None

    def _live(self) -> list[_Session]:
        """Return the sessions that were used of late, those that were used last at the end."""
        begin = self._clock() - _IDLE_SECONDS
        return sorted((session for session in self._sessions if session.used > begin), key=lambda item: item.used)


def _digest(text: str) -> bytes:
    return hashlib.sha256(b"mcp-aql operator\0" + text.encode("utf-8", "surrogatepass")).digest()
