"""The build hook: the wheel and the sdist carry the templates, and the release that they are of.

`aqlgen/project/releases.py` reads what this writes: `release.txt`, the tag whose templates these are, its commit, and
the `address` of pyproject.toml. It is absent when they are of no release and where git is not at hand. An sdist brings
along what it was built with.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PARTS = ("copier.yml", "templates")
RUNTIME = "aqlgen/runtime"
"""The code that every project gets, an ordinary package here: linted, typed, tested and imported where it is.

In the template is a symbolic link to it, `src/{{package}}/runtime`, for plain copier: it renders a clone of the
repository as it is, follows links, and knows no second source. The alternatives were worse: a copy in the repository
would have to be kept equal, and a task of copier's would ask people to trust it. No wheel or sdist holds the link:
aqlgen takes the runtime from the package that is beside the templates, or that is installed
(`aqlgen/render/template.py`), also where git could not make a link, as on Windows.
"""
FOLDER = "aqlgen/template"


class CarryRelease(BuildHookInterface):  # type: ignore[type-arg]
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
            files = carried(root, Path(self.made.name), self.metadata.version, self.config.get("address", ""))
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", "") or str(error)
            self.app.display_warning(f"the release is left out: {said.strip()}")
            return
        build_data["force_include"] |= {str(file): f"{FOLDER}/{file.name}" for file in files}

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the temporary files."""
        if hasattr(self, "made"):
            self.made.cleanup()


def templates(root: Path) -> dict[str, str]:
    """Return where each file of the template goes in the wheel; links are not followed."""
    found = [
        root / "copier.yml",
        root / "CHANGELOG.md",
        *(path for path in sorted((root / "templates").rglob("*")) if path.is_file()),
    ]
    paths = (path.relative_to(root).as_posix() for path in found if not path.is_symlink())
    return {str(root / path): f"{FOLDER}/{path}" for path in paths if "__pycache__" not in path}


def carried(root: Path, folder: Path, version: str, address: str) -> list[Path]:
    """Write the release of a checkout into a folder, nothing where it is of none."""
    if not git("tag", "--list", f"v{version}", cwd=root) or not unchanged(root, f"v{version}"):
        return []
    commit = git("rev-parse", f"refs/tags/v{version}^{{commit}}", cwd=root)
    file = folder / "release.txt"
    file.write_text(f"v{version}\n{commit}\n{address}\n", encoding="utf-8")
    return [file]


def unchanged(root: Path, tag: str) -> bool:
    """Return True if the work tree's templates are those of the tag, to the byte."""
    changed = git("diff", "--name-only", f"refs/tags/{tag}", "--", *PARTS, RUNTIME, cwd=root)
    return not changed and not git("ls-files", "--others", "--exclude-standard", "--", *PARTS, RUNTIME, cwd=root)


def git(*arguments: str, cwd: Path) -> str:
    """Run git and return its output; the user's own settings do not show in what is built."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    fixed = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "LC_ALL": "C"}
    done = subprocess.run(  # noqa: S603
        ["git", "-c", "safe.directory=*", *arguments],  # noqa: S607
        cwd=cwd,
        env=clean | fixed,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()
