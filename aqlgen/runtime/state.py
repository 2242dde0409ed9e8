# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Durable state behind one small interface, in SQLite (R-OPS-3). Nothing touches the disk until a value is stored.

Values are JSON under a space and a key, stored for ever or until they expire. `take` is atomic, also between processes.

The fingerprint of a call binds a cursor or a confirmation token to an operation with its parameters.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from sqlite3 import Connection

from .exact_json import ExactFloat, write_json

__all__ = ["MEMORY", "SqliteState", "State", "fingerprint", "open_state", "state_file"]

MEMORY = "memory:"
_URL = re.compile(r"sqlite:///(.+)", re.DOTALL)
_TABLE = (
    "CREATE TABLE IF NOT EXISTS kept (space TEXT, key TEXT, value TEXT NOT NULL, expires REAL, "
    "PRIMARY KEY (space, key)) WITHOUT ROWID"
)
_LIVE = "(expires IS NULL OR expires > ?)"


class State(Protocol):
    """Storage for what must outlive a session or a process. Values are JSON."""

    def get(self, space: str, key: str) -> Any:
        """Return the value, or None."""
        ...

    def put(self, space: str, key: str, value: Any, seconds: float | None = None) -> None:
        """Store a value, for that many seconds if they are given."""
        ...

    def take(self, space: str, key: str) -> Any:
        """Remove the value and return it, in one step; None if there is none."""
        ...

    def drop(self, space: str, key: str) -> None:
        """Remove a value."""
        ...

    def items(self, space: str) -> list[tuple[str, Any]]:
        """Return the keys and values of a space, by key."""
        ...

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        ...


class SqliteState:
    """State in one file that several processes may share, or in memory for the lifetime of this object."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: Connection | None = None

    def get(self, space: str, key: str) -> Any:
        """Return the value, or None."""
        with self._lock:
            query = f"SELECT value FROM kept WHERE space = ? AND key = ? AND {_LIVE}"  # noqa: S608
            row = self._open().execute(query, (space, key, time.time())).fetchone()
        return None if row is None else json.loads(row[0])

    def put(self, space: str, key: str, value: Any, seconds: float | None = None) -> None:
        """Store a value, for that many seconds if they are given."""
        now = time.time()
        row = (space, key, json.dumps(value), None if seconds is None else now + seconds)
        with self._lock:
            connection = self._open()
            connection.execute("DELETE FROM kept WHERE expires <= ?", (now,))
            connection.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", row)

    def take(self, space: str, key: str) -> Any:
        """Remove the value and return it, in one step; None if there is none."""
        with self._lock:
            query = f"DELETE FROM kept WHERE space = ? AND key = ? AND {_LIVE} RETURNING value"  # noqa: S608
            rows = self._open().execute(query, (space, key, time.time())).fetchall()
        return json.loads(rows[0][0]) if rows else None

    def drop(self, space: str, key: str) -> None:
        """Remove a value."""
        with self._lock:
            self._open().execute("DELETE FROM kept WHERE space = ? AND key = ?", (space, key))

    def items(self, space: str) -> list[tuple[str, Any]]:
        """Return the keys and values of a space, by key."""
        with self._lock:
            query = f"SELECT key, value FROM kept WHERE space = ? AND {_LIVE} ORDER BY key"  # noqa: S608
            rows = self._open().execute(query, (space, time.time())).fetchall()
        return [(key, json.loads(value)) for key, value in rows]

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> Connection:
        if self._connection is None:
            import sqlite3  # here, since most adapters store nothing

            if self.path is not None:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))
            self._connection = sqlite3.connect(
                self.path or ":memory:", timeout=5, isolation_level=None, check_same_thread=False
            )
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(_TABLE)
        return self._connection


def open_state(url: str, name: str, environ: Mapping[str, str]) -> SqliteState:
    """Return the state of the adapter `name` at the URL that a setting gives."""
    return SqliteState(state_file(url, name, environ))


def state_file(url: str, name: str, environ: Mapping[str, str]) -> Path | None:
    """Return the file of a state's URL, None for memory; without a URL it is in the user's folder for state."""
    if url == MEMORY:
        return None
    match = _URL.fullmatch(url)
    return Path(match[1]) if match else _folder(environ) / f"{name}-adapter" / "state.sqlite3"


def _folder(environ: Mapping[str, str]) -> Path:
    if environ.get("XDG_STATE_HOME"):
        return Path(environ["XDG_STATE_HOME"])
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path.home() / ".local" / "state"


_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def fingerprint(operation: str, params: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an operation with its parameters; their order and the form of numbers do not matter."""
    text = write_json([operation, _canonical(params)], _encode)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _canonical(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    if type(value) is ExactFloat and value.is_equal:
        value = float(value)
    elif type(value) is ExactFloat:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else value
