# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Which token a scheme's way leads to: the grants of OAuth 2.0, asked for with the owner's variables or a login."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from .discovery import Discovery
from .errors import Code, Failure
from .fetching import Fetch, Unreachable, is_safe
from .oauth import Client, Refused, Token, ask
from .per_user import CLIENT
from .refusals import denied, unreachable
from .tokens import Tokens
from .ways import Way, Ways, token_url_of

if TYPE_CHECKING:
    from .secrecy import Secrets

__all__ = ["Grants"]

_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"  # noqa: S105
_NAMES = {"client_credentials": "client_credentials", "password": "password"}


class Grants:
    """Gives tokens, from memory while they last. `clock` is monotonic, `now` the time of day."""

    def __init__(
        self,
        name: str,
        ways: Ways,
        seen: Secrets,
        fetch: Fetch,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._name = name
        self._ways = ways
        self._seen = seen
        self._fetch = fetch
        self._clock = clock
        self._now = now
        self._tokens = Tokens(clock)
        self._discovery = Discovery(fetch, clock)
        self._methods: dict[str, str] = {}
        self._rotated: dict[tuple[str, str], str] = {}

    async def token(self, way: Way, scopes: tuple[str, ...], base: str, refused: str = "") -> str:
        """Give the token of a way; `base` is the API's address, for token URLs that are relative to it.

        `refused` is a token that the API did not accept. Raises Failure.
        """
        wanted = self._scopes(way, scopes)
        key = (way.scheme, way.grant, self._holder(way), wanted)
        self._seen.add(way.values)
        value = await self._tokens.get(key, lambda: self._ask(way, wanted, base), refused)
        self._seen.add([value])
        return value

    def _holder(self, way: Way) -> str:
        """Give whose token it is, so that another credential never gets it: a digest of what it is asked for with."""
        roles = ("client_id", "client_secret", "refresh_token", "username", "password", "audience")
        own = [self._ways.role(way.scheme, role) or "" for role in roles]
        if way.grant == "login":
            own.append(str((self._ways.logins.get(way.scheme) or {}).get("at")))
        return hashlib.sha256(repr((own, way.values)).encode("utf-8", "surrogatepass")).hexdigest()

    def _scopes(self, way: Way, scopes: tuple[str, ...]) -> str:
        """Give the scopes to ask for; a refresh token has its own."""
        if way.grant in ("refresh_token", "login"):
            return ""
        if way.grant == "exchange" and self._ways.per_user.exchange is not None and self._ways.per_user.exchange.scope:
            return self._ways.per_user.exchange.scope
        return self._ways.role(way.scheme, "scopes") or " ".join(sorted(scopes))

    async def _ask(self, way: Way, scopes: str, base: str) -> Token:
        try:
            if way.grant == "exchange":
                return await self._exchange(way, scopes)
            if way.grant == "login":
                return await self._logged_in(way.scheme)
            url = await self._url(way, base)
            if way.grant == "refresh_token":
                return await self._refreshed(way.scheme, url)
            form = {"grant_type": _NAMES[way.grant], "scope": scopes, "audience": self._role(way.scheme, "audience")}
            if way.grant == "password":
                form |= {one: self._role(way.scheme, one) for one in ("username", "password")}
            return await self._post(way.scheme, url, form)
        except Refused as refused:
            raise denied(self._name, self._ways, self._seen, way, refused) from None
        except Unreachable as problem:
            raise unreachable(str(problem)) from None

    async def _url(self, way: Way, base: str) -> str:
        """Give the token endpoint: as the owner says, as the document says, or as the server says of itself."""
        own = self._ways.role(way.scheme, "token_url")
        if own:
            return _checked(own, trusted=True)
        scheme = self._ways.schemes[way.scheme]
        told = token_url_of(scheme, way.grant)
        if told:
            url = urljoin(f"{base}/", told)
            return _checked(url, trusted=urlsplit(url)[:2] == urlsplit(base)[:2])
        server = await self._discovery.find(discovery_url_of(self._ways, way.scheme))
        return server.token_url

    async def _post(self, scheme: str, url: str, form: Mapping[str, str], client_id: str = "") -> Token:
        client = Client(client_id or self._role(scheme, "client_id"), self._role(scheme, "client_secret"))
        token = await ask(self._fetch, url, _filled(form), client, clock=self._clock, methods=self._methods)
        self._seen.add([token.value, token.refresh])
        return token

    async def _refreshed(self, scheme: str, url: str) -> Token:
        """Use the owner's refresh token; one that takes its place is kept in memory only."""
        first = self._role(scheme, "refresh_token")
        refresh = self._rotated.get((scheme, first), first)
        token = await self._post(scheme, url, {"grant_type": "refresh_token", "refresh_token": refresh})
        if token.refresh:
            self._rotated[scheme, first] = token.refresh
        return token

    async def _logged_in(self, scheme: str) -> Token:
        """Use the login; a refresh token that takes its place is kept where the login is."""
        login = self._ways.logins.get(scheme) or {}
        if not login.get("refresh_token"):
            return self._kept(login)
        try:
            return await self._renewed(scheme, login)
        except Refused as refused:
            later = self._ways.logins.get(scheme) or {}
            if refused.error != "invalid_grant" or later.get("refresh_token") in (None, login["refresh_token"]):
                raise
            return await self._renewed(
                scheme, later
            )  # another process was faster, and its refresh token is the new one

    async def _renewed(self, scheme: str, login: Mapping[str, Any]) -> Token:
        self._seen.add([login["refresh_token"]])
        form = {"grant_type": "refresh_token", "refresh_token": login["refresh_token"]}
        token = await self._post(scheme, login["token_url"], form, login["client_id"])
        if token.refresh and token.refresh != login["refresh_token"]:
            self._ways.logins.put(scheme, {**login, "refresh_token": token.refresh})
        return token

    def _kept(self, login: Mapping[str, Any]) -> Token:
        """Give the token of a login that brought no refresh token."""
        left = None if login.get("expires") is None else login["expires"] - self._now()
        if not login.get("access_token") or (left is not None and left <= 0):
            raise Refused("invalid_grant")
        self._seen.add([login["access_token"]])
        return Token(login["access_token"], None if left is None else self._clock() + left)

    async def _exchange(self, way: Way, scopes: str) -> Token:
        """Exchange the caller's token; what comes back must be another, since the caller's own is never sent on."""
        exchange = self._ways.per_user.exchange
        assert exchange is not None  # noqa: S101 - a way of this grant comes from it
        form = {
            "grant_type": _EXCHANGE,
            "subject_token": way.values[0],
            "subject_token_type": _ACCESS_TOKEN,
            "requested_token_type": _ACCESS_TOKEN,
            "audience": exchange.audience,
            "scope": scopes,
        }
        client = Client(*(self._ways.variables.value(one) or "" for one in CLIENT))
        self._seen.add([client.secret])
        token = await ask(self._fetch, exchange.url, _filled(form), client, clock=self._clock, methods=self._methods)
        if token.value == way.values[0]:
            raise Refused("invalid_target", "the exchange gave the same token back")
        self._seen.add([token.value])
        return token

    def _role(self, scheme: str, role: str) -> str:
        return self._ways.role(scheme, role) or ""


def discovery_url_of(ways: Ways, scheme: str) -> str:
    """Give where the authorization server of a scheme describes itself."""
    return ways.role(scheme, "discovery_url") or str(ways.schemes[scheme].get("discovery_url", ""))


def _filled(form: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in form.items() if value}


def _checked(url: str, *, trusted: bool) -> str:
    """Refuse to send secrets in the clear, unless the owner named the address or the API itself is there."""
    if not is_safe(url) and not (trusted and url.lower().startswith("http://")):
        raise Failure(
            Code.PERMISSION_DENIED,
            "Permission denied: the token endpoint of the API's document is not https. Name the right one, see doctor.",
            {"reason": "the token endpoint is not safe", "missing": []},
        )
    return url
