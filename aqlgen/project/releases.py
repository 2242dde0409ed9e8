"""The releases of aqlgen: which one this is, and the templates of each.

Each release is a tag `v<version>`. A checkout has them in its own history; an installed aqlgen carries their templates
in a git bundle that the build made (`hatch_build.py`). No network is reached.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from aqlgen import __version__, git
from aqlgen.diagnostics.errors import FileError
from aqlgen.git.isolation import Place, isolated, place_of
from aqlgen.resources import PACKAGED, URL, own_templates

__all__ = ["Release", "current", "templates_of"]

_RUNTIME: Final = "aqlgen/runtime"
_PARTS: Final = ("copier.yml", "templates", _RUNTIME)
_TAG: Final = re.compile(r"v\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?")


@dataclass(frozen=True, slots=True)
class Release:
    """A release by its tag, the public address of its templates, and its commit; all "" when they are of none."""

    tag: str = ""
    url: str = ""
    commit: str = ""


@cache
def current() -> Release:
    """Return the release of this aqlgen's own templates; none when they were changed since."""
    record = PACKAGED / "release.txt"
    if record.is_file():
        recorded, _, commit = record.read_text(encoding="utf-8").strip().partition("\n")
        return Release(recorded, URL, commit)
    checkout = _checkout()
    tag = f"v{__version__}"
    if checkout is None or not _unchanged(checkout, tag):
        return Release()
    return Release(tag, URL, git.attempt("rev-parse", f"refs/tags/{tag}^{{commit}}", cwd=checkout).text)


@contextmanager
def templates_of(tag: str, *, runtime: bool = True) -> Iterator[Path | None]:
    """Yield the templates of a release in a temporary folder like `own_templates()`; None when they are not at hand.

    Without `runtime`, most of the files, the folder of the runtime is empty. Raises FileError when git is missing.
    """
    with ExitStack() as stack:
        files = _files(tag, stack, _PARTS if runtime else _PARTS[:-1]) if _TAG.fullmatch(tag) else {}
        if "copier.yml" not in files:
            yield None
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aqlgen-")))
        if not runtime:
            (folder / _RUNTIME).mkdir(parents=True)
        for path, content in files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        yield folder


def _checkout() -> Path | None:
    """Return the repository that aqlgen runs from, if it does."""
    root = PACKAGED.parent.parent
    return root if own_templates() == root and (root / ".git").exists() else None


def _unchanged(root: Path, tag: str) -> bool:
    """Return True if the templates in the work tree are those of a tag, to the byte."""
    try:
        changed = git.attempt("diff", "--quiet", f"refs/tags/{tag}", "--", *_PARTS, cwd=root)
        added = git.attempt("ls-files", "--others", "--exclude-standard", "--", *_PARTS, cwd=root)
    except FileError:
        return False
    return changed.code == added.code == 0 and not added.out


def _files(tag: str, stack: ExitStack, parts: tuple[str, ...]) -> dict[str, bytes]:
    """Read parts of the templates of a tag, path → content, from the checkout or the bundle; {} if it is in neither."""
    repository, env = _checkout(), dict[str, str]()
    if repository is None:
        bundle = PACKAGED / "templates.bundle"
        if not bundle.is_file():
            return {}
        repository = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="aqlgen-")))
        local = {"GIT_ALLOW_PROTOCOL": "file"}
        git.run("clone", "--quiet", "--bare", str(bundle), str(repository), cwd=PACKAGED, env=local)
    commit = git.attempt("rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}", cwd=repository)
    if commit.code:
        return {}
    place = place_of(repository) if _checkout() else None
    if isinstance(place, Place):
        env = dict(stack.enter_context(isolated(place)).env)
    listed = git.attempt("ls-tree", "-r", "-z", commit.text, *parts, cwd=repository, env=env)
    if listed.code:
        return {}
    entries = [entry.split("\t", 1) for entry in listed.out.decode().split("\0") if entry]
    oids = {path: about.split()[2] for about, path in entries if not about.startswith("120000 ")}  # a symbolic link
    contents = git.blobs(oids.values(), repository, env)
    complete = contents.keys() >= set(oids.values())  # not in a clone that lacks blobs
    return _shaped({path: contents[oid] for path, oid in oids.items()}) if complete else {}


def _shaped(files: dict[str, bytes]) -> dict[str, bytes]:
    """Convert templates of the releases that had `copier.yml` in their folder."""
    old = files.pop("templates/copier.yml", None)
    if old is not None and "copier.yml" not in files:
        files["copier.yml"] = old.replace(b"\n_subdirectory: project\n", b"\n_subdirectory: templates/project\n")
    return files
