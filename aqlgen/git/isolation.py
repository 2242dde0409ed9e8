"""A git directory of aqlgen's own in place of a repository's: what a repository holds runs no command.

The configuration of a repository can name commands in many settings (filters, `core.fsmonitor`, merge and diff drivers,
hooks, helpers of transports), and each release of git may add one. So it is not in force: git is given a temporary
directory with its own configuration, and of the repository its objects, index and work tree. From the configuration
that the user sees only the values of `_TAKEN` are copied, which say how files are encoded on this machine.

What follows: no filter runs, neither the repository's nor the user's. `repository.py` says what that means for files
that git stores in another form, as in Git LFS.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aqlgen import git
from aqlgen.diagnostics.errors import FileError

_TAKEN: Final = frozenset(
    "core.autocrlf core.checkstat core.eol core.filemode core.ignorecase core.longpaths core.precomposeunicode"
    " core.sharedrepository core.sparsecheckout core.sparsecheckoutcone core.symlinks core.trustctime"
    " index.sparse".split()
)
"""Settings that say how files are stored here. None of them names a file or a command."""

_EXCLUDES: Final = "core.excludesfile"
"""The user's list of ignored files, which is not taken from the repository's own configuration."""

_OF_REPOSITORY: Final = frozenset({"local", "worktree"})

_COPIED: Final = ("info/attributes", "info/exclude", "info/sparse-checkout", "shallow")
"""Files of a git directory that are data about its paths and commits."""

_CONSTANT: Final = {"core.splitIndex": "false", "core.bare": "false", "core.logAllRefUpdates": "false"}

_DISCOVERY: Final = ("-c", "safe.bareRepository=explicit", "rev-parse", "--path-format=absolute")
"""Without the setting, a folder that looks like a bare repository would be one, with a configuration of its own."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where git finds a repository: its work tree, the prefix of the folder in it, and what belongs to the two."""

    top: Path
    prefix: str
    git_dir: Path
    common_dir: Path
    index: Path
    objects: Path
    object_format: str


@dataclass(frozen=True, slots=True)
class Isolated:
    """A repository behind a git directory of aqlgen's own; `env` is what leads git there."""

    top: Path
    env: Mapping[str, str]

    def run(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> git.Done:
        """Run git at the top of the work tree. Raises FileError when it is missing or fails."""
        return git.run(*arguments, cwd=self.top, stdin=stdin, env={**self.env, **(env or {})})

    def attempt(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> git.Done:
        """Run git at the top of the work tree, where it may fail. Raises FileError when it is missing."""
        return git.attempt(*arguments, cwd=self.top, stdin=stdin, env={**self.env, **(env or {})})


def without_configuration() -> dict[str, str]:
    """Return the environment in which git reads no configuration of the user or the machine."""
    return {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "0",
        "GIT_CONFIG_PARAMETERS": "",
    }


def place_of(folder: Path) -> Place | git.Done:
    """Find the repository of a folder; what git said when there is none. Raises FileError for a misleading one.

    A repository can name its work tree (`core.worktree`): one that does not hold the folder is refused.
    """
    asked = ("--show-toplevel", "--git-dir", "--git-common-dir", "--show-object-format")
    done = git.attempt(*_DISCOVERY, *asked, "--git-path", "index", "--git-path", "objects", "--show-prefix", cwd=folder)
    if done.code:
        return done
    top, git_dir, common_dir, object_format, index, objects, prefix = (done.text + "\n").split("\n")[:7]
    try:
        same = (Path(top) / prefix).samefile(folder)
    except OSError:
        same = False
    if not same:
        raise FileError.of(
            "misleading-repository",
            f"the repository of {folder} says that its work tree is {top}, which does not hold this folder",
            help="Look at core.worktree in its configuration: `git config --show-origin core.worktree`.",
            file=str(folder),
        )
    return Place(Path(top), prefix, Path(git_dir), Path(common_dir), Path(index), Path(objects), object_format)


@contextmanager
def isolated(place: Place, head: str = "") -> Iterator[Isolated]:
    """Yield the repository of a place behind a temporary git directory, whose HEAD is a commit."""
    with tempfile.TemporaryDirectory(prefix="aqlgen-") as name:
        folder = Path(name)
        for inner in ("objects", "refs", "info"):
            (folder / inner).mkdir()
        (folder / "HEAD").write_text(f"{head}\n" if head else "ref: refs/heads/none\n", encoding="utf-8")
        (folder / "config").write_text(_configuration(place), encoding="utf-8")
        _copy_data(place, folder)
        env = {
            **without_configuration(),
            "GIT_DIR": name,
            "GIT_WORK_TREE": str(place.top),
            "GIT_INDEX_FILE": str(place.index),
            "GIT_OBJECT_DIRECTORY": str(place.objects),
        }
        yield Isolated(place.top, env)


def _configuration(place: Place) -> str:
    """Return the configuration of the temporary git directory."""
    values = dict(_settings(place)) | _CONSTANT
    lines = [
        f"[{key.partition('.')[0]}]\n\t{key.partition('.')[2]} = {_quoted(value)}" for key, value in values.items()
    ]
    lines.append("[core]\n\trepositoryformatversion = 1")
    lines.append(f'[extensions]\n\tobjectFormat = "{place.object_format}"')
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _settings(place: Place) -> Iterator[tuple[str, str]]:
    """Yield the settings to copy; a later value wins."""
    listing = git.run("config", "--list", "--null", "--show-scope", cwd=place.top)
    words = iter(os.fsdecode(listing.out).split("\0")[:-1])
    for scope, entry in zip(words, words, strict=True):
        key, separator, value = entry.partition("\n")
        value = value if separator else "true"  # git's form of a key alone
        if "\n" in value or not value.isprintable():
            continue
        if key in _TAKEN or (key == _EXCLUDES and scope not in _OF_REPOSITORY):
            yield key, value


def _copy_data(place: Place, folder: Path) -> None:
    """Copy files of the git directory that are no configuration."""
    for name in _COPIED:
        for source in (place.git_dir / name, place.common_dir / name):
            if source.is_file():
                shutil.copyfile(source, folder / name)
                break
    for shared in place.index.parent.glob("sharedindex.*"):  # of a split index
        shutil.copyfile(shared, folder / shared.name)
