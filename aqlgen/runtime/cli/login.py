"""The command `login`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..auth.login import LoginIO, LoginOptions, login, schemes_of
from ..auth.logins import Logins
from ..auth.sources import Sources, config_of_each
from ..encode.urls import server_url
from ..errors import CommandError
from ..hosts.gate import Hosts
from ..settings.config import Config
from ..settings.load import Variables, load
from ..state.custody import open_state
from ..table import Adapter, Table


def log_in(
    folder: Path,
    scheme: str | None,
    options: LoginOptions,
    environ: Mapping[str, str],
    io: LoginIO | None = None,
) -> str:
    """Log a person in with a scheme; None means the only one. Returns a line for the person.

    Raises CommandError and ConfigError.
    """
    import anyio

    from ..auth.discovery import Fetch

    config, adapter, sources = _open(folder, environ)
    chosen = _chosen(sources, scheme)
    config = config_of_each(config, adapter)[chosen.partition(":")[0] if adapter.apis else ""]
    adapter = adapter.of_api(chosen.partition(":")[0] if adapter.apis else "")
    sources.schemes = adapter.security_schemes  # the addresses of the others are none that this login may reach
    base = config.base_url or (server_url(adapter.servers[0], config.server_variables) if adapter.servers else "")
    scopes = " ".join(_needed_scopes(folder, adapter, chosen))
    hosts = Hosts(adapter, config.base_url, config.server_variables, sources.configured_urls)
    io = io or LoginIO(Fetch(config.timeout, hosts=hosts))
    return anyio.run(login, sources, chosen, base.rstrip("/"), scopes, options, io)


def forget(folder: Path, scheme: str | None, environ: Mapping[str, str]) -> str:
    """Delete the login of a scheme. Returns a line for the person. Raises CommandError and ConfigError."""
    _, _, sources = _open(folder, environ)
    chosen = _chosen(sources, scheme)
    existed = sources.logins.drop(chosen)
    return f"Forgot the login for '{chosen}'." if existed else f"There was no login for '{chosen}'."


def _open(folder: Path, environ: Mapping[str, str]) -> tuple[Config, Adapter, Sources]:
    config, adapter = load(folder, environ), Adapter.load(folder)
    logins = Logins(open_state(config.state_url, adapter.name, environ))
    return config, adapter, Sources(adapter, Variables(environ), logins=logins)


def _chosen(sources: Sources, scheme: str | None) -> str:
    known = schemes_of(sources)
    if scheme is None and len(known) == 1:
        return known[0]
    if scheme in known:
        return str(scheme)
    if not known:
        raise CommandError("the API has no login: 'doctor' lists its credentials")
    listed = ", ".join(known)
    raise CommandError(f"choose the security scheme: {listed}" if scheme is None else f"choose one of {listed}")


def _needed_scopes(folder: Path, adapter: Adapter, scheme: str) -> list[str]:
    """Return the scopes that the operations need of a scheme, or those of its flows if they need none."""
    table = Table(folder)
    scopes = dict.fromkeys(adapter.scopes.get(scheme, ()))
    for _, _, (stated,) in table.values("scopes"):
        scopes |= dict.fromkeys(stated.get(scheme, ()))
    flows = adapter.security_schemes[scheme].get("flows", {})
    return list(scopes) or list(dict.fromkeys(scope for flow in flows.values() for scope in flow.get("scopes", ())))
