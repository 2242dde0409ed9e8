# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What an execution carries: pauses, approvals, operations that may run, notifications (specification, 8.7.3)."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from ...text import iso_time

__all__ = ["Approved", "Granted", "Notification", "Pause", "timestamp"]


def timestamp() -> str:
    """Return the current time in ISO 8601."""
    return iso_time(time.time(), "milliseconds")


class Notification(NamedTuple):
    """An event that waits for a person: `permission_pending`, `autonomy_pause` or `danger_zone` (8.7.3)."""

    type: str
    message: str
    operation: str
    reason: str
    level: str
    timestamp: str
    verification: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the notification as the directive shows it."""
        metadata = {"operation": self.operation, "reason": self.reason, "level": self.level}
        if self.verification:
            metadata["verificationId"] = self.verification
        return {
            "type": self.type,
            "message": self.message,
            "metadata": {key: value for key, value in metadata.items() if value},
            "timestamp": self.timestamp,
        }


class Pause(NamedTuple):
    """An action that waits for a person.

    `level` says what lifts the pause: a confirmation (confirm), a code (verify), or a code or an operator for the block
    that is in the store (danger_zone). `id` is that of the challenge where there is one. `digest` is of the operation
    that was reported, "" for none, and `reported` shows it with its parameters. A pause of level verify ends at
    `until`, in seconds since the epoch.
    """

    id: str
    level: str
    action: str
    digest: str
    reason: str
    factors: tuple[str, ...]
    notification: Notification
    until: float = 0.0
    reported: str = ""

    @classmethod
    def restored(cls, values: list[Any]) -> Pause:
        """Return it as it was stored."""
        pause = cls(*values)
        return pause._replace(factors=tuple(pause.factors), notification=Notification(*pause.notification))


class Approved(NamedTuple):
    """An action that a person has let through once: the hint as patterns match it, the digest of what it reports."""

    action: str
    digest: str
    factor: str
    verified: bool = False


class Granted(NamedTuple):
    """An operation that was reported and may run once, with these parameters, until a time since the epoch."""

    operation: str
    digest: str
    until: float
