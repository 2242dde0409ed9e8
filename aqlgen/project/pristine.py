"""Files as they were generated last time: the base of a merge.

The provenance records the hash of each, so what is found anywhere can be told to be it, with no history needed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aqlgen.diagnostics.errors import TemplateError
from aqlgen.project import ANSWERS
from aqlgen.project.committed import Committed
from aqlgen.releases import templates_of
from aqlgen.render.provenance import file_hash
from aqlgen.render.template import render_template

__all__ = ["Pristine"]

_LARGEST: Final = 1000
"""How many files of the user's own are looked through for one that has got another name."""

Wanted = Mapping[str, str | None]
"""The recorded hash by path; None for a file that is not recorded."""


@dataclass(slots=True)
class Pristine:
    """Finds what was generated, for the files that are not as they were; `theirs` is what is generated now."""

    committed: Committed
    theirs: Mapping[str, bytes]
    _rendered: dict[str, Mapping[str, bytes]] = field(default_factory=dict)

    def find(self, wanted: Wanted) -> dict[str, bytes]:
        """Give the generated content of files by their path, as far as it can be found."""
        sources: tuple[Callable[[Wanted], Mapping[str, bytes]], ...] = (
            self._committed,
            self._theirs,
            self._copied,
            self.moved,
            self._released,
            self._earlier,
            self._own,
            self._nearest,
        )
        found: dict[str, bytes] = {}
        for source in sources:
            missing = {path: recorded for path, recorded in wanted.items() if path not in found}
            if missing:
                found |= source(missing)
        return found

    def _committed(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Files that nobody changed."""
        return _matching(self.committed.read(wanted), wanted)

    def _theirs(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Files that would be generated today as they were."""
        return _matching(self.theirs, wanted)

    def _copied(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Files that a plain `copier update` brought since: what copier rendered is not recorded."""
        project = self.committed.project
        if project.answered_tag == project.template_tag:
            return {}
        rendered = self._release(project.answered_tag) or {
            ANSWERS: self._render(None, project.answered_tag).get(ANSWERS, b"")  # from between two releases
        }
        return {path: rendered[path] for path in wanted if path in rendered}

    def moved(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Files that were given another name and nothing else."""
        gone = {recorded: path for path, recorded in wanted.items() if path not in self.committed.entries}
        others = self.committed.others()
        if not gone or len(others) > _LARGEST:
            return {}
        found = ((gone.get(file_hash(content)), content) for content in self.committed.read(others).values())
        return {path: content for path, content in found if path is not None}

    def _released(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Files of the template, rendered by the release that the project names."""
        return _matching(self._release(self.committed.project.template_tag), wanted)

    def _earlier(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Files as they stand in the history."""
        return self.committed.repository.earlier({path: one for path, one in wanted.items() if one is not None})

    def _own(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Files of the template, rendered by this aqlgen with the old answers."""
        return _matching(self._render(None, self.committed.project.template_tag), wanted)

    def _nearest(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Take the release's rendering as it is, where something small made a difference, such as ruff's version."""
        rendered = self._release(self.committed.project.template_tag)
        return {path: rendered[path] for path in wanted if path in rendered}

    def _release(self, tag: str) -> Mapping[str, bytes]:
        if tag not in self._rendered:
            with templates_of(tag) as templates:
                self._rendered[tag] = {} if templates is None else self._render(templates, tag)
        return self._rendered[tag]

    def _render(self, templates: Path | None, tag: str) -> Mapping[str, bytes]:
        """Render a template with the answers that the project was given; {} when it cannot be done any more."""
        given = self.committed.project.answers
        answers = {key: value for key, value in given.items() if not key.startswith("_")}
        if tag:
            answers |= {"template_url": given.get("_src_path", ""), "template_tag": tag}
        try:
            return render_template(answers, templates)
        except TemplateError:
            return {}


def _matching(found: Mapping[str, bytes], wanted: Wanted) -> dict[str, bytes]:
    return {path: found[path] for path, one in wanted.items() if path in found and file_hash(found[path]) == one}
