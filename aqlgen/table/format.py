"""The format of a project's table: one that this aqlgen does not read is refused before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.diagnostics.errors import FileError
from aqlgen.ir import Json
from aqlgen.runtime.table import FORMAT, FormatError, check_format

__all__ = ["require_format"]


def require_format(adapter: Mapping[str, Json], path: str) -> None:
    """Raise FileError unless what `adapter.json` holds is of the format that this aqlgen reads."""
    try:
        check_format(adapter)
    except FormatError:
        raise FileError.of(
            "not-a-project",
            f"{path} says that the operation table is of format {adapter['format']}, and this aqlgen reads {FORMAT}",
            help="A newer aqlgen wrote it: install the newest one, then run `aqlgen update`.",
            file=path,
        ) from None
