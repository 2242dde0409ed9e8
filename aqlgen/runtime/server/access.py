"""Who may use the adapter over HTTP: by which hosts and origins, and with which token or OAuth issuer.

It is closed by default: on an address that other machines reach, the adapter starts only if the owner has said who may
use it.

Host and Origin are checked before anything else sees a request (MCP, transports; RFC 9110, 7.2 and 7.4).
They hold for every path and method. A page in a browser that reaches the adapter by DNS rebinding names a host of its
own; a page that calls it openly names its origin.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ..settings.load import Variables
from ..settings.tables import HttpSettings

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken, TokenVerifier
    from starlette.types import ASGIApp, Receive, Scope, Send

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_THIS_MACHINE = (None, "localhost", "127.0.0.1", "::1")
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_ANY = "*"
_PROXIES = (
    b"forwarded", b"via", b"x-forwarded", b"x-real-ip", b"x-original", b"x-proxy", b"cf-", b"true-client",
    b"x-client-ip", b"x-cluster-client-ip", b"x-envoy", b"x-rewrite", b"x-host", b"x-http-host",
)  # fmt: skip
"""Beginnings of the headers that say that a request came through a proxy."""


class Place(NamedTuple):
    """The hosts and origins under which the adapter may be called."""

    hosts: tuple[str, ...]
    origins: tuple[str, ...]

    @classmethod
    def of(cls, hosts: Iterable[str], origins: Iterable[str], *, url: str, listens_on: str, loopback: bool) -> Place:
        """Return the place in the settings; where they are silent, the safe one for the address that is listened on.

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
    """Divide a host from its port; the port is "" if there is none, None if the text is not a host."""
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
    """Divide an origin into scheme, host and port; the port is None if the text is not an origin."""
    scheme, separator, rest = origin.partition("://")
    name, port = _split(rest) if separator else (rest, None)
    return scheme, name, _DEFAULT_PORTS.get(scheme, "") if port == "" else port


class Guard:
    """An ASGI application that passes on only requests for an allowed host, from an allowed origin or from none.

    Requests for the paths `under_every_host` may name any host. With `direct_only` none passes that came through a
    proxy: its address is that of the proxy, and says nothing of who sent it.
    """

    def __init__(
        self, app: ASGIApp, place: Place, under_every_host: Iterable[str] = (), *, direct_only: bool = False
    ) -> None:
        self._app = app
        self._place = place
        self._under_every_host = frozenset(under_every_host)
        self._direct_only = direct_only

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
        anywhere = scope["path"] in self._under_every_host
        if not anywhere and (len(hosts) != 1 or not self._place.serves(hosts[0])):
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
        if self._direct_only and not anywhere and came_through_proxy(scope):
            return (
                403,
                "authentication_required",
                "This request came through a proxy, and without authentication the adapter serves only this "
                f"machine. Its owner can set {TOKEN} or an OAuth issuer, or, for everyone who reaches the proxy, "
                "MCP_AQL_HTTP_AUTH=none.",
            )
        if len(_values(scope, b"authorization")) > 1:
            return 400, "invalid_request", "The request holds more than one Authorization header."
        return None


def came_through_proxy(scope: Scope) -> bool:
    """Return True if a request says that a proxy sent it on, by a header or by a protocol that no MCP client speaks."""
    return scope.get("http_version") == "1.0" or any(name.lower().startswith(_PROXIES) for name, _ in scope["headers"])


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


