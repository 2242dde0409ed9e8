"""Where the templates are, and rendering them in a separate process (`aqlgen.templating`)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from aqlgen.errors import TemplateError

__all__ = ["PACKAGED", "PROJECT", "URL", "own_templates", "render_template", "rendering"]

URL: Final = "https://github.com/MCPAQL/aqlgen.git"
"""The public address of the templates, for `copier update`."""

PACKAGED: Final = Path(__file__).parent.parent / "template"
"""Where an installed aqlgen has its templates; a checkout has them at its root."""

PROJECT = "templates/project"
"""The template of a project, below the folder that holds `copier.yml`."""

BYTECODE = ("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".DS_Store")
"""Folders and files in a template that are not part of it."""

_PACKAGE: Final = "{{package}}"
_LINK: Final = f"src/{_PACKAGE}/runtime"
"""In the template, a symbolic link to the runtime, for plain copier alone; it may be missing, as in a wheel."""
_COMMAND: Final = (sys.executable, "-P", "-m", "aqlgen.templating")


def own_templates() -> Path:
    """Return the folder that holds `copier.yml` and `templates/` of this aqlgen."""
    return PACKAGED if (PACKAGED / "copier.yml").is_file() else PACKAGED.parent.parent


def _runtime_of(templates: Path) -> Path:
    """Return the folder of the runtime that belongs to templates: an installed aqlgen has it only as a package."""
    beside = templates / "aqlgen/runtime"
    return beside if beside.is_dir() else PACKAGED.parent / "runtime"


def render_template(answers: Mapping[str, str], templates: Path | None = None) -> dict[str, bytes]:
    """Render the project's template and format what is Python in it; path → content. Raises TemplateError.

    `templates` is a folder as `releases.templates_of` yields it; None stands for those of this aqlgen.
    """
    with rendering(answers, templates) as rendered:
        return rendered()


@contextmanager
def rendering(answers: Mapping[str, str], templates: Path | None = None) -> Iterator[Callable[[], dict[str, bytes]]]:
    """Start `render_template` in the background; the yielded function waits for its result, or raises TemplateError."""
    root = templates or own_templates()
    files = _template(root)
    plain = [path for path in files if _is_plain(path)]
    modules = os.pathsep.join(entry for entry in sys.path if entry)  # none of the working directory
    with tempfile.TemporaryDirectory(prefix="aqlgen-") as name:
        folder = Path(name)
        for path in files.keys() - plain:
            target = folder / "templates" / PROJECT / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(files[path], target)
        shutil.copy(root / "copier.yml", folder / "templates")
        (folder / "answers.json").write_text(json.dumps(dict(answers)), encoding="utf-8")
        with subprocess.Popen(  # noqa: S603
            (*_COMMAND, name), env={**os.environ, "PYTHONPATH": modules}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:

            def rendered() -> dict[str, bytes]:
                reason, crash = process.communicate()
                if process.returncode:
                    why = (reason or crash.strip().rpartition(b"\n")[2]).decode("utf-8", "replace")
                    raise TemplateError.of("template-failed", why or "the template could not be rendered")
                project = _files(folder / "project")
                project |= {path.replace(_PACKAGE, answers["package"]): files[path] for path in plain}
                return {path: project[path].read_bytes() for path in sorted(project)}

            yield rendered


def _template(root: Path) -> dict[str, Path]:
    """Return the files of the template by their path in it, the runtime's among them."""
    files = _files(root / PROJECT)
    files.pop(_LINK, None)
    if not any(path.startswith(f"{_LINK}/") for path in files):  # older releases have it in the template
        files |= {f"{_LINK}/{path}": file for path, file in _files(_runtime_of(root)).items()}
    return files


def _is_plain(path: str) -> bool:
    """Return True if a file of a template has the same bytes in every project.

    Such files are copied here, since copier takes ten times as long; a test compares the result with what copier alone
    makes of the whole template.
    """
    return not path.endswith(".jinja") and "{" not in path.replace(_PACKAGE, "")


def _files(folder: Path) -> dict[str, Path]:
    """Return the files in a folder by their path in it."""
    paths = ((path.relative_to(folder), path) for path in folder.rglob("*") if path.is_file())
    return {inner.as_posix(): path for inner, path in paths if not any(part in BYTECODE for part in inner.parts)}
