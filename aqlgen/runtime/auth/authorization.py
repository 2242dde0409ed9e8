# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The credentials that a request waits for before it is sent: tokens, and answers to a server's challenge.

They replace the mark that `Credentials` put into the request, and are renewed if the API answers 401.

Challenges are those of HTTP Digest (RFC 7616): SHA-256, SHA-512-256, MD5, each also as a session; qop auth and
auth-int.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ..errors import Code, Failure
from ..wire import ApiRequest, ApiResponse
from .credentials import Credentials
from .grants import Grants

if TYPE_CHECKING:
    from ..table import Row
    from .sources import Source

__all__ = ["Authorization", "Challenge", "DigestSession", "challenges"]

_HASHES: Mapping[str, str] = {"SHA-256": "sha256", "SHA-512-256": "sha512_256", "MD5": "md5"}
"""The algorithms, the strongest first."""

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r'\s*=\s*("(?:[^"\\]++|\\.)*+"|[^\s,"]*)')


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge that can be answered. `stale` says that only the nonce was too old."""

    realm: str
    nonce: str
    algorithm: str
    qop: str
    opaque: str | None
    stale: bool
    userhash: bool

    @classmethod
    def strongest(cls, header: str) -> Challenge | None:
        """Return the strongest challenge of a WWW-Authenticate header that can be answered, None if there is none."""
        parsed = [cls._of(parameters) for scheme, parameters in challenges(header) if scheme == "digest"]
        answerable = [challenge for challenge in parsed if challenge is not None]
        return min(answerable, key=lambda challenge: [*_HASHES].index(_base(challenge.algorithm)), default=None)

    @classmethod
    def _of(cls, parameters: Mapping[str, str]) -> Challenge | None:
        algorithm = parameters.get("algorithm", "MD5").upper()
        offered = [qop.strip().lower() for qop in parameters.get("qop", "").split(",") if qop.strip()]
        qop = next((qop for qop in ("auth", "auth-int") if qop in offered), "")
        if _base(algorithm) not in _HASHES or (offered and not qop) or "nonce" not in parameters:
            return None
        return cls(
            realm=parameters.get("realm", ""),
            nonce=parameters["nonce"],
            algorithm=algorithm,
            qop=qop,
            opaque=parameters.get("opaque"),
            stale=parameters.get("stale", "").lower() == "true",
            userhash=parameters.get("userhash", "").lower() == "true",
        )


@dataclass(slots=True)
class DigestSession:
    """The answers to a server's challenges for a user; a nonce is used again until the server gives another.

    `cnonce` makes the client's nonces.
    """

    user: str
    password: str
    cnonce: Callable[[], str] = field(default=lambda: secrets.token_urlsafe(24))
    challenge: Challenge | None = None
    count: int = 0

    def take(self, challenge: Challenge) -> None:
        """Answer with this challenge from now on."""
        self.challenge, self.count = challenge, 0

    def learn(self, header: str) -> None:
        """Use the next nonce of an Authentication-Info header, if it names one."""
        parameters = dict(pair for _, pairs in challenges(f"Digest {header}") for pair in pairs.items())
        if self.challenge is not None and parameters.get("nextnonce"):
            self.take(replace(self.challenge, nonce=parameters["nextnonce"], stale=False))

    def answer(self, method: str, target: str, body: bytes) -> str | None:
        """Return the Authorization header of a request, None before there is a challenge."""
        challenge = self.challenge
        if challenge is None:
            return None
        self.count += 1
        digest = _hasher(challenge.algorithm)
        cnonce, count = self.cnonce(), f"{self.count:08x}"
        secret = digest(f"{self.user}:{challenge.realm}:{self.password}".encode())
        if challenge.algorithm.endswith("-SESS"):
            secret = digest(f"{secret}:{challenge.nonce}:{cnonce}".encode())
        request = f"{method}:{target}" + (f":{digest(body)}" if challenge.qop == "auth-int" else "")
        middle = f"{challenge.nonce}:{count}:{cnonce}:{challenge.qop}" if challenge.qop else challenge.nonce
        response = digest(f"{secret}:{middle}:{digest(request.encode())}".encode())
        user = digest(f"{self.user}:{challenge.realm}".encode()) if challenge.userhash else self.user
        parts = [_user(user), f"realm={_quoted(challenge.realm)}", f"nonce={_quoted(challenge.nonce)}"]
        parts += [f"uri={_quoted(target)}", f"algorithm={challenge.algorithm.replace('-SESS', '-sess')}"]
        if challenge.qop:
            parts += [f"qop={challenge.qop}", f"nc={count}"]
        if challenge.qop or challenge.algorithm.endswith("-SESS"):
            parts.append(f"cnonce={_quoted(cnonce)}")
        parts.append(f'response="{response}"')
        if challenge.opaque is not None:
            parts.append(f"opaque={_quoted(challenge.opaque)}")
        if challenge.userhash:
            parts.append("userhash=true")
        return f"Digest {', '.join(parts)}"


def challenges(header: str) -> list[tuple[str, dict[str, str]]]:
    """Return the challenges of a WWW-Authenticate header: scheme in lower case, parameters (RFC 9110, 11.6.1)."""
    parsed: list[tuple[str, dict[str, str]]] = []
    position = 0
    while position < len(header):
        token = _TOKEN.match(header, position)
        if token is None:
            position += 1
            continue
        value = _VALUE.match(header, token.end())
        if value is not None and parsed:
            parsed[-1][1].setdefault(token[0].lower(), _unquoted(value[1]))
            position = value.end()
        else:
            parsed.append((token[0].lower(), {}))
            position = token.end()
    return parsed


def _base(algorithm: str) -> str:
    return algorithm.removesuffix("-SESS")


def _hasher(algorithm: str) -> Callable[[bytes], str]:
    name = _HASHES[_base(algorithm)]
    return lambda data: hashlib.new(name, data, usedforsecurity=False).hexdigest()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text


def _user(name: str) -> str:
    """Return the user's name as a parameter, in the extended notation if it is not ASCII (RFC 7616, 3.4)."""
    if name.isascii():
        return f"username={_quoted(name)}"
    from urllib.parse import quote

    return f"username*=UTF-8''{quote(name, safe='')}"


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
        self._sessions: OrderedDict[tuple[str, ...], DigestSession] = OrderedDict()

    async def authorize(self, request: ApiRequest, row: Row) -> ApiRequest:
        """Return the request with its mark replaced. Raises Failure if there is no token."""
        marked = self._marked(request)
        if marked is None:
            return request
        if marked.source.grant == "digest":
            return self._digested(request, marked)
        if marked.source.grant == "signature":
            return self._signed(request, marked)
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
            return self._challenged(request, sent, marked, response)
        if marked.source.grant == "signature":
            return None
        old = sent.headers[marked.place][1].partition(" ")[2]
        token = await self._grants.token(marked.source, self._scopes(marked.source, row), self._base(row), old)
        return None if token == old else self._with(request, marked, f"Bearer {token}", token)

    def answered(self, request: ApiRequest, response: ApiResponse) -> None:
        """Learn from the answer to a marked request."""
        info = response.headers.get("authentication-info")
        marked = self._marked(request) if info else None
        if marked is not None and marked.source.grant == "digest":
            self._session(request, marked.source).learn(info or "")

    def _marked(self, request: ApiRequest) -> _Marked | None:
        for index, (_, value) in enumerate(request.headers):
            mark = value.rpartition(" ")[2]
            scheme = self._credentials.marks.get(mark)
            if scheme is not None:
                source = self._credentials.sources.of(scheme)
                if source is None or not source.grant:
                    raise _credential_changed()
                return _Marked(index, mark, source)
        return None

    def _with(self, request: ApiRequest, marked: _Marked, value: str, *secrets: str) -> ApiRequest:
        headers = list(request.headers)
        headers[marked.place] = (headers[marked.place][0], value)
        hidden = self._credentials.seen.add(secrets)
        return replace(request, headers=tuple(headers), secrets=request.secrets | hidden)

    def _signed(self, request: ApiRequest, marked: _Marked) -> ApiRequest:
        from .aws import signed

        unsigned = replace(request, headers=request.headers[: marked.place] + request.headers[marked.place + 1 :])
        sources, scheme = self._credentials.sources, marked.source.scheme
        roles = (sources.role(scheme, "profile"), sources.role(scheme, "region"))
        headers, secrets = signed(unsigned, sources.schemes[scheme], *roles)
        return replace(unsigned, headers=headers, secrets=request.secrets | self._credentials.seen.add(secrets))

    def _digested(self, request: ApiRequest, marked: _Marked) -> ApiRequest:
        """Answer the server's last challenge; without one send the request without, to receive one."""
        self._credentials.seen.add(marked.source.values[1:])
        session = self._session(request, marked.source)
        answer = session.answer(request.method, _target(request.url), request.content or b"")
        if answer is None:
            headers = tuple(header for index, header in enumerate(request.headers) if index != marked.place)
            return replace(request, headers=headers)
        return self._with(request, marked, answer, answer.partition(" ")[2])

    def _challenged(
        self, request: ApiRequest, sent: ApiRequest, marked: _Marked, response: ApiResponse
    ) -> ApiRequest | None:
        challenge = Challenge.strongest(response.headers.get("www-authenticate", ""))
        if challenge is None:
            return None
        session = self._session(request, marked.source)
        answered = len(sent.headers) == len(request.headers)
        known = session.challenge
        if answered and not challenge.stale and known is not None and known.nonce == challenge.nonce:
            return None  # the same challenge again: the answer was wrong
        session.take(challenge)
        return self._digested(request, marked)

    def _session(self, request: ApiRequest, source: Source) -> DigestSession:
        """Return the session of a user with a server."""
        parts = urlsplit(request.url)
        key = (parts.scheme, parts.netloc, *source.values)
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = DigestSession(source.values[0], "".join(source.values[1:]))
            if len(self._sessions) > _MOST_SESSIONS:
                self._sessions.popitem(last=False)
        self._sessions.move_to_end(key)
        return session

    def _scopes(self, source: Source, row: Row) -> tuple[str, ...]:
        scopes = self._credentials.adapter.scopes if row.security is None else row.scopes
        return tuple(scopes.get(source.scheme, ()))


def _credential_changed() -> Failure:
    reason = "the credential changed while this call was prepared"
    return Failure(Code.PERMISSION_DENIED, f"Permission denied: {reason}. Call again.", {"reason": reason})


def _target(url: str) -> str:
    """Return the request target of the request line."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
