"""The log (R-OPS-4): records of logging, redacted and bounded, written to standard error and given to listeners.

Secrets of others, which an API's text may quote, are known by their shape alone. The prefixes are those that vendors
publish so that leaked keys can be found. A record loses the secret and keeps its prefix, by which its owner knows what
to revoke.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from logging.handlers import QueueHandler, QueueListener
from queue import Full, Queue
from typing import Any

from ..redaction import MASK, redact, redacted
from ..session import audience, current_request, current_session
from ..text import escaped, iso_time

NUMBERS = {
    "debug": 10,
    "info": 20,
    "notice": 25,
    "warning": 30,
    "error": 40,
    "critical": 50,
    "alert": 60,
    "emergency": 70,
}
"""The eight levels of RFC 5424, the least severe first, with their numbers in Python's `logging`."""

LEVELS = tuple(NUMBERS)


_MAX_LENGTH = 4000
for _level in ("notice", "alert", "emergency"):
    logging.addLevelName(NUMBERS[_level], _level.upper())


class Record(logging.LogRecord):
    """A diagnostic. `session_id` is None when it concerns no session more than another.

    `audience` is the only session that may get it, "" for none; None if every session may. A record that is `of_call`
    is for the session whose call is being answered.
    `data` is for everyone who may read it; `trace`, and all of a `private` record, is for the owner alone: it names
    hosts and places in the code and may quote anything.
    """

    def __init__(
        self,
        level: str,
        logger: str,
        message: str,
        *,
        session_id: str | None = None,
        data: Mapping[str, Any] | None = None,
        trace: Mapping[str, Any] | None = None,
        private: bool = False,
        of_call: bool = False,
    ) -> None:
        super().__init__(logger, NUMBERS[level], "", 0, message, None, None)
        self.level = level
        self.message = message
        self.session_id = session_id = session_id or (current_session() if of_call else None)
        self.audience = session_id or ("" if of_call else audience())
        self.data = data or {}
        self.trace = trace or {}
        self.private = private

    def as_json(self, *, whole: bool) -> dict[str, Any]:
        """Return the record for a reader, with the trace if `whole`; keys without a value are left out."""
        time = iso_time(self.created, "milliseconds")
        shown: dict[str, Any] = {"timestamp": time, "level": self.level, "logger": self.name, "message": self.message}
        if self.session_id is not None:
            shown["session_id"] = self.session_id
        data = {**self.data, **self.trace} if whole else self.data
        if data:
            shown["data"] = dict(data)
        return shown


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON, for the owner. Records of libraries, which may say anything, are redacted first."""

    def __init__(self, secrets: Callable[[], Iterable[str]] = tuple) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        diagnostic = record if isinstance(record, Record) else self._of_library(record)
        return escaped(json.dumps(diagnostic.as_json(whole=True), default=str))

    def _of_library(self, record: logging.LogRecord) -> Record:
        level = next((level for level in reversed(LEVELS) if record.levelno >= NUMBERS[level]), LEVELS[0])
        try:
            message = record.getMessage()
        except (TypeError, ValueError):  # its arguments do not fit its message
            message = str(record.msg)
        secrets = self._secrets()
        error = record.exc_info[1] if record.exc_info else None
        trace = getattr(record, "trace", None) if error is None else trace_of(error, secrets, whole=True)
        return Record(level, redact(record.name, secrets), redacted_excerpt(message, secrets), trace=trace)


def trace_of(error: BaseException, secrets: Iterable[str], *, whole: bool) -> dict[str, Any]:
    """Return the type of an exception and of its cause, and the places that it came through, the innermost last.

    Their texts, which may quote a parameter or a body, are there only if `whole` or `free_of_values`.
    """
    texts, frames = [], []
    for each in (error, error.__cause__):
        if each is not None:
            frames += [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(each.__traceback__)]
            name, tells = type(each).__name__, whole or getattr(each, "free_of_values", False)
            texts.append(redacted_excerpt(f"{name}: {each}", secrets) if tells else name)
    return {"error": ", from ".join(texts), "frames": frames[-8:]}


def redacted_excerpt(text: str, secrets: Iterable[str]) -> str:
    """Cut a text, once its secrets are masked: a part of one is not found any more."""
    return without_shapes(redact(text, secrets))[:_MAX_LENGTH]


Listener = Callable[[Record], None]


class Logger:
    """Writes records of `level` and above on standard error; listeners get those of their own level and above.

    `name` is that of the logger in `logging`; `secrets` returns the values that no record may show.
    """

    def __init__(
        self, level: str = "warning", name: str = "mcp-aql", *, secrets: Callable[[], Iterable[str]] = tuple
    ) -> None:
        self.name = name
        self._logger = logging.getLogger(name)
        self._secrets = secrets
        self._listeners: dict[Listener, _ListenerHandler] = {}
        self.handler = StderrHandler(NUMBERS[level], JsonFormatter(secrets))
        earlier = tuple(self._logger.handlers)
        for handler in earlier:
            self._logger.removeHandler(handler)
        self._logger.addHandler(self.handler)  # before the owner's, which may raise
        for handler in earlier:
            if not isinstance(handler, StderrHandler):  # of an earlier adapter in this process
                self._logger.addHandler(handler)
        self._set_level()

    def wants(self, level: str) -> bool:
        """Return True if anyone reads records of this level: ask before making one costs much."""
        return self._logger.isEnabledFor(NUMBERS[level])

    def listen(self, listener: Listener, level: str | None) -> None:
        """Pass records of `level` and above to a function that returns at once; None ends it."""
        known = self._listeners.pop(listener, None)
        if known is not None:
            self._logger.removeHandler(known)
        if level is not None:
            handler = self._listeners[listener] = _ListenerHandler(listener, NUMBERS[level])
            self._logger.addHandler(handler)
        self._set_level()

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
        of_call: bool = False,
        **data: Any,
    ) -> None:
        """Write one record; every occurrence of a secret in it is masked. Never raises, never waits.

        `logger` names the part that it comes from; see `Record` for who gets it.
        """
        if not self.wants(level):
            return
        if of_call and current_request() is not None:
            data = {"request_id": current_request(), **data}
        known = self._secrets()
        masked = frozenset((*secrets, *known)) if secrets else known
        record = Record(
            level,
            logger or self._logger.name,
            without_shapes(redact(message, masked)),
            session_id=session_id,
            data=without_shapes_in(redacted(_plain(data), masked)),
            trace=without_shapes_in(redacted(_plain(trace or {}), masked)),
            private=private,
            of_call=of_call,
        )
        with suppress(Exception):  # a handler of the owner's may raise
            self._logger.handle(record)

    def exception(self, message: str, error: BaseException, *, session_id: str | None = None, **data: Any) -> None:
        """Write an unexpected exception; what it says and where it came through are the owner's alone."""
        trace = trace_of(error, self._secrets(), whole=self.tells_all)
        self.write("error", message, session_id=session_id, trace=trace, of_call=True, **data)

    @property
    def tells_all(self) -> bool:
        """True if the owner's level is debug, the only one that shows values of calls."""
        return self.handler.level <= NUMBERS["debug"]

    def _set_level(self) -> None:
        self._logger.setLevel(min(handler.level for handler in (self.handler, *self._listeners.values())))


