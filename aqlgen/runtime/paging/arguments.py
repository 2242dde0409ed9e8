# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Which of `first`, `after`, `last` and `before` go together (pagination document, 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Code, Failure

__all__ = ["check"]

_CONFLICTS = (
    ("first", "last", "Use 'first' for forward pagination or 'last' for backward pagination"),
    ("first", "before", "Use 'before' with 'last'"),
    ("last", "after", "Use 'after' with 'first'"),
    ("after", "before", "Use 'after' with 'first', or 'before' with 'last'"),
)


def check(own: Mapping[str, Any], hidden: list[str]) -> None:
    """Refuse what does not go together."""
    asked = [name for name in ("first", "after", "last", "before") if name in own]
    for one, other, hint in _CONFLICTS:
        if one in own and other in own:
            raise _conflict(f"Cannot use '{one}' and '{other}' together", [one, other], hint)
    for one, other in (("after", "first"), ("before", "last")):
        if one in own and other not in own:
            raise _conflict(f"Cannot use '{one}' without '{other}'", [one], f"Give '{other}' too: how many items")
    if asked and hidden:
        raise _conflict(
            f"Cannot use '{asked[0]}' and '{hidden[0]}' together",
            [*asked, *hidden],
            "Page with 'first' and 'after' alone: the adapter asks the API for its pages",
        )


def _conflict(message: str, provided: list[str], hint: str) -> Failure:
    details = {
        "param_name": "pagination",
        "expected_type": "valid pagination combination",
        "actual_type": "conflicting parameters",
        "provided": provided,
        "hint": hint,
    }
    return Failure(Code.INVALID_TYPE, f"{message}. {hint}.", details)
