"""The grants of OAuth 2.0: tokens for schemes, requested with the owner's variables, a login or a caller's token.

A request waits for tokens, and for answers to a server's challenge, before it is sent. They replace the mark that
`Credentials` put into the request, and are renewed if the API answers 401.

Challenges are those of HTTP Digest (RFC 7616), which httpx2 answers: MD5 and SHA, also as a session; qop auth.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import anyio

from ..decode.upstream import upstream
from ..errors import Code, Failure
from ..redaction import redact
from ..state import StoreAway
from ..text import leaks
from ..wire import ApiRequest, ApiResponse
from . import by_doctor
from .credentials import Credentials
from .discovery import Discovery, Fetch, Unreachable, is_safe
from .sources import Source, Sources, discovery_url_of, token_url_of
from .tokens import MOST_EXCHANGES, OAUTH_ERRORS, AccessToken, AccessTokens, Client, Refused, ask, stated_error

if TYPE_CHECKING:
    from httpx2 import DigestAuth

    from ..redaction import Secrets
    from ..table import Row
    from .tokens import SharedTokens


_ROTATING = ("refresh_token", "login")
"""The grants by which a server may replace a refresh token. A cancelled call does not lose the new one."""
_STORES = 4
"""Tries to store it, each of which waits for other processes."""


class Grants:
    """Tokens of the sources, from memory while they last. `clock` is monotonic, `now` the time of day."""

    def __init__(
        self,
        name: str,
        sources: Sources,
        seen: Secrets,
        fetch: Fetch,
        *,
        shared: SharedTokens | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._name = name
        self._sources = sources
        self._seen = seen
        self._fetch = fetch
        self._clock = clock
        self._now = now
        self._tokens = AccessTokens(clock, shared)
        self._shared = shared
        self._discovery = Discovery(fetch, clock)
        self._methods: dict[tuple[str, Client], str] = {}
        self._rotated: dict[tuple[str, str], str] = {}

    async def token(self, source: Source, scopes: tuple[str, ...], base: str, refused: str = "") -> str:
        """Return the token of a source; `base` is the API's address, for token URLs that are relative to it.

        `refused` is a token that the API did not accept. Raises Failure.
        """
        wanted_scopes = self._scopes(source, scopes)
        key = (source.scheme, source.grant, self._holder(source), wanted_scopes)
        self._seen.add(source.values)
        value = await self._tokens.get(key, lambda: self._request(source, wanted_scopes, base), refused)
        self._seen.add([value])
        return value

    def _holder(self, source: Source) -> str:
        """Return a digest of what the token is asked for with, so that another credential never gets it."""
        roles = ("client_id", "client_secret", "refresh_token", "username", "password", "audience")
        parts = [self._sources.role(source.scheme, role) or "" for role in roles]
        if source.grant == "login":
            parts.append(str((self._sources.logins.get(source.scheme) or {}).get("at")))
        return hashlib.sha256(repr((parts, source.values)).encode("utf-8", "surrogatepass")).hexdigest()

    def _scopes(self, source: Source, scopes: tuple[str, ...]) -> str:
        """Return the scopes to ask for; a refresh token has its own."""
        if source.grant in _ROTATING:
            return ""
        return self._sources.role(source.scheme, "scopes") or " ".join(sorted(scopes))

    async def _request(self, source: Source, scopes: str, base: str) -> AccessToken:
        try:
            with anyio.CancelScope(shield=source.grant in _ROTATING):
                if source.grant == "login":
                    return await self._of_login(source.scheme)
                url = await self._url(source, base)
                if source.grant == "refresh_token":
                    return await self._refreshed(source.scheme, url)
            form = {
                "grant_type": source.grant,
                "scope": scopes,
                "audience": self._role(source.scheme, "audience"),
            }
            if source.grant == "password":
                form |= {role: self._role(source.scheme, role) for role in ("username", "password")}
            return await self._post(source.scheme, url, form)
        except Refused as refused:
            raise denied(self._name, self._sources, self._seen, source, refused) from None
        except Unreachable as problem:
            raise unreachable(str(problem)) from None

    async def _url(self, source: Source, base: str) -> str:
        """Return the token endpoint that the owner, the document or the server's metadata names."""
        configured = self._sources.role(source.scheme, "token_url")
        if configured:
            return _checked(configured, trusted=True)
        scheme = self._sources.schemes[source.scheme]
        documented = token_url_of(scheme, source.grant)
        if documented:
            url = urljoin(f"{base}/", documented)
            return _checked(url, trusted=urlsplit(url)[:2] == urlsplit(base)[:2])
        server = await self._discovery.find(discovery_url_of(self._sources, source.scheme))
        return server.token_url

    async def _post(self, scheme: str, url: str, form: Mapping[str, str], client_id: str = "") -> AccessToken:
        client = Client(client_id or self._role(scheme, "client_id"), self._role(scheme, "client_secret"))
        sent = {key: value for key, value in form.items() if value}
        token = await ask(self._fetch, url, sent, client, clock=self._clock, methods=self._methods)
        self._seen.add([token.value, token.refresh])
        return token

    async def _refreshed(self, scheme: str, url: str) -> AccessToken:
        """Use the owner's refresh token, or what has replaced it, here or at another replica."""
        first = self._role(scheme, "refresh_token")
        refresh = self._rotated.get((scheme, first), first)
        if self._shared is not None:
            refresh = await self._shared.rotated(scheme, first) or refresh
        token = await self._post(scheme, url, {"grant_type": "refresh_token", "refresh_token": refresh})
        if token.refresh:
            self._rotated[scheme, first] = token.refresh
            if self._shared is not None:
                await self._shared.keep_rotated(scheme, first, token.refresh)
        return token

    async def _of_login(self, scheme: str) -> AccessToken:
        """Use the login, one process at a time: many servers revoke a login whose old refresh token comes again."""
        logins = self._sources.logins
        try:
            async with logins.turn(scheme, MOST_EXCHANGES * self._fetch.timeout):
                login = logins.get(scheme) or {}
                return await self._renewed(scheme, login) if login.get("refresh_token") else self._stored(login)
        except (StoreAway, TimeoutError):
            raise Unreachable("was not asked, since other processes hold the file with the login") from None

    async def _renewed(self, scheme: str, login: Mapping[str, Any]) -> AccessToken:
        """Renew a login. What replaces its refresh token is stored, and used from memory while that fails."""
        first = login["refresh_token"]
        refresh = self._rotated.get((scheme, first), first)
        self._seen.add([first, refresh])
        form = {"grant_type": "refresh_token", "refresh_token": refresh}
        token = await self._post(scheme, login["token_url"], form, login["client_id"])
        latest = token.refresh or refresh
        if latest != first:
            self._rotated[scheme, first] = latest
            new = {**login, "refresh_token": latest}
            for _ in range(_STORES):
                with suppress(StoreAway):
                    await anyio.to_thread.run_sync(self._sources.logins.replace, scheme, login, new)
                    break
        return token

    def _stored(self, login: Mapping[str, Any]) -> AccessToken:
        """Return the token of a login that brought no refresh token."""
        left = None if login.get("expires") is None else login["expires"] - self._now()
        if not login.get("access_token") or (left is not None and left <= 0):
            raise Refused("invalid_grant")
        self._seen.add([login["access_token"]])
        return AccessToken(login["access_token"], None if left is None else self._clock() + left)

    def _role(self, scheme: str, role: str) -> str:
        return self._sources.role(scheme, role) or ""


