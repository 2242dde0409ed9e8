"""Positions of diagnostics in the user's own files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import Origins
from aqlgen.ir import Json

if TYPE_CHECKING:
    from aqlgen.document.read.source import Source

_ORDER = {severity: rank for rank, severity in enumerate((Severity.ERROR, Severity.WARNING, Severity.NOTE))}


def locate(
    sources: Sequence[Source],
    diagnostics: Iterable[Diagnostic],
    root: Json = None,
    origins: Origins | None = None,
) -> tuple[Diagnostic, ...]:
    """Return diagnostics with file, pointer, line and column of the user's own files, sorted, without repeats.

    A diagnostic without a file points into `root`, the tree assembled from the sources, and `origins` maps it to a
    file; without `origins` it points into the first source. One that names a source points into that source. One that
    has a line already, or names another file, stays as it is.
    """
    mapped = [_at_origin(diagnostic, sources[0].name, root, origins) for diagnostic in diagnostics]
    wanted: dict[str, set[str]] = defaultdict(set)
    for diagnostic in mapped:
        if not diagnostic.line:
            wanted[diagnostic.file].add(diagnostic.pointer)
    places = {source.name: source.find(wanted[source.name]) for source in sources if source.name in wanted}
    placed = {
        _at_position(diagnostic, *places[diagnostic.file][diagnostic.pointer])
        if not diagnostic.line and diagnostic.file in places
        else diagnostic
        for diagnostic in mapped
    }
    ranks = {source.name: rank for rank, source in enumerate(sources)}
    return tuple(sorted(placed, key=lambda diagnostic: _key(ranks.get(diagnostic.file, len(ranks)), diagnostic)))


def _at_origin(diagnostic: Diagnostic, main: str, root: Json, origins: Origins | None) -> Diagnostic:
    """Map a pointer into the assembled tree to a pointer into the file that the part came from."""
    if diagnostic.file:
        return diagnostic
    if diagnostic.line or origins is None:
        return replace(diagnostic, file=main)
    origin = origins.find(root, diagnostic.pointer)
    return replace(diagnostic, pointer=origin.pointer, file=origin.file or main)


def _at_position(diagnostic: Diagnostic, line: int, column: int) -> Diagnostic:
    return replace(diagnostic, line=line, column=column)


def _key(rank: int, diagnostic: Diagnostic) -> tuple[int, str, int, int, int, str, str, str]:
    severity = _ORDER[diagnostic.severity]
    place = rank, diagnostic.file, diagnostic.line, diagnostic.column
    return *place, severity, diagnostic.code, diagnostic.pointer, diagnostic.message
