"""A program that renders the templates of another release by copier and ruff; no other module imports copier.

`python -m aqlgen.render.templating FOLDER` renders FOLDER/templates to FOLDER/project with the answers of
FOLDER/answers.json, and formats its Python. A problem is printed, with exit code 1. A separate process spares the
caller the import of copier, and copier's effects on the working directory.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from copier import run_copy
from copier.errors import CopierError
from jinja2 import TemplateError as JinjaError
from jinja2.sandbox import SandboxedEnvironment


def main(folder: Path) -> int:
    """Render and format; return the exit code."""
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    problem = _copy(folder / "templates", folder / "project", answers) or _format(folder / "project")
    if problem:
        sys.stdout.buffer.write(problem.encode("utf-8", "backslashreplace"))
    return int(bool(problem))


def _copy(source: Path, target: Path, answers: Mapping[str, str]) -> str:
    """Render by copier; return the problem, "" if there is none.

    Copier compiles the few templates of names of folders anew for each of hundreds of files; here that is done once.
    """
    SandboxedEnvironment.from_string = cache(SandboxedEnvironment.from_string)  # type: ignore[method-assign]
    try:
        run_copy(str(source), target, data=dict(answers), defaults=True, quiet=True)
    except (CopierError, JinjaError, ValueError) as error:
        return f"the template could not be rendered: {error}".splitlines()[0]
    return ""


def _format(folder: Path) -> str:
    """Format by ruff with the project's own settings; return the problem, "" if there is none."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--no-cache", "."]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    return f"ruff could not format the project: {process.stderr.strip()[:300]}" if process.returncode else ""


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
