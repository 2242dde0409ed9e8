# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Where the state of an adapter is, by the URL of a setting."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .sqlite import SqliteState, SqliteStore

if TYPE_CHECKING:
    from .store import Store

__all__ = ["MEMORY", "is_redis", "open_state", "open_store", "state_file", "states_folder"]

MEMORY = "memory:"
_SQLITE = re.compile(r"sqlite:///(.+)", re.DOTALL)
_REDIS = ("redis://", "rediss://")


def is_redis(url: str) -> bool:
    """Return True for the URL of a Redis or Valkey server."""
    return url.startswith(_REDIS)


def open_state(url: str, name: str, environ: Mapping[str, str]) -> SqliteState:
    """Return the state of the adapter `name` that stays on this machine, at the URL that a setting gives."""
    return SqliteState(state_file(url, name, environ))


def open_store(url: str, name: str, environ: Mapping[str, str], state: SqliteState | None = None) -> Store:
    """Return the store of the adapter `name` at the URL that a setting gives; `state` is opened already."""
    if is_redis(url):
        from .redis import RedisStore

        return RedisStore(url, name)
    return SqliteStore(open_state(url, name, environ) if state is None else state)


def state_file(url: str, name: str, environ: Mapping[str, str]) -> Path | None:
    """Return the file of a state's URL, None for memory; else, also with Redis, it is in the user's state folder."""
    if url == MEMORY:
        return None
    match = _SQLITE.fullmatch(url)
    return Path(match[1]) if match else states_folder(environ) / f"{name}-adapter" / "state.sqlite3"


def states_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder in which the adapters of a user have their states, each in a folder of its own."""
    if environ.get("XDG_STATE_HOME"):
        return Path(environ["XDG_STATE_HOME"])
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path.home() / ".local" / "state"
