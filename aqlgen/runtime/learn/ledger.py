"""The ledger of what an observation writes at the API, so that all of it is taken back, also after a crash (R-LEARN-2).

It is a file of JSON lines beside the adapter's state: an entry is on the disk before the request is sent, and closed
once nothing of it is left at the API. It holds no credential.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from ..exact_json import read_json, write_json

_LONGEST = 20_000_000
"""The bytes of a ledger that is read; one file holds what a single run leaves."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What was written at one place. `values` fill the placeholders of the operation's path, in order.

    The thing that a create made has the `marker` in one of its `fields`, by the API's names. `item` is its identifier,
    None as long as it is unknown, `copies` says how many there may be, and `before` how many things its list had, None
    if that is unknown. A change of a resource of the owner has its `original`: the fields that an update can write, as
    they were read.
    """

    number: int
    operation: str
    base: str
    """A digest of the address of the API: nothing is taken back at another one."""
    values: tuple[str, ...]
    marker: str = ""
    fields: tuple[str, ...] = ()
    item: str | None = None
    copies: int = 1
    before: int | None = None
    original: Mapping[str, Any] | None = None


class Ledger:
    """The entries that are open, by number; one process at a time has the file.

    Raises ValueError where another process has it, or it cannot be read as a ledger, and OSError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: dict[int, Entry] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            self._lock()
            self._read()
        except BaseException:
            os.close(self._file)
            raise
        self._last = max(self.entries, default=0)

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # Windows: one person observes
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ValueError(f"another process observes this API: {self.path} is in use") from None

    def _read(self) -> None:
        content = self.path.read_bytes()
        if len(content) > _LONGEST:
            raise ValueError(f"{self.path} is not a ledger of an observation: it is too long")
        os.ftruncate(self._file, content.rfind(b"\n") + 1)  # a line that was broken off was never acted on
        for text in content.split(b"\n")[:-1]:
            try:
                fields = read_json(text)
                entry = Entry(**{**fields, "values": tuple(fields["values"]), "fields": tuple(fields["fields"])})
            except (ValueError, TypeError, KeyError, RecursionError):
                raise ValueError(f"{self.path} is not a ledger of an observation; check it, then remove it") from None
            self._keep(entry)

    def _keep(self, entry: Entry) -> None:
        if entry.copies:
            self.entries[entry.number] = entry
        else:
            self.entries.pop(entry.number, None)

    def begin(self, **fields: Any) -> Entry:
        """Write down what is about to be sent, and return its entry."""
        self._last += 1
        return self.write(Entry(**{**fields, "number": self._last}))

    def write(self, entry: Entry, **changes: Any) -> Entry:
        """Write an entry down as it is from now on, and return it; one without copies is closed."""
        entry = replace(entry, **changes)
        line = f"{write_json(asdict(entry))}\n".encode()
        if os.write(self._file, line) != len(line):
            raise OSError(f"{self.path} cannot be written: the disk is full")
        os.fsync(self._file)
        self._keep(entry)
        return entry

    def done(self, entry: Entry) -> None:
        """Close an entry: nothing of it is left at the API."""
        self.write(entry, copies=0, original=None)

    def close(self) -> None:
        """Close the file, and empty it where nothing is open."""
        if not self.entries:
            os.ftruncate(self._file, 0)
        os.close(self._file)
