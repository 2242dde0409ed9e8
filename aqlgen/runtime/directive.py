# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The answer to a reported step, and the notifications that it carries (specification, 8.7.1 and 8.7.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

__all__ = ["Notification", "directive", "now"]


def now() -> str:
    """Give the time as ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Notification(NamedTuple):
    """One event that waits for a person: `permission_pending` or `autonomy_pause`."""

    type: str
    message: str
    operation: str
    reason: str
    level: str
    timestamp: str

    def as_json(self) -> dict[str, Any]:
        """Give it as the directive shows it."""
        return {
            "type": self.type,
            "message": self.message,
            "metadata": {"operation": self.operation, "reason": self.reason, "level": self.level},
            "timestamp": self.timestamp,
        }


def directive(
    go: bool,
    factors: Sequence[str],
    *,
    reason: str | None = None,
    remaining: int | None = None,
    notifications: Iterable[Notification] = (),
) -> dict[str, Any]:
    """Make an AutonomyDirective: `continue` and `factors` always, the rest where there is something to say.

    `stopped` is never set: it belongs to hard blocks, which need out-of-band verification.
    """
    made: dict[str, Any] = {"continue": go, "factors": list(factors)}
    if reason is not None and not go:
        made["reason"] = reason
    if remaining is not None:
        made["stepsRemaining"] = remaining
    told = [one.as_json() for one in notifications]
    if told:
        made["notifications"] = told
    return made
