"""Puts an adapter together from its package folder, its settings and its owner's hooks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import config as settings
from .api import Api
from .config import Config
from .dispatch import Dispatcher
from .hooks import Hooks
from .table import Adapter, Table

if TYPE_CHECKING:
    from .wire import Transport

__all__ = ["Assembly", "assemble"]


class Assembly(NamedTuple):
    """An adapter that is ready to answer. Close the transport when it is done with."""

    adapter: Adapter
    table: Table
    config: Config
    transport: Transport
    dispatcher: Dispatcher


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
    return Assembly(adapter, table, config, transport, Dispatcher(adapter, table, api, config, Hooks.load(hooks)))


def _transport(table: Table, folder: Path, config: Config, *, mock: bool) -> Transport:
    if mock:
        from .mock import MockTransport

        return MockTransport(table, folder)
    from .client import HttpTransport

    return HttpTransport(config.timeout, config.max_response_size)
