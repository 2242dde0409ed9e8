"""The level of trust that a check has earned (trust levels, 2.2.3 and 4; R-SAFE-2).

A stand-in shows that the adapter does what it says, and says nothing of the API. So an adapter becomes `validated` only
after the whole check at level 1 or higher, with reads of the live API among it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from aqlgen.check.results import Category, Outcome, Report
from aqlgen.runtime.cli.trust import Change, change_trust
from aqlgen.runtime.errors import CommandError
from aqlgen.runtime.settings.load import ConfigError

__all__ = ["VALIDATED", "NotPromoted", "promote", "why_not"]

VALIDATED = "validated"


class NotPromoted(Exception):
    """A level of trust that was not earned or cannot be recorded; the message is one line."""


def why_not(report: Report) -> str:
    """Return why a report does not earn the level `validated`, "" if it does."""
    if not report.level:
        return "the adapter does not reach level 1"
    if report.exceptions:
        return f"level 1 fails for {', '.join(report.exceptions[:5])}"
    live = report.outcome_of(Category.LIVE)
    if live is not Outcome.PASS:
        return "no read of the live API was made" if live is Outcome.SKIP else "reads of the live API failed"
    return ""


def promote(package: Path, report: Report, by: str, reason: str, environ: Mapping[str, str]) -> str:
    """Record in trust.json that the adapter is validated, and return what to say of it. Raises NotPromoted."""
    problem = why_not(report)
    if problem:
        raise NotPromoted(problem)
    try:
        return change_trust(package, environ, Change(up=True, by=by, reason=reason, to=VALIDATED))
    except (CommandError, ConfigError) as refusal:
        raise NotPromoted(str(refusal)) from None
