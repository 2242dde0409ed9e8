"""The state of a project towards this aqlgen, which every command reports first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from aqlgen.diagnostics import Diagnostic

__all__ = ["announce", "project_around"]


def announce(folder: Path | None, *, shown: bool) -> tuple[Diagnostic, ...]:
    """Return the warnings about a project's release, printed on standard error if `shown`; none without a project.

    Raises OptionError for a project that a newer aqlgen wrote.
    """
    from aqlgen.diagnostics.report import as_text
    from aqlgen.project.standing import refuse_newer, release_warnings

    if folder is None:
        return ()
    refuse_newer(folder)
    warnings = release_warnings(folder)
    if warnings and shown:
        typer.echo(as_text(warnings), err=True)
    return warnings


def project_around(*paths: str | Path | None) -> Path | None:
    """Return the project that one of the files belongs to, or that is a folder given; None if there is none."""
    from aqlgen.render.provenance import FILE

    for path in paths:
        if path is None or str(path) == "-" or "://" in str(path):
            continue
        place = Path(path)
        for folder in (place, place.parent, place.parent.parent):
            if (folder / FILE).is_file():
                return folder
    return None
