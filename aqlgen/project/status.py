"""The status of a project: what its owner changed since it was generated, and whether it is up to date."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from aqlgen.compare import Changes, compare, surface_of_folder, surface_of_table
from aqlgen.decide.overrides import UNMATCHED
from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.pipeline import Progress, prepare
from aqlgen.project import Project
from aqlgen.project.generation import current, order_of
from aqlgen.project.records import Provenance
from aqlgen.project.refusals import refusals
from aqlgen.project.worktree import CheckRecord, State, Worktree
from aqlgen.render import data
from aqlgen.render.provenance import Kind, canonical_hash, file_hash, kind
from aqlgen.resources import build

_ABOUT_OVERRIDES: Final = frozenset({UNMATCHED, "expired-alias", "ineffective-override", "unmatched-accept"})


@dataclass(frozen=True, slots=True)
class Changed:
    """A generated file that is not as it was generated."""

    path: str
    kind: Kind
    state: State


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a project."""

    folder: Path
    package: str
    recorded: Provenance
    today: Provenance
    counts: Mapping[Kind, int]
    changed: tuple[Changed, ...]
    own_files: int
    misplaced: tuple[str, ...]
    """Files of the user in folders that aqlgen alone writes to."""
    checked: CheckRecord | None = None
    """What `aqlgen check` recorded; None for nothing."""
    check_stale: bool = False
    """Whether files changed since then."""
    edits: tuple[Diagnostic, ...] = ()
    """Refusals of edits of machine files."""
    overrides: tuple[Diagnostic, ...] = ()
    """Overrides that match nothing, and expired aliases."""
    stale: tuple[str, ...] = ()
    """Files that would come out otherwise today, from the same document."""
    changes: Changes | None = None
    """The changes for an agent that these files would bring; None for none."""
    problems: tuple[Diagnostic, ...] = ()
    """Why the project cannot be generated again; the four fields before are empty then."""

    def of(self, whose: Kind) -> list[Changed]:
        """Return the changed files of a kind."""
        return [changed for changed in self.changed if changed.kind is whose]


def status(folder: Path, progress: Progress) -> Status:
    """Look at a project; nothing is changed, and neither git nor the network is needed. Raises FileError."""
    project = Project.open(folder)
    progress("looking")
    tree = Worktree(project)
    checked = CheckRecord.of(project.provenance)
    by_owner = [path for path in tree.own() if kind(path, project.package) is Kind.YOURS]
    own_paths = [path for path in tree.own() if path not in by_owner]
    states = {**tree.states(), **dict.fromkeys(by_owner, State.WRITTEN)}
    kinds = {path: kind(path, project.package) for path in states}
    edited = [Changed(path, kinds[path], state) for path, state in states.items() if state is not State.UNCHANGED]
    project_status = Status(
        folder=folder,
        package=project.package,
        recorded=Provenance.of(project.provenance, project.template_tag),
        today=Provenance(build(), current().tag, ""),
        counts={whose: list(kinds.values()).count(whose) for whose in Kind},
        changed=tuple(edited),
        own_files=len(own_paths),
        misplaced=tree.misplaced(),
        checked=checked,
        check_stale=checked is not None and checked.is_stale(tree),
    )
    try:
        return _compared(project_status, tree, progress)
    except AqlgenError as error:
        return replace(project_status, problems=error.diagnostics)


def _compared(project_status: Status, tree: Worktree, progress: Progress) -> Status:
    """Return the status with what would come out otherwise today. Raises AqlgenError."""
    project = tree.project
    prepared = prepare(project.options(), progress)
    files = data(order_of(project.options(), prepared, project.license))
    stale = tuple(path for path, content in files.items() if file_hash(content) != project.recorded.get(path))
    edited = {path: tree.read(path) or b"" for path in tree.of(Kind.MACHINE, State.EDITED)}
    sound = not any(path.startswith("openapi/") for path in edited)
    present = {path: tree.read(path) or b"" for path in project.recorded if path in files}
    return replace(
        project_status,
        today=replace(project_status.today, input=canonical_hash(prepared.raw)),
        edits=refusals(project, edited, files if sound else {}),
        overrides=tuple(finding for finding in prepared.diagnostics if finding.code in _ABOUT_OVERRIDES),
        stale=stale,
        changes=compare(surface_of_folder(present, project.package), surface_of_table(prepared.table))
        if stale
        else None,
    )
