"""Writing a project or a report: to a temporary place, then moved as a whole; nothing is half-written."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from aqlgen.diagnostics.errors import FileError
from aqlgen.project.generated_paths import problem_of_all, remove_below


def refuse_occupied(folder: Path) -> None:
    """Refuse a destination that holds something, is not a folder, or is git's own. Raises FileError."""
    try:
        places = {*folder.absolute().parts, *folder.resolve().parts}
        occupied = folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir())))
    except OSError as error:
        raise _unwritable(folder, error) from None
    if ".git" in map(str.casefold, places):
        raise FileError.of(
            "output-unwritable",
            f"the destination {folder} is in a folder that is git's own",
            help="Choose another place with -o.",
            file=str(folder),
        )
    if occupied:
        what = "is not empty" if folder.is_dir() else "is not a folder"
        raise FileError.of(
            "output-not-empty",
            f"the destination {folder} {what}",
            help="Choose another with -o (`serve`: --keep), or empty it; to regenerate a project, use `aqlgen update`.",
            file=str(folder),
        )


def write_tree(tree: Mapping[str, bytes], folder: Path) -> None:
    """Write a tree to a destination that does not exist or is empty. Raises FileError, leaving nothing behind."""
    refuse_occupied(folder)
    problem = problem_of_all(tree)
    if problem:
        raise FileError.of("output-unwritable", f"the project cannot be written: {problem}", file=str(folder))
    folder = folder.absolute()
    created: list[Path] = []
    temporary: Path | None = None
    try:
        for parent in reversed(folder.parents):
            if not parent.exists():
                parent.mkdir(exist_ok=True)
                created.append(parent)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        for path, content in tree.items():
            target = temporary / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        temporary.chmod(0o755)
        _move(temporary, folder)
    except BaseException as error:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        with suppress(OSError):  # as where another run has written there since
            for parent in reversed(created):
                parent.rmdir()
        if isinstance(error, OSError):
            raise _unwritable(folder, error) from None
        raise


def write_file(content: bytes, file: Path) -> None:
    """Write a file, in place of an earlier one. Raises FileError, leaving what was there before.

    A folder or a device is never replaced; a link keeps its target, and that is written.
    """
    created: list[Path] = []
    try:
        target = file.resolve()
        _refuse_special(file, target)
        for parent in reversed(target.parents):
            if not parent.exists():
                parent.mkdir()
                created.append(parent)
        temporary = target.with_name(f".aqlgen-{token_hex(6)}")
        with temporary.open("xb") as stream:
            created.append(temporary)
            stream.write(content)
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except BaseException as error:
        for path in reversed(created):
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        if isinstance(error, OSError | RuntimeError | ValueError):
            raise _unwritable(file, error) from None
        raise


@contextmanager
def changing(folder: Path, contents: Mapping[str, bytes | None]) -> Iterator[None]:
    """Write files below a folder, and remove those without content, with the folders that are empty then.

    If a change or the work within fails, all files are restored. Raises FileError.
    """
    before = {place: (folder / place).read_bytes() if (folder / place).is_file() else None for place in contents}
    try:
        _change(folder, contents)
        yield
    except BaseException:
        present = {place for place in contents if (folder / place).is_file()}
        _change(folder, {place: text for place, text in before.items() if text is not None or place in present})
        raise


def _change(folder: Path, contents: Mapping[str, bytes | None]) -> None:
    for place, content in contents.items():
        if content is not None:
            write_file(content, folder / place)
            continue
        remove_below(folder, place)
        with suppress(OSError):
            for parent in (folder / place).parents:
                if parent == folder:
                    break
                parent.rmdir()


def _refuse_special(file: Path, target: Path) -> None:
    if target.exists() and not target.is_file():
        folder = target.is_dir()
        raise FileError.of(
            "output-unwritable",
            f"the destination {file} is {'a folder' if folder else 'not an ordinary file'}",
            help=f"Name a file in it, such as {file / 'report.html'}." if folder else "Name another file.",
            file=str(file),
        )


def _move(temporary: Path, folder: Path) -> None:
    """Move what was written to its place; into the folder itself where it exists, which keeps its owner and mode."""
    if not folder.exists():
        temporary.rename(folder)
        return
    refuse_occupied(folder)  # as where another run was faster
    moved: list[Path] = []
    try:
        for entry in temporary.iterdir():
            moved.append(entry.rename(folder / entry.name))
    except OSError:
        for entry in moved:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        raise
    temporary.rmdir()


def _unwritable(folder: Path, error: Exception) -> FileError:
    why = (error.strerror if isinstance(error, OSError) else None) or "unknown reason"
    return FileError.of(
        "output-unwritable",
        f"the destination {folder} cannot be written: {why.lower()}",
        help="Choose another place, or change its permissions.",
        file=str(folder),
    )
