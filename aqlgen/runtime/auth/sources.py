"""The sources of the credential of each security scheme, what is set, and the report of it for doctor.

Of several APIs each has settings of its own: its address, and the variables of its servers. `base_url` names the API of
each address, `crm=https://crm.example.com, hr=https://hr.example.com`; one address for all would send each API's
credentials to the other's host. The names of servers' variables have the API's before them, `crm.region`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import urljoin

from ..encode.urls import server_url
from ..errors import Failure
from ..session import caller_headers
from ..settings.config import Config
from ..settings.load import ConfigError, Variables
from ..table import Adapter
from . import sent_as
from .logins import Logins, PerUser, per_user_of


class Source(NamedTuple):
    """Where a credential comes from. If `grant` is empty, `values` are sent as they are.

    Otherwise it is one of digest, certificate, refresh_token, login, client_credentials, password.
    The values of a `private` source belong to the caller alone.
    """

    scheme: str
    grant: str = ""
    values: tuple[str, ...] = ()
    private: bool = False


class TokenOption(NamedTuple):
    """A grant that leads to a token: the variables that it needs, and the address of the token endpoint."""

    grant: str
    variables: tuple[str, ...]
    token_url: str


class Sources:
    """The sources of each scheme's credential. The caller's own comes first, then the first that is complete."""

    def __init__(
        self, adapter: Adapter, variables: Variables, *, per_user: PerUser | None = None, logins: Logins | None = None
    ) -> None:
        self.schemes = adapter.security_schemes
        self.variables = variables
        self.per_user = per_user or {}
        self.logins = logins or Logins()

    def of(self, name: str) -> Source | None:
        """Return the source of a scheme's credential as things are now, None if there is none."""
        scheme = self.schemes.get(name)
        if scheme is None:
            return None
        if self.is_per_user(name):
            value = (caller_headers() or {}).get(self.per_user[name], "").strip()
            return Source(name, _grant(scheme), _split(scheme, value), private=True) if value else None
        if scheme.get("variables") and not self.missing(name):
            values = tuple(self.variables.value(variable) or "" for variable in scheme["variables"])
            if scheme["type"] == "mutualTLS":
                return Source(name, "certificate", values)
            return Source(name, _grant(scheme), values)
        for option in self.options(name):
            if self.is_ready(name, option):
                return Source(name, option.grant)
        return None

    def origins(self, source: Source) -> tuple[str, ...]:
        """Return the variables that a credential came from; none if a caller brought it."""
        scheme = self.schemes[source.scheme]
        if source.private:
            return ()
        option = next((option for option in self.options(source.scheme) if option.grant == source.grant), None)
        return tuple(scheme.get("variables", ())) if option is None else option.variables

    def is_per_user(self, name: str) -> bool:
        """Return True if the call came over HTTP and each caller brings the scheme's credential."""
        return name in self.per_user and caller_headers() is not None

    def missing(self, name: str) -> list[str]:
        """Return the variables of a scheme that are not set.

        A password may be empty, if its user name is not; the file of a certificate may hold its key.
        """
        scheme = self.schemes.get(name, {})
        names = list(scheme.get("variables", ()))
        if scheme.get("type") == "mutualTLS" and "PRIVATE KEY-----" in (self.variables.value(names[0]) or ""):
            return []
        first, others = names[:1], names[1:]
        if scheme.get("type") == "mutualTLS":
            return self.variables.missing(names)
        return self.variables.missing(first) + [
            variable for variable in others if self.variables.value(variable) is None
        ]

    def unreadable(self, *names: str) -> list[str]:
        """Return the `…_FILE` variables of schemes whose file cannot be read."""
        variables = (
            (*each.get("variables", ()), *each.get("optional_variables", {}).values())
            for each in map(self.schemes.__getitem__, names)
        )
        return self.variables.unreadable(chain.from_iterable(variables))

    def options(self, name: str) -> list[TokenOption]:
        """Return the grants that lead to a scheme's token, the preferred first."""
        scheme = self.schemes.get(name, {})
        roles, flows = scheme.get("optional_variables", {}), scheme.get("flows", {})
        options: list[TokenOption] = []
        if "client_id" not in roles:
            return options
        discovered = bool(scheme.get("discovery_url"))
        if "refresh_token" in roles:
            options.append(self._option(scheme, "refresh_token", "client_id", "refresh_token"))
        if discovered or "authorizationCode" in flows:
            options.append(self._option(scheme, "login", "client_id"))
        if discovered or "clientCredentials" in flows:
            options.append(self._option(scheme, "client_credentials", "client_id", "client_secret"))
        if "password" in flows:
            options.append(self._option(scheme, "password", "username", "password"))
        return options

    def is_ready(self, name: str, option: TokenOption) -> bool:
        """Return True if a grant can be used: its variables are set, or somebody has logged in."""
        if option.grant == "login":
            return self.logins.get(name) is not None
        return not self.variables.missing(option.variables)

    def role(self, name: str, role: str) -> str | None:
        """Return the value of an optional variable by its role, None if it is not set."""
        variable = self.schemes[name].get("optional_variables", {}).get(role)
        return None if variable is None else self.variables.value(variable) or None

    def configured_urls(self) -> list[str]:
        """Return the addresses of authorization servers that the owner has set."""
        roles = ("token_url", "discovery_url")
        return [url for name in self.schemes for role in roles if (url := self.role(name, role))]

    def _option(self, scheme: Mapping[str, Any], grant: str, *roles: str) -> TokenOption:
        variables = scheme["optional_variables"]
        token_url = self.variables.value(variables["token_url"]) if "token_url" in variables else None
        return TokenOption(grant, tuple(variables[role] for role in roles), token_url or token_url_of(scheme, grant))


