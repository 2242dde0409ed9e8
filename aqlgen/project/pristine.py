"""Edited files as they were generated: the base of a merge, and what an edit is compared with.

The provenance records the hash of each, so that content from any source can be recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aqlgen.errors import TemplateError
from aqlgen.project.committed import Committed
from aqlgen.project.records import ANSWERS
from aqlgen.project.releases import templates_of
from aqlgen.render.provenance import file_hash
from aqlgen.render.template import render_template

__all__ = ["Pristine"]

Wanted = Mapping[str, str]
"""The recorded hash by path, "" for a file that is not recorded."""


@dataclass(slots=True)
class Pristine:
    """Finds the generated content of edited files; `today` is what this aqlgen generates."""

    committed: Committed
    today: Mapping[str, bytes]
    _rendered: dict[str, Mapping[str, bytes]] = field(default_factory=dict)

    def find(self, wanted: Wanted) -> dict[str, bytes]:
        """Return the generated content of files by their path, as far as it can be found."""
        sources: tuple[Callable[[Wanted], Mapping[str, bytes]], ...] = (
            self._unchanged_templates,
            self._copied,
            self._release,
            self._history,
        )
        found: dict[str, bytes] = {}
        for source in sources:
            missing = {path: recorded for path, recorded in wanted.items() if path not in found}
            if missing:
                found |= source(missing)
        return found

    def _unchanged_templates(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Return the files that this aqlgen generates as they were."""
        return _matching(self.today, wanted)

    def _copied(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Return the files that a plain `copier update` wrote since: their hashes are not recorded."""
        project = self.committed.project
        if project.answered_tag == project.template_tag:
            return {}
        rendered = self._render(project.answered_tag)
        if not rendered:  # from between two releases
            rendered = {ANSWERS: self._rendered_by(None, project.answered_tag).get(ANSWERS, b"")}
        return {path: rendered[path] for path in wanted if path in rendered}

    def _release(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Return the files of the template, rendered by the release that the project names."""
        return _matching(self._render(self.committed.project.template_tag), wanted)

    def _history(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Return the files from earlier commits."""
        return self.committed.repository.earlier({path: recorded for path, recorded in wanted.items() if recorded})

    def _render(self, tag: str) -> Mapping[str, bytes]:
        if tag not in self._rendered:
            with templates_of(tag) as templates:
                self._rendered[tag] = {} if templates is None else self._rendered_by(templates, tag)
        return self._rendered[tag]

    def _rendered_by(self, templates: Path | None, tag: str) -> Mapping[str, bytes]:
        """Render a template with the answers of the project; {} when that is not possible any more."""
        given = self.committed.project.answers
        answers = {key: value for key, value in given.items() if not key.startswith("_")}
        if tag:
            answers |= {"template_url": given.get("_src_path", ""), "template_tag": tag}
        try:
            return render_template(answers, templates)
        except TemplateError:
            return {}


def _matching(contents: Mapping[str, bytes], wanted: Wanted) -> dict[str, bytes]:
    return {
        path: contents[path]
        for path, recorded in wanted.items()
        if path in contents and file_hash(contents[path]) == recorded
    }
