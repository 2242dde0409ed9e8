"""The project's template, rendered as copier would.

The template is copier's (`copier.yml`, `templates/`), so that plain `copier copy` and `copier update` work with it.
Most of its files are the same bytes in every project, and those with the suffix `.jinja` need nothing that only copier
has: they are rendered here, in milliseconds, and a test compares the result with copier's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from aqlgen.diagnostics.errors import TemplateError
from aqlgen.resources import files_in, own_templates, runtime_of

if TYPE_CHECKING:
    from jinja2 import Environment, Template

PROJECT = "templates/project"
"""The template of a project, below the folder that holds `copier.yml`."""

_PACKAGE: Final = "{{package}}"
_RUNTIME: Final = f"src/{_PACKAGE}/runtime"
_LINK: Final = f"src/{_PACKAGE}/{{% if not runtime %}}runtime{{% endif %}}"
"""A symbolic link to the runtime, for plain copier alone; it may be missing, as in a wheel."""
_NAMES: Final = frozenset({"name", "package", "version", "license", "env_prefix"})
"""Answers that are names: the `$` of a template's own check lets a line end pass."""
_SUFFIX: Final = ".jinja"


def render_template(answers: Mapping[str, str], templates: Path | None = None) -> dict[str, bytes]:
    """Render a project: path → content. Raises TemplateError, also for an answer that the template refuses.

    `templates` is a folder like `own_templates()`, which is the default.
    """
    for name, answer in answers.items():
        if not isinstance(answer, str) or ("\n" in answer and name in _NAMES):
            raise _failed(f"the template could not be rendered: {name} is {answer!r}, which is not a text of one line")
    return _render(answers, templates or own_templates())


def _render(answers: Mapping[str, str], root: Path) -> dict[str, bytes]:
    from jinja2 import TemplateError as JinjaError

    questions = _questions((root / "copier.yml").read_bytes())
    try:
        return _render_files(_template_files(root, answers), _Template(questions, answers), answers["package"])
    except JinjaError as error:
        raise _failed(str(error)) from None


@lru_cache(maxsize=4)
def _questions(text: bytes) -> Mapping[str, Any]:
    """Read the questions of a template, once for those who render it several times, as an update does."""
    import yaml

    from aqlgen.document.yaml_events import SafeLoader

    questions: Mapping[str, Any] = yaml.load(text, Loader=SafeLoader)  # noqa: S506 - it is PyYAML's own
    return questions


@lru_cache(maxsize=128)
def _compiled(text: str) -> Template:
    """Compile a text of a template, once as well."""
    return _environment().from_string(text)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)  # noqa: S701 - no HTML
    environment.filters |= _FILTERS
    return environment


def _failed(reason: str) -> TemplateError:
    return TemplateError.of("template-failed", reason or "the template could not be rendered")


def _render_files(files: Mapping[str, Path], template: _Template, package: str) -> dict[str, bytes]:
    """Render the names of files, and the contents of those with the suffix."""
    tree = {}
    for path, file in files.items():
        name = template.render(path) if "{" in path.replace(_PACKAGE, "") else path.replace(_PACKAGE, package)
        name = name.removesuffix(_SUFFIX)
        if not all(name.split("/")) or template.excludes(name):  # the answers leave the file out
            continue
        content = file.read_bytes()
        if path.endswith(_SUFFIX):
            content = template.render(content.decode()).encode("utf-8", "surrogatepass")
        tree[name] = content
    return dict(sorted(tree.items()))


class _Template:
    """Answers to the questions of `copier.yml`, with which texts are rendered as copier would."""

    def __init__(self, questions: Mapping[str, Any], answers: Mapping[str, str]) -> None:
        self._answers: dict[str, Any] = {}
        for name, question in questions.items():
            if not name.startswith("_"):
                self._answer(name, question, answers)
        recorded = {name: answer for name, answer in self._answers.items() if questions[name].get("when", True)}
        self._excluded = [pattern for text in questions["_exclude"] if (pattern := self.render(text))]
        file = PurePosixPath(questions["_answers_file"])
        self._answers |= {"_copier_answers": recorded, "_copier_conf": {"answers_file": file}}

    def _answer(self, name: str, question: Mapping[str, Any], answers: Mapping[str, str]) -> None:
        answer = self._answers[name] = answers[name] if name in answers else self.render(question["default"])
        refusal = self.render(question.get("validator", "")).strip()
        if refusal:
            raise _failed(f"the template could not be rendered: {name} is {answer!r}. {refusal}")

    def excludes(self, path: str) -> bool:
        """Return True if the answers exclude a file: copier's patterns, as far as the template uses them."""
        return any(fnmatchcase(path, pattern) or path.startswith(f"{pattern}/") for pattern in self._excluded)

    def render(self, text: str) -> str:
        return _compiled(text).render(self._answers)


def _nice_yaml(value: object) -> str:
    import yaml

    return yaml.dump(value, indent=4, allow_unicode=True, default_flow_style=False)


_FILTERS: Final[Mapping[str, Any]] = {
    "regex_replace": lambda text, pattern, replacement: re.sub(pattern, replacement, text),
    "regex_search": lambda text, pattern: (match := re.search(pattern, text)) and match.group(),
    "to_json": lambda value, **options: json.dumps(value, **options),
    "to_nice_yaml": _nice_yaml,
}
"""The filters of copier that the template uses."""


def _template_files(root: Path, answers: Mapping[str, str]) -> dict[str, Path]:
    """Return the files of the template by their path in it, the runtime's among them where it is copied."""
    files = dict(files_in(root / PROJECT))
    files.pop(_LINK, None)
    followed = any(path.startswith(f"{_LINK}/") for path in files)  # where a copy of the templates did
    if not answers.get("runtime") and not followed:
        files |= {f"{_RUNTIME}/{path}": file for path, file in files_in(runtime_of(root))}
    return files
