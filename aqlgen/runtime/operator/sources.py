# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The adapter that the page shows: the one that started it, on the store that its processes share."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..assembly import adapter_secrets, audit_file, check_extra, key_needed_by
from ..logs import Logger
from ..safety.audit import Audit
from ..safety.loop.agents import Board
from ..safety.questions import QuestionStore
from ..settings.load import ConfigError, StateKeys, Variables, load
from ..state.custody import MEMORY, Custody, State, open_store
from ..table import Adapter
from ..text import line

if TYPE_CHECKING:
    from ..quota.counting import Quotas

__all__ = ["Source", "home_source", "operator_name"]


class Source:
    """An adapter, as an operator reaches it."""

    def __init__(self, name: str, custody: Custody, audit: Audit, quotas: Quotas | None = None) -> None:
        self.name, self.custody, self.audit, self.quotas = name, custody, audit, quotas
        self.questions, self.board = QuestionStore(custody), Board(custody)


def home_source(folder: Path, environ: Mapping[str, str]) -> Source:
    """Return the adapter of a package. Raises ConfigError where nothing is shared.

    What an operator decides has to reach the adapter's processes, which they share a store for.
    """
    config, adapter = load(folder, environ), Adapter.load(folder)
    if config.state_url == MEMORY:
        raise ConfigError(
            "MCP_AQL_STATE_URL is memory:, so waiting calls stay inside each process, and no operator can reach "
            "them: remove the setting, or name a file or a Redis server"
        )
    check_extra(config)
    keys = StateKeys(Variables(environ))
    keys.check(key_needed_by(config))
    secrets = adapter_secrets(adapter, environ, config)
    logger = Logger(config.log_level, adapter.package, secrets=lambda: secrets)
    audit = Audit(
        audit_file(config, adapter, environ),
        logger,
        adapter=adapter.name,
        secrets=lambda: secrets,
        max_size=config.audit.max_size,
        keep=config.audit.keep,
    )
    custody = State(open_store(config.state_url, adapter.name, environ), adapter.name, keys).shared
    from ..quota.counting import Quotas

    return Source(adapter.name, custody, audit, Quotas(config, adapter.name, custody))


def operator_name(name: str) -> str:
    """Return how the audit log calls an operator: by a name, or by that of the user."""
    try:
        user = "" if name else getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = ""
    return f"operator:{line(name or user, 60) or 'unknown'}"
