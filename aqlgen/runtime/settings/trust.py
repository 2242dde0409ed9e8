# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Who vouches for the adapter: `trust.json` beside `adapter.toml`, the owner's file (trust levels, sections 3 and 4).

Without the file an adapter is `generated`, as it came from the generator; a file without a level says `untested`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from .parsers import TRUST_LEVELS

__all__ = ["TRUST_FILE", "TrustRecord", "changing", "read_trust", "write_trust"]

TRUST_FILE = "trust.json"
_MAX_BYTES = 1024 * 1024
_MOST_CHANGES = 1000
_LONGEST = 500


class TrustRecord(NamedTuple):
    """The level with all that `trust.json` says, by the protocol's names; `entries` is empty where there is no file."""

    level: str = "generated"
    entries: Mapping[str, Any] = {}

    @property
    def in_force(self) -> str:
        """The level that counts now: a certificate that has expired certifies nothing."""
        expires = (self.entries.get("certification") or {}).get("expires_at")
        if self.level == "certified" and expires and _instant(expires) <= datetime.now(UTC):
            return "community_reviewed"
        return self.level

    def shown(self) -> dict[str, Any]:
        """Return what agents are shown of it, beside the level: no names of people."""
        shown = {key: self.entries[key] for key in ("validated_at", "promoted_from") if self.entries.get(key)}
        certification = self.entries.get("certification")
        if certification and self.in_force == "certified":
            keys = ("authority", "certificate_id", "expires_at")
            shown["certification"] = {key: certification[key] for key in keys if key in certification}
        return shown


def read_trust(path: Path) -> TrustRecord | None:
    """Read the file; None where there is none. Raises ValueError with what is wrong, and what to do."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES)  # a longer one ends in the middle, and is no JSON then
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise ValueError(f"cannot read {path}: {problem.strerror}") from None
    try:
        entries = json.loads(content.decode("utf-8-sig"))
        _check_table(entries, _KEYS, "")
        return _record(entries)
    except (ValueError, RecursionError) as problem:
        help_text = f"Correct it or restore it from version control; without it the adapter is '{TrustRecord().level}'"
        raise ValueError(f"{path.name} is not valid: {problem}. {help_text}") from None


def _record(entries: Mapping[str, Any]) -> TrustRecord:
    """Return the record if its entries agree. Raises ValueError."""
    level = entries.get("level", TRUST_LEVELS[0])
    changes = entries.get("promotion_history", [])
    for change, following in pairwise(changes):
        if change["to"] != following["from"]:
            raise ValueError(f"its history goes to '{change['to']}', and on from '{following['from']}'")
    for change in changes:
        if TRUST_LEVELS.index(change["to"]) - TRUST_LEVELS.index(change["from"]) not in (1, -1, -2, -3, -4):
            raise ValueError(f"its history goes from '{change['from']}' to '{change['to']}'; a promotion is one step")
    if changes and changes[-1]["to"] != level:
        raise ValueError(f"its level is '{level}', and its history ends at '{changes[-1]['to']}'")
    certification = entries.get("certification")
    if level == "certified" and not certification:
        raise ValueError("'certified' needs a certification with authority and certificate_id")
    return TrustRecord(level, entries)


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Keep other processes from changing the file meanwhile, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows: one person changes it
        yield
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def write_trust(path: Path, entries: Mapping[str, Any]) -> TrustRecord:
    """Replace the file as a whole and return its record. Raises OSError, and ValueError for entries that are wrong."""
    _check_table(entries, _KEYS, "")
    record = _record(entries)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("w", encoding="utf-8") as file:
            file.write(json.dumps(entries, indent=2, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return record


# The form of the file: for each key a function that raises ValueError with the end of a sentence.


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _text(value: Any) -> None:
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST or not value.isprintable():
        raise ValueError(f"must be a text of one line, {_LONGEST} characters or fewer")


def _time(value: Any) -> None:
    _text(value)
    try:
        _instant(value)
    except ValueError:
        raise ValueError("must be a time, such as 2026-01-15T10:00:00Z") from None


def _level(value: Any) -> None:
    if value not in TRUST_LEVELS:
        raise ValueError(f"must be one of {', '.join(TRUST_LEVELS)}")


def _report(value: Any) -> None:
    if not isinstance(value, dict):
        raise ValueError("must be an object")  # noqa: TRY004 - as of all parsers


def _scope(value: Any) -> None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a list of texts")


def _certification(value: Any) -> None:
    if value is not None:
        _check_table(value, _CERTIFICATION, "certification.", ("authority", "certificate_id"))


def _history(value: Any) -> None:
    if not isinstance(value, list) or len(value) > _MOST_CHANGES:
        raise ValueError(f"must be a list of {_MOST_CHANGES} changes or fewer")
    for position, change in enumerate(value):
        _check_table(change, _CHANGE, f"promotion_history[{position}].", ("from", "to", "at", "by"))


_Check = Callable[[Any], None]
_CHANGE: Mapping[str, _Check] = {"from": _level, "to": _level, "at": _time, "by": _text, "reason": _text}
_CERTIFICATION: Mapping[str, _Check] = {
    "authority": _text,
    "certificate_id": _text,
    "signature": _text,
    "issued_at": _time,
    "expires_at": _time,
    "scope": _scope,
}
_KEYS: Mapping[str, _Check] = {
    "level": _level,
    "generated_at": _time,
    "generated_by": _text,
    "validated_at": _time,
    "validated_by": _text,
    "validation_report": _report,
    "promoted_from": _level,
    "promotion_history": _history,
    "certification": _certification,
}


def _check_table(table: Any, keys: Mapping[str, _Check], where: str, required: tuple[str, ...] = ()) -> None:
    """Raise ValueError for what is no object with these keys, each of its form."""
    if not isinstance(table, dict):
        raise ValueError(f"'{where[:-1]}' must be an object" if where else "it must be an object")  # noqa: TRY004
    missing = [key for key in required if key not in table]
    if missing:
        raise ValueError(f"'{where}{missing[0]}' is missing")
    for key, value in table.items():
        if key not in keys:
            raise ValueError(f"'{where}{key[:80]}' is no key of it; there are {', '.join(keys)}")
        try:
            keys[key](value)
        except ValueError as problem:
            text = str(problem)
            raise ValueError(text if text.startswith("'") else f"'{where}{key}' {text}") from None
