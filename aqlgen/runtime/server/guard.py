# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The checks of Host and Origin, before anything else sees a request (MCP, transports; RFC 9110, 7.2 and 7.4).

They hold for every path and method. A page in a browser that reaches the adapter by DNS rebinding names a host of its
own; a page that calls it openly names its origin.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["Guard", "Place", "respond"]

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_ANY = "*"


class Place(NamedTuple):
    """The hosts and origins under which the adapter may be called."""

    hosts: tuple[str, ...]
    origins: tuple[str, ...]

    @classmethod
    def of(cls, hosts: Iterable[str], origins: Iterable[str], *, url: str, listens_on: str, loopback: bool) -> Place:
        """Return what the settings say; where they say nothing, what is safe for the address that is listened on.

        `listens_on` is the host that the owner named, "" for all addresses of the machine. Loopback names are safe
        everywhere: no page can change where they lead.
        """
        parts = urlsplit(url.lower())
        names = [*_LOOPBACK_NAMES, *([f"[{listens_on}]" if ":" in listens_on else listens_on] if listens_on else [])]
        own_hosts = [*names, *([parts.netloc] if url else [])]
        own_origins = [f"http://{name}:{_ANY}" for name in names] if loopback else []
        own_origins += [f"{parts.scheme}://{parts.netloc}"] if url else []
        return cls(tuple(hosts) or tuple(dict.fromkeys(own_hosts)), tuple(origins) or tuple(dict.fromkeys(own_origins)))

    def serves(self, host: str) -> bool:
        """Return True if a Host header is allowed; without a port in the list every port is."""
        name, port = _split(host.lower())
        allowed = [_split(entry) for entry in self.hosts]
        ports = {entry_port for entry_name, entry_port in allowed if entry_name == name}
        if port in (None, _ANY) or not ports:
            return False
        return "" in ports or port in ports or (not port and not ports.isdisjoint(_DEFAULT_PORTS.values()))

    def admits(self, origin: str) -> bool:
        """Return True if an Origin header is allowed."""
        scheme, name, port = _split_origin(origin.lower())
        if port in (None, _ANY):
            return False
        allowed = [_split_origin(entry) for entry in self.origins]
        return (scheme, name, port) in allowed or (scheme, name, _ANY) in allowed


def _split(host: str) -> tuple[str, str | None]:
    """Divide a host from its port; the port is "" if there is none, None if the text is no host."""
    end = host.find("]") + 1 if host.startswith("[") else host.find(":")
    name, rest = (host, "") if end < 0 else (host[:end], host[end:])
    if not name or (host.startswith("[") and end == 0):
        return host, None
    if not rest:
        return name, ""
    port = rest[1:]
    valid = rest[0] == ":" and (port == _ANY or (port.isascii() and port.isdigit() and len(port) <= 5))
    return name, port if valid else None


def _split_origin(origin: str) -> tuple[str, str, str | None]:
    """Divide an origin into scheme, host and port; the port is None if the text is no origin."""
    scheme, separator, rest = origin.partition("://")
    name, port = _split(rest) if separator else (rest, None)
    return scheme, name, _DEFAULT_PORTS.get(scheme, "") if port == "" else port


class Guard:
    """An ASGI application that passes on only requests for an allowed host, from an allowed origin or from none."""

    def __init__(self, app: ASGIApp, place: Place) -> None:
        self._app = app
        self._place = place

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is not allowed; pass the others on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        else:
            refusal = self._refusal(scope)
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await respond(send, *refusal)

    def _refusal(self, scope: Scope) -> tuple[int, str, str] | None:
        """Return the status, the code and the message of the answer to a request that is not allowed."""
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if len(hosts) != 1 or not self._place.serves(hosts[0]):
            return (
                421,
                "host_not_allowed",
                "This adapter does not answer under the host that the request names. Its owner allows hosts by "
                "MCP_AQL_ALLOWED_HOSTS, or allowed_hosts under [http] in adapter.toml.",
            )
        if len(origins) > 1 or not all(self._place.admits(origin) for origin in origins):
            return (
                403,
                "origin_not_allowed",
                "This adapter does not answer to pages of this origin. Its owner allows origins by "
                "MCP_AQL_ALLOWED_ORIGINS, or allowed_origins under [http] in adapter.toml.",
            )
        if len(_values(scope, b"authorization")) > 1:
            return 400, "invalid_request", "The request holds more than one Authorization header."
        return None


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


async def respond(send: Send, status: int, code: str, message: str) -> None:
    """Answer a request with an error as JSON, and close the connection, since its body is not read."""
    body = json.dumps({"error": code, "message": message}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
