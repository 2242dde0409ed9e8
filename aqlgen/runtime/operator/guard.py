# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What every request to the page has to be, before anything looks at who sends it (R-OPS-1).

A browser is the one who is deceived here: by a name that leads to this machine (DNS rebinding), by a page that sends
requests for its own ends (CSRF), that frames this one (clickjacking), or that loads parts of it. So a request names
exactly the address that the page is at, comes from the page itself, and for what the page uses it for; and no answer
may be kept, framed, or read by another origin (RFC 9110, 7.2 and 7.4; Fetch Metadata).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..server.access import came_through_proxy

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["MOST_BODY", "ROUTES", "Guard", "Route", "refuse"]

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
            await refuse(guarded, *refusal)
            return
        body = await _body(receive) if scope["method"] == "POST" else b""
        if body is None:
            await refuse(guarded, 413, "too_large", f"A request may carry {MOST_BODY} bytes.")
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


async def refuse(
    send: Send, status: int, code: str, message: str, headers: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    """Answer with an error as JSON; after one of these the connection closes, since a body may not have been read."""
    body = json.dumps({"error": code, "message": message}).encode()
    fixed = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *headers]})
    await send({"type": "http.response.body", "body": body})
