# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Fills in what a request waits for before it is sent: tokens, and answers to a server's challenge.

Only a request that `Credentials` marked is changed, only where the mark stands, and again when the API answers 401.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from .credentials import Credentials
from .digest import Challenge, DigestSession
from .errors import Code, Failure
from .grants import Grants
from .wire import ApiRequest, ApiResponse

if TYPE_CHECKING:
    from .table import Row
    from .ways import Way

__all__ = ["Authorization"]

_MOST_SESSIONS = 500


class _Marked(NamedTuple):
    place: int
    mark: str
    way: Way


class Authorization:
    """The credentials that must be asked for. `base` gives the API's address of a row."""

    def __init__(self, credentials: Credentials, grants: Grants, base: Callable[[Row], str]) -> None:
        self._credentials = credentials
        self._grants = grants
        self._base = base
        self._sessions: OrderedDict[tuple[str, ...], DigestSession] = OrderedDict()

    async def authorize(self, request: ApiRequest, row: Row) -> ApiRequest:
        """Give the request with its marks filled in. Raises Failure when a token cannot be had."""
        marked = self._marked(request)
        if marked is None:
            return request
        if marked.way.grant == "digest":
            return self._digested(request, marked)
        token = await self._grants.token(marked.way, self._scopes(marked.way, row), self._base(row))
        return self._with(request, marked, f"Bearer {token}", token)

    async def renewed(
        self, request: ApiRequest, sent: ApiRequest, response: ApiResponse, row: Row
    ) -> ApiRequest | None:
        """Give what to send after a 401 to what was sent for a marked request; None when it would be no use."""
        marked = self._marked(request)
        if marked is None:
            return None
        if marked.way.grant == "digest":
            return self._challenged(request, sent, marked, response)
        old = sent.headers[marked.place][1].partition(" ")[2]
        token = await self._grants.token(marked.way, self._scopes(marked.way, row), self._base(row), old)
        return None if token == old else self._with(request, marked, f"Bearer {token}", token)

    def answered(self, request: ApiRequest, response: ApiResponse) -> None:
        """Learn from the answer to a marked request."""
        told = response.headers.get("authentication-info")
        marked = self._marked(request) if told else None
        if marked is not None and marked.way.grant == "digest":
            self._session(request, marked.way).learn(told or "")

    def _marked(self, request: ApiRequest) -> _Marked | None:
        for index, (_, value) in enumerate(request.headers):
            mark = value.rpartition(" ")[2]
            scheme = self._credentials.marks.get(mark)
            if scheme is not None:
                way = self._credentials.ways.of(scheme)
                if way is None or not way.grant:
                    raise _changed()
                return _Marked(index, mark, way)
        return None

    def _with(self, request: ApiRequest, marked: _Marked, value: str, *secrets: str) -> ApiRequest:
        headers = list(request.headers)
        headers[marked.place] = (headers[marked.place][0], value)
        hidden = self._credentials.seen.add(secrets)
        return replace(request, headers=tuple(headers), secrets=request.secrets | hidden)

    def _digested(self, request: ApiRequest, marked: _Marked) -> ApiRequest:
        """Answer the server's last challenge; without one send the request bare, to be given one."""
        self._credentials.seen.add(marked.way.values[1:])
        answer = self._session(request, marked.way).answer(request.method, _target(request.url), request.content or b"")
        if answer is None:
            headers = tuple(one for index, one in enumerate(request.headers) if index != marked.place)
            return replace(request, headers=headers)
        return self._with(request, marked, answer, answer.partition(" ")[2])

    def _challenged(
        self, request: ApiRequest, sent: ApiRequest, marked: _Marked, response: ApiResponse
    ) -> ApiRequest | None:
        challenge = Challenge.strongest(response.headers.get("www-authenticate", ""))
        if challenge is None:
            return None
        session = self._session(request, marked.way)
        answered = len(sent.headers) == len(request.headers)
        known = session.challenge
        if answered and not challenge.stale and known is not None and known.nonce == challenge.nonce:
            return None  # the same question again: the answer was wrong
        session.take(challenge)
        return self._digested(request, marked)

    def _session(self, request: ApiRequest, way: Way) -> DigestSession:
        """Give the session of a user with a server."""
        parts = urlsplit(request.url)
        key = (parts.scheme, parts.netloc, *way.values)
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = DigestSession(way.values[0], "".join(way.values[1:]))
            if len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(key)
        return session

    def _scopes(self, way: Way, row: Row) -> tuple[str, ...]:
        scopes = self._credentials.adapter.scopes if row.security is None else row.scopes
        return tuple(scopes.get(way.scheme, ()))


def _changed() -> Failure:
    reason = "the credential changed while this call was prepared"
    return Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}. Call again.", {"reason": reason})


def _target(url: str) -> str:
    """Give the request target as it stands in the request line."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
