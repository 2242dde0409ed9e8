"""What can be wrong with an overrides file, and what comes nearest to what was meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Final

from aqlgen.decisions import Place
from aqlgen.diagnostics import Diagnostic, Severity

__all__ = ["BAD", "UNMATCHED", "Report", "finding", "nearest", "unmatched"]

BAD: Final = "bad-override"
UNMATCHED: Final = "unmatched-override"

Report = Callable[[Diagnostic], None]
"""Is told of every finding, so that all can be shown at once, and those of a changed document be no error."""


def finding(file: str, place: Place, message: str, help: str = "") -> Diagnostic:
    """Give a finding about the file itself."""
    return Diagnostic(BAD, Severity.ERROR, message, file=file, line=place[0], column=place[1], help=help)


def unmatched(file: str, place: Place, message: str, help: str = "") -> Diagnostic:
    """Give a finding about something that the document does not have: a mistake, or a change of the document."""
    return Diagnostic(UNMATCHED, Severity.ERROR, message, file=file, line=place[0], column=place[1], help=help)


def nearest(given: str, known: Iterable[str], what: str) -> str:
    """Say which of the known names was probably meant."""
    by_folded = {one.lower(): one for one in known}
    close = get_close_matches(given.lower(), by_folded, n=1, cutoff=0.5)
    if close:
        return f"Did you mean `{by_folded[close[0]]}`?"
    few = list(by_folded.values())
    return f"Each {what} is one of {', '.join(few)}." if 0 < len(few) <= 6 else f"No {what} comes near."
