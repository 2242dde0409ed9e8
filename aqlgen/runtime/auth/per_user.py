# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Credentials of each user over HTTP: from a header that the owner names, or by token exchange (RFC 8693).

If one of them is set up for a scheme, a call over HTTP gets its credential from there or not at all: nobody acts with
the owner's. The Authorization header that a client shows to the adapter itself is never sent on to the API.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..settings.config import Config
from ..settings.load import ConfigError
from ..table import Adapter

__all__ = ["NOBODY", "Exchange", "PerUser"]

CLIENT = ("MCP_AQL_AUTH_EXCHANGE_CLIENT_ID", "MCP_AQL_AUTH_EXCHANGE_CLIENT_SECRET")
"""The variables of the OAuth client that exchanges tokens, each also as `…_FILE`."""


class Exchange(NamedTuple):
    """The endpoint that exchanges a caller's token for one of the API, and the scheme that it is for."""

    scheme: str
    url: str
    audience: str = ""
    scope: str = ""


class PerUser(NamedTuple):
    """The headers that fill schemes, by scheme, and the exchange that fills one."""

    forward: Mapping[str, str] = {}
    exchange: Exchange | None = None

    @classmethod
    def of(cls, config: Config, adapter: Adapter) -> PerUser:
        """Read the settings. Raises ConfigError for a scheme that the API does not have or that cannot be filled."""
        schemes = adapter.security_schemes
        forward: dict[str, str] = {}
        for header, named in config.forward_header:
            fillable = [name for name, entry in schemes.items() if entry.get("type") != "mutualTLS"]
            scheme = _scheme("auth.forward_header", named, fillable)
            if scheme in forward:
                raise ConfigError(f"'auth.forward_header' fills the scheme '{scheme}' from two headers")
            forward[scheme] = header.lower()
        if not config.exchange_url:
            return cls(forward)
        bearers = [name for name, entry in schemes.items() if _is_bearer(entry)]
        scheme = _scheme("auth.exchange_scheme", config.exchange_scheme, bearers)
        if scheme in forward:
            raise ConfigError(f"'auth.exchange_scheme' and 'auth.forward_header' both fill the scheme '{scheme}'")
        return cls(forward, Exchange(scheme, config.exchange_url, config.exchange_audience, config.exchange_scope))


NOBODY = PerUser()


def _is_bearer(scheme: Mapping[str, Any]) -> bool:
    return scheme.get("type") in ("oauth2", "openIdConnect") or scheme.get("scheme", "").lower() == "bearer"


def _scheme(key: str, named: str, fillable: Iterable[str]) -> str:
    known = list(fillable)
    if named in known:
        return named
    if not named and len(known) == 1:
        return known[0]
    listed = ", ".join(f"'{name}'" for name in known) or "none"
    problem = f"names the security scheme '{named}', which it cannot fill" if named else "must name a security scheme"
    raise ConfigError(f"'{key}' {problem}; those of the API are {listed}")
