# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Puts an adapter together from its package folder, its settings and its owner's hooks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import config as settings
from .api import Api
from .audit import Audit
from .config import Config
from .credentials import Credentials
from .dispatch import Dispatcher
from .hooks import Hooks
from .log import Logger
from .logins import Logins
from .per_user import PerUser
from .servers import bad_variable
from .state import SqliteState, State, open_state, state_file
from .table import FAMILIES, Adapter, Table
from .variables import Variables

if TYPE_CHECKING:
    import ssl

    from .wire import Transport

__all__ = ["Assembly", "assemble", "audit_file", "check_variables"]


class Assembly(NamedTuple):
    """An adapter that is ready to answer. Close the transport when it is done with."""

    adapter: Adapter
    table: Table
    config: Config
    transport: Transport
    dispatcher: Dispatcher
    state: State


def assemble(
    folder: Path, hooks: object | None = None, *, environ: Mapping[str, str] | None = None, mock: bool = False
) -> Assembly:
    """Read `adapter.json` and the settings, and connect the parts; operations and types are read when first needed.

    Raises ConfigError for bad settings, HookError for bad hooks, OSError or KeyError when the project is damaged.
    """
    environ = os.environ if environ is None else environ
    config = settings.load(folder, environ)
    adapter, table = Adapter.load(folder), Table(folder)
    check_variables(adapter, table, config)
    state = open_state(config.state_url, adapter.name, environ)
    credentials = _credentials(adapter, config, environ, state, mock=mock)
    transport = _transport(table, folder, config, credentials.verify, mock=mock)
    api = Api(
        adapter,
        table,
        transport,
        base_url=config.base_url,
        environ=environ,
        credentials=credentials,
        timeout=config.timeout,
        variables=config.server_variables,
        files_folder=config.files_folder,
    )
    logger = Logger(config.log_level, adapter.package, secrets=api.secrets)
    audit = Audit(audit_file(config, adapter, environ), logger, adapter=adapter.name, secrets=api.secrets)
    dispatcher = Dispatcher(adapter, table, api, config, Hooks.load(hooks), logger, audit, state)
    return Assembly(adapter, table, config, transport, dispatcher, state)


def check_variables(adapter: Adapter, table: Table, config: Config) -> None:
    """Hold the values of the servers' variables against the document. Raises ConfigError."""
    if not config.server_variables:
        return
    rows = (row for family in FAMILIES for row in table.raw(family).values())
    servers = [*adapter.servers, *(server for row in rows for server in row.get("servers", ()))]
    problem = bad_variable(servers, config.server_variables)
    if problem is not None:
        raise settings.ConfigError(f"MCP_AQL_SERVER_VARIABLES {problem}")


def audit_file(config: Config, adapter: Adapter, environ: Mapping[str, str]) -> Path | None:
    """Give the audit log's file; None when it goes to the log."""
    if config.audit_path:
        return Path(config.audit_path)
    state = state_file(config.state_url, adapter.name, environ)
    return None if state is None else state.with_name("audit.jsonl")


def _credentials(
    adapter: Adapter, config: Config, environ: Mapping[str, str], state: SqliteState, *, mock: bool
) -> Credentials:
    if mock:
        return Credentials(adapter, environ, demanded=False)
    per_user = PerUser.of(config, adapter)
    tls = None
    if any(scheme.get("type") == "mutualTLS" for scheme in adapter.security_schemes.values()):
        from .client_tls import ClientTls

        tls = ClientTls.of(adapter, Variables(environ))
    return Credentials(adapter, environ, per_user=per_user, logins=Logins(state), tls=tls)


def _transport(table: Table, folder: Path, config: Config, verify: ssl.SSLContext | bool, *, mock: bool) -> Transport:
    if mock:
        from .mock import MockTransport

        return MockTransport(table, folder)
    from .client import HttpTransport
    from .receiving import Bounds

    bounds = Bounds(
        response=config.max_response_size,
        events=config.stream_events,
        seconds=config.stream_seconds,
        folder=config.files_folder,
        file=config.files_max_size,
    )
    return HttpTransport(config.timeout, config.max_response_size, retries=config.retries, bounds=bounds, verify=verify)
