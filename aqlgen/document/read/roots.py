"""Finding the one root document among the files of a folder or an archive."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from aqlgen.diagnostics.errors import AqlgenError, FileError
from aqlgen.document.read.limits import Limits
from aqlgen.document.read.source import parse

_SUFFIXES: Final = (".json", ".yaml", ".yml")
_SIGN: Final = re.compile(rb"""^(?:\xef\xbb\xbf)?["']?(?:openapi|swagger)["']?\s*:|"(?:openapi|swagger)"\s*:""", re.M)
_SHOWN: Final = 10
_MOST: Final = 50
_SKIPPED: Final = frozenset({"node_modules", "__pycache__", "__MACOSX"})


def find_root(name: str, paths: Iterable[str], load: Callable[[str], bytes], limits: Limits) -> str:
    """Give the path of the only file that has `openapi` or `swagger` at its root.

    Raises FileError when there is none, or several.
    """
    likely: list[str] = []
    size = 0
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        if not path.lower().endswith(_SUFFIXES) or _hidden(path):
            continue
        data = load(path)
        size += len(data)
        if size > limits.all_size:
            raise _refusal("no-root-document", "it holds too much to look through", name)
        if _SIGN.search(data.replace(b"\0", b"")) and _is_root(path, data, limits):
            likely.append(path)
        if len(likely) > _MOST:
            break
    if not likely:
        raise _refusal("no-root-document", "no file in it has openapi or swagger at its root", name)
    if len(likely) > 1:
        more = ["…"] if len(likely) > _SHOWN else []
        message = f"several files have openapi or swagger at their root: {', '.join([*likely[:_SHOWN], *more])}"
        raise _refusal("several-root-documents", message, name)
    return likely[0]


def files_below(folder: Path, limits: Limits) -> Iterator[str]:
    """Give the files of a folder by their paths with slashes; links to folders are not entered. Raises FileError."""
    seen = 0
    for here, folders, files in os.walk(folder):
        folders[:] = [one for one in folders if not _hidden(one)]
        seen += len(files)
        if seen > 10 * limits.files:
            raise _refusal("no-root-document", f"it has more than {10 * limits.files:,} files", str(folder))
        for file in files:
            yield (Path(here) / file).relative_to(folder).as_posix()


def _hidden(path: str) -> bool:
    return any(part.startswith(".") or part in _SKIPPED for part in path.split("/"))


def _is_root(path: str, data: bytes, limits: Limits) -> bool:
    try:
        root = parse(path, data, None, limits=limits).root
    except AqlgenError:
        return False
    return any(isinstance(root.get(key), (str, int, float)) for key in ("openapi", "swagger"))


def _refusal(code: str, message: str, name: str) -> FileError:
    return FileError.of(code, message, file=name, help="Name the root document inside it.")
