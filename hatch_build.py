"""The build hook: the wheel and the sdist carry the templates of every release, in one git bundle.

`aqlgen/project/releases.py` reads what this writes: `templates.bundle`, with one commit for each tag `v…`, which
holds nothing but `copier.yml`, `templates/` and the runtime; and `release.txt`, the tag whose templates these are and
its commit, absent when they are of no release. Without tags, and where git is not at hand, there is nothing to carry:
that is no failure. An sdist brings along what it was built with.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

RELEASE = re.compile(r"v\d+(\.\d+)*((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?")
PARTS = ("copier.yml", "templates")
RUNTIME = "aqlgen/runtime"
"""The code that every project gets, an ordinary package here: linted, typed, tested and imported where it is.

In the template is a symbolic link to it, `src/{{package}}/runtime`, for plain copier: it renders a clone of the
repository as it is, follows links, and knows no second source. The alternatives were worse: a copy in the repository
would have to be kept equal, and a task of copier's would ask people to trust it. No wheel or sdist holds the link:
aqlgen takes the runtime from the package that is beside the templates, or that is installed
(`aqlgen/render/template.py`), also where git could not make a link, as on Windows. Earlier releases had the files in
the template itself.
"""
FOLDER = "aqlgen/template"
FIXED = {f"GIT_{who}_{what}": "aqlgen" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class CarryReleases(BuildHookInterface):  # type: ignore[type-arg]
    """Called by hatchling for each wheel and sdist."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files, made in a folder of their own; an editable install reads the checkout itself."""
        root = Path(self.root)
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"] |= templates(root)
        if version == "editable" or not (root / ".git").exists():
            return
        self.made = tempfile.TemporaryDirectory(prefix="aqlgen-build-")
        try:
            files = carried(root, Path(self.made.name), self.metadata.version)
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", "") or str(error)
            self.app.display_warning(f"the templates of earlier releases are left out: {said.strip()}")
            return
        build_data["force_include"] |= {str(file): f"{FOLDER}/{file.name}" for file in files}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the temporary files."""
        if hasattr(self, "made"):
            self.made.cleanup()


def templates(root: Path) -> dict[str, str]:
    """Return where each file of the template goes in the wheel; links are not followed."""
    found = [root / "copier.yml", *(path for path in sorted((root / "templates").rglob("*")) if path.is_file())]
    paths = (path.relative_to(root).as_posix() for path in found if not path.is_symlink())
    return {str(root / path): f"{FOLDER}/{path}" for path in paths if "__pycache__" not in path}


def carried(root: Path, folder: Path, version: str) -> list[Path]:
    """Write the files for a checkout into a folder. The same tags give the same bytes, for one version of git."""
    listed = git("for-each-ref", "--format=%(refname:strip=2)", "refs/tags/v*", cwd=root).split()
    tags = [tag for tag in listed if RELEASE.fullmatch(tag)]
    if not tags:
        return []
    files = [bundle(root, folder, tags)]
    if f"v{version}" in tags and unchanged(root, f"v{version}"):
        files.append(folder / "release.txt")
        commit = git("rev-parse", f"refs/tags/v{version}^{{commit}}", cwd=root)
        files[-1].write_text(f"v{version}\n{commit}\n", encoding="utf-8")
    return files


def bundle(root: Path, folder: Path, tags: list[str]) -> Path:
    """Pack the templates of the tags, each a commit without a past. Nothing is written into the checkout."""
    objects = folder / "objects"
    objects.mkdir()
    common = Path(root, git("rev-parse", "--git-common-dir", cwd=root)).resolve()
    beside = {"GIT_OBJECT_DIRECTORY": str(objects), "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(common / "objects")}
    commits = {}
    for tag in tags:
        entries = git("ls-tree", f"refs/tags/{tag}", *PARTS, cwd=root).splitlines()
        runtime = git("ls-tree", f"refs/tags/{tag}", RUNTIME, cwd=root).replace(RUNTIME, Path(RUNTIME).name)
        if runtime:  # earlier releases had it in the template
            inner = git("mktree", "--missing", cwd=root, stdin=f"{runtime}\n", **beside)
            entries.append(f"040000 tree {inner}\t{Path(RUNTIME).parent}")
        tree = git("mktree", "--missing", cwd=root, stdin="".join(f"{entry}\n" for entry in entries), **beside)
        date = git("log", "-1", "--format=%ct +0000", f"refs/tags/{tag}", cwd=root)
        times = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        commits[tag] = git("commit-tree", tree, "-m", f"Templates of {tag}", cwd=root, **beside, **FIXED, **times)
    pack = folder / "pack"
    # By one thread and from nothing: how the checkout happens to be packed does not show.
    packing = ("pack-objects", "--revs", "--no-reuse-delta", "--no-reuse-object", "--quiet", str(pack))
    name = git("-c", "pack.threads=1", *packing, cwd=root, stdin="\n".join(commits.values()) + "\n", **beside)
    kind = git("rev-parse", "--show-object-format", cwd=root)
    repository = folder / "bundle.git"
    git("init", "--quiet", "--bare", f"--object-format={kind}", str(repository), cwd=folder)
    for suffix in ("pack", "idx"):
        Path(f"{pack}-{name}.{suffix}").rename(repository / f"objects/pack/pack-{name}.{suffix}")
    for tag, commit in commits.items():
        git("update-ref", f"refs/tags/{tag}", commit, cwd=repository)
    target = folder / "templates.bundle"
    git("-c", "pack.threads=1", "bundle", "create", "--quiet", str(target), "--tags", cwd=repository)
    return target


def unchanged(root: Path, tag: str) -> bool:
    """Return True if the work tree's templates are those of the tag, to the byte."""
    changed = git("diff", "--name-only", f"refs/tags/{tag}", "--", *PARTS, RUNTIME, cwd=root)
    return not changed and not git("ls-files", "--others", "--exclude-standard", "--", *PARTS, RUNTIME, cwd=root)


def git(*arguments: str, cwd: Path, stdin: str = "", **environment: str) -> str:
    """Run git and return its output; the user's own settings do not show in what is built."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    fixed = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}
    done = subprocess.run(  # noqa: S603
        ["git", "-c", "safe.directory=*", *arguments],  # noqa: S607
        cwd=cwd,
        env=clean | fixed | environment,
        input=stdin,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
