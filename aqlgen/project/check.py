"""The check of a project: its generated files are as they were generated, and come out the same again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.diagnostics.plain import few
from aqlgen.pipeline import Progress
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.generation import regenerate
from aqlgen.project.imports import differences, imported, is_shadowing, sources
from aqlgen.project.records import Provenance, read_json
from aqlgen.project.releases import current
from aqlgen.project.worktree import State, Worktree
from aqlgen.render.kinds import Kind, kind
from aqlgen.render.provenance import FILE, file_hash, tree_hash
from aqlgen.resources import SOURCE, build

__all__ = ["Checked", "check"]

_RESTORE: Final = "`aqlgen status` shows the effect of the edit; `git checkout HEAD -- {path}` reverts it."


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check. `generated_again` is False when this aqlgen cannot do that; `why_not` is the reason."""

    folder: Path
    package: str
    files: int
    findings: tuple[Diagnostic, ...]
    generated_again: bool
    why_not: str = ""
    installed: str = ""
    """Where Python would import the package from; "" where it is not installed."""
    unknown: tuple[str, ...] = ()
    """Files under `src` that aqlgen did not write and that take the place of none, such as helpers of hooks.py."""

    @property
    def exit_code(self) -> int:
        """0, or 1 when there are findings or the files could not be generated again."""
        return 0 if not self.findings and self.generated_again else 1


def check(folder: Path, progress: Progress) -> Checked:
    """Check the generated files of a project. Raises AqlgenError when it cannot be read."""
    project = Project.open(folder)
    progress("looking")
    tree = Worktree(project)
    installed = imported(project)
    unknown, shadowing = _unknown(tree)
    findings = [*_check_record(project), *_changed(tree), *shadowing, *_installed(project, installed)]
    why_not = _other_generator(project)
    if not why_not and not any(finding.file.startswith("openapi/") for finding in findings):
        findings += _compare_again(project, tree, progress)
    return Checked(
        folder=folder,
        package=project.package,
        files=sum(kind(path, project.package) is Kind.MACHINE for path in project.recorded),
        findings=tuple(findings),
        generated_again=not why_not,
        why_not=why_not,
        installed="" if installed is None else str(installed),
        unknown=unknown,
    )


def _finding(code: str, path: str, message: str, way: str) -> Diagnostic:
    return Diagnostic(code, Severity.ERROR, message, file=path, help=way)


def _check_record(project: Project) -> Iterator[Diagnostic]:
    """Check the hash of the recorded hashes."""
    files = project.provenance.get("files")
    recorded = files.get("hash") if isinstance(files, dict) else None
    if not project.recorded:
        message = "it was made by an aqlgen that recorded no hashes of files"
        yield _finding("provenance-damaged", FILE, message, "Run `aqlgen update` once.")
    elif recorded != tree_hash(project.recorded):
        message = "the hash of the files is not that of the hashes it records"
        yield _finding("provenance-damaged", FILE, message, _RESTORE.format(path=FILE))


def _changed(tree: Worktree) -> Iterator[Diagnostic]:
    """Find generated files that are edited or missing, and files of others among them."""
    for path in tree.of(Kind.MACHINE, State.EDITED):
        message = "the file is not as it was generated"
        yield _finding("machine-file-edited", path, message, _RESTORE.format(path=path))
    for path in tree.of(Kind.MACHINE, State.DELETED):
        way = f"`aqlgen update` or `git checkout HEAD -- {path}` restores it."
        yield _finding("machine-file-missing", path, "a generated file is missing", way)
    for path in tree.misplaced():
        message = "the file was not generated, in a folder that only aqlgen writes to"
        yield _finding("machine-file-extra", path, message, "Move it elsewhere.")


def _unknown(tree: Worktree) -> tuple[tuple[str, ...], list[Diagnostic]]:
    """Return the files under `src` that aqlgen did not write, and findings of those that take the place of others."""
    project, known = tree.project, tree.known()
    placed = sorted(f"src/{path}" for path in sources(project.folder / "src"))
    unknown = [path for path in placed if path not in known and path not in tree.misplaced()]
    message, way = "Python imports it in place of another module", "Delete it, or give it another name in the package."
    shadowing = [path for path in unknown if is_shadowing(path, project, known)]
    findings = [_finding("module-shadowed", path, message, way) for path in shadowing]
    return tuple(path for path in unknown if path not in shadowing), findings


def _installed(project: Project, place: Path | None) -> Iterator[Diagnostic]:
    """Find an installed package that is another than that in the folder."""
    place = place or project.folder.resolve() / f"src/{project.package}"
    differing = differences(project, place) if place.exists() else ()
    if differing:
        message = f"the package that Python imports is another, in {few(differing, 5)}"
        yield _finding("installed-differs", str(place), message, "Install the project again: `pip install -e .`.")


def _other_generator(project: Project) -> str:
    """Return the reason why this aqlgen cannot generate the same again, "" if it can."""
    if not project.recorded:
        return "the files have no recorded hashes to compare with"
    made_by = Provenance.of(project.provenance, "").aqlgen
    if made_by != build():
        ways = f"install that one ({SOURCE}), or run `aqlgen update`"
        return f"it was made by aqlgen {made_by}, and this is {build()}: {ways}"
    if project.template_tag != current().tag:
        return f"its templates are of {project.template_tag or 'no release'}, these of {current().tag or 'no release'}"
    return ""


def _compare_again(project: Project, tree: Worktree, progress: Progress) -> Iterator[Diagnostic]:
    """Generate again from what the project keeps, and compare every machine file with what was recorded."""
    try:
        generated = regenerate(project, project.options(), project.license, progress).tree
    except AqlgenError as error:
        yield from (finding for finding in error.diagnostics if finding.severity is Severity.ERROR)
        return
    if read_json(project.folder / FILE, generated[FILE]).get("generator") != project.provenance.get("generator"):
        message = "it names another aqlgen than generates the project, which the update workflow would install"
        yield _finding("provenance-damaged", FILE, message, _RESTORE.format(path=FILE))
    differing = [
        path
        for path in _machine_files(project, generated)
        if path not in generated or file_hash(generated[path]) != project.recorded.get(path)
    ]
    if not differing:
        return
    if tree.states().get(OVERRIDES) is not State.UNCHANGED:
        why, way = f"{OVERRIDES} was changed since", "Run `aqlgen update`, and commit the result."
    else:
        why, way = "the record, or aqlgen itself, was changed", "Run `aqlgen update`, and check the result."
    for path in differing:
        yield _finding("not-reproducible", path, f"generated again it is another: {why}", way)


def _machine_files(project: Project, generated: Mapping[str, bytes]) -> list[str]:
    paths = sorted({*project.recorded, *generated} - {FILE})
    return [path for path in paths if kind(path, project.package) is Kind.MACHINE]
