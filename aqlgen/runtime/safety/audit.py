"""The audit log (R-SAFE-5): a JSON line for each decision about a call that is no plain read, and its end.

A line is written whole, by one system call, before the call goes on: if it cannot be written, the call does not run.
The log never holds credentials, what has the shape of one, or values of parameters that are sensitive or have the name
of a secret; of a token it holds only the beginning.

Each entry holds the hash of the one before, so that no change in between goes unseen: SHA-256 over the entry's line up
to it. Who can write the file can replace all of it, or cut off its end; so `audit verify` shows the last hash, which
somebody else may keep, and compares it with one that was kept. Entries are appended one at a time, by whatever process,
under the lock of a file beside it. A full file is renamed, and the chain goes on in the next. A line that a crash tore
stays as it is; the entry behind it has the hash of what is left of it, and goes on from the last entry that is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..exact_json import write_json
from ..hooks import Call
from ..logs import Logger, without_shapes_in
from ..redaction import MASK, redacted
from ..session import current_caller, current_request
from ..table import Row
from ..text import escaped, folded, iso_time
from .question_texts import SecretNames, secret_names

if TYPE_CHECKING:
    from ..schema import Types

_START = "0" * 64
_END = re.compile(rb',"previous":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}\n\Z')
_LONGEST_END = 200
_CONTINUES = re.compile(rb'\{"timestamp":"[^"]*","event":"AUDIT_CONTINUED","after":"')
_REPAIRED = re.compile(rb'\{"timestamp":"[^"]*","event":"AUDIT_REPAIRED","torn":"([0-9a-f]{64})"')
_ROTATED = re.compile(r"-\d{8}T\d{6}\d{0,6}Z")


class Chain:
    """Appends lines to the file at `path`. From `max_size` bytes on the file is renamed; 0: never."""

    def __init__(self, path: Path, *, max_size: int = 0) -> None:
        self.path = path
        self._max_size = max_size

    def append(self, line: bytes = b"") -> int:
        """Append an entry, a JSON object that is not empty, with its hashes. Raises OSError.

        Return how many bytes were left of a line that was torn: an entry about them comes first, alone without `line`.
        """
        if not line and not self.path.is_file():
            return 0
        with _locked(self.path):
            with _opened(self.path) as file:
                size = os.fstat(file).st_size
                last, torn = _end_of(file, size)
                written = b""
                if torn and _is_whole(torn + b"\n"):  # it lacks nothing but its end
                    written, last, torn = b"\n", torn[-66:-2], b""
                elif torn:
                    written = b"\n" + _chained(_about(torn), last)
                    last = written[-67:-3]
                written += _chained(line, last) if line else b""
                if os.write(file, written) != len(written):
                    with suppress(OSError):
                        os.ftruncate(file, size)
                    raise OSError("only a part of an entry was written")
            if line and self._max_size and size + len(written) >= self._max_size:
                self._rotate(written)
        return len(torn)

    def _rotate(self, last: bytes) -> None:
        """Rename the full file, and begin the next with an entry that goes on from its last hash."""
        now = datetime.now(UTC)
        aside = self.path.with_name(f"{self.path.stem}-{now:%Y%m%dT%H%M%S%f}Z{self.path.suffix}")
        os.replace(self.path, aside)
        end = _END.search(last)
        entry = {
            "timestamp": iso_time(now.timestamp(), "milliseconds"),
            "event": "AUDIT_CONTINUED",
            "after": aside.name,
        }
        line = json.dumps(entry, separators=(",", ":")).encode()
        with _opened(self.path) as file:
            os.write(file, _chained(line, end[2] if end else _START.encode()))


class Verdict(NamedTuple):
    """What a chain is worth: its entries, its last hash, and where it breaks first, "" if it does not.

    With `goes_on` its first entry goes on from a file that is no longer there. `torn` are the places of lines of which
    only a part was written.
    """

    entries: int
    last: str
    problem: str = ""
    goes_on: bool = False
    torn: tuple[str, ...] = ()


def chained_files(path: Path) -> list[Path]:
    """Return the files of a log, the oldest first."""
    aside = [
        other
        for other in path.parent.glob(f"{path.stem}-*{path.suffix}")
        if _ROTATED.fullmatch(other.name[len(path.stem) : len(other.name) - len(path.suffix)])
    ]
    return [*sorted(aside), *([path] if path.exists() else [])]


def verify(path: Path, kept: str = "") -> Verdict:
    """Follow the chain of a log through all its files; with `kept`, a hash of it must have been there. OSError."""
    walk = _Walk(kept)
    files = chained_files(path)
    for file in files:
        with file.open("rb") as lines:
            problem = walk.follow(file.name, lines)
        if problem:
            return Verdict(walk.entries, walk.last, problem)
    if files and files[-1] != path:
        return Verdict(walk.entries, walk.last, f"{path.name}, which goes on after {files[-1].name}, is missing")
    if kept and not walk.seen:
        problem = "the stored hash is not in it: entries were removed or rewritten"
        return Verdict(walk.entries, walk.last, problem)
    return Verdict(walk.entries, walk.last, "", walk.goes_on, tuple(walk.torn))


class _Walk:
    """A walk along a chain, from file to file: what was found so far."""

    def __init__(self, kept: str) -> None:
        self.last = ""
        self.entries = 0
        self.goes_on = False
        self.seen = False
        self.torn: list[str] = []
        self._kept = kept

    def follow(self, name: str, lines: Iterable[bytes]) -> str:
        """Follow the chain through a file, and return what is wrong with it, "" for nothing.

        A line that is not whole was torn if the entry behind it has the hash of it; else the chain is broken there.
        """
        broken, left = "", ""
        for number, line in enumerate(lines, 1):
            place = f"{name}, line {number}"
            repaired = _REPAIRED.match(line)
            if repaired is not None and not broken:
                broken = f"{place}: the rest of a torn line before it is missing"
            if broken and (repaired is None or repaired[1].decode() != left):
                break
            end = _END.search(line, max(0, len(line) - _LONGEST_END))
            if end is None or not _is_whole(line):
                self.entries += 1
                reason = "the entry does not end with its hash" if end is None else "the entry was changed"
                broken, left = f"{place}: {reason}", hashlib.sha256(line[:-1]).hexdigest()
                continue
            if broken:
                self.torn.append(broken.partition(":")[0])
                broken = ""
            else:
                self.entries += 1
            if not self._takes(line, *end.groups()):
                return f"{place}: an entry before it is missing or was changed"
        return broken

    def _takes(self, line: bytes, previous: bytes, stated: bytes) -> bool:
        """Take an entry as the next one; False if it has the hash of another one than the last."""
        if not self.last:
            self.goes_on = _CONTINUES.match(line) is not None
        if previous.decode() != (self.last or _START) and (self.last or not self.goes_on):
            return False
        self.last = stated.decode()
        self.seen = self.seen or self.last == self._kept
        return True


def _chained(line: bytes, previous: bytes) -> bytes:
    """Return the line of an entry with the hash of the one before and its own."""
    begin = line.rstrip()[:-1] + b',"previous":"' + previous + b'"'
    return begin + b',"hash":"' + hashlib.sha256(begin).hexdigest().encode() + b'"}\n'


def _is_whole(line: bytes) -> bool:
    """Return True for an entry that ends with its hash."""
    end = _END.search(line, max(0, len(line) - _LONGEST_END))
    if end is None:
        return False
    hashed = line[: end.start(2) - len(b',"hash":"')]
    return hashlib.sha256(hashed).hexdigest().encode() == end[2]


def _end_of(file: int, size: int) -> tuple[bytes, bytes]:
    """Return the hash of a file's last line, zeros without one, and what is left of one that was torn behind it."""
    tail, begin = b"", size
    while begin and tail.rfind(b"\n") < _LONGEST_END:
        begin = max(0, begin - 2 * (len(tail) + _LONGEST_END))
        os.lseek(file, begin, os.SEEK_SET)
        tail = os.read(file, size - begin)
    line, _, torn = tail.rpartition(b"\n")
    end = _END.search(line[-_LONGEST_END:] + b"\n") if line else None
    return end[2] if end else _START.encode(), torn


