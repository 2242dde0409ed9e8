"""The template, rendered: the only module that knows copier."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from copier import run_copy
from copier.errors import CopierError
from jinja2 import TemplateError as JinjaError

from aqlgen.errors import TemplateError
from aqlgen.releases import own_templates

PROJECT = "templates/project"
"""The template of a project, below the folder that holds `copier.yml`."""

FIXED = {"src/{{package}}/runtime": "src/{package}/runtime", "tests": "tests"}
"""Folders of the template that are the same bytes in every project: copied as they are, since copier takes ten times as
long to find that out. A test holds the result against copier's own of the whole template.
"""

BYTECODE = ("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache")


def render_template(answers: Mapping[str, str], templates: Path | None = None) -> dict[str, bytes]:
    """Render the project's template and format what is Python in it; path → content. Raises TemplateError.

    `templates` is a folder as `releases.templates_of` gives it, None this aqlgen's own. Those of a release stand
    formatted, and the formatter of today leaves them alone.
    """
    root = templates or own_templates()
    fixed = {path: place for path, place in FIXED.items() if _is_fixed(root / PROJECT / path)}
    with tempfile.TemporaryDirectory(prefix="aqlgen-") as name:
        source, folder = Path(name) / "templates", Path(name) / "project"
        _copy(root, source, fixed)
        try:
            run_copy(str(source), folder, data=dict(answers), defaults=True, quiet=True)
        except (CopierError, JinjaError, ValueError) as error:
            message = f"the template could not be rendered: {error}".splitlines()[0]
            raise TemplateError.of("template-failed", message) from error
        for path, place in fixed.items():
            target = folder / place.format(package=answers["package"])
            shutil.copytree(root / PROJECT / path, target, ignore=shutil.ignore_patterns(*BYTECODE))
        if templates is None:
            _format(folder)
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


def _is_fixed(folder: Path) -> bool:
    """Say whether a folder of a template, perhaps of an older release, has nothing to be rendered in it."""
    return folder.is_dir() and not any(path.suffix == ".jinja" or "{{" in path.name for path in folder.rglob("*"))


def _copy(root: Path, target: Path, fixed: Mapping[str, str]) -> None:
    """Copy a template to a folder of its own, for copier, without what it need not see."""
    project = root / PROJECT

    def unseen(folder: str, names: list[str]) -> set[str]:
        own = Path(folder).relative_to(project)
        return {name for name in names if (own / name).as_posix() in fixed or name in BYTECODE}

    shutil.copytree(project, target / PROJECT, ignore=unseen)
    shutil.copy(root / "copier.yml", target)


def _format(folder: Path) -> None:
    """Format by ruff, with the project's own settings."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--no-cache", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise TemplateError.of("template-failed", f"ruff could not format the project: {done.stderr.strip()[:300]}")
