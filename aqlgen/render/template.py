"""The template, rendered, in a process of its own (`aqlgen.render.templating`)."""

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

from aqlgen.diagnostics.errors import TemplateError
from aqlgen.releases import own_templates, runtime_of

PROJECT = "templates/project"
"""The template of a project, below the folder that holds `copier.yml`."""

BYTECODE = ("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".DS_Store")
"""What may lie in a template and is no part of it."""

_PACKAGE: Final = "{{package}}"
_LINK: Final = f"src/{_PACKAGE}/runtime"
"""In the template, a symbolic link to the runtime, for plain copier alone; it may be missing, as in a wheel."""
_COMMAND: Final = (sys.executable, "-P", "-m", "aqlgen.render.templating")


def render_template(answers: Mapping[str, str], templates: Path | None = None) -> dict[str, bytes]:
    """Render the project's template and format what is Python in it; path → content. Raises TemplateError.

    `templates` is a folder as `releases.templates_of` gives it, None this aqlgen's own.
    """
    with rendering(answers, templates) as rendered:
        return rendered()


@contextmanager
def rendering(answers: Mapping[str, str], templates: Path | None = None) -> Iterator[Callable[[], dict[str, bytes]]]:
    """Begin to render as `render_template` does; what is given waits for the end. It raises TemplateError."""
    root = templates or own_templates()
    every = _template(root)
    plain = [one for one in every if _is_plain(one)]
    path = os.pathsep.join(one for one in sys.path if one)  # the same modules are found, none in the working directory
    with tempfile.TemporaryDirectory(prefix="aqlgen-") as name:
        folder = Path(name)
        for one in every.keys() - plain:
            target = folder / "templates" / PROJECT / one
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(every[one], target)
        shutil.copy(root / "copier.yml", folder / "templates")
        (folder / "answers.json").write_text(json.dumps(dict(answers)), encoding="utf-8")
        with subprocess.Popen(  # noqa: S603
            (*_COMMAND, name), env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:

            def rendered() -> dict[str, bytes]:
                told, crash = process.communicate()
                if process.returncode:
                    why = (told or crash.strip().rpartition(b"\n")[2]).decode("utf-8", "replace")
                    raise TemplateError.of("template-failed", why or "the template could not be rendered")
                found = _files(folder / "project")
                found |= {one.replace(_PACKAGE, answers["package"]): every[one] for one in plain}
                return {one: found[one].read_bytes() for one in sorted(found)}

            yield rendered


def _template(root: Path) -> dict[str, Path]:
    """Return the files of the template by their path in it, the runtime's among them."""
    files = _files(root / PROJECT)
    files.pop(_LINK, None)
    if not any(path.startswith(f"{_LINK}/") for path in files):  # older releases have it in the template
        files |= {f"{_LINK}/{path}": file for path, file in _files(runtime_of(root)).items()}
    return files


def _is_plain(path: str) -> bool:
    """Whether a file of a template is the same bytes in every project, and formatted.

    It is taken as it is then, since copier takes ten times as long to find that out; a test holds the result against
    copier's own of the whole template.
    """
    return not path.endswith(".jinja") and "{" not in path.replace(_PACKAGE, "")


def _files(folder: Path) -> dict[str, Path]:
    """Give the files in a folder by their path in it."""
    every = ((path.relative_to(folder), path) for path in folder.rglob("*") if path.is_file())
    return {own.as_posix(): path for own, path in every if not any(part in BYTECODE for part in own.parts)}
