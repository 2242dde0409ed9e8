"""Writing a project: into a temporary folder beside its place, then moved there whole; nothing is half-written."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from aqlgen.errors import FileError

__all__ = ["refuse_occupied", "write_tree"]


def refuse_occupied(folder: Path) -> None:
    """Refuse a destination that holds something or is no folder. Raises FileError."""
    try:
        occupied = folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir())))
    except OSError as error:
        raise _unwritable(folder, error) from None
    if occupied:
        what = "is not empty" if folder.is_dir() else "is not a folder"
        raise FileError.of(
            "output-not-empty",
            f"the destination {folder} {what}",
            help="Choose another with -o, or empty it; to regenerate a project, use `aqlgen update`.",
            file=str(folder),
        )


def write_tree(tree: Mapping[str, bytes], folder: Path) -> None:
    """Write a tree to a destination that does not exist or is empty. Raises FileError, leaving nothing behind."""
    refuse_occupied(folder)
    folder = folder.absolute()
    made: list[Path] = []
    try:
        for parent in reversed(folder.parents):
            if not parent.exists():
                parent.mkdir()
                made.append(parent)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        made.append(temporary)
        for path, content in tree.items():
            target = temporary / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        temporary.chmod(0o755)
        _move(temporary, folder)
    except BaseException as error:
        for one in reversed(made):
            shutil.rmtree(one, ignore_errors=True)
        if isinstance(error, OSError):
            raise _unwritable(folder, error) from None
        raise


def _move(temporary: Path, folder: Path) -> None:
    """Move what was written to its place; into the folder itself where it exists, since it may be somebody's own."""
    if not folder.exists():
        temporary.rename(folder)
        return
    moved: list[Path] = []
    try:
        for entry in temporary.iterdir():
            moved.append(entry.rename(folder / entry.name))
    except OSError:
        for entry in moved:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        raise
    temporary.rmdir()


def _unwritable(folder: Path, error: OSError) -> FileError:
    return FileError.of(
        "output-unwritable",
        f"the destination {folder} cannot be written: {(error.strerror or 'unknown reason').lower()}",
        help="Choose another place with -o, or change its permissions.",
        file=str(folder),
    )
