"""A program that renders the templates of another release by copier and ruff; no other module imports copier.

`python -m aqlgen.render.templating FOLDER` renders FOLDER/templates to FOLDER/project with the answers of
FOLDER/answers.json, and formats its Python. A problem is printed, with exit code 1. A separate process spares the
caller the import of copier, and copier's effects on the working directory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from jinja2 import TemplateError as JinjaError

_RUNTIME: Final = "templates/project/src/{{package}}/runtime"
"""Where `template.py` places the runtime in the template: nothing in it is rendered."""


def main(folder: Path) -> int:
    """Render and format; return the exit code."""
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    problem = _copy(folder / "templates", folder / "project", answers) or _format(folder / "project")
    if problem:
        sys.stdout.buffer.write(problem.encode("utf-8", "backslashreplace"))
    return int(bool(problem))


def _copy(source: Path, target: Path, answers: Mapping[str, str]) -> str:
    """Render by copier; return the problem, "" if there is none.

    Without git, which copier would start for each file to ask how the target, which is no repository, has its mode; and
    without the runtime, most of the files, which is moved to its place afterwards.
    """
    os.environ["PATH"] = ""  # as copier is imported, which looks for git there
    from copier import run_copy
    from copier.errors import CopierError

    package, runtime = answers.get("package", ""), target.with_name("runtime")
    if package.isidentifier() and (source / _RUNTIME).is_dir():
        (source / _RUNTIME).rename(runtime)
    try:
        run_copy(str(source), target, data=dict(answers), defaults=True, quiet=True)
    except (CopierError, JinjaError, ValueError) as error:
        return f"the template could not be rendered: {error}".splitlines()[0]
    if runtime.is_dir():
        runtime.rename(target / "src" / package / "runtime")
    return ""


def _format(folder: Path) -> str:
    """Format by ruff with the project's own settings; return the problem, "" if there is none."""
    command = [sys.executable, "-m", "ruff", "format", "--quiet", "--no-cache", "."]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    return f"ruff could not format the project: {process.stderr.strip()[:300]}" if process.returncode else ""


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
