"""The two sides of `aqlgen diff`: each a document, a project, or one of the two at a git revision."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from aqlgen.compare import Changes, Surface, compare, surface_of_folder, surface_of_table
from aqlgen.diagnostics.errors import AqlgenError, FileError, OptionError
from aqlgen.document.request import Request
from aqlgen.ir import Json
from aqlgen.pipeline import Options, Progress, prepare
from aqlgen.project import Project
from aqlgen.project.records import refuse_newer
from aqlgen.project.revisions import Revision, revision
from aqlgen.render.provenance import FILE


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison: both sides as the user named them, and the changes."""

    old: str
    new: str
    changes: Changes

    def as_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"success": True, "old": self.old, "new": self.new, **self.changes.as_json()}


def compare_sides(
    old: str,
    new: str | None,
    progress: Progress,
    *,
    headers: tuple[str, ...] = (),
    allow: tuple[str, ...] = (),
    rename: bool = False,
) -> Compared:
    """Compare two adapters, each given as a document, a project, or a git revision of one. Raises AqlgenError.

    With `rename`, operations of a new document take today's names.
    """
    if old == new == "-":
        raise OptionError.of("bad-option", "only one side can be standard input", help="Give the other as a file.")
    with ExitStack() as stack:
        before, after = _operands(old, new, stack)
        projects = [side for side in (after, before) if side.is_project]
        for project in projects:
            refuse_newer(Path(project.spec), project.written)
        reader = _Reader(headers, allow, _opened(projects[0]) if len(projects) == 1 else None)
        known = {} if reader.project is None else reader.project.names()
        old_surface = reader.surface(before, known, None, progress)
        rows = old_surface.operations.values()
        names = {} if rename else {row.key: row.name for row in rows}
        ids = {row.key: row.operation_id for row in rows if row.operation_id is not None}
        new_surface = reader.surface(after, names, ids, progress)
    progress("comparing")
    return Compared(before.written, after.written, compare(old_surface, new_surface))


def _opened(operand: Operand) -> Project:
    try:
        return Project.open(Path(operand.spec))
    except AqlgenError as error:
        raise operand.named(error) from None


@dataclass(frozen=True, slots=True)
class _Reader:
    """A reader of documents, with the options of the project on the other side if there is one."""

    headers: tuple[str, ...]
    allow: tuple[str, ...]
    project: Project | None

    def surface(
        self, operand: Operand, names: Mapping[str, str], ids: Mapping[str, str] | None, progress: Progress
    ) -> Surface:
        """Return the surface of one side. Earlier names and operationIds pair operations that were renamed or moved."""
        try:
            if operand.is_project:
                return operand.surface()
            return surface_of_table(prepare(self._options(operand.spec, names, ids), progress).table)
        except AqlgenError as error:
            raise operand.named(error) from None

    def _options(self, spec: str, names: Mapping[str, str], ids: Mapping[str, str] | None) -> Options:
        request = Request.of(spec, self.headers if "://" in spec else (), (), self.allow)
        request = replace(request, element=None)
        if self.project is None:
            return Options((request,), names=names, ids=ids or {}, stale="report")
        return self.project.options((self.project.beside(request),), names=names, ids=ids)


@dataclass(frozen=True, slots=True)
class Operand:
    """One side: `written` is what the user gave, `spec` the document or the project's folder to read."""

    written: str
    spec: str
    is_project: bool

    @classmethod
    def of(cls, written: str, stack: ExitStack) -> tuple[Self, Revision | None]:
        """Find out what is meant. The content of a revision is written to a folder that goes with the stack."""
        if written == "-" or "://" in written:
            return cls(written, written, is_project=False), None
        if Path(written).exists():
            return cls(written, written, _is_project(Path(written))), None
        at = revision(written, Path())
        if at is None:
            raise FileError.of(
                "nothing-to-compare",
                f"{written} is not a file, a folder or a git revision here",
                help="Give a document, the folder of a project, or a revision such as HEAD~1 or v1.0:api/openapi.yaml.",
                file=written,
            )
        folder = at.write(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aqlgen-"))))
        return cls(written, str(folder), _is_project(folder)), at

    def surface(self) -> Surface:
        """Read the surface of a project. Raises FileError for files that are missing or broken."""
        folder = Path(self.spec)
        package = next(iter(sorted(folder.glob("src/*/adapter.json"))), None)
        if package is None:
            raise FileError.of("not-a-project", f"{self.written} has no operation table", file=self.written)
        try:
            files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in package.parent.rglob("*.json")}
        except OSError as error:
            raise FileError.of("file-unreadable", f"{self.written} cannot be read", file=self.written) from error
        return surface_of_folder(files, package.parent.name)

    def named(self, error: AqlgenError) -> AqlgenError:
        """Return an error of reading this side under the name that the user gave it."""
        if self.spec == self.written:
            return error
        folder = self.spec if self.is_project else str(Path(self.spec).parent)
        renamed = (
            replace(
                diagnostic,
                file=diagnostic.file.replace(self.spec, self.written).replace(f"{folder}/", f"{self.written}: "),
                message=diagnostic.message.replace(self.spec, self.written),
            )
            for diagnostic in error.diagnostics
        )
        return type(error)(*renamed)


def _operands(old: str, new: str | None, stack: ExitStack) -> tuple[Operand, Operand]:
    """Return both sides. The new one is by default what the work tree holds: the same path, or the project here."""
    before, at = Operand.of(old, stack)
    if new is None and at is not None:
        new = os.path.relpath(at.work_tree)
    if new is None and not _is_project(Path()):
        raise OptionError.of(
            "bad-option", f"there is nothing to compare {old} with", help="Name a second document or project, too."
        )
    after, _ = Operand.of("." if new is None else new, stack)
    return before, after


def _is_project(folder: Path) -> bool:
    return (folder / FILE).is_file() or any(folder.glob("src/*/adapter.json"))
