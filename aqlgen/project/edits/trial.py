"""Generating a project's table again with overrides added, to see their effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from aqlgen.decide.decision import Override
from aqlgen.decide.overrides import load, parse
from aqlgen.diagnostics.errors import FileError
from aqlgen.ir import Json
from aqlgen.pipeline import prepare
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.edits.insertion import insert
from aqlgen.project.generation import order_of
from aqlgen.render import data

__all__ = ["Trial"]


class Trial:
    """A project to try overrides on; `text` is its overrides file, `own` the overrides in it by `METHOD /path`."""

    def __init__(self, project: Project, progress: Callable[[str], None]) -> None:
        self._project, self._progress = project, progress
        path = project.folder / OVERRIDES
        try:
            self.text = path.read_bytes().decode("utf-8") if path.is_file() else ""
        except OSError as error:
            raise FileError.of("file-unreadable", f"{path} cannot be read", file=str(path)) from error
        except UnicodeDecodeError:
            load(path)  # raises with the position
            raise
        self.own: Mapping[str, Override] = parse(self.text.removeprefix("\ufeff"), str(path)).entries

    def files(self, entries: Mapping[str, Mapping[str, Json]], names: Mapping[str, str] | None) -> dict[str, bytes]:
        """Return the files that show the table. `names` are kept by operation: the recorded ones unless given.

        Raises AqlgenError, and InsertionError when the entries cannot be added to the user's file.
        """
        options = self._project.options(names=names)
        if entries:
            text = insert(self.text, entries).encode("utf-8")
            options = replace(options, overrides=self._project.folder / OVERRIDES, overrides_text=text)
        prepared = prepare(options, self._progress)
        return data(order_of(options, prepared, self._project.license))
