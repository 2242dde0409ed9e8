# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The file of the audit log: each entry holds the hash of the one before, so that no change in between goes unseen.

A hash is SHA-256 over the entry's line up to it. Who can write the file can write all of it anew, or cut off its end;
so `audit verify` shows the last hash, which somebody else may keep, and compares it with one that was kept. Entries are
appended one at a time, by whatever process, under the lock of a file beside it. A full file is renamed, and the chain
goes on in the next. A line that a crash tore stays as it is; the entry behind it has the hash of what is left of it,
and goes on from the last entry that is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ..text import iso_time

__all__ = ["Chain", "Verdict", "chained_files", "verify"]

_START = "0" * 64
_END = re.compile(rb',"previous":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}\n\Z')
_LONGEST_END = 200
_CONTINUES = re.compile(rb'\{"timestamp":"[^"]*","event":"AUDIT_CONTINUED","after":"')
_REPAIRED = re.compile(rb'\{"timestamp":"[^"]*","event":"AUDIT_REPAIRED","torn":"([0-9a-f]{64})"')
_ROTATED = re.compile(r"-\d{8}T\d{6}\d{0,6}Z")


class Chain:
    """Appends lines to the file at `path`. From `max_size` bytes on the file is renamed; 0: never.

    Of the renamed files the latest `keep` stay; 0: all.
    """

    def __init__(self, path: Path, *, max_size: int = 0, keep: int = 0) -> None:
        self.path = path
        self._max_size = max_size
        self._keep = keep

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
        if self._keep:
            for old in chained_files(self.path)[: -1 - self._keep]:
                with suppress(OSError):
                    old.unlink()


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
    last, entries, seen, goes_on = "", 0, not kept, False
    torn: list[str] = []
    files = chained_files(path)
    for file in files:
        broken, left = "", ""
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                place = f"{file.name}, line {number}"
                repaired = _REPAIRED.match(line)
                if repaired is not None and not broken:
                    broken = f"{place}: what was left of a torn line is missing before it"
                if broken and (repaired is None or repaired[1].decode() != left):
                    break
                entries += 1
                end = _END.search(line, max(0, len(line) - _LONGEST_END))
                if end is None or not _is_whole(line):
                    reason = "the entry does not end with its hash" if end is None else "the entry was changed"
                    broken, left = f"{place}: {reason}", hashlib.sha256(line[:-1]).hexdigest()
                    continue
                if broken:
                    torn.append(broken.partition(":")[0])
                    broken, entries = "", entries - 1
                previous, stated = end[1].decode(), end[2].decode()
                if not last:
                    goes_on = _CONTINUES.match(line) is not None
                if previous != (last or _START) and (last or not goes_on):
                    return Verdict(entries, last, f"{place}: an entry before it is missing or was changed")
                last = stated
                seen = seen or stated == kept
        if broken:
            return Verdict(entries, last, broken)
    if files and files[-1] != path:
        return Verdict(entries, last, f"{path.name}, which goes on after {files[-1].name}, is missing")
    if not seen:
        return Verdict(entries, last, "the hash that was kept is not in it: entries were cut off or written anew")
    return Verdict(entries, last, "", goes_on, tuple(torn))


def _chained(line: bytes, previous: bytes) -> bytes:
    """Return the line of an entry with the hash of the one before and its own."""
    begin = line.rstrip()[:-1] + b',"previous":"' + previous + b'"'
    return begin + b',"hash":"' + hashlib.sha256(begin).hexdigest().encode() + b'"}\n'


def _hashed(line: bytes, end: re.Match[bytes]) -> bytes:
    return line[: end.start(2) - len(b',"hash":"')]


def _is_whole(line: bytes) -> bool:
    """Return True for an entry that ends with its hash."""
    end = _END.search(line, max(0, len(line) - _LONGEST_END))
    return end is not None and hashlib.sha256(_hashed(line, end)).hexdigest().encode() == end[2]


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
    """Keep other processes from appending. What is no regular file, such as a pipe, has no entry before its next."""
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
