"""The command `trust`: who vouches for the adapter, and its promotion or demotion by one step (R-SAFE-2).

It is a command of the adapter's owner: no operation leads to it, and `trust.json` is theirs to commit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..assembly import audit_file
from ..errors import CommandError
from ..safety.audit import Audit
from ..settings.load import load, trust_file
from ..settings.trust import TRUST_FILE, TRUST_LEVELS, TrustRecord, changing, read_trust, write_trust
from ..table import Adapter
from ..text import iso_time, line


class Change(NamedTuple):
    """A change that somebody asks for: one level up or down."""

    up: bool
    by: str
    reason: str
    authority: str = ""
    certificate_id: str = ""
    expires_at: str = ""


def shown_trust(folder: Path, environ: Mapping[str, str]) -> str:
    """Return the level with its source and its history. Raises ConfigError."""
    return "\n".join(_lines(folder, environ))


def _lines(folder: Path, environ: Mapping[str, str]) -> Iterator[str]:
    config, path = load(folder, environ), trust_file(folder, environ)
    source = config.sources["trust_level"]
    record = config.trust
    if source == TRUST_FILE:
        yield f"{config.trust_level}, by {path}"
    elif source == "default":
        yield f"{config.trust_level}, the default: there is no {path}"
    else:
        yield f"{config.trust_level}, by trust_level in {source}; {path.name} says {record.level}"
    if source == TRUST_FILE and record.level != config.trust_level:
        yield f"Its certificate has expired: it is no longer {record.level}"
    for key in ("validated_at", "validated_by"):
        if record.entries.get(key):
            yield f"{key}: {line(record.entries[key], 200)}"
    certification = record.entries.get("certification") or {}
    if certification:
        yield f"certified by {line(certification['authority'], 200)}: {line(certification['certificate_id'], 200)}"
    for change in record.entries.get("promotion_history", ()):
        reason = f": {line(change['reason'], 300)}" if change.get("reason") else ""
        yield f"{change['at']}  {change['from']} → {change['to']}  by {line(change['by'], 200)}{reason}"


def change_trust(folder: Path, environ: Mapping[str, str], change: Change) -> str:
    """Promote or demote by one step, and return what to say of it. Raises CommandError and ConfigError."""
    for name, text in (("--by", change.by), ("--reason", change.reason)):
        if not text.strip() or not text.isprintable() or len(text) > 500:
            raise CommandError(f"{name} is missing, or is not a line of at most 500 characters")
    config, path = load(folder, environ), trust_file(folder, environ)
    try:
        with changing(path):
            record = read_trust(path) or TrustRecord()
            level = _next(record.level, change)
            entries = _entries(record, level, change)
            adapter = Adapter.load(folder)
            event = "TRUST_PROMOTED" if change.up else "TRUST_DEMOTED"
            details = {"from": record.level, "to": level, "by": change.by.strip(), "reason": change.reason.strip()}
            Audit(audit_file(config, adapter, environ), adapter=adapter.name).write(event, **details)
            write_trust(path, entries)
    except OSError as problem:
        raise CommandError(f"{problem.filename or path} cannot be written: {problem.strerror}") from None
    except ValueError as problem:
        raise CommandError(str(problem)) from None
    text = f"{record.level} → {level}, written to {path}. Commit it; an adapter that runs reads it at its next start."
    if config.sources["trust_level"] not in ("default", TRUST_FILE):
        text += f" In force stays {config.trust_level}, by trust_level in {config.sources['trust_level']}."
    return text


def _next(level: str, change: Change) -> str:
    """Return the level one step up or down. Raises CommandError."""
    word = "promoted" if change.up else "demoted"
    place = TRUST_LEVELS.index(level) + (1 if change.up else -1)
    if not 0 <= place < len(TRUST_LEVELS):
        raise CommandError(f"'{level}' is the {'highest' if change.up else 'lowest'} level: it cannot be {word}")
    return TRUST_LEVELS[place]


def _entries(record: TrustRecord, level: str, change: Change) -> dict[str, Any]:
    """Return the content of the file after a change. Raises CommandError."""
    now = iso_time(time.time())
    entry = {"from": record.level, "to": level, "at": now, "by": change.by.strip(), "reason": change.reason.strip()}
    entries = {**record.entries, "level": level}
    if change.up:
        entries["promoted_from"] = record.level
    if change.up and level == "validated":
        entries |= {"validated_at": now, "validated_by": change.by.strip()}
    entries["promotion_history"] = [*record.entries.get("promotion_history", ()), entry]
    if level == "certified":
        if not (change.authority and change.certificate_id):
            raise CommandError("'certified' needs a certification: --authority and --certificate-id")
        certification = {"authority": change.authority, "certificate_id": change.certificate_id, "issued_at": now}
        entries["certification"] = certification | ({"expires_at": change.expires_at} if change.expires_at else {})
    elif change.authority or change.certificate_id or change.expires_at:
        raise CommandError(f"a certification is of level 'certified' alone, and this is '{level}'")
    return entries