class _ListenerHandler(logging.Handler):
    def __init__(self, listener: Listener, level: int) -> None:
        super().__init__(level)
        self._listener = listener

    def emit(self, record: logging.LogRecord) -> None:
        if isinstance(record, Record) and not record.private:
            self._listener(record)


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value as nothing but JSON."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(value, default=str))
    except (ValueError, TypeError, RecursionError):
        return {"unwritable": sorted(value)}
    return plain


_MOST = 1000
_LAST_WRITES = 0.5


class StderrHandler(QueueHandler):
    """Puts each record, as a line, into a bounded queue; a thread writes the lines. Any thread may log.

    Where standard error is no descriptor (a test, an embedding program) nothing can block: it is written to directly.
    """

    def __init__(self, level: int, formatter: JsonFormatter) -> None:
        self._lines: Queue[Any] = Queue(_MOST)
        super().__init__(self._lines)
        self.setLevel(level)
        self.setFormatter(formatter)
        self._writer: _Writer | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record, or write it where that cannot block."""
        stream = sys.stderr
        try:
            stream.fileno()
        except (OSError, ValueError, AttributeError):
            with suppress(Exception):
                stream.write(self.format(record) + "\n")
        else:
            super().emit(record)

    def prepare(self, record: logging.LogRecord) -> str:
        """Return the line of a record, formatted before its data can change."""
        return self.format(record)

    def enqueue(self, record: Any) -> None:
        """Queue a line; where there is no room for it, it is counted as lost."""
        if self._writer is None:
            self._writer = _Writer(self._lines)
            self._writer.start()
        try:
            self._lines.put_nowait(record)
        except Full:
            self._writer.count_lost()

    def flush(self) -> None:
        """Wait until all is written, but not for long. `logging` calls it when the process ends."""
        lines = self._lines
        with lines.all_tasks_done:
            lines.all_tasks_done.wait_for(lambda: not lines.unfinished_tasks, _LAST_WRITES)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Write nothing: the standard handler would write to standard error."""


