"""The store in SQLite: in one file that several processes share, or in memory (R-OPS-3).

Nothing touches the disk until a value is stored. What was stored survives the end of the process at any moment; with
`synchronous = NORMAL` the last moments may be lost when the machine loses power. A file that was removed or replaced is
opened again at the next step, as in all other processes.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from . import Count, Counter, Spent, Store, StoreAway, canonical, window_ends

if TYPE_CHECKING:
    from sqlite3 import Connection

_COUNTS = "count"
_TABLE = (
    "CREATE TABLE IF NOT EXISTS kept (space TEXT, key TEXT, value TEXT NOT NULL, expires REAL, "
    "PRIMARY KEY (space, key)) WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS kept_expires ON kept (expires) WHERE expires IS NOT NULL",
)
_LIVE = "(expires IS NULL OR expires > ?)"
_PATIENCE = 5.0
"""Seconds to wait for another process to finish its step."""


class SqliteState:
    """State in one file that several processes may share, or in memory for the lifetime of this object.

    `prefix` is that of its keys in a file that other adapters may share.

    The methods are those of the store, of which each is one transaction; they block, and raise sqlite3.Error; `do`
    raises StoreAway instead.
    """

    def __init__(self, path: Path | None, prefix: str = "") -> None:
        self.path = path
        self._prefix = prefix
        self._lock = threading.Lock()
        self._connection: Connection | None = None
        self._file: tuple[int, int] | None = None

    def do(self, step: str, *arguments: Any) -> Any:
        """Perform a step of the store. Raises StoreAway."""
        import sqlite3

        try:
            return getattr(self, step)(*arguments)
        except (sqlite3.Error, OSError, ValueError, RecursionError) as problem:
            raise StoreAway(f"the state in {self.path or 'memory'} does not work: {problem}") from None

    def get(self, space: str, key: str) -> Any:
        """Return the value, or None."""
        with self._lock:
            text = self._read(self._open(), space, key, time.time())
        return None if text is None else json.loads(text)

    def put(self, space: str, key: str, value: Any, seconds: float | None = None) -> None:
        """Store a value, for that many seconds if they are given."""
        with self._written() as (connection, now):
            self._write(connection, space, key, canonical(value), _expiry(now, seconds))

    def add(self, space: str, key: str, value: Any, seconds: float | None = None) -> bool:
        """Store a value if there is none. Returns True if it was stored."""
        return self.swap(space, key, None, value, seconds)

    def swap(self, space: str, key: str, old: Any, new: Any, seconds: float | None = None) -> bool:
        """Store `new` if the value is `old`; None is none."""
        with self._written() as (connection, now):
            if self._read(connection, space, key, now) != (None if old is None else canonical(old)):
                return False
            if new is None:
                self._delete(connection, space, key)
            else:
                self._write(connection, space, key, canonical(new), _expiry(now, seconds))
            return True

    def take(self, space: str, key: str) -> Any:
        """Remove the value and return it, in one step; None if there is none."""
        with self._written() as (connection, now):
            text = self._read(connection, space, key, now)
            if text is None:
                return None
            self._delete(connection, space, key)
        return json.loads(text)

    def drop(self, space: str, key: str) -> None:
        """Remove a value."""
        with self._written() as (connection, _):
            self._delete(connection, space, key)

    def items(self, space: str) -> list[tuple[str, Any]]:
        """Return the keys and values of a space, by key."""
        with self._lock:
            query = f"SELECT key, value FROM kept WHERE space = ? AND {_LIVE} ORDER BY key"  # noqa: S608
            rows = self._open().execute(query, (space, time.time())).fetchall()
        kept = ((key, value) for key, value in rows if key.startswith(self._prefix))
        return [(key.removeprefix(self._prefix), json.loads(value)) for key, value in kept]

    def spend(self, counters: Sequence[Counter]) -> Spent:
        """Add all amounts to the counts of their windows if none exceeds its limit, else none; amounts of 0 read."""
        if not any(counter.amount for counter in counters):
            return self._counted(counters)
        with self._written() as (connection, now):
            ends = [window_ends(now, counter.window) for counter in counters]
            keys = [f"{counter.window}:{end}:{counter.key}" for counter, end in zip(counters, ends, strict=True)]
            before = [
                _count_of(self._read(connection, _COUNTS, key, now), counter, end)
                for key, counter, end in zip(keys, counters, ends, strict=True)
            ]
            after = [count.used + counter.amount for count, counter in zip(before, counters, strict=True)]
            admitted = all(
                counter.limit is None or not counter.amount or count <= counter.limit
                for count, counter in zip(after, counters, strict=True)
            )
            if admitted:
                for key, count, end, counter in zip(keys, after, ends, counters, strict=True):
                    if counter.amount:
                        self._write(connection, _COUNTS, key, str(count), float(end))
        if not admitted:
            return Spent(False, tuple(before))
        return Spent(True, tuple(old._replace(used=count) for old, count in zip(before, after, strict=True)))

    def _counted(self, counters: Sequence[Counter]) -> Spent:
        """Return the counts, without a transaction that others would wait for."""
        counts = []
        with self._lock:
            connection, now = self._open(), time.time()
            for counter in counters:
                ends = window_ends(now, counter.window)
                text = self._read(connection, _COUNTS, f"{counter.window}:{ends}:{counter.key}", now)
                counts.append(_count_of(text, counter, ends))
        return Spent(True, tuple(counts))

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _read(self, connection: Connection, space: str, key: str, now: float) -> str | None:
        query = f"SELECT value FROM kept WHERE space = ? AND key = ? AND {_LIVE}"  # noqa: S608
        row = connection.execute(query, (space, self._prefix + key, now)).fetchone()
        return None if row is None else str(row[0])

    def _write(self, connection: Connection, space: str, key: str, text: str, expires: float | None) -> None:
        values = space, self._prefix + key, text, expires
        connection.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", values)

    def _delete(self, connection: Connection, space: str, key: str) -> None:
        connection.execute("DELETE FROM kept WHERE space = ? AND key = ?", (space, self._prefix + key))

    @contextmanager
    def _written(self) -> Iterator[tuple[Connection, float]]:
        """Open a transaction that writes, with the time at which it began; what expired is removed in it."""
        with self._lock:
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                now = time.time()
                connection.execute("DELETE FROM kept WHERE expires <= ?", (now,))
                yield connection, now
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _open(self) -> Connection:
        if self.path is not None and self._connection is not None and _file_at(self.path) != self._file:
            self._close()
        if self._connection is None:
            import sqlite3  # here, since most adapters store nothing

            if self.path is not None:
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))
            connection = sqlite3.connect(
                self.path or ":memory:", timeout=_PATIENCE, isolation_level=None, check_same_thread=False
            )
            _set_wal(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            for statement in _TABLE:
                connection.execute(statement)
            self._connection, self._file = connection, _file_at(self.path)
        return self._connection


class SqliteStore(Store):
    """The store of a state in SQLite. One in a file is used in threads, so that no call waits for another process."""

    def __init__(self, state: SqliteState) -> None:
        self.state = state

    @property
    def shared(self) -> bool:
        """True if it is in a file."""
        return self.state.path is not None

    async def close(self) -> None:
        """Close the file; a later use opens it again."""
        self.state.close()

    async def _do(self, step: str, *arguments: Any) -> Any:
        work = partial(self.state.do, step, *arguments)
        return work() if self.state.path is None else await anyio.to_thread.run_sync(work)


def _set_wal(connection: Connection) -> None:
    """Set the journal's mode; SQLite waits for nobody there when several processes begin a new file at once."""
    import sqlite3

    ends = time.monotonic() + _PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.01)
        else:
            return


def _count_of(text: str | None, counter: Counter, ends: int) -> Count:
    """Return a count as it is stored, or as it is known: what is not a number counts nothing."""
    stored = int(text) if text is not None and text.isdecimal() and len(text) < 20 else 0
    lost = counter.lost(stored, ends)
    return Count(stored + lost, float(ends), lost)


def _file_at(path: Path | None) -> tuple[int, int] | None:
    """Return the device and inode of the file at a path, None for none."""
    try:
        status = None if path is None else os.stat(path)
    except FileNotFoundError:
        return None
    return None if status is None else (status.st_dev, status.st_ino)


def _expiry(now: float, seconds: float | None) -> float | None:
    return None if seconds is None else now + seconds
