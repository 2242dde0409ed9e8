# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The credentials that a request waits for before it is sent: tokens, and answers to a server's challenge.

They replace the mark that `Credentials` put into the request, and are renewed if the API answers 401.

Challenges are those of HTTP Digest (RFC 7616), which httpx2 answers: MD5 and SHA, also as a session; qop auth.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ..errors import Code, Failure
from ..wire import ApiRequest, ApiResponse
from .credentials import Credentials
from .grants import Grants

if TYPE_CHECKING:
    from httpx2 import DigestAuth

    from ..table import Row
    from .sources import Source

__all__ = ["Authorization"]

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
