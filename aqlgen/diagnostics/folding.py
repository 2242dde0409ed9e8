"""Folding of repeated findings: a document that breaks one rule mostly breaks it in many places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from aqlgen.diagnostics import Diagnostic

__all__ = ["fold"]

MOST: Final = 3
"""How many findings of a shape are shown before the rest is counted."""

_QUOTED: Final = re.compile(r"“[^“”]*”|'[^']*'|\"[^\"]*\"|\b[A-Z]+ /\S*|\{[^{}]*\}|/\S+|\d[\d.,]*")
"""What differs between findings of one shape: what is quoted, operations, placeholders, paths and numbers."""


def fold(diagnostics: Iterable[Diagnostic]) -> list[tuple[Diagnostic, int]]:
    """Return the first few findings of each shape in order, each with the number of those left out after it."""
    shaped = [(_shape(finding), finding) for finding in diagnostics]
    total = Counter(shape for shape, _ in shaped)
    seen: Counter[tuple[str, str, str]] = Counter()
    shown: list[tuple[Diagnostic, int]] = []
    for shape, finding in shaped:
        seen[shape] += 1
        if seen[shape] < MOST or total[shape] <= MOST + 1:  # a single one is shown sooner than counted
            shown.append((finding, 0))
        elif seen[shape] == MOST:
            shown.append((finding, total[shape] - MOST))
    return shown


def _shape(finding: Diagnostic) -> tuple[str, str, str]:
    return finding.severity, finding.code, _QUOTED.sub("…", finding.message)
