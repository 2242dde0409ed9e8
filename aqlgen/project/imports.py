"""The files that Python would import for a project: an installed copy of its package, and what shadows its modules.

Nothing is run: an environment is read as Python's `site` reads it, without the lines of `.pth` files that are code.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from hashlib import sha256
from importlib import invalidate_caches
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final
from zipfile import BadZipFile, ZipFile

from aqlgen.project import Project
from aqlgen.render.kinds import RUNTIME

__all__ = ["differences", "imported", "is_shadowing", "sources"]

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
    ours, theirs = _package(home), _package(place, as_imported=True)
    if place != home and (project.folder / _SETTINGS).is_file():
        ours[_SETTINGS] = _content(project.folder / _SETTINGS)
    needed = {path.removeprefix(prefix) for path in project.recorded if path.startswith(prefix)}
    needed |= {path for path in ours if path.startswith(_SEALED)}
    differing = {path for path in ours.keys() & theirs.keys() if ours[path] != theirs[path]}
    return tuple(sorted(differing | (needed & ours.keys()) - theirs.keys() | theirs.keys() - ours.keys()))


def _package(folder: Path, *, as_imported: bool = False) -> dict[str, bytes]:
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
