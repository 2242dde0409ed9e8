"""The verification of access tokens: signed JWTs of one issuer, for this adapter (RFC 9068; RFC 8725).

What a token says about its own verification is not believed: the algorithm must be one of the key's, the key one of the
issuer's, and headers that bring or name keys (`jwk`, `jku`, `x5c`, `x5u`) are not read.

The keys of an issuer are found by its metadata (RFC 8414, OpenID Connect Discovery) and read as a JWKS (RFC 7517).
They are read when first needed and kept for an hour; a key that is not known makes them be read again, at most every
half minute. While the issuer is away the last ones go on, for a day.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import anyio
import jwt
from mcp.server.auth.provider import AccessToken
from starlette.authentication import AuthenticationError

from ..auth.discovery import Fetch, Unreachable, is_safe

if TYPE_CHECKING:
    from jwt import PyJWK


_FRESH, _STALE = 3600.0, 86_400.0
_PAUSE = 30.0
_MOST_KEYS = 100
_TIMEOUT = 10.0
_LEAST_RSA_BITS = 2048

_RSA = {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
_CURVES = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA"}
ALGORITHMS = frozenset({*_RSA, *_CURVES.values()})
"""The signatures that are accepted: asymmetric ones alone (RFC 8725, 3.1 and 3.2)."""


class Key(NamedTuple):
    """A public key with the algorithms that it may be used with."""

    key: PyJWK
    algorithms: frozenset[str]


class IssuerKeys:
    """The keys of one issuer, by their ids."""

    def __init__(self, issuer: str, *, fetch: Fetch | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._issuer = issuer
        self._fetch = fetch or Fetch(_TIMEOUT)
        self._clock = clock
        self._keys: Mapping[str, Key] = {}
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._lock = anyio.Lock()

    async def find(self, kid: str) -> Key | None:
        """Return the key of an id, None if the issuer has none. Raises Unreachable if its keys cannot be had."""
        if not self._current(kid):
            async with self._lock:
                if not self._current(kid) and (self._tried_at is None or self._clock() - self._tried_at >= _PAUSE):
                    await self._refresh()
        if self._read_at is None or self._clock() - self._read_at > _STALE:
            raise Unreachable("has no keys at present")
        return self._keys.get(kid)

    def _current(self, kid: str) -> bool:
        return kid in self._keys and self._read_at is not None and self._clock() - self._read_at <= _FRESH

    async def _refresh(self) -> None:
        """Read the keys; if that fails, those known go on."""
        self._tried_at = self._clock()
        try:
            answer = await self._fetch.get(await self._discovered())
        except Unreachable:
            return
        entries = answer.body.get("keys") if answer.status == 200 else None
        if isinstance(entries, list):
            self._keys = _usable(entries[:_MOST_KEYS])
            self._read_at = self._clock()

    async def _discovered(self) -> str:
        """Return the address of the keys by the issuer's metadata. Raises Unreachable."""
        for url in _metadata_urls(self._issuer):
            try:
                answer = await self._fetch.get(url)
            except Unreachable:
                continue
            jwks_url = answer.body.get("jwks_uri") if answer.status == 200 else None
            if answer.body.get("issuer") == self._issuer and isinstance(jwks_url, str) and is_safe(jwks_url):
                return jwks_url
        raise Unreachable("does not name the URL of its keys")


def _metadata_urls(issuer: str) -> tuple[str, ...]:
    """Return where an issuer's metadata may be (RFC 8414, 3; OpenID Connect Discovery, 4)."""
    parts = urlsplit(issuer)
    origin, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    return (
        f"{origin}/.well-known/oauth-authorization-server{path}",
        f"{origin}{path}/.well-known/openid-configuration",
    )


def _usable(entries: list[Any]) -> dict[str, Key]:
    """Return the keys that can verify a signature, by id; an id that two keys have stands for neither."""
    keys: dict[str, Key] = {}
    ids = [entry.get("kid") for entry in entries if isinstance(entry, dict)]
    for entry in entries:
        kid = entry.get("kid") if isinstance(entry, dict) else None
        if isinstance(kid, str) and kid and ids.count(kid) == 1:
            key = _key(entry)
            if key is not None:
                keys[kid] = key
    return keys


