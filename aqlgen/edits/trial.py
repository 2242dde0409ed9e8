"""Generates a project's table anew from what it keeps, with overrides added, to see what they come to."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from aqlgen.decide.decision import Override
from aqlgen.decide.overrides import load, parse
from aqlgen.diagnostics.errors import FileError
from aqlgen.edits.insertion import insert
from aqlgen.ir import Json
from aqlgen.pipeline import prepare
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.ordering import order_of
from aqlgen.render import data

__all__ = ["Trial"]


class Trial:
    """A project to try overrides on; `text` is its overrides file, `own` what that says by `METHOD /path`."""

    def __init__(self, project: Project, progress: Callable[[str], None]) -> None:
        self._project, self._progress = project, progress
        path = project.folder / OVERRIDES
        try:
            self.text = path.read_bytes().decode("utf-8") if path.is_file() else ""
        except OSError as error:
            raise FileError.of("file-unreadable", f"{path} cannot be read", file=str(path)) from error
        except UnicodeDecodeError:
            load(path)  # says so
            raise
        self.own: Mapping[str, Override] = parse(self.text.removeprefix("\ufeff"), str(path)).entries

    def files(self, entries: Mapping[str, Mapping[str, Json]], names: Mapping[str, str] | None) -> dict[str, bytes]:
        """Give the files that show the table. `names` are kept by operation: the recorded ones unless given.

        Raises AqlgenError, and InsertionError when the entries cannot be added to the user's file.
        """
        options = self._project.options(names=names)
        with tempfile.TemporaryDirectory(prefix="aqlgen-") as folder:
            if entries:
                path = Path(folder) / OVERRIDES
                path.write_bytes(insert(self.text, entries).encode("utf-8"))
                options = replace(options, overrides=path)
            prepared = prepare(options, self._progress)
            return data(order_of(options, prepared, self._project.license))
