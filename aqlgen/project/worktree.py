"""What lies in a project's folder now, file by file, against what was generated there; no git is needed for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from aqlgen import git
from aqlgen.diagnostics.errors import FileError, TemplateError
from aqlgen.project import Project
from aqlgen.project.forms import as_generated, is_generated
from aqlgen.releases import templates_of
from aqlgen.render.kinds import Kind, folders, kind
from aqlgen.render.provenance import FILE
from aqlgen.render.template import render_template

__all__ = ["State", "Worktree"]

_SKIPPED: Final = frozenset(
    ".git .hg .svn .venv venv node_modules __pycache__ .mypy_cache .pytest_cache .ruff_cache build dist".split()
)
"""Folders that hold nothing of the user's own, where there is no git to say which they are."""


class State(StrEnum):
    """How a generated file is now."""

    UNCHANGED = "unchanged"
    EDITED = "edited"
    DELETED = "deleted"


@dataclass(slots=True)
class Worktree:
    """The files of a project in its folder. Line ends that a checkout turned into those of Windows are no edit."""

    project: Project
    _states: dict[str, State] | None = field(default=None)
    _copied: Mapping[str, bytes] | None = field(default=None)

    def read(self, path: str) -> bytes | None:
        """Give a file with the line ends that aqlgen writes, None when it is not there. Raises FileError."""
        file = self.project.placed(path)
        try:
            content = file.read_bytes() if file.is_file() else None
        except OSError as error:
            raise FileError.of("file-unreadable", f"{file} cannot be read", file=str(file)) from error
        return content and as_generated(content, self.project.recorded.get(path, ""))

    def states(self) -> dict[str, State]:
        """Give the state of every file that aqlgen wrote and recorded, by its path; looked at once."""
        if self._states is None:
            self._states = {path: self._state(path, recorded) for path, recorded in self.project.recorded.items()}
        return self._states

    def _state(self, path: str, recorded: str) -> State:
        content = self.read(path)
        if content is None:
            return State.DELETED
        same = is_generated(content, recorded) or self._by_copier().get(path) == content
        return State.UNCHANGED if same else State.EDITED

    def _by_copier(self) -> Mapping[str, bytes]:
        """Give what a plain `copier update` brought since, which nobody recorded."""
        if self._copied is None:
            self._copied = {}
            tag = self.project.answered_tag
            if tag and tag != self.project.template_tag:
                answers = {key: value for key, value in self.project.answers.items() if not key.startswith("_")}
                answers |= {"template_url": self.project.answers.get("_src_path"), "template_tag": tag}
                with templates_of(tag) as templates, suppress(TemplateError):  # without them the files count as edited
                    self._copied = {} if templates is None else render_template(answers, templates)
        return self._copied

    def of(self, whose: Kind, state: State) -> list[str]:
        """Give the paths of one kind in one state."""
        package = self.project.package
        return [path for path, one in self.states().items() if one is state and kind(path, package) is whose]

    def own(self) -> tuple[str, ...]:
        """Give the files that aqlgen did not write, without what git ignores."""
        folder = self.project.folder
        placed = (self.project.placed(path).relative_to(folder).as_posix() for path in self.project.recorded)
        known = {*placed, *self.project.recorded, FILE}
        return tuple(sorted(path for path in self._every() if path not in known))

    def strange(self) -> tuple[str, ...]:
        """Give the files of others in folders that aqlgen alone writes to."""
        return tuple(path for path in self.own() if path.startswith(folders(self.project.package)))

    def _every(self) -> Iterator[str]:
        folder = self.project.folder
        try:
            listed = git.attempt("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=folder)
        except FileError:
            listed = None
        if listed is not None and not listed.code:
            yield from (path for path in os.fsdecode(listed.out).split("\0") if path and (folder / path).is_file())
        else:
            yield from _walk(folder)


def _walk(folder: Path) -> Iterator[str]:
    for place, inner, files in os.walk(folder):
        inner[:] = sorted(one for one in inner if one not in _SKIPPED and not one.endswith(".egg-info"))
        yield from ((Path(place) / one).relative_to(folder).as_posix() for one in files if not one.endswith(".pyc"))
