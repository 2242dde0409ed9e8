# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How the credential of each security scheme can be had, and how it is now (OpenAPI 3.1, Security Scheme Object)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from . import caller
from .logins import Logins
from .per_user import NOBODY, PerUser
from .table import Adapter
from .variables import Variables

__all__ = ["Option", "Way", "Ways", "bare"]

_LOGINS = ("authorizationCode", "deviceAuthorization")


class Way(NamedTuple):
    """How a credential is had. `grant` is empty where `values` are sent as they are, else it says what must be done:
    digest, certificate, exchange, refresh_token, login, client_credentials, password.

    A `private` one is of the caller alone.
    """

    scheme: str
    grant: str = ""
    values: tuple[str, ...] = ()
    private: bool = False


class Option(NamedTuple):
    """A way to a token beside the token itself: the variables that it needs, and where the token comes from."""

    grant: str
    variables: tuple[str, ...]
    token_url: str


class Ways:
    """The ways of every scheme, the first that is complete before the others. The caller's own go before all."""

    def __init__(
        self, adapter: Adapter, variables: Variables, *, per_user: PerUser = NOBODY, logins: Logins | None = None
    ) -> None:
        self.schemes = adapter.security_schemes
        self.variables = variables
        self.per_user = per_user
        self.logins = logins or Logins()

    def of(self, name: str) -> Way | None:
        """Give how the credential of a scheme is had now; None when it is not."""
        scheme = self.schemes.get(name)
        if scheme is None:
            return None
        if self.is_per_user(name):
            return self._callers(name, scheme)
        if scheme.get("variables") and not self.missing(name):
            values = tuple(self.variables.value(one) or "" for one in scheme["variables"])
            if scheme["type"] == "mutualTLS":
                return Way(name, "certificate", values)
            return Way(name, "digest" if _http(scheme) == "digest" else "", values)
        for option in self.options(name):
            if self.is_ready(name, option):
                return Way(name, option.grant)
        return None

    def is_per_user(self, name: str) -> bool:
        """Whether the call came over HTTP and the scheme is filled by each caller."""
        exchange = self.per_user.exchange
        filled = name in self.per_user.forward or (exchange is not None and exchange.scheme == name)
        return filled and caller.headers() is not None

    def missing(self, name: str) -> list[str]:
        """Give the variables of a scheme that are not set: of a user name and a password one may be empty, not both.

        The file of a certificate may hold its key.
        """
        scheme = self.schemes.get(name, {})
        names = list(scheme.get("variables", ()))
        if scheme.get("type") == "mutualTLS" and "PRIVATE KEY-----" in (self.variables.value(names[0]) or ""):
            return []
        first, later = names[:1], names[1:]
        if scheme.get("type") == "mutualTLS":
            return self.variables.missing(names)
        return self.variables.missing(first) + [one for one in later if self.variables.value(one) is None]

    def options(self, name: str) -> list[Option]:
        """Give the ways to a token of a scheme, by rank."""
        scheme = self.schemes.get(name, {})
        roles, flows = scheme.get("optional_variables", {}), scheme.get("flows", {})
        found: list[Option] = []
        if "client_id" not in roles:
            return found
        discovered = bool(scheme.get("discovery_url"))
        if "refresh_token" in roles:
            found.append(self._option(scheme, "refresh_token", "client_id", "refresh_token"))
        if discovered or any(one in flows for one in _LOGINS):
            found.append(self._option(scheme, "login", "client_id"))
        if discovered or "clientCredentials" in flows:
            found.append(self._option(scheme, "client_credentials", "client_id", "client_secret"))
        if "password" in flows:
            found.append(self._option(scheme, "password", "username", "password"))
        return found

    def is_ready(self, name: str, option: Option) -> bool:
        """Whether a way to a token can be taken: everything is set, or somebody has logged in."""
        if option.grant == "login":
            return self.logins.get(name) is not None
        return not self.variables.missing(option.variables)

    def role(self, name: str, role: str) -> str | None:
        """Give the value of an optional variable by its role; None when it is not set."""
        variable = self.schemes[name].get("optional_variables", {}).get(role)
        return None if variable is None else self.variables.value(variable) or None

    def _option(self, scheme: Mapping[str, Any], grant: str, *roles: str) -> Option:
        named = scheme["optional_variables"]
        token_url = self.variables.value(named["token_url"]) if "token_url" in named else None
        return Option(grant, tuple(named[role] for role in roles), token_url or token_url_of(scheme, grant))

    def _callers(self, name: str, scheme: Mapping[str, Any]) -> Way | None:
        headers = caller.headers() or {}
        header = self.per_user.forward.get(name)
        if header is not None:
            value = headers.get(header, "").strip()
            return (
                Way(name, "digest" if _http(scheme) == "digest" else "", _split(scheme, value), True) if value else None
            )
        kind, _, token = headers.get("authorization", "").strip().partition(" ")
        return Way(name, "exchange", (token.strip(),), True) if kind.lower() == "bearer" and token.strip() else None


def token_url_of(scheme: Mapping[str, Any], grant: str) -> str:
    """Give where a grant is asked for, as the document says; empty when it does not."""
    flows = scheme.get("flows", {})
    first = {"client_credentials": "clientCredentials", "password": "password"}.get(grant, "authorizationCode")
    ordered = sorted(flows.items(), key=lambda item: item[0] != first)
    if grant == "refresh_token":
        for _, flow in ordered:
            if flow.get("refresh_url"):
                return str(flow["refresh_url"])
    return next((str(flow["token_url"]) for _, flow in ordered if flow.get("token_url")), "")


def bare(kind: str, value: str) -> str:
    """Give a credential without the name of its authentication scheme before it, which people tend to leave there."""
    named = value[: len(kind) + 1].lower() == f"{kind.lower()} "
    return (value[len(kind) + 1 :] if named else value).strip()


def _http(scheme: Mapping[str, Any]) -> str:
    return str(scheme.get("scheme", "")).lower() if scheme.get("type") == "http" else ""


def _split(scheme: Mapping[str, Any], value: str) -> tuple[str, ...]:
    """Give a header's value as the values of a scheme's variables: a user name and a password, or one text."""
    if _http(scheme) not in ("basic", "digest"):
        return (value,)
    import base64

    pair = value
    if ":" not in pair:
        try:
            pair = base64.b64decode(bare("Basic", value), validate=True).decode()
        except ValueError:
            return (value, "")
    user, _, password = pair.partition(":")
    return (user, password)