class _Writer(QueueListener):
    """The thread that writes lines to the descriptor of standard error."""

    def __init__(self, lines: Queue[Any]) -> None:
        super().__init__(lines)
        self._lost = 0
        self._lock = threading.Lock()

    def count_lost(self) -> None:
        with self._lock:
            self._lost += 1

    def handle(self, record: Any) -> None:
        """Write a line, and behind it how many were lost."""
        with self._lock:
            lost, self._lost = self._lost, 0
        text = f"{record}\n"
        if lost:
            message = "log records were lost: no reader"
            text += f"{JsonFormatter().format(Record('warning', 'mcp-aql', message, data={'count': lost}))}\n"
        with suppress(OSError, ValueError, AttributeError):
            _write_all(sys.stderr.fileno(), text.encode("utf-8", "backslashreplace"))


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:  # someone made it non-blocking
            threading.Event().wait(0.05)


_SHORTEST = 18
_SHAPES = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"(?P<prefix>"
    r"gh[pousr]_|github_pat_|glpat-|gldt-|xox[abeoprs]-|xapp-|[srp]k_(?:live|test)_|whsec_|sk-ant-|sk-proj-|sk-|AIza|ya29\."
    r"|SG\.|npm_|pypi-|dop_v1_|doo_v1_|hf_|shpat_|shpss_|sq0[a-z]{3}-|lin_api_|ntn_|figd_|pat-[a-z]{2}\d-"
    r"|glsa_|hvs\.|hvb\.|ATATT3|rk_live_|tfp_|r8_|pplx-|gsk_|xai-"
    r")[A-Za-z0-9_.+/=-]{16,500}"
    r"|(?P<key>AKIA|ASIA)[A-Z0-9]{16}"
    r"|(?P<token>eyJ)[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{0,2000}"
    r"|(?P<scheme>(?:[Bb]earer|[Bb]asic) )[A-Za-z0-9._~+/=-]{16,4000}"
    r")"
    r"|(?P<begin>-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[^-]{1,16000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?"
)


def without_shapes(text: str) -> str:
    """Return a text in which what has the shape of a vendor's secret is replaced by its prefix and `***`."""
    return _SHAPES.sub(lambda match: f"{match[match.lastgroup or 0]}{MASK}", text) if len(text) > _SHORTEST else text


def without_shapes_in(value: Any) -> Any:
    """Return JSON data without such secrets in its texts."""
    if isinstance(value, str):
        return without_shapes(value)
    if isinstance(value, Mapping):
        return {key: without_shapes_in(item) for key, item in value.items()}
    return [without_shapes_in(item) for item in value] if isinstance(value, (list, tuple)) else value