def token_url_of(scheme: Mapping[str, Any], grant: str) -> str:
    """Return the token endpoint of a grant as the document names it; "" for none."""
    flows = scheme.get("flows", {})
    first = {"client_credentials": "clientCredentials", "password": "password"}.get(grant, "authorizationCode")
    ordered = sorted(flows.items(), key=lambda item: item[0] != first)
    if grant == "refresh_token":
        for _, flow in ordered:
            if flow.get("refresh_url"):
                return str(flow["refresh_url"])
    return next((str(flow["token_url"]) for _, flow in ordered if flow.get("token_url")), "")


def discovery_url_of(sources: Sources, scheme: str) -> str:
    """Return the address of the metadata of a scheme's authorization server."""
    return sources.role(scheme, "discovery_url") or str(sources.schemes[scheme].get("discovery_url", ""))


def without_scheme(kind: str, value: str) -> str:
    """Return a credential without the name of its HTTP authentication scheme, which people tend to leave before it."""
    has_name = value[: len(kind) + 1].lower() == f"{kind.lower()} "
    return (value[len(kind) + 1 :] if has_name else value).strip()


def _http(scheme: Mapping[str, Any]) -> str:
    return str(scheme.get("scheme", "")).lower() if scheme.get("type") == "http" else ""


def _grant(scheme: Mapping[str, Any]) -> str:
    return "digest" if _http(scheme) == "digest" else ""


def _split(scheme: Mapping[str, Any], value: str) -> tuple[str, ...]:
    """Return a header's value as the values of a scheme's variables: a user name and a password, or one text."""
    if _http(scheme) not in ("basic", "digest"):
        return (value,)
    import base64

    pair = value
    if ":" not in pair:
        try:
            pair = base64.b64decode(without_scheme("Basic", value), validate=True).decode()
        except ValueError:
            return (value, "")
    user, _, password = pair.partition(":")
    return (user, password)


def report(
    adapter: Adapter, environ: Mapping[str, str], config: Config | None = None, logins: Logins | None = None
) -> list[dict[str, Any]]:
    """Return each security scheme's type, its variables and whether they are set, and the grants that give a token.

    Raises ConfigError when the settings name a scheme that cannot be filled.
    """
    per_user = {} if config is None else per_user_of(config, adapter)
    sources = Sources(adapter, Variables(environ), per_user=per_user, logins=logins)
    configs = {} if config is None else config_of_each(config, adapter)
    entries = []
    for api, part in adapter.of_each_api().items():
        configured, variables = (configs[api].base_url, configs[api].server_variables) if configs else (None, {})
        base = configured or (server_url(part.servers[0], variables) if part.servers else "")
        entries += [_entry(sources, name, scheme, base) for name, scheme in part.security_schemes.items()]
    return entries