def _checked(url: str, *, trusted: bool) -> str:
    """Refuse to send secrets in the clear, unless the owner named the address or the API itself is there."""
    if not is_safe(url) and not (trusted and url.lower().startswith("http://")):
        raise Failure(
            Code.PERMISSION_DENIED,
            "Permission denied: the token endpoint of the API's document is not https. Name the right one, see doctor.",
            {"reason": "the token endpoint is not safe", "missing": []},
        )
    return url


def denied(name: str, sources: Sources, seen: Secrets, source: Source, refused: Refused) -> Failure:
    """Build PERMISSION_DENIED for a refusal by the token endpoint, with the variables to check."""
    reason = f"the authorization server gave no token ({stated_error(refused)})"
    details: dict[str, Any] = {"reason": reason, "grant": source.grant, "missing": []}
    if refused.error in OAUTH_ERRORS:
        details["oauth_error"] = refused.error
    description, code = redact(refused.description, seen.all), redact(refused.error, seen.all)
    message = f"Permission denied: {reason}. {_advice(name, sources, source)}"
    if description or code:
        details["upstream"] = upstream(refused.status, code=code, message=description)
    if leaks(message):
        message = "Permission denied: the authorization server gave no token, see details"
    return Failure(Code.PERMISSION_DENIED, message, details)


def unreachable(problem: str) -> Failure:
    """Build INTERNAL_ERROR for an authorization server without a usable answer; `problem` ends a sentence."""
    reason = f"the authorization server {problem}"
    return Failure(Code.INTERNAL_ERROR, f"Internal error: {reason}", {"reason": reason})


