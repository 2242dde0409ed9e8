# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The adapter that the page shows: the one that started it, on the store that its processes share."""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..assembly import adapter_secrets, audit_file, check_extra, key_needed_by
from ..logs import Logger
from ..safety.audit import Audit
from ..safety.loop.agents import Board
from ..safety.questions import QuestionStore
from ..settings.load import ConfigError, StateKeys, Variables, load
from ..state.custody import MEMORY, Custody, State, is_redis, open_store, state_file
from ..table import Adapter
from ..text import line

if TYPE_CHECKING:
    from ..quota.counting import Quotas

__all__ = ["Source", "Sources", "home_source", "operator_name", "source_at"]


@dataclass(frozen=True, slots=True)
class Source:
    """An adapter, as an operator reaches it. `id` says where its store is."""

    id: str
    name: str
    custody: Custody
    questions: QuestionStore
    board: Board
    audit: Audit
    log_path: Path | None
    quotas: Quotas | None = None


def source_at(place: str, name: str, custody: Custody, audit: Audit, **more: Any) -> Source:
    """Return an adapter whose store is at a place."""
    digest = hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()
    return Source(digest[:12], name, custody, QuestionStore(custody), Board(custody), audit, audit.path, **more)


class Sources:
    """The adapters of a page: the one that started it, and no other."""

    def __init__(self, home: Source) -> None:
        self.home = home
        self.all = (home,)

    def by_id(self, id: str) -> Source | None:
        """Return an adapter."""
        return next((source for source in self.all if source.id == id), None)

    async def close(self) -> None:
        """Close every store."""
        for source in self.all:
            await source.custody.store.close()


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

    file = None if is_redis(config.state_url) else state_file(config.state_url, adapter.name, environ)
    place, quotas = str(file or config.state_url), Quotas(config, adapter.name, custody)
    return source_at(place, adapter.name, custody, audit, quotas=quotas)


def operator_name(name: str) -> str:
    """Return how the audit log calls an operator: by a name, or by that of the user."""
    try:
        user = "" if name else getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = ""
    return f"operator:{line(name or user, 60) or 'unknown'}"
