"""`aqlgen diff`: what an agent feels of a new version, before it is generated, merged or released."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from aqlgen.compare import Changes, Surface, compare, surface_of_table
from aqlgen.errors import AqlgenError, OptionError
from aqlgen.ir import Json
from aqlgen.operands import Operand, operands
from aqlgen.pipeline import Options, Progress, prepare
from aqlgen.project import Project
from aqlgen.request import Request

__all__ = ["Asked", "Compared", "diff"]


@dataclass(frozen=True, slots=True)
class Asked:
    """How documents are read and decided; what is empty or None is as a project on the other side has it recorded."""

    headers: tuple[str, ...] = ()
    overlays: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    overrides: Path | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    field_case: str | None = None
    rename: bool = False
    """Let operations of a new document take today's names."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What was compared, as the user named it, and what changed."""

    old: str
    new: str
    changes: Changes

    def as_json(self) -> dict[str, Json]:
        """Give the JSON form."""
        return {"success": True, "old": self.old, "new": self.new, **self.changes.as_json()}


def diff(old: str, new: str | None, asked: Asked, progress: Progress) -> Compared:
    """Compare two adapters, each given as a document, a project, or a git revision of one. Raises AqlgenError."""
    if old == new == "-":
        raise OptionError.of("bad-option", "only one side can be standard input", help="Give the other as a file.")
    with ExitStack() as stack:
        before, after = operands(old, new, stack)
        projects = [one for one in (after, before) if one.is_project]
        settings = _Settings(asked, _opened(projects[0]) if len(projects) == 1 else None)
        was = settings.surface(before, settings.names, None, progress)
        is_now = settings.surface(after, {} if asked.rename else _names(was), _ids(was), progress)
    progress("comparing")
    return Compared(before.written, after.written, compare(was, is_now))


def _opened(operand: Operand) -> Project:
    try:
        return Project.open(Path(operand.spec))
    except AqlgenError as error:
        raise operand.named(error) from None


@dataclass(frozen=True, slots=True)
class _Settings:
    """How documents become tables: as asked for, else as the project that they are compared with was made."""

    asked: Asked
    project: Project | None

    @property
    def names(self) -> Mapping[str, str]:
        """The names that the operations of an older document have, as far as they are known."""
        return {} if self.project is None else self.project.names()

    def surface(
        self, operand: Operand, names: Mapping[str, str], ids: Mapping[str, str] | None, progress: Progress
    ) -> Surface:
        """Give what an agent meets on one side; names and operationIds that there were tell what became of what."""
        try:
            if operand.is_project:
                return operand.surface()
            return surface_of_table(prepare(self._options(operand.spec, names, ids), progress).table)
        except AqlgenError as error:
            raise operand.named(error) from None

    def _options(self, spec: str, names: Mapping[str, str], ids: Mapping[str, str] | None) -> Options:
        asked = self.asked
        kept = () if self.project is None else tuple(map(str, self.project.overlays()))
        request = Request.of(spec, asked.headers if "://" in spec else (), asked.overlays or kept, asked.allow)
        made = Options(request, names=names, ids=ids or {}, stale="report")
        if self.project is not None:
            made = self.project.options(request, names=names, ids=ids)
        return replace(
            made,
            overrides=asked.overrides or made.overrides,
            include=asked.include or made.include,
            exclude=asked.exclude or made.exclude,
            field_case=asked.field_case or made.field_case,
        )


def _names(surface: Surface) -> dict[str, str]:
    return {one.key: one.name for one in surface.operations.values()}


def _ids(surface: Surface) -> dict[str, str]:
    return {one.key: one.operation_id for one in surface.operations.values() if one.operation_id is not None}
