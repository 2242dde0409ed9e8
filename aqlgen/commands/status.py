"""`aqlgen status`: what was made of a project since it was generated, and whether it is up to date."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aqlgen import __version__
from aqlgen.decide.overrides import UNMATCHED
from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.diagnostics.report import as_json
from aqlgen.edits import Recovered, recover
from aqlgen.ir import Json
from aqlgen.pipeline import Progress, prepare
from aqlgen.project import Project
from aqlgen.project.made import Made
from aqlgen.project.ordering import order_of
from aqlgen.project.worktree import State, Worktree
from aqlgen.releases import current
from aqlgen.render import data
from aqlgen.render.kinds import Kind, kind
from aqlgen.render.provenance import canonical_hash, file_hash

__all__ = ["Changed", "Status", "status"]

_MARKS: Final = re.compile(rb"^(<{7} .*\n)(?:.*\n)*?={7}\r?\n(?:.*\n)*?>{7} ", re.MULTILINE)
_LARGEST: Final = 4_000_000
"""Bytes from which on a file of the user's own is not looked through for conflicts."""

_ABOUT_OVERRIDES: Final = frozenset({UNMATCHED, "expired-alias"})


@dataclass(frozen=True, slots=True)
class Changed:
    """A generated file that is not as it was generated."""

    path: str
    kind: Kind
    state: State


@dataclass(frozen=True, slots=True)
class Status:
    """Everything that `aqlgen status` tells."""

    folder: Path
    package: str
    recorded: Made
    today: Made
    counts: Mapping[Kind, int]
    changed: tuple[Changed, ...]
    own: int
    conflicts: tuple[tuple[str, int], ...]
    edits: Recovered
    overrides: tuple[Diagnostic, ...]
    """Overrides that fit nothing, and aliases whose time is over."""
    stale: tuple[str, ...]
    """Files that would come out otherwise today, of the same document."""
    problems: tuple[Diagnostic, ...]
    """Why the project cannot be generated again; then the three before are not known."""

    def of(self, whose: Kind) -> list[Changed]:
        """Give the changed files of a kind."""
        return [one for one in self.changed if one.kind is whose]

    def as_json(self) -> dict[str, Json]:
        """Give the JSON form."""
        return {
            "success": True,
            "output_directory": str(self.folder),
            "package": self.package,
            "recorded": self.recorded.as_json(),
            "today": self.today.as_json(),
            "files": {
                **{one.value: self.counts.get(one, 0) for one in Kind},
                "own": self.own,
                "changed": [{"path": one.path, "kind": one.kind, "state": one.state} for one in self.changed],
            },
            "conflicts": [{"path": path, "line": line} for path, line in self.conflicts],
            "edits": {"overrides": dict(self.edits.entries), "refused": as_json(self.edits.refused)},
            "overrides": as_json(self.overrides),
            "stale": list(self.stale),
            "problems": as_json(self.problems),
        }


def status(folder: Path, progress: Progress) -> Status:
    """Look at a project; nothing is changed, and neither git nor the network is needed. Raises FileError."""
    project = Project.open(folder)
    progress("looking")
    tree = Worktree(project)
    states, own = tree.states(), tree.own()
    kinds = {path: kind(path, project.package) for path in states}
    changed = tuple(Changed(path, kinds[path], state) for path, state in states.items() if state is not State.UNCHANGED)
    recorded, known = Made.of(project.provenance, project.template_tag), ""
    problems: tuple[Diagnostic, ...] = ()
    overrides: tuple[Diagnostic, ...] = ()
    edits = Recovered()
    stale: tuple[str, ...] = ()
    try:
        options = project.options()
        prepared = prepare(options, progress)
        known = canonical_hash(prepared.assembled.given)
        overrides = tuple(one for one in prepared.diagnostics if one.code in _ABOUT_OVERRIDES)
        files = data(order_of(options, prepared, project.license))
        stale = tuple(path for path, content in files.items() if file_hash(content) != project.recorded.get(path))
        edited = {path: tree.read(path) or b"" for path in tree.of(Kind.MACHINE, State.EDITED)}
        edits = recover(project, edited, {}, progress)
    except AqlgenError as error:
        problems = error.diagnostics
    return Status(
        folder=folder,
        package=project.package,
        recorded=recorded,
        today=Made(__version__, current().tag, known),
        counts={whose: sum(one is whose for one in kinds.values()) for whose in Kind},
        changed=changed,
        own=len(own),
        conflicts=tuple(_conflicts(tree, (*states, *own))),
        edits=edits,
        overrides=overrides,
        stale=stale,
        problems=problems,
    )


def _conflicts(tree: Worktree, paths: tuple[str, ...]) -> list[tuple[str, int]]:
    """Find what an update or another merge left to resolve, by file and line."""
    found = []
    for path in paths:
        place = tree.project.placed(path)
        if place.is_file() and place.stat().st_size <= _LARGEST:
            content = tree.read(path) or b""
            if b"<<<<<<< " in content:
                found += [(path, content.count(b"\n", 0, one.start()) + 1) for one in _MARKS.finditer(content)]
    return found
