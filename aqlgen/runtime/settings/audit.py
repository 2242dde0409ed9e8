# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of the audit log."""

from __future__ import annotations

from typing import NamedTuple

from . import parsers
from .parsers import Whole
from .setting import collected, setting

__all__ = ["AUDIT_SETTINGS", "AuditSettings"]

MIB = 1024 * 1024


class AuditSettings(NamedTuple):
    """The table `[audit]`."""

    path: str = setting(
        "",
        "audit.path",
        "AUDIT_PATH",
        parsers.audit_path,
        "File of the audit log: a JSON line for each decision about an operation that is destructive or worse, and its "
        'end. Empty: audit.jsonl beside the state. "off", or empty with state in memory: records of the log, level '
        "notice.",
    )
    max_size: int = setting(
        100 * MIB,
        "audit.max_size",
        "AUDIT_MAX_SIZE",
        Whole(0, 1024 * MIB),
        "Bytes from which on the audit log is renamed, with the time in its name, and begun anew, {allowed}; 0: never.",
    )
    keep: int = setting(
        0, "audit.keep", "AUDIT_KEEP", Whole(0, 10_000), "Most renamed audit logs that stay, {allowed}; 0: all."
    )


AUDIT_SETTINGS = collected(AuditSettings._fields, "audit.")
"""The settings of `Config.audit`."""
