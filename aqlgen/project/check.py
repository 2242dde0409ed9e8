"""The check of a project: its generated files are as they were generated, and come out the same again.

So is the copy that Python would import. Nothing is run: an environment is read as Python's `site` reads it, without the
lines of `.pth` files that are code.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib import invalidate_caches
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.diagnostics.plain import few
from aqlgen.pipeline import Progress
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.generation import current, regenerate
from aqlgen.project.records import Provenance, read_json
from aqlgen.project.worktree import State, Worktree
from aqlgen.render.provenance import FILE, RUNTIME, Kind, file_hash, kind, tree_hash
from aqlgen.resources import SOURCE, build

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
        return f"aqlgen {made_by} generated it, and this is {build()}: {ways}"
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


_CODE: Final = (".py", ".pyc", ".pyd", ".so")
_LONGEST_PTH: Final = 1 << 16
_SEALED: Final = ("runtime/", "__main__.py")
_SETTINGS: Final = "adapter.toml"
"""The file beside `src` that a built package has within."""


def imported(project: Project) -> Path | None:
    """Return the folder or file of the package in the environment of the project, None where it is not installed.

    The environment is the project's own (`.venv`), else the one that is active, else that of this Python.
    """
    invalidate_caches()
    spec = PathFinder.find_spec(project.package, _search_path(project.folder))
    if spec is None:
        return None
    place = next(iter(spec.submodule_search_locations or ()), spec.origin)
    return None if place is None else Path(place).resolve()


def _search_path(folder: Path) -> list[str]:
    first = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    active = os.environ.get("VIRTUAL_ENV")
    environments = [folder / ".venv", folder / "venv", *([Path(active)] if active else ())]
    environment = next((place for place in environments if (place / "pyvenv.cfg").is_file()), None)
    if environment is None:
        return [*first, *filter(None, sys.path)]
    sites = [*sorted(environment.glob("lib*/python*/site-packages")), environment / "Lib/site-packages"]
    return [*first, *(str(path) for site in sites if site.is_dir() for path in (site, *_linked(site)))]


def _linked(site: Path) -> Iterator[Path]:
    """Yield the folders that `.pth` files add, as an editable install does."""
    for file in sorted(site.glob("*.pth")):
        with file.open(encoding="utf-8", errors="replace") as lines:
            for line in lines.read(_LONGEST_PTH).splitlines():
                if line.strip() and not line.startswith(("#", "import ", "import\t")) and "\0" not in line:
                    yield site / line.strip()


def differences(project: Project, place: Path) -> tuple[str, ...]:
    """Return the files in which an installed package is not that of the project's folder, by their paths in it.

    Files of the user in the folder may be left out of a build, as those that git ignores are. A sealed runtime is among
    them: as a build has it, or as a checkout unpacked it.
    """
    prefix = f"src/{project.package}/"
    home = project.folder.resolve() / prefix
    if not place.is_dir():
        return (place.name,)
    ours, theirs = package_files(home), package_files(place, as_imported=True)
    if place != home and (project.folder / _SETTINGS).is_file():
        ours[_SETTINGS] = _content(project.folder / _SETTINGS)
    needed = {path.removeprefix(prefix) for path in project.recorded if path.startswith(prefix)}
    needed |= {path for path in ours if path.startswith(_SEALED)}
    differing = {path for path in ours.keys() & theirs.keys() if ours[path] != theirs[path]}
    return tuple(sorted(differing | (needed & ours.keys()) - theirs.keys() | theirs.keys() - ours.keys()))


def package_files(folder: Path, *, as_imported: bool = False) -> dict[str, bytes]:
    """Return the files of a package with those of its sealed runtime, `as_imported` as they were unpacked."""
    files = {path: _content(folder / path) for path in sources(folder)}
    archive = folder.parents[1] / RUNTIME
    if any(path.startswith(_SEALED) for path in files) or not archive.is_file():
        return files
    unpacked = folder / "__pycache__" / f"runtime-{sha256(archive.read_bytes()).hexdigest()[:16]}"
    if as_imported and unpacked.is_dir():
        files |= {path: _content(unpacked / path) for path in sources(unpacked)}
    else:
        with suppress(BadZipFile, EOFError, OSError, RuntimeError, zlib.error), ZipFile(archive) as sealed:
            if sum(entry.file_size for entry in sealed.infolist()) <= archive.stat().st_size:  # aqlgen stores files
                files |= {path: sealed.read(path) for path in sealed.namelist()}
    return files


def _content(file: Path) -> bytes:
    """Return a file with the line ends of Unix; b"" for one that cannot be read."""
    try:
        return file.read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        return b""


def sources(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, also those that git ignores, and links to folders; nothing of Python's own."""
    for place, inner, files in os.walk(folder):
        links = [name for name in inner if Path(place, name).is_symlink()]
        inner[:] = sorted(name for name in inner if name != "__pycache__" and not name.endswith(".egg-info"))
        yield from (Path(place, name).relative_to(folder).as_posix() for name in (*links, *files))


def is_shadowing(path: str, project: Project, known: Collection[str]) -> bool:
    """Return True for an unknown file below `src` that Python would import in place of one that it should.

    Beside the package that is any module, in it one of the name of a known module, or of a sealed runtime.
    """
    file = project.folder / path
    if not path.endswith(_CODE) and not file.is_symlink():
        return False
    _, *folders, name = path.split("/")
    if folders[:1] != [project.package]:
        return True
    steps = [*folders, name.partition(".")[0]]
    if steps[1] in ("runtime", "__main__") and (project.folder / RUNTIME).is_file():
        return True
    modules = {f"src/{'/'.join(steps[:count])}.py" for count in range(2, len(steps) + 1)}
    return any(module in known and (project.folder / module).is_file() for module in modules)
