"""The output of a command on a project, kept until anything is another that it follows from.

`status`, and an `update` with nothing new, print the same again for the same files, state of git, options, day and
aqlgen. All of these are hashed, by content; the output is kept under the hash, in a folder of the user. It is outside
of projects, so that nothing in a project can say that it is up to date.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from time import time
from typing import Any, Final

import typer

from aqlgen import __version__, git
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.git.isolation import isolated, place_of
from aqlgen.resources import cache_folder, files_in, own_files, own_templates

_ENVIRONMENT: Final = ("SOURCE_DATE_EPOCH", "NO_COLOR", "TERM")
"""Variables that an output depends on."""

_SKIPPED: Final = frozenset((".git", ".venv", "venv", "node_modules", ".mypy_cache", ".pytest_cache", ".ruff_cache"))
"""Folders at the top of a project in which neither aqlgen nor its templates have files."""

_DAYS: Final = 30
"""Days after which an output is removed if it was not printed again."""

_MOST_FILES: Final = 20_000
_MOST_BYTES: Final = 256 << 20


class _Unhashed(Exception):
    """The files of a folder are not hashed: there are too many, or a link leads out of it."""


class OutputCache:
    """The output of a command with its `options`; headers are credentials, and stay out of it."""

    def __init__(self, command: str, folder: Path, options: Mapping[str, Any], *, history: bool) -> None:
        """Look at what the output follows from; with `history` at the last commit and the changes since, too."""
        self._folder, self._history = folder, history
        shown = sorted({**options, "header": None}.items(), key=lambda item: item[0])
        self._about = repr((command, shown, os.getcwd(), sys.stderr.isatty()))
        self._place = _place(f"{folder.resolve()} {self._about}")
        self._printed: list[tuple[str, bool]] = []
        self._key = self._state()

    def echo(self, message: str, *, err: bool = False) -> None:
        """Print a text, which is part of the output."""
        typer.echo(message, err=err)
        self._printed.append((message, err))

    def recall(self) -> bool:
        """Print the output that is kept for the present state; return False if there is none."""
        if self._place is None or not self._key:
            return False
        try:
            kept = json.loads(self._place.read_bytes())
            if kept["key"] != self._key:
                return False
            printed = [(str(text), bool(err)) for text, err in kept["printed"]]
        except (OSError, ValueError, TypeError, KeyError):
            return False
        for text, err in printed:
            self.echo(text, err=err)
        return True

    def keep(self) -> None:
        """Keep the output, unless something was edited meanwhile."""
        if self._place is None or not self._key or self._key != self._state():
            return
        written = self._place.with_suffix(f".{os.getpid()}")
        try:
            self._place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            text = json.dumps({"key": self._key, "printed": self._printed})
            written.write_text(text, encoding="utf-8", errors="surrogatepass")
            written.replace(self._place)
            for file in self._place.parent.glob("*.json"):
                if file.stat().st_mtime < time() - _DAYS * 86_400:
                    file.unlink(missing_ok=True)
        except OSError:
            return

    def _state(self) -> str:
        """Return the hash of all that the output follows from, "" where it cannot be told."""
        whole = sha256(self._about.encode("utf-8", "surrogatepass"))
        try:
            for part in (*_tool(), *_git(self._folder, self._history), *_files(self._folder)):
                whole.update(f"{len(part)}:".encode() + part)
        except (OSError, AqlgenError, _Unhashed):
            return ""
        return whole.hexdigest()


def _place(name: str) -> Path | None:
    """Return the file that an output is kept in, None without a cache."""
    root = cache_folder()
    return root and root / f"{sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"


def _tool() -> Iterator[bytes]:
    """Yield the inputs of the output beside the project: aqlgen, Python, packages, the day, and the environment."""
    for path, file in own_files():
        yield path.encode()
        yield file.read_bytes()
    if (own_templates() / ".git").exists():
        yield git.attempt("rev-parse", "--verify", "--quiet", f"refs/tags/v{__version__}", cwd=own_templates()).out
    yield sys.version.encode()
    yield from sorted(file.name.encode() for place in sys.path for file in Path(place).glob("*.dist-info"))
    yield str(datetime.now(UTC).date()).encode()  # aliases end on a day
    yield repr([os.environ.get(name) for name in _ENVIRONMENT]).encode()


def _git(folder: Path, history: bool) -> Iterator[bytes]:
    """Yield the state of the repository: what it ignores, its settings, and with `history` what there is to merge."""
    git.require()
    place = place_of(folder)
    if isinstance(place, git.Done):
        yield place.err.encode()
        return
    head = git.attempt("rev-parse", "--verify", "--quiet", "HEAD^{commit}", cwd=folder).text if history else ""
    with isolated(place, head) as repository:
        for path, file in sorted(files_in(Path(repository.env["GIT_DIR"]))):
            yield path.encode()
            yield file.read_bytes()
        within = ("--", f":(top,literal){place.prefix}")
        yield repository.attempt("ls-files", "-z", "--cached", "--others", "--exclude-standard", *within).out
        if history:
            yield repository.attempt("status", "--porcelain", "-z", "--untracked-files=no").out
            yield repr(sorted(os.listdir(place.git_dir))).encode()


def _files(folder: Path) -> Iterator[bytes]:
    """Yield the files of a project, each with its path. Raises _Unhashed, also for what is not a project."""
    if not (folder / "MCPAQL-PROVENANCE.json").is_file():
        raise _Unhashed
    count, size, home = 0, 0, os.path.join(os.path.realpath(folder), "")
    for parent, folders, names in os.walk(folder):
        top = Path(parent) == folder
        folders[:] = sorted(name for name in folders if name != "__pycache__" and not (top and name in _SKIPPED))
        for path in (os.path.join(parent, name) for name in sorted((*names, *folders))):
            state = os.lstat(path)
            count, size = count + 1, size + state.st_size
            if count > _MOST_FILES or size > _MOST_BYTES:
                raise _Unhashed
            yield f"{os.path.relpath(path, folder)} {state.st_mode}".encode("utf-8", "surrogateescape")
            if S_ISREG(state.st_mode):
                yield Path(path).read_bytes()
            elif S_ISLNK(state.st_mode):
                if not os.path.realpath(path).startswith(home):  # nothing outside is read, however it ends
                    raise _Unhashed
                yield os.fsencode(os.readlink(path))
