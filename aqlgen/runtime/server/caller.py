# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The caller of an HTTP request, to whom sessions, confirmations, executions and budgets belong."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import principal_components

from ..settings.config import Config
from ..text import line

if TYPE_CHECKING:
    from starlette.types import Scope

__all__ = ["caller_of", "credential_headers", "principal_of"]

_PROCESS_KEY = secrets.token_bytes(32)


def credential_headers(config: Config) -> tuple[str, ...]:
    """Return the headers in which callers bring credentials of their own for the API."""
    forwarded = tuple(header.lower() for header, _ in config.forward_header)
    return (*forwarded, "authorization") if config.exchange_url else forwarded


def principal_of(scope: Scope) -> str | None:
    """Return who is authenticated: the digest of a token, or issuer, client and subject; None for nobody."""
    user = scope.get("user")
    if not isinstance(user, AuthenticatedUser):
        return None
    client, issuer, subject = principal_components(user.access_token)
    if issuer is None:
        return client
    digest = hashlib.sha256(json.dumps([client, issuer, subject]).encode()).hexdigest()[:16]
    return f"oauth:{line(subject or client, 60)}:{digest}"


def caller_of(scope: Scope, headers: Sequence[str]) -> str | None:
    """Return the caller: the principal and, where that is not a person, the credentials that they bring for the API.

    The digest of credentials holds for this process alone, so that nobody finds them by it in a log.
    """
    principal = principal_of(scope)
    if principal is not None and principal.startswith("oauth:"):
        return principal
    names = [name for name in headers if principal is None or name != "authorization"]
    brought = [(key, value) for key, value in scope["headers"] if key.decode("latin-1").lower() in names]
    if not brought:
        return principal
    text = repr(sorted(brought)).encode()
    digest = hmac.new(_PROCESS_KEY, text, hashlib.sha256).hexdigest()[:16]
    return f"{principal or 'anyone'}:credential:{digest}"
