"""The start of the server: over standard input and output, or over HTTP.

Records of libraries go to the adapter's log then, without values of calls unless its level is debug.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..logs import Logger, Record, trace_of
from ..settings.load import load
from ..text import terminal_text

if TYPE_CHECKING:
    import argparse

    from mcp.server import Server

    from ..assembly import Assembly
    from ..settings.config import Config

_LINE_OVERHEAD = 64 * 1024
_ESCAPES = 4
_GRACE = 5.0


def serve_over_stdio(folder: Path, hooks: object | None, *, mock: bool) -> int:
    """Serve until standard input ends. Returns the exit code."""
    server, parts = _ready(folder, hooks, mock=mock)
    if sys.stdin is not None and sys.stdin.isatty():
        from .clients import serving_notice

        adapter = parts.adapter
        sys.stderr.write(f"{serving_notice(adapter.name, adapter.package, ['--mock'] * mock)}\n")
    from ..server.stdio import serve_stdio

    _log_start(parts, "stdio")
    return serve_stdio(server, max_line=_longest(parts.config), grace=parts.config.timeout + _GRACE)


def serve_over_http(folder: Path, hooks: object | None, options: argparse.Namespace) -> int:
    """Serve at an address until a signal arrives. Returns the exit code; raises ConfigError."""
    load(folder, os.environ)  # settings that are wrong are refused before an address that is taken
    from ..server.access import AccessError
    from ..server.http import BindError, bind, serve_http
    from ..server.monitoring import Health

    try:
        listener = bind(options.host, options.port)
    except BindError as problem:
        sys.stderr.write(f"Error: {terminal_text(str(problem))}\n")
        return 1
    server, parts = _ready(folder, hooks, mock=options.mock)
    config = parts.config
    health = Health(parts.adapter, parts.table, config, os.environ, parts.store)
    if config.http.metrics:
        from ..telemetry.metrics import Metrics

        health.metrics = Metrics(parts.adapter.name, parts.adapter.version)
        parts.observers.add(health.metrics)
    _log_start(parts, "http")
    try:
        return serve_http(
            server,
            listener,
            host=options.host,
            max_body=_longest(config),
            config=config,
            health=health,
        )
    except AccessError as problem:
        sys.stderr.write(f"Error: {terminal_text(str(problem))}\n")
        return 3


def _ready(folder: Path, hooks: object | None, *, mock: bool) -> tuple[Server[Any], Assembly]:
    """Assemble the adapter and build its server."""
    gc.disable()  # what is imported and built stays: a fifth of the start would go into looking for garbage in it
    try:
        from ..assembly import assemble

        parts = assemble(folder, hooks, mock=mock)
        from ..server.mcp import build_server

        adopt_libraries(parts.dispatcher.log)
        server = build_server(parts.dispatcher, parts.close)
    finally:
        gc.enable()
    gc.freeze()
    gc.set_threshold(5_000, 10, 5)  # a large request is no garbage: it is looked through less often while it is read
    return server, parts


def _log_start(parts: Assembly, transport: str) -> None:
    """Write a record of the start with the settings that are not as they come; addresses without their passwords."""
    log = parts.dispatcher.log
    if not log.wants("info"):
        return
    from operator import attrgetter

    from ..redaction import without_userinfo
    from ..settings.config import SETTINGS

    config = parts.config
    changed = {
        setting.key: without_userinfo(str(attrgetter(setting.attribute)(config)))
        for setting in SETTINGS
        if config.sources.get(setting.attribute, "default") != "default"
    }
    log.write(
        "info",
        "started",
        private=True,
        adapter=parts.adapter.name,
        version=parts.adapter.version,
        transport=transport,
        mode=config.mode,
        policy=config.policy,
        settings=changed,
        process=os.getpid(),
    )


def _longest(config: Config) -> int:
    """Return the most bytes of a message: those of a request, escaped, and what is around it."""
    return config.max_request_size * _ESCAPES + _LINE_OVERHEAD


_WITHHELD = "a text that only log_level debug shows"


def adopt_libraries(logger: Logger) -> logging.Handler:
    """Send the records of every library to the logger's standard error. Returns the handler; close it to end this.

    Left alone, libraries would write to standard error by themselves: not as JSON, and waiting for whoever reads it.
    Unless the owner's level is debug, no handler, also of the owner's, gets the values that a library puts into a text.
    """
    return _LibraryHandler(logger)


class _LibraryHandler(logging.Handler):
    def __init__(self, logger: Logger) -> None:
        super().__init__(logger.handler.level)
        self._target = logger.handler
        self._own = f"{logger.name}."
        self._factory = logging.getLogRecordFactory()
        if not logger.tells_all:
            logging.setLogRecordFactory(self._made)
        logging.captureWarnings(True)
        root = logging.getLogger()
        root.addHandler(self)
        root.setLevel(self.level)

    def emit(self, record: logging.LogRecord) -> None:
        if not f"{record.name}.".startswith(self._own) and not isinstance(record, Record):  # ours have been there
            self._target.handle(record)

    def close(self) -> None:
        """Leave libraries alone."""
        logging.getLogger().removeHandler(self)
        logging.captureWarnings(False)
        logging.setLogRecordFactory(self._factory)
        super().close()

    def _made(self, name: str, level: int, path: str, number: int, message: Any, *more: Any, **also: Any) -> Any:
        """Return a record: of a library the text that stands in its code, without the values that it was given."""
        record = self._factory(name, level, path, number, message, *more, **also)
        if not f"{name}.".startswith(self._own):
            error = record.exc_info[1] if record.exc_info else None
            record.msg, record.args, record.exc_info = _code_text(record), (), None
            if error is not None:
                record.trace = trace_of(error, (), whole=False)
        return record


def _code_text(record: logging.LogRecord) -> str:
    """Return the text of a record as the code has it that logs it; of a Python warning the place and the category."""
    if record.name == "py.warnings":
        return ":".join(record.getMessage().split(":", 3)[:3])
    frame: FrameType | None = sys._getframe()
    while frame is not None and (frame.f_code.co_filename, frame.f_code.co_name) != (record.pathname, record.funcName):
        frame = frame.f_back
    is_literal = frame is not None and isinstance(record.msg, str) and record.msg in frame.f_code.co_consts
    return record.msg if is_literal else f"{_WITHHELD} ({record.module}:{record.lineno})"
