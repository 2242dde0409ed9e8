"""The assembly of an adapter from its package folder, its settings and its owner's hooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .auth.credentials import Credentials
from .auth.logins import Logins, PerUser, per_user_of
from .auth.sources import config_of_each
from .client import Api, Apis, Transports
from .dispatch.dispatcher import Dispatcher, Parts
from .encode.urls import variable_problem
from .hooks import Hooks
from .logs import Logger
from .logs.observers import CallRecords, Observers
from .redaction import Secrets, url_secrets
from .safety.audit import Audit
from .settings.config import SETTINGS, Config
from .settings.load import ConfigError, StateKeys, Variables, load
from .settings.tables import AuditSettings, TelemetrySettings
from .state import StoreAway, WatchedStore
from .state.custody import MEMORY, State, is_redis, open_state, open_store, state_file
from .state.sqlite import SqliteState
from .table import Adapter, Table

if TYPE_CHECKING:
    import ssl

    import httpx2

    from .hosts.gate import Hosts
    from .wire import Transport


class Assembly(NamedTuple):
    """An adapter that is ready to answer. Close it after use.

    `state` stays on this machine, `store` is what all replicas share: the same, unless the store is in Redis.
    """

    adapter: Adapter
    table: Table
    config: Config
    transport: Transport
    dispatcher: Dispatcher
    state: SqliteState
    store: WatchedStore
    observers: Observers

    async def close(self) -> None:
        """Close the transport and the store; a later call opens them again."""
        try:
            await self.transport.aclose()
        finally:
            await self.dispatcher.close()


def assemble(
    folder: Path,
    hooks: object | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    mock: bool = False,
    network: httpx2.AsyncBaseTransport | None = None,
) -> Assembly:
    """Read `adapter.json` and the settings, and connect the parts; operations and types are read when first needed.

    With `mock` the API is played, and nothing is written outside this process: no state, no audit log, no files.
    `network` takes the place of the network, for tests.

    Raises ConfigError for bad settings, HookError for bad hooks, OSError or KeyError when the project is damaged.
    """
    environ = os.environ if environ is None else environ
    config = load(folder, environ)
    if mock:
        config = config._replace(state_url=MEMORY, audit=AuditSettings(), files_folder="")
        config = config._replace(telemetry=TelemetrySettings())
    adapter, table = Adapter.load(folder), Table(folder)
    untold = check_settings(adapter, table, config)
    state, keys = open_state(config.state_url, adapter.name, environ), checked_keys(config, environ)
    observers = Observers()
    watch = _Watch(observers)
    store = WatchedStore(open_store(config.state_url, adapter.name, environ, state), watch.report, watch.lowered)
    shared = State(store, adapter.name, keys)
    seen = Secrets()
    seen.own(_configured_secrets(config))
    per_user: PerUser = {} if mock else per_user_of(config, adapter)
    sides: dict[str, Api] = {}
    transports: dict[str, Transport] = {}
    for name, of_api in config_of_each(config, adapter).items():
        view = adapter.of_api(name)  # what the others are trusted with is not in it
        credentials = _credentials(view, of_api, environ, state, shared, per_user, seen, mock=mock)
        transports[name] = _transport(
            view, table, folder, of_api, credentials.verify, observers, mock=mock, network=network
        )
        sides[name] = Api(view, table, transports[name], of_api, environ=environ, credentials=credentials)
    api: Api | Apis = Apis(table, sides) if adapter.apis else sides[""]
    api.secrets()  # so that each of several masks those of all from the first answer on
    transport = transports[""] if not adapter.apis else Transports(transports)
    logger = watch.logger = Logger(config.log_level, adapter.package, secrets=api.secrets)
    for text in untold:
        logger.write("warning", text)
    observers.add(CallRecords(logger))
    if config.telemetry.otel:
        from .telemetry import tracing

        tracing.set_up(f"{adapter.name}-adapter", adapter.version)
        observers.add(tracing.Tracing(propagate=config.telemetry.propagate))
    audit = open_audit(config, adapter, environ, logger, api.secrets)
    audit.repair()

    async def status() -> dict[str, Any]:
        from .quota.counting import Quotas, quota_status

        return await quota_status(Quotas(config, adapter.name, shared.shared))

    parts = Parts(Hooks.load(hooks), logger, audit, shared, api.masked, observers, status)
    dispatcher = Dispatcher(adapter, table, api, config, parts)
    return Assembly(adapter, table, config, transport, dispatcher, state, store, observers)


def check_settings(adapter: Adapter, table: Table, config: Config) -> list[str]:
    """Return the conditions of policy rules that no call can be tested for.

    Raises ConfigError for settings that do not fit the adapter's operations, and if the library of traces is missing.
    """
    _check_variables(adapter, table, config)
    if config.quota.operations:
        from .quota.limits import check_patterns

        check_patterns(config, table)
    if config.telemetry.otel:
        from .telemetry import tracing

        if not tracing.is_installed():
            raise ConfigError(f"MCP_AQL_OTEL is set, and {tracing.MISSING}")
    if not config.policy_rules:
        return []
    from .safety.rules.rules import check_rules

    return check_rules(config, table)


class _Watch:
    """Reports each outage of the store in the log, when it begins and when it is over."""

    logger: Logger | None = None

    def __init__(self, observers: Observers) -> None:
        self._observers = observers

    def report(self, problem: StoreAway | None) -> None:
        """Write one record."""
        self._observers.event("store", outcome="back" if problem is None else "away")
        if self.logger is not None and problem is not None:
            message = (
                "the store is down: until it is back nothing is confirmed, no block is lifted, no quota is counted, "
                "and calls exclude each other within this process alone"
            )
            self.logger.write("error", message, trace={"error": str(problem)})
        elif self.logger is not None:
            self.logger.write("warning", "the store is back")

    def lowered(self) -> None:
        """Report that the store counts less than it did."""
        self._observers.event("store", outcome="lowered")


def adapter_secrets(adapter: Adapter, environ: Mapping[str, str], config: Config | None = None) -> frozenset[str]:
    """Return the values of all credentials that are set."""
    credentials = Credentials(adapter, environ, demanded=False)
    if config is not None:
        credentials.seen.own(_configured_secrets(config))
    return credentials.secrets


def _configured_secrets(config: Config) -> list[str]:
    """Return the passwords in the URLs of the settings."""
    values = (attrgetter(setting.attribute)(config) for setting in SETTINGS)
    return [secret for value in values if isinstance(value, str) and "@" in value for secret in url_secrets(value)]


def _check_variables(adapter: Adapter, table: Table, config: Config) -> None:
    """Check the values of the servers' variables against the document. Raises ConfigError."""
    for name, of_api in config_of_each(config, adapter).items():
        if not of_api.server_variables:
            continue
        stated = (servers for _, _, (servers, api) in table.values("servers", "api") if api == name)
        servers = [*adapter.of_api(name).servers, *(server for servers in stated for server in servers)]
        problem = variable_problem(servers, of_api.server_variables)
        if problem is not None:
            raise ConfigError(f"MCP_AQL_SERVER_VARIABLES {problem}")


