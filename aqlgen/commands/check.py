"""`aqlgen check --pristine`: are the generated files as they were generated, and would they come out the same again?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aqlgen import __version__
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.diagnostics.report import as_json
from aqlgen.ir import Json
from aqlgen.pipeline import Progress
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.regenerating import regenerate
from aqlgen.project.worktree import State, Worktree
from aqlgen.releases import current
from aqlgen.render.kinds import Kind, kind
from aqlgen.render.provenance import FILE, file_hash, tree_hash

__all__ = ["Checked", "check"]

_RESTORE: Final = "`aqlgen status` tells what becomes of the edit; `git checkout HEAD -- {path}` takes it back."


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found. `generated_again` says whether the files were generated again; if not, `why_not` says why."""

    folder: Path
    package: str
    files: int
    findings: tuple[Diagnostic, ...]
    generated_again: bool
    why_not: str = ""

    @property
    def exit_code(self) -> int:
        """0, or 1 when something is not as it should be."""
        return 1 if self.findings else 0

    def as_json(self) -> dict[str, Json]:
        """Give the JSON form."""
        return {
            "success": not self.findings,
            "output_directory": str(self.folder),
            "package": self.package,
            "pristine": {
                "files": self.files,
                "generated_again": self.generated_again,
                "why_not": self.why_not,
                "findings": as_json(self.findings),
            },
        }


def check(folder: Path, progress: Progress) -> Checked:
    """Check the generated files of a project. Raises AqlgenError when it cannot be read."""
    project = Project.open(folder)
    progress("looking")
    tree = Worktree(project)
    findings = [*_record(project), *_changed(tree)]
    why_not = _other_maker(project)
    if not why_not and not any(one.file.startswith("openapi/") for one in findings):
        findings += _again(project, tree, progress)
    return Checked(
        folder=folder,
        package=project.package,
        files=sum(kind(path, project.package) is Kind.MACHINE for path in project.recorded),
        findings=tuple(findings),
        generated_again=not why_not,
        why_not=why_not,
    )


def _finding(code: str, path: str, message: str, way: str) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, file=path, help=way)


def _record(project: Project) -> Iterator[Diagnostic]:
    """Check the record against itself."""
    files = project.provenance.get("files")
    said = files.get("hash") if isinstance(files, dict) else None
    if not project.recorded:
        message = "it was made by an aqlgen that recorded no hashes of files"
        yield _finding("provenance-damaged", FILE, message, "Run `aqlgen update` once.")
    elif said != tree_hash(project.recorded):
        message = "the hash of the files is not that of the hashes it records"
        yield _finding("provenance-damaged", FILE, message, _RESTORE.format(path=FILE))


def _changed(tree: Worktree) -> Iterator[Diagnostic]:
    """Find generated files that are not as recorded, those that are gone, and others where none belong."""
    for path in tree.of(Kind.MACHINE, State.EDITED):
        message = "the file is not as it was generated"
        yield _finding("machine-file-edited", path, message, _RESTORE.format(path=path))
    for path in tree.of(Kind.MACHINE, State.DELETED):
        way = f"`aqlgen update` writes it anew; so does `git checkout HEAD -- {path}`."
        yield _finding("machine-file-missing", path, "a generated file is missing", way)
    for path in tree.strange():
        message = "the file was not generated, in a folder that only aqlgen writes to"
        yield _finding("machine-file-extra", path, message, "Move it elsewhere.")


def _other_maker(project: Project) -> str:
    """Say why this aqlgen cannot generate the same again; "" when it can."""
    generator = project.provenance.get("generator")
    version = generator.get("version") if isinstance(generator, dict) else None
    if not project.recorded:
        return "the files have no recorded hashes to compare with"
    if version != __version__:
        ways = f"`pip install aqlgen=={version}`, or `aqlgen update`"
        return f"it was made by aqlgen {version}, and this is {__version__}: {ways}"
    if project.template_tag != current().tag:
        return f"its templates are of {project.template_tag or 'no release'}, these of {current().tag or 'no release'}"
    return ""


def _again(project: Project, tree: Worktree, progress: Progress) -> Iterator[Diagnostic]:
    """Generate again from what the project keeps, and compare what comes out with what was recorded."""
    try:
        made = regenerate(project, project.options(), project.license, progress)
    except AqlgenError as error:
        yield from (one for one in error.diagnostics if one.severity is Severity.ERROR)
        return
    differ = [path for path in _machine(project, made.tree) if _differs(project, made.tree, path)]
    if not differ:
        return
    if tree.states().get(OVERRIDES) is not State.UNCHANGED:
        why, way = f"{OVERRIDES} was changed since", "Run `aqlgen update`, and commit what comes of it."
    else:
        why, way = "the record, or aqlgen itself, was changed", "Run `aqlgen update`, and look at what comes of it."
    for path in differ:
        yield _finding("not-reproducible", path, f"generated again it is another: {why}", way)


def _machine(project: Project, made: Mapping[str, bytes]) -> list[str]:
    every = sorted({*project.recorded, *made} - {FILE})
    return [path for path in every if kind(path, project.package) is Kind.MACHINE]


def _differs(project: Project, made: Mapping[str, bytes], path: str) -> bool:
    return path not in made or file_hash(made[path]) != project.recorded.get(path)