def _key(entry: Mapping[str, Any]) -> Key | None:
    """Return a key for verifying; None for a shared or private one, one for another use, or a weak one."""
    from jwt import PyJWK
    from jwt.exceptions import PyJWTError

    operations = entry.get("key_ops", ["verify"])
    if entry.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        return None
    curve = str(entry.get("crv"))
    if entry.get("kty") == "RSA":
        algorithms = frozenset(_RSA)
    elif entry.get("kty") in ("EC", "OKP") and curve in _CURVES:
        algorithms = frozenset({_CURVES[curve]})
    else:
        return None
    if "alg" in entry:
        algorithms &= {entry["alg"]} if isinstance(entry["alg"], str) else set()
    if "d" in entry or not algorithms:
        return None
    try:
        key = PyJWK(dict(entry), min(algorithms))
    except (PyJWTError, ValueError, TypeError):
        return None
    weak = entry["kty"] == "RSA" and key.key.key_size < _LEAST_RSA_BITS
    return None if weak else Key(key, algorithms)


_MOST_LENGTH = 16 * 1024
_LEEWAY = 30
_TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
_MOST_SCOPES = 200
_DEMANDED = ("exp", "iss", "aud")


class IssuerAway(AuthenticationError):
    """The issuer's keys cannot be had, so no token can be verified."""


class JwtVerifier:
    """Verifies tokens of one issuer for one audience."""

    def __init__(self, keys: IssuerKeys, *, issuer: str, audience: str) -> None:
        self._keys = keys
        self._issuer = issuer
        self._audience = audience

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return a token with its claims, None for one that is not valid here. Raises IssuerAway."""
        header = _header(token)
        if header is None:
            return None
        try:
            key = await self._keys.find(header["kid"])
        except Unreachable:
            raise IssuerAway("the issuer's keys cannot be had") from None
        claims = None if key is None else self._claims(token, header, key)
        return None if claims is None else _access_token(token, claims)

    def _claims(self, token: str, header: Mapping[str, Any], key: Key) -> Mapping[str, Any] | None:
        """Return the claims of a token whose signature, issuer, audience and times hold."""
        if header["alg"] not in key.algorithms:
            return None
        try:
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key.key.key,
                algorithms=[header["alg"]],
                issuer=self._issuer,
                audience=self._audience,
                leeway=_LEEWAY,
                options={"require": list(_DEMANDED), "verify_signature": True},
            )
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError, OverflowError):
            return None
        return None if "cnf" in claims else claims  # bound to a key of the client's (RFC 7800): no bearer token


def _header(token: str) -> Mapping[str, Any] | None:
    """Return the header of a token that may be looked at further."""
    if len(token) > _MOST_LENGTH or token.count(".") != 2:
        return None
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        return None
    kid, alg, type_ = header.get("kid"), header.get("alg"), header.get("typ", "JWT")
    if not isinstance(kid, str) or not kid or not isinstance(alg, str) or alg not in ALGORITHMS or "crit" in header:
        return None
    return header if isinstance(type_, str) and type_.lower() in _TYPES else None


def _access_token(token: str, claims: Mapping[str, Any]) -> AccessToken | None:
    """Return the caller and the scopes of a token; None if it names nobody."""
    subject = claims.get("sub")
    client = next((claims[name] for name in ("client_id", "azp", "cid") if claims.get(name)), subject)
    names = (subject, client)
    if not isinstance(client, str) or not client or not all(name is None or isinstance(name, str) for name in names):
        return None
    return AccessToken(
        token=token,
        client_id=client,
        scopes=_scopes(claims),
        expires_at=int(claims["exp"]),
        subject=subject,
        claims={"iss": claims["iss"]},
    )


def _scopes(claims: Mapping[str, Any]) -> list[str]:
    """Return the scopes of a token (RFC 9068, 2.2.3; `scp` at Okta and Entra ID)."""
    stated = claims.get("scope", claims.get("scp"))
    names = stated.split() if isinstance(stated, str) else stated if isinstance(stated, list) else []
    return [name for name in names if isinstance(name, str)][:_MOST_SCOPES]