async def respond(
    send: Send, status: int, code: str, message: str, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Answer a request with an error as JSON, and close the connection, since its body is not read."""
    body = json.dumps({"error": code, "message": message}).encode()
    fixed = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *headers]})
    await send({"type": "http.response.body", "body": body})


TOKEN = "MCP_AQL_HTTP_TOKEN"  # noqa: S105 - the name of the variable
_LEAST_LENGTH = 16
_HINT = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


class AccessError(Exception):
    """A reason not to start, in one line."""


class Access(NamedTuple):
    """Who may use the endpoint, under which hosts and from which origins. `resource` is its address in OAuth.

    `hint` is what the owner should know at the start, in a line. `direct_only`: nobody is authenticated, since only
    this machine reaches it.
    """

    kind: str
    place: Place
    hint: str = ""
    verifier: TokenVerifier | None = None
    issuer: str = ""
    resource: str = ""
    scopes: tuple[str, ...] = ()
    direct_only: bool = False

    @classmethod
    def of(cls, settings: HttpSettings, variables: Variables, *, address: str, listens_on: str) -> Access:
        """Read who may use the endpoint at an IP address, whose URL is `listens_on`. Raises AccessError."""
        ip = ipaddress.ip_address(address.partition("%")[0])
        kind = auth_kind(settings, variables)
        is_published = urlsplit(settings.url).hostname not in _THIS_MACHINE
        if not kind and (is_published or not ip.is_loopback):
            where = f"on {address}" if not ip.is_loopback else f"at {settings.url}"
            raise AccessError(
                f"over HTTP {where} every machine could use the adapter and its credentials: set "
                f"MCP_AQL_HTTP_AUTH=token with {TOKEN} or {TOKEN}_FILE, or MCP_AQL_HTTP_AUTH=oauth with "
                "MCP_AQL_OAUTH_ISSUER and MCP_AQL_OAUTH_AUDIENCE, or MCP_AQL_HTTP_AUTH=none if you want that"
            )
        place = Place.of(
            settings.allowed_hosts,
            settings.allowed_origins,
            url=settings.url,
            listens_on="" if ip.is_unspecified else urlsplit(listens_on).hostname or "",
            loopback=ip.is_loopback,
        )
        hint = ""
        if ip.is_unspecified and not settings.allowed_hosts and not settings.url:
            hint = "It answers under localhost alone; for other names set MCP_AQL_ALLOWED_HOSTS or MCP_AQL_HTTP_URL"
        if kind == "token":
            problem = token_problem(variables)
            if problem:
                raise AccessError(problem)
            return cls(kind, place, hint, StaticTokens(variables))
        if kind == "oauth":
            return cls._with_oauth(settings, place, listens_on)._replace(hint=hint)
        if not ip.is_loopback:
            hint = f"Warning: every machine that reaches this address may use the adapter and its credentials. {hint}"
        return cls("none", place, hint.strip(), direct_only=not kind)

    @classmethod
    def _with_oauth(cls, settings: HttpSettings, place: Place, listens_on: str) -> Access:
        if not settings.oauth_issuer:
            raise AccessError("MCP_AQL_HTTP_AUTH=oauth needs MCP_AQL_OAUTH_ISSUER, the issuer of the tokens")
        audience = settings.oauth_audience or settings.url
        if not audience:
            raise AccessError(
                "MCP_AQL_HTTP_AUTH=oauth needs MCP_AQL_OAUTH_AUDIENCE, for which a token must be issued, or "
                "MCP_AQL_HTTP_URL, the address at which clients reach the adapter"
            )
        from .oauth import IssuerKeys, JwtVerifier

        keys = IssuerKeys(settings.oauth_issuer)
        verifier = JwtVerifier(keys, issuer=settings.oauth_issuer, audience=audience)
        resource = settings.url or (audience if re.match("https?://", audience) else listens_on)
        return cls("oauth", place, "", verifier, settings.oauth_issuer, resource, settings.oauth_scopes)


def auth_kind(settings: HttpSettings, variables: Variables) -> str:
    """Return the kind of authentication, chosen or set up, '' for neither. Raises AccessError if both are set up."""
    if settings.auth:
        return settings.auth
    has_token = variables.value(TOKEN) is not None or bool(variables.unreadable([TOKEN]))
    if has_token and settings.oauth_issuer:
        raise AccessError("both a token and an OAuth issuer are set: choose by MCP_AQL_HTTP_AUTH=token or =oauth")
    return "token" if has_token else "oauth" if settings.oauth_issuer else ""


def read_tokens(variables: Variables) -> tuple[str, ...]:
    """Return the tokens, one a line."""
    return tuple(line.strip() for line in (variables.value(TOKEN) or "").splitlines() if line.strip())


def token_problem(variables: Variables) -> str:
    """Return the problem of the tokens, '' without one. A token is never shown."""
    unreadable = variables.unreadable([TOKEN])
    if unreadable:
        return f"the file of {unreadable[0]} cannot be read"
    tokens = read_tokens(variables)
    if not tokens:
        return f"MCP_AQL_HTTP_AUTH=token needs {TOKEN}, or {TOKEN}_FILE for a file of tokens, one a line; {_HINT}"
    for number, token in enumerate(tokens, 1):
        which = f"token {number} of {len(tokens)} in {TOKEN}" if len(tokens) > 1 else f"the token in {TOKEN}"
        if len(token) < _LEAST_LENGTH:
            return f"{which} is too short: at least {_LEAST_LENGTH} characters; {_HINT}"
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            return f"{which} holds a character that no header carries; {_HINT}"
    return ""


class StaticTokens:
    """Verifies tokens that the owner has given; a file of them is read again when it changes."""

    def __init__(self, variables: Variables) -> None:
        self._variables = variables

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the caller of a token, None for an unknown one. The time taken says nothing about the tokens."""
        from mcp.server.auth.provider import AccessToken

        digest = _digest(token)
        if token_problem(self._variables):
            return None
        matches = [hmac.compare_digest(digest, _digest(known)) for known in read_tokens(self._variables)]
        return AccessToken(token=token, client_id=f"token:{digest.hex()[:16]}", scopes=[]) if any(matches) else None


def _digest(token: str) -> bytes:
    return hashlib.sha256(b"mcp-aql http token\0" + token.encode("utf-8", "surrogatepass")).digest()
