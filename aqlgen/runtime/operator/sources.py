# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The adapters that the page shows: the one that started it, and those of this user whose state is on this machine.

Each has its own store. Of another adapter only the state's file is known, so what is sealed with its owner's keys, or
kept in Redis, is shown by its own page. A file that somebody else owns or can write to is left alone.
"""

from __future__ import annotations

import getpass
import hashlib
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from ..assembly import adapter_secrets, audit_file, check_extra, key_needed_by
from ..logs import Logger
from ..safety.audit import Audit
from ..safety.loop.agents import Board
from ..safety.questions import QuestionStore
from ..settings.load import ConfigError, StateKeys, Variables, load
from ..state.custody import MEMORY, Custody, State, is_redis, open_store, state_file
from ..state.sqlite import SqliteState, SqliteStore
from ..table import Adapter
from ..text import line

if TYPE_CHECKING:
    from ..quota.counting import Quotas

__all__ = ["Source", "Sources", "home_source", "operator_name", "source_at"]

_MOST = 50
_FOLDER = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]{0,99})-adapter")


@dataclass(frozen=True, slots=True)
class Source:
    """An adapter, as an operator reaches it. `id` says where its store is; `quotas` are known of the home adapter."""

    id: str
    name: str
    custody: Custody
    questions: QuestionStore
    board: Board
    audit: Audit
    log_path: Path | None
    is_home: bool = False
    quotas: Quotas | None = None
    currency: str = ""


def source_at(place: str, name: str, custody: Custody, audit: Audit, **more: Any) -> Source:
    """Return an adapter whose store is at a place."""
    digest = hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()
    return Source(digest[:12], name, custody, QuestionStore(custody), Board(custody), audit, audit.path, **more)


class Sources:
    """The adapters, looked for anew whenever `look` is called. `folder` holds the states, None for no others."""

    def __init__(self, home: Source, folder: Path | None, home_file: Path | None = None) -> None:
        self.home = home
        self._folder = folder
        self._home_file = home_file
        self._others: dict[Path, Source] = {}

    @property
    def all(self) -> list[Source]:
        """The adapters, the home adapter first, the others by name."""
        return [self.home, *sorted(self._others.values(), key=lambda source: (source.name, source.id))]

    def by_id(self, id: str) -> Source | None:
        """Return an adapter."""
        return next((source for source in self.all if source.id == id), None)

    async def look(self) -> None:
        """Look for the adapters of this machine."""
        paths = [] if self._folder is None else await anyio.to_thread.run_sync(_state_files, self._folder)
        home = None if self._home_file is None else self._home_file.resolve()
        known = [path for path in paths if path.resolve() != home][:_MOST]
        for path in self._others.keys() - set(known):
            await self._others.pop(path).custody.store.close()
        for path in known:
            if path not in self._others:
                self._others[path] = _neighbour(path)

    async def close(self) -> None:
        """Close every store."""
        for source in self.all:
            await source.custody.store.close()


def home_source(folder: Path, environ: Mapping[str, str]) -> tuple[Source, Path | None]:
    """Return the adapter of a package, and its state's file if it has one. Raises ConfigError where nothing is shared.

    What an operator decides has to reach the adapter's processes, which they share a store for.
    """
    config, adapter = load(folder, environ), Adapter.load(folder)
    if config.state_url == MEMORY:
        raise ConfigError(
            "MCP_AQL_STATE_URL is memory:, so what waits for a person stays within each process of the adapter, and no "
            "operator can reach it: leave the setting out, or name a file or a server of Redis"
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
    more = {"is_home": True, "quotas": quotas, "currency": config.quota.currency}
    return source_at(place, adapter.name, custody, audit, **more), file


def operator_name(name: str) -> str:
    """Return how the audit log calls an operator: by a name, or by that of the user."""
    try:
        user = "" if name else getpass.getuser()
    except (OSError, KeyError, ImportError):
        user = ""
    return f"operator:{line(name or user, 60) or 'unknown'}"


def _neighbour(path: Path) -> Source:
    name = path.parent.name.removesuffix("-adapter")
    custody = Custody(SqliteStore(SqliteState(path)), name)
    return source_at(str(path), name, custody, Audit(path.with_name("audit.jsonl"), adapter=name))


def _state_files(folder: Path) -> list[Path]:
    """Return the files of states in a folder of theirs that this user owns and nobody else can write to."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if _FOLDER.fullmatch(entry.name))
    except OSError:
        return []
    paths = [folder / name / "state.sqlite3" for name in names]
    private = (path for path in paths if _is_private(path.parent, stat.S_ISDIR) and _is_private(path, stat.S_ISREG))
    return [path for path in private if _is_state(path)]


def _is_state(path: Path) -> bool:
    """Return True if a file is a state; it is not changed by looking."""
    import sqlite3

    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=1)
    except sqlite3.Error:
        return False
    try:
        connection.execute("SELECT space, key, value, expires FROM kept LIMIT 1")
    except sqlite3.Error:
        return False
    finally:
        connection.close()
    return True


def _is_private(path: Path, is_kind: Callable[[int], bool]) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    if not is_kind(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
