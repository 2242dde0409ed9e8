# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Who may use the adapter over HTTP: everyone, whoever shows a token, or whoever an OAuth issuer vouches for.

It is closed by default: on an address that other machines reach, the adapter starts only if the owner has said who may
use it.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ..settings.http import HttpSettings
from ..settings.load import Variables
from .guard import Place

if TYPE_CHECKING:
    from mcp.server.auth.provider import AccessToken, TokenVerifier

__all__ = ["TOKEN", "Access", "AccessError", "StaticTokens", "auth_kind", "read_tokens", "token_problem"]

TOKEN = "MCP_AQL_HTTP_TOKEN"  # noqa: S105 - the name of the variable
_LEAST_LENGTH = 16
_HINT = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


class AccessError(Exception):
    """A reason not to start, in one line."""


class Access(NamedTuple):
    """Who may use the endpoint, under which hosts and from which origins. `resource` is its address in OAuth.

    `hint` is what the owner should know at the start, in a line.
    """

    kind: str
    place: Place
    hint: str = ""
    verifier: TokenVerifier | None = None
    issuer: str = ""
    resource: str = ""
    scopes: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: HttpSettings, variables: Variables, *, address: str, listens_on: str) -> Access:
        """Read who may use the endpoint at an IP address, whose URL is `listens_on`. Raises AccessError."""
        ip = ipaddress.ip_address(address.partition("%")[0])
        kind = auth_kind(settings, variables)
        if not kind and not ip.is_loopback:
            raise AccessError(
                f"over HTTP on {address} every machine that reaches it could use the adapter and its credentials: set "
                f"MCP_AQL_HTTP_AUTH=token with {TOKEN} or {TOKEN}_FILE, or MCP_AQL_HTTP_AUTH=oauth with "
                "MCP_AQL_OAUTH_ISSUER and MCP_AQL_OAUTH_AUDIENCE, or MCP_AQL_HTTP_AUTH=none if that is what you want"
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
        return cls("none", place, hint.strip())

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
        from .oauth import JwtVerifier
        from .oauth_keys import IssuerKeys

        keys = IssuerKeys(settings.oauth_issuer, settings.oauth_jwks_url)
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
    """Return what is wrong with the tokens, '' if nothing is. A token is never shown."""
    unreadable = variables.unreadable([TOKEN])
    if unreadable:
        return f"the file that {unreadable[0]} names cannot be read"
    tokens = read_tokens(variables)
    if not tokens:
        return f"MCP_AQL_HTTP_AUTH=token needs {TOKEN}, or {TOKEN}_FILE for a file of tokens, one a line; {_HINT}"
    for number, token in enumerate(tokens, 1):
        which = f"token {number} of {len(tokens)} in {TOKEN}" if len(tokens) > 1 else f"the token in {TOKEN}"
        if len(token) < _LEAST_LENGTH:
            return f"{which} is too short to be safe, {_LEAST_LENGTH} characters are the least; {_HINT}"
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
