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

PACKAGE = Path(__file__).parent.parent

FIXED = {"project/src/{{package}}/runtime": "src/{package}/runtime", "project/tests": "tests"}
"""Folders of the template that are the same bytes in every project: copied as they are, since copier takes ten times as
long to find that out. A test holds the result against copier's own of the whole template.
"""

BYTECODE = ("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache")


def templates_folder() -> Path:
    """Give the folder of the templates: within the package when installed, beside it in a checkout."""
    installed = PACKAGE / "templates"
    return installed if installed.is_dir() else PACKAGE.parent / "templates"


def render_template(answers: Mapping[str, str]) -> dict[str, bytes]:
    """Render the project's template and format what is Python in it; path → content. Raises TemplateError."""
    with tempfile.TemporaryDirectory(prefix="aqlgen-") as name:
        source, folder = Path(name) / "templates", Path(name) / "project"
        shutil.copytree(templates_folder(), source, ignore=_fixed)
        try:
            run_copy(str(source), folder, data=dict(answers), defaults=True, quiet=True)
        except (CopierError, JinjaError, ValueError) as error:
            message = f"the template could not be rendered: {error}".splitlines()[0]
            raise TemplateError.of("template-failed", message) from error
        for path, target in FIXED.items():
            place = folder / target.format(package=answers["package"])
            shutil.copytree(templates_folder() / path, place, ignore=shutil.ignore_patterns(*BYTECODE))
        _format(folder)
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


def _fixed(folder: str, names: list[str]) -> set[str]:
    """Give the entries of a template folder that copier need not see."""
    own = Path(folder).relative_to(templates_folder()).as_posix()
    return {name for name in names if f"{own}/{name}" in FIXED or name in BYTECODE}


def _format(folder: Path) -> None:
    """Format by ruff, with the project's own settings."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--no-cache", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise TemplateError.of("template-failed", f"ruff could not format the project: {done.stderr.strip()[:300]}")