def _advice(name: str, sources: Sources, source: Source) -> str:
    """Return the advice to check the login, or the variables of the grant and the scopes."""
    if source.grant == "login":
        return f"The login is no longer good: run '{name}-adapter login' again."
    scopes = sources.schemes[source.scheme].get("optional_variables", {}).get("scopes")
    names = [*sources.origins(source), *([scopes] if scopes else [])]
    return f"Check {', '.join(names)}: {by_doctor(name, 'them', '`aqlgen explain` names them')}."


_MOST_SESSIONS = 500


class _Marked(NamedTuple):
    place: int
    mark: str
    source: Source


class Authorization:
    """Replaces marks by credentials. `base` returns the API's address of a row."""

    def __init__(self, credentials: Credentials, grants: Grants, base: Callable[[Row], str]) -> None:
        self._credentials = credentials
        self._grants = grants
        self._base = base
        self._sessions: OrderedDict[tuple[str, ...], DigestAuth] = OrderedDict()

    async def authorize(self, request: ApiRequest, row: Row) -> ApiRequest:
        """Return the request with its mark replaced. Raises Failure if there is no token."""
        marked = self._marked(request)
        if marked is None:
            return request
        if marked.source.grant == "digest":
            return self._digested(request, marked)
        token = await self._grants.token(marked.source, self._scopes(marked.source, row), self._base(row))
        return self._with(request, marked, f"Bearer {token}", token)

    async def renewed(
        self, request: ApiRequest, sent: ApiRequest, response: ApiResponse, row: Row
    ) -> ApiRequest | None:
        """Return the request to send after a 401 to `sent`, None if another try is useless. `request` has the mark."""
        marked = self._marked(request)
        if marked is None:
            return None
        if marked.source.grant == "digest":
            return self._challenged(request, marked, response)
        old = sent.headers[marked.place][1].partition(" ")[2]
        token = await self._grants.token(marked.source, self._scopes(marked.source, row), self._base(row), old)
        return None if token == old else self._with(request, marked, f"Bearer {token}", token)

    def _marked(self, request: ApiRequest) -> _Marked | None:
        for index, (_, value) in enumerate(request.headers):
            mark = value.rpartition(" ")[2]
            scheme = self._credentials.marks.get(mark)
            if scheme is not None:
                source = self._credentials.sources.of(scheme)
                if source is None or not source.grant:
                    reason = "the credential changed while this call was prepared"
                    message = f"Permission denied: {reason}. Call again."
                    raise Failure(Code.PERMISSION_DENIED, message, {"reason": reason})
                return _Marked(index, mark, source)
        return None

    def _with(self, request: ApiRequest, marked: _Marked, value: str, *secrets: str) -> ApiRequest:
        headers = list(request.headers)
        headers[marked.place] = (headers[marked.place][0], value)
        hidden = self._credentials.seen.add(secrets)
        return replace(request, headers=tuple(headers), secrets=request.secrets | hidden)

    def _digested(self, request: ApiRequest, marked: _Marked) -> ApiRequest:
        """Answer the server's last challenge; without one send the request without, to receive one."""
        self._credentials.seen.add(marked.source.values[1:])
        import httpx2

        session = self._sessions.get(_session_key(request, marked.source))
        if session is None:
            headers = tuple(header for index, header in enumerate(request.headers) if index != marked.place)
            return replace(request, headers=headers)
        answer = next(session.auth_flow(httpx2.Request(request.method, request.url))).headers["authorization"]
        return self._with(request, marked, answer, answer.partition(" ")[2])

    def _challenged(self, request: ApiRequest, marked: _Marked, response: ApiResponse) -> ApiRequest | None:
        """Answer the first challenge of a server that can be answered; None if there is none."""
        import httpx2

        user, *password = marked.source.values
        for challenge in re.split(r",\s*(?=Digest )", response.headers.get("www-authenticate", "")):
            session = httpx2.DigestAuth(user, "".join(password))
            flow = session.auth_flow(httpx2.Request(request.method, request.url))
            next(flow)
            try:
                answer = flow.send(httpx2.Response(401, headers={"www-authenticate": challenge}))
            except (StopIteration, httpx2.ProtocolError, NotImplementedError, ValueError):
                continue
            self._sessions[_session_key(request, marked.source)] = session
            while len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
            header = answer.headers["authorization"]
            return self._with(request, marked, header, header.partition(" ")[2])
        return None

    def _scopes(self, source: Source, row: Row) -> tuple[str, ...]:
        scopes = self._credentials.adapter.scopes if row.security is None else row.scopes
        return tuple(scopes.get(source.scheme, ()))


def _session_key(request: ApiRequest, source: Source) -> tuple[str, ...]:
    """Return the key of a user's session with a server."""
    parts = urlsplit(request.url)
    return parts.scheme, parts.netloc, *source.values
