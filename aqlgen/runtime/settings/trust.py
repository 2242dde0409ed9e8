"""Who vouches for the adapter: `trust.json` beside `adapter.toml`, the owner's file (trust levels, sections 3 and 4).

Without the file an adapter is `generated`, as it came from the generator; a file without a level says `untested`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Required, get_args

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from . import ConfigError, problem_of
from .types import Word, known_keys, requiring

TRUST_FILE = "trust.json"
_MAX_BYTES = 1024 * 1024
Level = Literal["untested", "generated", "validated", "community_reviewed", "certified"]
TRUST_LEVELS: tuple[str, ...] = get_args(Level)
TrustLevel = Annotated[Word[Level], BeforeValidator(lambda value: TRUST_LEVELS[0] if value == "" else value)]
"""A level of the settings; an empty text is the lowest."""


def _instant(text: str) -> datetime:
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _is_time(text: str) -> bool:
    try:
        return bool(_instant(text))
    except ValueError:
        return False


Text = Annotated[
    str,
    requiring(
        lambda text: text.strip() and len(text) <= 500 and text.isprintable(),
        "must be a text of one line, 500 characters or fewer",
    ),
]
Time = Annotated[Text, requiring(_is_time, "must be a time, such as 2026-01-15T10:00:00Z")]

Change = TypedDict(
    "Change",
    {"from": Required[Level], "to": Required[Level], "at": Required[Time], "by": Required[Text], "reason": Text},
    total=False,
)


class Certification(TypedDict, total=False):
    """Who certified the adapter, and until when."""

    authority: Required[Text]
    certificate_id: Required[Text]
    signature: Text
    issued_at: Time
    expires_at: Time
    scope: list[str]


class TrustFile(TypedDict, total=False):
    """The entries of `trust.json`."""

    level: Level
    generated_at: Time
    generated_by: Text
    validated_at: Time
    validated_by: Text
    validation_report: dict[str, Any]
    promoted_from: Level
    promotion_history: Annotated[list[Annotated[Change, known_keys(Change)]], Field(max_length=1000)]
    certification: Annotated[Certification, known_keys(Certification)] | None


class TrustRecord(NamedTuple):
    """The level with all that `trust.json` says, by the protocol's names; `entries` is empty where there is no file."""

    level: Level = "generated"
    entries: Mapping[str, Any] = {}

    @property
    def in_force(self) -> Level:
        """The level that counts now: a certificate that has expired certifies nothing."""
        expires = (self.entries.get("certification") or {}).get("expires_at")
        if self.level == "certified" and expires and _instant(expires) <= datetime.now(UTC):
            return "community_reviewed"
        return self.level

    def shown(self) -> dict[str, Any]:
        """Return the part of the record that agents see, beside the level: no names of people."""
        shown = {key: self.entries[key] for key in ("validated_at", "promoted_from") if self.entries.get(key)}
        certification = self.entries.get("certification")
        if certification and self.in_force == "certified":
            keys = ("authority", "certificate_id", "expires_at")
            shown["certification"] = {key: certification[key] for key in keys if key in certification}
        return shown


def is_there(path: Path) -> bool:
    """Return True if something is at a path, also a link that leads nowhere, or what may not be looked at."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def read_trust(path: Path) -> TrustRecord | None:
    """Read the file; None where there is none. Raises ConfigError with what is wrong, and what to do."""
    if not is_there(path):
        return None
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES)  # a longer one ends in the middle, and is not JSON then
    except OSError as problem:
        raise ConfigError(f"cannot read {path}: {problem.strerror}") from None
    try:
        return _record(json.loads(content.decode("utf-8-sig")))
    except (ValueError, RecursionError) as problem:
        help_text = f"Correct it or restore it from version control; without it the adapter is '{TrustRecord().level}'"
        raise ConfigError(f"{path.name} is not valid: {problem}. {help_text}") from None


def _record(entries: Mapping[str, Any]) -> TrustRecord:
    """Return the record if its entries are valid and agree. Raises ValueError."""
    try:
        TypeAdapter(Annotated[TrustFile, known_keys(TrustFile)]).validate_python(entries)
    except ValidationError as error:
        raise ValueError(problem_of(error)) from None
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