def checked_keys(config: Config, environ: Mapping[str, str]) -> StateKeys:
    """Return the owner's keys. Raises ConfigError for wrong or missing ones, and if the store's library is missing.

    A store that others reach, or that an operator decides in, must not hold the key that seals it.
    """
    needed_by = ""
    if is_redis(config.state_url):
        from .state.redis import MISSING, is_installed

        if not is_installed():
            raise ConfigError(f"MCP_AQL_STATE_URL names a server of Redis, and {MISSING}")
        needed_by = "a store in the network (MCP_AQL_STATE_URL)"
    elif config.confirmation.approval == "operator" and config.state_url != MEMORY:
        needed_by = "confirmation.approval = 'operator' (MCP_AQL_APPROVAL)"
    keys = StateKeys(Variables(environ))
    keys.check(needed_by)
    return keys


def open_audit(
    config: Config,
    adapter: Adapter,
    environ: Mapping[str, str],
    logger: Logger,
    secrets: Callable[[], Iterable[str]],
) -> Audit:
    """Return the audit log that the settings describe."""
    path, most = audit_file(config, adapter, environ), config.audit.max_size
    return Audit(path, logger, adapter=adapter.name, secrets=secrets, max_size=most)


def audit_file(config: Config, adapter: Adapter, environ: Mapping[str, str]) -> Path | None:
    """Return the audit log's file, None if it goes to the log."""
    if config.audit.path == "off":
        return None
    if config.audit.path:
        return Path(config.audit.path)
    state = state_file(config.state_url, adapter.name, environ)
    return None if state is None else state.with_name("audit.jsonl")


def _credentials(
    adapter: Adapter,
    config: Config,
    environ: Mapping[str, str],
    state: SqliteState,
    shared: State,
    per_user: PerUser,
    seen: Secrets,
    *,
    mock: bool,
) -> Credentials:
    if mock or config.auth == "none":
        return Credentials(adapter, environ, demanded=False, seen=seen)
    tls = None
    if any(scheme.get("type") == "mutualTLS" for scheme in adapter.security_schemes.values()):
        from .auth.tls import ClientTls

        tls = ClientTls.of(adapter, Variables(environ))
    tokens = None
    if is_redis(config.state_url) or (state.path is not None and shared.shared.owner_keys):
        from .auth.tokens import MOST_EXCHANGES, SharedTokens

        tokens = SharedTokens(shared.shared, MOST_EXCHANGES * config.timeout)
    return Credentials(
        adapter, environ, per_user=per_user, logins=Logins(state), tls=tls, shared_tokens=tokens, seen=seen
    )


def _transport(
    adapter: Adapter,
    table: Table,
    folder: Path,
    config: Config,
    verify: ssl.SSLContext | bool,
    observers: Observers,
    *,
    mock: bool,
    network: httpx2.AsyncBaseTransport | None,
) -> Transport:
    if mock:
        from .client.mock import MockTransport

        return MockTransport(table, folder)
    from .client.transport import HttpTransport

    def hosts() -> Hosts:
        from .hosts.gate import Hosts

        return Hosts(adapter, config.base_url, config.server_variables)

    return HttpTransport(config, verify=verify, hosts=hosts, observers=observers, transport=network)
