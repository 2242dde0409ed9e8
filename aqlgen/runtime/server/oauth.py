# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The verification of access tokens: signed JWTs of one issuer, for this adapter (RFC 9068; RFC 8725).

What a token says about its own verification is not believed: the algorithm must be one of the key's, the key one of the
issuer's, and headers that bring or name keys (`jwk`, `jku`, `x5c`, `x5u`) are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jwt
from mcp.server.auth.provider import AccessToken
from starlette.authentication import AuthenticationError

from ..auth.discovery import Unreachable
from .oauth_keys import ALGORITHMS, IssuerKeys, Key

__all__ = ["IssuerAway", "JwtVerifier"]

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
        """Return what a token says, None for one that is not valid here. Raises IssuerAway."""
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
