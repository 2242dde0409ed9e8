# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Diagnostics outside of answers: each a JSON line on standard error, and handed to whoever else listens (R-OPS-4).

A record never waits for its reader: a thread writes, from a queue that is bounded; what has no room is counted.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from .lineout import LineOut
from .speech import redact

__all__ = ["LEVELS", "Logger", "Record"]

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The eight levels of RFC 5424, the least severe first."""

RANKS: Mapping[str, int] = {level: rank for rank, level in enumerate(LEVELS)}
"""How severe each level is."""

_LONGEST = 4000


class Record(NamedTuple):
    """A diagnostic. `session_id` is None when it concerns no session more than another.

    `data` is for everyone who may read it; `trace` is for the owner alone: it names places in the code and may quote
    anything.
    """

    timestamp: str
    level: str
    logger: str
    message: str
    session_id: str | None = None
    data: Mapping[str, Any] = {}
    trace: Mapping[str, Any] = {}

    def shown(self, *, whole: bool) -> dict[str, Any]:
        """Give what a reader gets; absent keys have nothing to say."""
        shown: dict[str, Any] = {"timestamp": self.timestamp, "level": self.level, "logger": self.logger}
        shown["message"] = self.message
        if self.session_id is not None:
            shown["session_id"] = self.session_id
        data = {**self.data, **self.trace} if whole else self.data
        if data:
            shown["data"] = dict(data)
        return shown


Listener = Callable[[Record], None]


class Logger:
    """Writes records of `level` and above on standard error; listeners get those of their own level and above.

    `secrets` gives the values that no record may show.
    """

    def __init__(
        self,
        level: str = "warning",
        name: str = "mcp-aql",
        *,
        secrets: Callable[[], Iterable[str]] = tuple,
        out: LineOut | None = None,
    ) -> None:
        self._own = RANKS[level]
        self._name = name
        self._out = out or LineOut()
        self._listeners: dict[Listener, int] = {}
        self._least = self._own
        self._secrets = secrets

    def wants(self, level: str) -> bool:
        """Whether anyone reads records of this level: ask before making one costs much."""
        return RANKS[level] >= self._least

    def listen(self, listener: Listener, level: str | None) -> None:
        """Hand records of `level` and above to a function that returns at once; None ends it."""
        if level is None:
            self._listeners.pop(listener, None)
        else:
            self._listeners[listener] = RANKS[level]
        self._least = min((self._own, *self._listeners.values()))

    def write(
        self,
        level: str,
        message: str,
        *,
        logger: str | None = None,
        session_id: str | None = None,
        secrets: Iterable[str] = (),
        trace: Mapping[str, Any] | None = None,
        private: bool = False,
        **data: Any,
    ) -> None:
        """Write one record; every occurrence of a secret in it is masked. Never raises, never waits.

        `logger` names the part that it comes from; `trace`, and all of a `private` record, is for the owner alone.
        """
        rank = RANKS[level]
        if rank < self._least:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        record = Record(now, level, logger or self._name, message, session_id, data, trace or {})
        record = _masked(record, [one for one in (*secrets, *self._secrets()) if one])
        if rank >= self._own:
            self._out.put(json.dumps(record.shown(whole=True), default=str))
        for listener, least in tuple(self._listeners.items()):
            if rank >= least and not private:
                listener(record)

    def short(self, text: str) -> str:
        """Cut a text, once its secrets are masked: a part of one is not found any more."""
        return redact(text, [one for one in self._secrets() if one])[:_LONGEST]

    def exception(self, message: str, error: BaseException, *, session_id: str | None = None, **data: Any) -> None:
        """Write an unexpected exception; the places that it came through, the innermost last, are the owner's alone."""
        frames = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-8:]]
        trace = {"error": self.short(f"{type(error).__name__}: {error}"), "frames": frames}
        self.write("error", message, session_id=session_id, trace=trace, **data)


def _masked(record: Record, secrets: list[str]) -> Record:
    """Give the record without secrets, and as nothing but JSON."""
    data, trace = _plain(record.data), _plain(record.trace)
    if not secrets:
        return record._replace(data=data, trace=trace)
    return record._replace(
        message=redact(record.message, secrets), data=_redacted(data, secrets), trace=_redacted(trace, secrets)
    )


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    try:
        plain: dict[str, Any] = json.loads(json.dumps(value, default=str))
    except (ValueError, TypeError, RecursionError):
        return {"unwritable": sorted(value)}
    return plain


def _redacted(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, dict):
        return {redact(key, secrets): _redacted(one, secrets) for key, one in value.items()}
    return [_redacted(one, secrets) for one in value] if isinstance(value, list) else value
