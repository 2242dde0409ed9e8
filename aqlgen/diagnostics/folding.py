"""Folding what says the same again and again: a document that breaks one rule mostly breaks it in many places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from aqlgen.diagnostics import Diagnostic

__all__ = ["fold"]

MOST: Final = 3
"""How many findings of one shape are shown before the rest is counted."""

_QUOTED: Final = re.compile(r"“[^”]*”|'[^']*'|\"[^\"]*\"|\b[A-Z]+ /\S*|\{[^}]*\}|/\S+|\d[\d.,]*")
"""What differs between findings of one shape: what is quoted, operations, placeholders, paths and numbers."""


def fold(diagnostics: Iterable[Diagnostic]) -> list[tuple[Diagnostic, int]]:
    """Give the first few of each shape in their order, each with how many more like it are left out."""
    given = [(_shape(one), one) for one in diagnostics]
    total = Counter(shape for shape, _ in given)
    seen: Counter[tuple[str, str, str]] = Counter()
    shown: list[tuple[Diagnostic, int]] = []
    for shape, one in given:
        seen[shape] += 1
        if seen[shape] < MOST or total[shape] <= MOST + 1:  # a single one is shown sooner than counted
            shown.append((one, 0))
        elif seen[shape] == MOST:
            shown.append((one, total[shape] - MOST))
    return shown


def _shape(one: Diagnostic) -> tuple[str, str, str]:
    return one.severity, one.code, _QUOTED.sub("…", one.message)