def _about(torn: bytes) -> bytes:
    """Return the entry about what is left of a line."""
    entry = {
        "timestamp": iso_time(datetime.now(UTC).timestamp(), "milliseconds"),
        "event": "AUDIT_REPAIRED",
        "torn": hashlib.sha256(torn).hexdigest(),
        "bytes": len(torn),
    }
    return json.dumps(entry, separators=(",", ":")).encode()


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a file to append to; it and its folder are made if need be, for their owner alone."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
    try:
        file = os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, flags, 0o600)
    try:
        yield file
    finally:
        os.close(file)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes from appending. What is not a regular file, such as a pipe, has no entry before its next."""
    try:
        import fcntl
    except ImportError:  # Windows: one process writes a log
        yield
        return
    if path.exists() and not path.is_file():
        yield
        return
    with _opened(path.with_name(f".{path.name}.lock")) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


_KEPT_OUT = re.compile(r"iban", re.IGNORECASE)
"""Names of what people have to see in a question, and the log has not to keep."""
_BY_NAME = SecretNames()
_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode
_QUOTING = frozenset({"params", "action", "element_name", "factors", "reason", "token_id"})
"""Keys of entries whose values quote callers and hooks: the log shows them at level debug alone."""
_LONGEST = 300
_MOST_ITEMS = 50


class Audit:
    """Appends entries to the file at `path`; without a path, writes them to the log, as records of level notice.

    There they have no parameters and no reasons, unless the log is of level debug.
    """

    def __init__(
        self,
        path: Path | None = None,
        logger: Logger | None = None,
        *,
        adapter: str = "",
        secrets: Callable[[], Iterable[str]] = tuple,
        max_size: int = 0,
    ) -> None:
        self.path = path
        self._chain: Chain | None = None
        if path is not None:
            self._chain = Chain(path, max_size=max_size)
        self._logger = logger
        self._adapter = adapter
        self._secrets = secrets

    def write(self, event: str, **details: Any) -> None:
        """Write one entry; keys without a value are left out. Raises OSError when it cannot be written."""
        now = iso_time(time.time(), "milliseconds")
        details = {"request_id": current_request(), **details, "caller": current_caller()}
        known = {key: value for key, value in details.items() if value is not None}
        if self._chain is None:
            if self._logger is not None:
                if not self._logger.tells_all:
                    known = {key: value for key, value in known.items() if key not in _QUOTING}
                self._logger.write("notice", event, logger="audit", private=True, **known)
            return
        entry = {"timestamp": now, "event": event, "adapter_name": self._adapter, **known}
        line = escaped(write_json(without_shapes_in(redacted(entry, self._secrets())), _encode))
        self._append(line.encode("utf-8", "backslashreplace"))

    def repair(self) -> None:
        """Write an entry about a line that was torn when the last process ended, if one was."""
        with suppress(OSError):  # the first entry that cannot be written is refused, and says so
            self._append(b"")

    def _append(self, line: bytes) -> None:
        torn = 0 if self._chain is None else self._chain.append(line)
        if torn and self._logger is not None:
            text = "a line of the audit log was torn while it was written: its entry is lost, those behind it are not"
            self._logger.write("warning", text, trace={"bytes left": str(torn)})

    def record(self, event: str, details: Mapping[str, Any]) -> None:
        """Write an entry about something that has already happened: a fault is only logged."""
        try:
            self.write(event, **details)
        except OSError as error:
            if self._logger is not None:
                self._logger.write("critical", "the audit log cannot be written", trace={"error": str(error)})


class Decisions:
    """The entries about decisions on calls, each written before it is acted upon.

    `types` returns the table's types. `trust` is the adapter's trust level, `trust_source` the setting that states it,
    None for its record.
    """

    def __init__(
        self,
        audit: Audit,
        logger: Logger,
        adapter: str,
        types: Callable[[], Types],
        trust: str | None = None,
        trust_source: str | None = None,
    ) -> None:
        self.audit = audit
        self._logger = logger
        self._adapter = adapter
        self._types = types
        self._trust = {"adapter_trust": trust, "trust_source": trust_source}

    def record(self, event: str, row: Row, call: Call, result: str, **more: Any) -> None:
        """Write an entry about a call. Raises Failure when it cannot be written."""
        try:
            params = masked_params(row, call.params, self._types())
            about = self._about(row, call.session_id, call.request_id)
            self.audit.write(event, **about, result=result, params=params, **more)
        except OSError as error:
            from .refusals import unwritable

            self._logger.write("critical", "the audit log cannot be written", trace={"error": str(error)})
            raise unwritable(row, call.request_id) from None

    def note(self, event: str, row: Row, session_id: str | None, request_id: str, **more: Any) -> None:
        """Write an entry about a call that has already ended: a fault is only logged."""
        self.audit.record(event, {**self._about(row, session_id, request_id), **more})

    def _about(self, row: Row, session_id: str | None, request_id: str) -> dict[str, Any]:
        about = {"operation": row.name, "endpoint": row.family, "danger_level": row.danger, **self._trust}
        return {**about, "session_id": session_id, "request_id": request_id}

    def revoked(self, session_id: str | None, unused: set[str]) -> None:
        """Record, when a session ends, how many of its tokens nobody can use any more."""
        if unused:
            details = {"session_id": session_id, "tokens": len(unused), "reason": "the session ended"}
            self.audit.record("TOKEN_REVOKED", details)


def masked_params(row: Row, params: Mapping[str, Any], types: Types) -> dict[str, Any]:
    """Return the parameters of a call as they may be kept: secrets masked, long values cut."""
    secrets = secret_names(row, types)
    return {
        name: MASK if name in row.parameters and row.parameters[name].sensitive else masked(name, value, secrets)
        for name, value in params.items()
    }


def holds_secret(row: Row, params: Mapping[str, Any], types: Types) -> bool:
    """Return True for parameters, in whatever spelling a call may give them, among which is a secret."""
    sensitive = [parameter for parameter in row.parameters.values() if parameter.sensitive]
    names = {*secret_names(row, types).declared, *(name for each in sensitive for name in (each.name, each.wire))}
    secrets, todo = {folded(name) for name in names}, list[Any]([params])
    while todo:
        value = todo.pop()
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
            with suppress(ValueError, RecursionError):
                value = json.loads(value)
        if isinstance(value, Mapping):
            if any(folded(key) in secrets or masked(key, None) == MASK for key in map(str, value)):
                return True
            todo += value.values()
        elif isinstance(value, list):
            todo += value
    return False


def masked(name: str, value: Any, secrets: SecretNames = _BY_NAME) -> Any:
    """Return a value as it may be kept, by its name and the names of fields that are secrets."""
    if name in secrets or _KEPT_OUT.search(name):
        return MASK
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}… ({len(value)} characters)"
    if isinstance(value, Mapping):
        return {key: masked(str(key), inner, secrets) for key, inner in list(value.items())[:_MOST_ITEMS]}
    if isinstance(value, (list, tuple)):
        kept = [masked("", item, secrets) for item in value[:_MOST_ITEMS]]
        return kept if len(value) <= _MOST_ITEMS else [*kept, f"… ({len(value)} in all)"]
    return value
