# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What an authorization server says of itself (OpenID Connect Discovery 1.0; RFC 8414)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .fetching import Fetch, Unreachable, is_safe

__all__ = ["Discovery", "Server"]

_WELL_KNOWN = "/.well-known/openid-configuration"
_LIFE = 3600.0


class Server(NamedTuple):
    """The endpoints of an authorization server; empty where it has none. `scopes` are those that it names."""

    issuer: str
    token_url: str
    authorization_url: str
    device_url: str
    scopes: tuple[str, ...]


class Discovery:
    """Reads each server's document, at most once an hour."""

    def __init__(self, fetch: Fetch, clock: Callable[[], float]) -> None:
        self._fetch = fetch
        self._clock = clock
        self._known: dict[str, tuple[float, Server]] = {}

    async def find(self, url: str) -> Server:
        """Give the server that a URL describes. Raises Unreachable."""
        known = self._known.get(url)
        if known is not None and self._clock() < known[0]:
            return known[1]
        server = await self._read(url)
        if not server.token_url and "/.well-known/" not in url:
            server = await self._read(url.rstrip("/") + _WELL_KNOWN)  # the issuer was given, not its document
        if not server.token_url:
            raise Unreachable("does not name its token endpoint")
        self._known[url] = (self._clock() + _LIFE, server)
        return server

    async def _read(self, url: str) -> Server:
        if not is_safe(url):
            raise Unreachable("has an address that is neither https nor of this machine")
        answer = await self._fetch.get(url)
        body = answer.body if answer.status == 200 else {}
        keys = ("issuer", "token_endpoint", "authorization_endpoint", "device_authorization_endpoint")
        issuer, token, authorization, device = (one if isinstance(one := body.get(key), str) else "" for key in keys)
        if not all(is_safe(one) for one in (token, authorization, device) if one):
            raise Unreachable("names an endpoint that is neither https nor of this machine")
        scopes = body.get("scopes_supported")
        named = tuple(one for one in scopes if isinstance(one, str)) if isinstance(scopes, list) else ()
        return Server(issuer, token, authorization, device, named)
