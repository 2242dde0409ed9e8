"""The template, rendered: the only module that knows copier."""

from __future__ import annotations

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


def templates_folder() -> Path:
    """Give the folder of the templates: within the package when installed, beside it in a checkout."""
    installed = PACKAGE / "templates"
    return installed if installed.is_dir() else PACKAGE.parent / "templates"


def render_template(answers: Mapping[str, str]) -> dict[str, bytes]:
    """Render the project's template and format what is Python in it; path → content. Raises TemplateError."""
    with tempfile.TemporaryDirectory(prefix="aqlgen-") as name:
        folder = Path(name) / "project"
        try:
            run_copy(str(templates_folder()), folder, data=dict(answers), defaults=True, quiet=True)
        except (CopierError, JinjaError, ValueError) as error:
            message = f"the template could not be rendered: {error}".splitlines()[0]
            raise TemplateError.of("template-failed", message) from error
        _format(folder)
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


def _format(folder: Path) -> None:
    """Format by ruff, with the project's own settings."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--no-cache", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise TemplateError.of("template-failed", f"ruff could not format the project: {done.stderr.strip()[:300]}")
