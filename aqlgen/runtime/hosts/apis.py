# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of each API, where an adapter has several: its address, and the variables of its servers.

`base_url` names the API of each address, `crm=https://crm.example.com, hr=https://hr.example.com`. One address for all
would send each API's credentials to the other's host: it is taken on this machine alone, as for tests. The names of
servers' variables have the API's before them, `crm.region`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..encode.urls import is_safe
from ..settings.config import Config
from ..settings.load import ConfigError
from ..table import Adapter

__all__ = ["config_of_each"]

_NAMED = re.compile(r"\s*([a-z][a-z0-9]{0,23})=([^,\s]+)\s*")


def config_of_each(config: Config, adapter: Adapter) -> dict[str, Config]:
    """Return the settings by API, or those of the adapter by "". Raises ConfigError."""
    named = _named(config.base_url)
    if not adapter.apis:
        if named is not None:
            raise ConfigError("MCP_AQL_BASE_URL names APIs, and the adapter has one: give its address alone")
        return {"": config}
    known, address = ", ".join(adapter.apis), config.base_url or ""
    if address and named is None and not (address.startswith("http:") and is_safe(address)):
        raise ConfigError(f"MCP_AQL_BASE_URL must name the API of each address, as in NAME=URL; the APIs are {known}")
    for unknown in sorted((named or {}).keys() - adapter.apis):
        raise ConfigError(f"MCP_AQL_BASE_URL names the API '{unknown}'; the APIs are {known}")
    variables = _variables_of_each(config, adapter, known)
    addresses = dict.fromkeys(adapter.apis, config.base_url) if named is None else named
    return {
        name: config._replace(base_url=addresses.get(name), server_variables=variables[name]) for name in adapter.apis
    }


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