def _entry(sources: Sources, name: str, scheme: Mapping[str, Any], base: str) -> dict[str, Any]:
    variables = list(scheme.get("variables", ()))
    options = list(_options(sources, name, base))
    is_set = bool(variables) and not sources.missing(name)
    entry = {"scheme": name, "type": scheme.get("type", ""), "variables": variables}
    entry["set"] = is_set or any(option["set"] for option in options)
    if scheme.get("type") == "http":
        entry["http_scheme"] = scheme.get("scheme", "")
    entry["sent"] = sent_as(scheme)
    if options:
        used = "token" if is_set else next((option["grant"] for option in options if option["set"]), None)
        entry |= {"grants": options, "grant": used}
    if scheme.get("optional_variables"):
        entry["optional_variables"] = dict(scheme["optional_variables"])
    if scheme.get("discovery_url"):
        entry["discovery_url"] = sources.role(name, "discovery_url") or scheme["discovery_url"]
    if name in sources.per_user:
        entry["per_user"] = {"header": sources.per_user[name]}
    unreadable = sources.unreadable(name)
    if unreadable:
        entry["unreadable"] = unreadable
    return entry


def _options(sources: Sources, name: str, base: str) -> Iterator[dict[str, Any]]:
    """Yield the ways to a token of a scheme."""
    for option in sources.options(name):
        is_ready, url = False, option.token_url
        with suppress(Failure, ValueError):  # `doctor` tells of a state or an address that does not work elsewhere
            is_ready = sources.is_ready(name, option)
            url = url and urljoin(f"{base.rstrip('/')}/", url)
        yield {"grant": option.grant, "variables": list(option.variables), "set": is_ready, "token_url": url or None}


def lines(entry: Mapping[str, Any]) -> Iterator[str]:
    """Return the lines for a person about the entry of a scheme."""
    state = "set" if entry["set"] else "missing"
    kind = " ".join((entry["type"], entry.get("http_scheme", ""))).strip()
    yield f"  {entry['scheme']:<26} {state:<12} {kind:<12} {', '.join(entry['variables'])}".rstrip()
    if entry["type"] == "apiKey":
        yield f"    sent as {entry['sent']}"
    for option in entry.get("grants", ()):
        state = "in use" if entry["grant"] == option["grant"] else "set" if option["set"] else "-"
        place = option["token_url"] or entry.get("discovery_url") or ""
        variables = ", ".join(option["variables"]) + (" and the command login" if option["grant"] == "login" else "")
        yield f"    or {option['grant']:<21} {state:<12} {variables}  {place}".rstrip()
    if "per_user" in entry:
        yield f"    over HTTP from each caller's header {entry['per_user']['header']}"
    for name in entry.get("unreadable", ()):
        yield f"    the file of {name} cannot be read"


_NAMED = re.compile(r"\s*([a-z][a-z0-9]{0,23})=([^,\s]+)\s*")


def config_of_each(config: Config, adapter: Adapter) -> dict[str, Config]:
    """Return the settings by API, or those of the adapter by "". Raises ConfigError."""
    named = _named(config.base_url)
    if not adapter.apis:
        if named is not None:
            raise ConfigError("MCP_AQL_BASE_URL names APIs, but the adapter has one: give only its URL")
        return {"": config}
    known = ", ".join(adapter.apis)
    if named is None and config.base_url:
        raise ConfigError(f"MCP_AQL_BASE_URL must name the API of each address, as in NAME=URL; the APIs are {known}")
    named = named or {}
    for unknown in sorted(named.keys() - adapter.apis):
        raise ConfigError(f"MCP_AQL_BASE_URL names the API '{unknown}'; the APIs are {known}")
    variables = _variables_of_each(config, adapter, known)
    return {name: config._replace(base_url=named.get(name), server_variables=variables[name]) for name in adapter.apis}


def _variables_of_each(config: Config, adapter: Adapter, known: str) -> dict[str, dict[str, str]]:
    variables: dict[str, dict[str, str]] = {name: {} for name in adapter.apis}
    for key, value in config.server_variables.items():
        api, dot, name = key.partition(".")
        if not dot or api not in variables:
            raise ConfigError(
                f"MCP_AQL_SERVER_VARIABLES must name the API of '{key}', as in NAME.{key}; they are {known}"
            )
        variables[api][name] = value
    return variables


def _named(setting: str | None) -> Mapping[str, str] | None:
    """Return the addresses by API, None for a setting that is one address or none."""
    if not setting or "://" in setting.partition("=")[0]:
        return None
    return {match[1]: match[2] for part in setting.split(",") if (match := _NAMED.fullmatch(part)) is not None}
