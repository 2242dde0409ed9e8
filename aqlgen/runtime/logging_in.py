# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The command `login` from its arguments to a line for the person."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import config as settings
from .config import Config
from .login import LoginError, Surroundings, Wishes, login, schemes_of
from .logins import Logins
from .servers import server_url
from .state import open_state
from .table import FAMILIES, Adapter, Table
from .variables import Variables
from .ways import Ways

__all__ = ["forget", "log_in"]


def log_in(
    folder: Path,
    scheme: str | None,
    wishes: Wishes,
    environ: Mapping[str, str],
    around: Surroundings | None = None,
) -> str:
    """Log a person in with a scheme; None means the only one. Raises LoginError and ConfigError."""
    import anyio

    from .fetching import Fetch

    config, adapter, ways = _open(folder, environ)
    chosen = _chosen(ways, scheme)
    base = config.base_url or (server_url(adapter.servers[0]) if adapter.servers else "")
    if not wishes.scopes:
        wishes = wishes._replace(scopes=" ".join(_needed(folder, adapter, chosen)))
    around = around or Surroundings(Fetch(config.timeout))
    return anyio.run(login, ways, chosen, base.rstrip("/"), wishes, around)


def forget(folder: Path, scheme: str | None, environ: Mapping[str, str]) -> str:
    """Forget the login of a scheme. Raises LoginError and ConfigError."""
    _, _, ways = _open(folder, environ)
    chosen = _chosen(ways, scheme)
    there = ways.logins.drop(chosen)
    return f"Forgot the login for '{chosen}'." if there else f"There was no login for '{chosen}'."


def _open(folder: Path, environ: Mapping[str, str]) -> tuple[Config, Adapter, Ways]:
    config, adapter = settings.load(folder, environ), Adapter.load(folder)
    logins = Logins(open_state(config.state_url, adapter.name, environ))
    return config, adapter, Ways(adapter, Variables(environ), logins=logins)


def _chosen(ways: Ways, scheme: str | None) -> str:
    known = schemes_of(ways)
    if scheme is None and len(known) == 1:
        return known[0]
    if scheme in known:
        return str(scheme)
    if not known:
        raise LoginError("the API knows no login: 'doctor' shows which credentials it takes")
    told = ", ".join(known)
    raise LoginError(f"choose the security scheme: {told}" if scheme is None else f"choose one of {told}")


def _needed(folder: Path, adapter: Adapter, scheme: str) -> list[str]:
    """Give the scopes that the operations ask of a scheme; those of its flows where they ask for none."""
    table = Table(folder)
    found = dict.fromkeys(adapter.scopes.get(scheme, ()))
    for family in FAMILIES:
        for row in table.raw(family).values():
            found |= dict.fromkeys(row.get("scopes", {}).get(scheme, ()))
    flows = adapter.security_schemes[scheme].get("flows", {})
    return list(found) or list(dict.fromkeys(one for flow in flows.values() for one in flow.get("scopes", ())))
