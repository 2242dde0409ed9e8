"""Positions of diagnostics in the user's own files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document import positions
from aqlgen.document.origins import Origins
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
    given = [_at_origin(one, sources[0].name, root, origins) for one in diagnostics]
    wanted: dict[str, set[str]] = defaultdict(set)
    for one in given:
        if not one.line:
            wanted[one.file].add(one.pointer)
    found = {
        source.name: positions.find(source.text, source.format, wanted[source.name])
        for source in sources
        if source.name in wanted
    }
    placed = {
        replace(one, line=found[one.file][one.pointer][0], column=found[one.file][one.pointer][1])
        if not one.line and one.file in found
        else one
        for one in given
    }
    ranks = {source.name: rank for rank, source in enumerate(sources)}
    return tuple(sorted(placed, key=lambda one: _key(ranks.get(one.file, len(ranks)), one)))


def _at_origin(one: Diagnostic, main: str, root: Json, origins: Origins | None) -> Diagnostic:
    """Map a pointer into the assembled tree to a pointer into the file that the part came from."""
    if one.file:
        return one
    if one.line or origins is None:
        return replace(one, file=main)
    origin = origins.find(root, one.pointer)
    return replace(one, pointer=origin.pointer, file=origin.file or main)


def _key(rank: int, one: Diagnostic) -> tuple[int, str, int, int, int, str, str, str]:
    return rank, one.file, one.line, one.column, _ORDER[one.severity], one.code, one.pointer, one.message
