# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The file of the audit log: each entry holds the hash of the one before, so that no change in between goes unseen.

A hash is SHA-256 over the entry's line up to it. Who can write the file can write all of it anew, or cut off its end;
so `audit verify` shows the last hash, which somebody else may keep, and compares it with one that was kept. Entries are
appended one at a time, by whatever process, under the lock of a file beside it. A full file is renamed, and the chain
goes on in the next.
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
_ROTATED = re.compile(r"-\d{8}T\d{6}\d{0,6}Z")


class Chain:
    """Appends lines to the file at `path`. From `max_size` bytes on the file is renamed; 0: never.

    Of the renamed files the latest `keep` stay; 0: all.
    """

    def __init__(self, path: Path, *, max_size: int = 0, keep: int = 0) -> None:
        self.path = path
        self._max_size = max_size
        self._keep = keep

    def append(self, line: bytes) -> None:
        """Append an entry, a JSON object that is not empty, with its hashes. Raises OSError."""
        with _locked(self.path):
            with _opened(self.path) as file:
                size = os.fstat(file).st_size
                whole = _chained(line, _last_hash(file, size))
                if os.write(file, whole) != len(whole):
                    raise OSError("only a part of an entry was written")
            if self._max_size and size + len(whole) >= self._max_size:
                self._rotate(whole)

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

    With `goes_on` its first entry goes on from a file that is no longer there.
    """

    entries: int
    last: str
    problem: str = ""
    goes_on: bool = False


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
    files = chained_files(path)
    for file in files:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                place = f"{file.name}, line {number}"
                entries += 1
                end = _END.search(line, max(0, len(line) - _LONGEST_END))
                if end is None:
                    return Verdict(entries, last, f"{place}: the entry does not end with its hash")
                previous, stated = end[1].decode(), end[2].decode()
                if hashlib.sha256(_hashed(line, end)).hexdigest() != stated:
                    return Verdict(entries, last, f"{place}: the entry was changed")
                if not last:
                    goes_on = _CONTINUES.match(line) is not None
                if previous != (last or _START) and (last or not goes_on):
                    return Verdict(entries, last, f"{place}: an entry before it is missing or was changed")
                last = stated
                seen = seen or stated == kept
    if files and files[-1] != path:
        return Verdict(entries, last, f"{path.name}, which goes on after {files[-1].name}, is missing")
    if not seen:
        return Verdict(entries, last, "the hash that was kept is not in it: entries were cut off or written anew")
    return Verdict(entries, last, "", goes_on)


def _chained(line: bytes, previous: bytes) -> bytes:
    """Return the line of an entry with the hash of the one before and its own."""
    begin = line.rstrip()[:-1] + b',"previous":"' + previous + b'"'
    return begin + b',"hash":"' + hashlib.sha256(begin).hexdigest().encode() + b'"}\n'


def _hashed(line: bytes, end: re.Match[bytes]) -> bytes:
    return line[: end.start(2) - len(b',"hash":"')]


def _last_hash(file: int, size: int) -> bytes:
    """Return the hash of the last entry; of a file without one the hash of all that is in it."""
    if not size:
        return _START.encode()
    os.lseek(file, max(0, size - _LONGEST_END), os.SEEK_SET)
    ends = list(_END.finditer(os.read(file, _LONGEST_END)))
    return ends[-1][2] if ends else _START.encode()


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
