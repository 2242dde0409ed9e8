# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What an agent is told to do about a plan that halted."""

from __future__ import annotations

from ..errors import UNKNOWN_OUTCOME, Code, Failure
from .operation import RUN_STEPS

__all__ = ["advised"]


def advised(failure: Failure, token: str | None) -> str:
    """Return a failure's message with how to go on."""
    message = failure.message.partition(" To go on, call it again")[0].rstrip()
    if token is None:
        return message
    beside = ", confirmation_token" if "confirmation_token" in failure.details else ""
    advice = f"To go on: {RUN_STEPS} with continue{beside}; it begins with the failed call."
    if failure.details.get("outcome") == UNKNOWN_OUTCOME:
        advice = (
            f"To go on: find out whether it was carried out, then {RUN_STEPS} with continue and unknown: 'skip' if it "
            "was, 'repeat' if it was not."
        )
    elif failure.code is Code.CONFIRMATION_REQUIRED:
        advice = f"To go on: {RUN_STEPS} with continue{beside}; do so only if your user wants this."
    return f"{message} {advice}"
