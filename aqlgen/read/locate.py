"""Giving diagnostics their positions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from aqlgen import positions
from aqlgen.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:
    from aqlgen.read.source import Source

_ORDER = {severity: rank for rank, severity in enumerate((Severity.ERROR, Severity.WARNING, Severity.NOTE))}


def locate(source: Source, diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Fill in file, line and column of what points into `source`; sort by place, exact repeats folded.

    A diagnostic of another file, or with a line already, keeps what it has; so this can be called once for each source.
    """
    given = tuple(diagnostics)
    mine = {one.pointer for one in given if not one.line and one.file in ("", source.name)}
    found = positions.find(source.text, source.format, mine) if mine else {}
    placed = {
        replace(one, file=source.name, line=found[one.pointer][0], column=found[one.pointer][1])
        if not one.line and one.file in ("", source.name)
        else one
        for one in given
    }
    return tuple(sorted(placed, key=lambda one: _key(source, one)))


def _key(source: Source, one: Diagnostic) -> tuple[bool, str, int, int, int, str, str, str]:
    elsewhere = one.file != source.name
    return elsewhere, one.file, one.line, one.column, _ORDER[one.severity], one.code, one.pointer, one.message
