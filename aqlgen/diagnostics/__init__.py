"""Findings about a document: data first, positions computed only when something is reported."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad it is: an error refuses the document, a warning skips or repairs a part of it, a note only informs."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. `code` is a key of `catalogue.CATALOGUE`; `pointer` is a JSON pointer into `file`.

    `line` and `column` count from 1; 0 means not known yet (`document.read.locate` fills them in).
    `file` is as the user named it; empty for the root document until it is located.
    """

    code: str
    severity: Severity
    message: str
    pointer: str = ""
    file: str = ""
    line: int = 0
    column: int = 0
    help: str = ""
    path: str = ""
    """The place as the protocol's documents write it, such as `endpoints.read[0].name`; "" for pointers alone."""
    expected: str = ""
    """The expected value, in an adapter element."""
    actual: str = ""
    """The value there, cut to a few words."""
