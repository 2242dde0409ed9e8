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
from .dispatch import Dispatcher
from .hooks import Hooks
from .log import Logger
from .state import State, open_state, state_file
from .table import Adapter, Table

if TYPE_CHECKING:
    from .wire import Transport

__all__ = ["Assembly", "assemble", "audit_file"]


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
    transport = _transport(table, folder, config, mock=mock)
    api = Api(adapter, table, transport, base_url=config.base_url, environ=environ)
    logger = Logger(config.log_level, adapter.package, secrets=api.secrets)
    state = open_state(config.state_url, adapter.name, environ)
    audit = Audit(audit_file(config, adapter, environ), logger, adapter=adapter.name, secrets=api.secrets)
    dispatcher = Dispatcher(adapter, table, api, config, Hooks.load(hooks), logger, audit)
    return Assembly(adapter, table, config, transport, dispatcher, state)


def audit_file(config: Config, adapter: Adapter, environ: Mapping[str, str]) -> Path | None:
    """Give the audit log's file; None when it goes to the log."""
    if config.audit_path:
        return Path(config.audit_path)
    state = state_file(config.state_url, adapter.name, environ)
    return None if state is None else state.with_name("audit.jsonl")


def _transport(table: Table, folder: Path, config: Config, *, mock: bool) -> Transport:
    if mock:
        from .mock import MockTransport

        return MockTransport(table, folder)
    from .client import HttpTransport

    return HttpTransport(config.timeout, config.max_response_size)
