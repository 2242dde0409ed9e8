"""Whether the aliases that the user gave can be, once every operation has its name."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Final

from aqlgen.decisions import Alias, Decision
from aqlgen.diagnostics import Diagnostic, Severity

from .findings import finding

__all__ = ["EXPIRED", "check_aliases"]

EXPIRED: Final = "expired-alias"
_TAKEN: Final = "Leave it out, or give that operation another `name`."
_OVER: Final = "Take it out of the overrides, or give it a later `until`."


def check_aliases(decisions: Iterable[Decision], file: str, today: date) -> list[Diagnostic]:
    """Find aliases that an operation has as its name, and those whose time is over; `decisions` are those served."""
    served = list(decisions)
    owners = {one.name: one.operation.key for one in served}
    found = []
    for decision in served:
        for alias in decision.override.aliases:
            owner = owners.get(alias.name)
            if owner is not None:
                whose = f"the own name of {owner}" if owner == decision.operation.key else f"taken by {owner}"
                found.append(finding(file, alias.place, f"the alias `{alias.name}` is {whose}", _TAKEN))
            elif alias.until is not None and alias.until < today:
                found.append(_expired(file, alias, decision.operation.key))
    return found


def _expired(file: str, alias: Alias, key: str) -> Diagnostic:
    message = f"the time of the alias `{alias.name}` of {key} ended with {alias.until}"
    line, column = alias.place
    return Diagnostic(EXPIRED, Severity.WARNING, message, file=file, line=line, column=column, help=_OVER)
