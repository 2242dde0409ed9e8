"""The audit log for a person: whether it is whole, and its last entries."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..assembly import audit_file
from ..errors import CommandError
from ..safety.audit import chained_files, verify
from ..settings.load import load
from ..table import Adapter
from ..text import counted, terminal_text


def audit_verdict(folder: Path, environ: Mapping[str, str], last: str = "") -> str:
    """Return the verdict on a log that is whole. Raises CommandError; `last` is a hash that was kept, "" for none."""
    path = _path(folder, environ)
    try:
        verdict = verify(path, last)
    except OSError as problem:
        raise CommandError(f"{path} cannot be read: {problem.strerror}") from None
    if verdict.problem:
        raise CommandError(f"{path} is not whole: {verdict.problem}")
    if not verdict.entries:
        raise CommandError(f"{path} has no entries: nothing was written yet, or the log was removed")
    files = counted(len(chained_files(path)), "file")
    entries = "1 entry" if verdict.entries == 1 else f"{verdict.entries:,} entries"
    start = "\nIt continues an earlier file that was deleted." if verdict.goes_on else ""
    keep = f"\nStore the last hash elsewhere, and give it next time: {verdict.last}" if verdict.last else ""
    end = (
        "" if last else "\nThat no entries are missing at the end is not shown: only --last with a kept hash shows it."
    )
    torn = "".join(f"\nA line was torn while it was written, and its entry is lost: {place}." for place in verdict.torn)
    return f"{path} is whole: {entries} in {files}{torn}{start}{end}{keep}"


def audit_tail(folder: Path, environ: Mapping[str, str], most: int) -> list[str]:
    """Return the last entries as they stand in the log, the newest last. Raises CommandError."""
    lines: list[str] = []
    try:
        for file in reversed(chained_files(_path(folder, environ))):
            text = terminal_text(file.read_text("utf-8", "replace").removesuffix("\n"))
            lines = [*filter(None, text.split("\n")[-most:]), *lines]
            if len(lines) >= most:
                break
    except OSError as problem:
        raise CommandError(f"{problem.filename} cannot be read: {problem.strerror}") from None
    return lines[-most:]


def _path(folder: Path, environ: Mapping[str, str]) -> Path:
    path = audit_file(load(folder, environ), Adapter.load(folder), environ)
    if path is None:
        raise CommandError("the audit log has no file: its entries are records of the log")
    return path if path.is_absolute() else Path(os.getcwd()) / path
