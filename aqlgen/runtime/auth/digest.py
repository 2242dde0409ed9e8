# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""HTTP Digest authentication (RFC 7616): SHA-256, SHA-512-256, MD5, each also as a session; qop auth and auth-int."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

__all__ = ["Challenge", "DigestSession", "challenges"]

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
