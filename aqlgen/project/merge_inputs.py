"""The inputs of the merge: what was generated last time and what is generated now, for each file by its owner.

What was generated last time has to be found for edited files: the provenance records the hash of each, so that content
from any source can be recognised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from aqlgen.diagnostics.errors import TemplateError
from aqlgen.project.committed import Committed
from aqlgen.project.records import ANSWERS
from aqlgen.project.releases import templates_of
from aqlgen.project.repository import Entry
from aqlgen.render.kinds import Kind, is_code, kind
from aqlgen.render.provenance import FILE, file_hash
from aqlgen.render.template import render_directly, render_template

__all__ = ["Blob", "MergeInputs", "Pristine", "merge_inputs"]

Blob: TypeAlias = Entry | bytes
"""A file as it is committed, or its new content."""

Renderer: TypeAlias = Callable[[Mapping[str, str], Path | None], Mapping[str, bytes]]
"""Renders templates, this aqlgen's own for None, with answers."""


@dataclass(frozen=True, slots=True)
class MergeInputs:
    """Both sides, path → file. A file on neither side is the user's own."""

    base: Mapping[str, Blob]
    theirs: Mapping[str, Blob]


def merge_inputs(
    committed: Committed, generated: Mapping[str, bytes], yours: Mapping[str, bytes], kept: Collection[str]
) -> MergeInputs:
    """Build the sides from what is committed and what is generated now.

    `yours` is new content of the user's files, `kept` the machine files that stay as they are committed. Any other
    machine file is on the base as it is committed, so that the new one replaces it. A shared file is there as it was
    generated, or empty where that is not to be found, so that git leaves both versions for the user to choose from.
    """
    project, entries = committed.project, committed.entries
    base: dict[str, Blob] = {}
    theirs: dict[str, Blob] = {}
    edited: dict[str, str] = {}
    for path in sorted({*generated, *project.recorded, *yours}):
        whose, recorded = kind(path, project.package), project.recorded.get(path)
        entry, content = entries.get(path), generated.get(path)
        if whose is Kind.MACHINE and (recorded or path in kept or path in (FILE, ANSWERS)):
            old = entry or entries.get(committed.placed(path))
            if old is not None:
                base[path] = old
            new: Blob | None = old if path in kept else content
        elif whose is Kind.YOURS:
            if entry is not None:
                base[path] = entry
            new = yours.get(path, entry)
            if new is None and recorded is None:
                new = content  # new in the template
        else:
            if committed.unedited(path):
                base[path] = entries[path]
            else:
                edited[path] = recorded or ""
            new = content
        if new is not None:
            theirs[path] = committed.stored(path, new) if isinstance(new, bytes) else new
    unknown = dict.fromkeys((path for path, recorded in edited.items() if recorded), b"")
    contents = unknown | Pristine(committed, generated).find(edited)
    base |= {path: committed.with_line_ends(path, content) for path, content in contents.items()}
    return MergeInputs(base, theirs)


Wanted = Mapping[str, str]
"""The recorded hash by path, "" for a file that is not recorded."""


@dataclass(slots=True)
class Pristine:
    """Finds the generated content of edited files; `today` is what this aqlgen generates."""

    committed: Committed
    today: Mapping[str, bytes]
    _rendered: dict[tuple[str, Renderer, bool], Mapping[str, bytes]] = field(default_factory=dict)

    def find(self, wanted: Wanted) -> dict[str, bytes]:
        """Return the generated content of files by their path, as far as it can be found."""
        sources: tuple[Callable[[Wanted], Mapping[str, bytes]], ...] = (
            self._unchanged_templates,
            self._copied,
            self._release,
            self._history,
        )
        contents: dict[str, bytes] = {}
        for source in sources:
            missing = {path: recorded for path, recorded in wanted.items() if path not in contents}
            if missing:
                contents |= source(missing)
        return contents

    def _unchanged_templates(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Return the files that this aqlgen generates as they were."""
        return _matching(self.today, wanted)

    def _copied(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Return the files that a plain `copier update` wrote since: their hashes are not recorded."""
        project = self.committed.project
        if project.answered_tag == project.template_tag:
            return {}
        tag = project.answered_tag
        rendered = self._render(tag, render_directly) or self._render(tag)
        if not rendered:  # from between two releases
            rendered = {ANSWERS: self._rendered_by(None, tag).get(ANSWERS, b"")}
        return {path: rendered[path] for path in wanted if path in rendered}

    def _release(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Return the files of the template, rendered by the release that the project names.

        The recorded hashes tell which files that release formatted after rendering: only these need copier.
        """
        project = self.committed.project
        tag, code = project.template_tag, any(is_code(path, project.package) for path in wanted)
        direct = self._render(tag, render_directly, runtime=code)
        contents = _matching(direct, wanted)
        missing = {path: wanted[path] for path in wanted.keys() - contents.keys() if not direct or path in direct}
        return contents | _matching(self._render(tag, runtime=code), missing) if missing else contents

    def _history(self, wanted: Wanted) -> Mapping[str, bytes]:
        """Return the files from earlier commits."""
        return self.committed.repository.earlier({path: recorded for path, recorded in wanted.items() if recorded})

    def _render(self, tag: str, renderer: Renderer = render_template, *, runtime: bool = True) -> Mapping[str, bytes]:
        key = (tag, renderer, runtime)
        if key not in self._rendered:
            with templates_of(tag, runtime=runtime) as templates:
                self._rendered[key] = {} if templates is None else self._rendered_by(templates, tag, renderer)
        return self._rendered[key]

    def _rendered_by(
        self, templates: Path | None, tag: str, renderer: Renderer = render_template
    ) -> Mapping[str, bytes]:
        """Render a template with the answers of the project; {} when that is not possible any more."""
        recorded_answers = self.committed.project.answers
        answers = {key: value for key, value in recorded_answers.items() if not key.startswith("_")}
        if tag:
            answers |= {"template_url": recorded_answers.get("_src_path", ""), "template_tag": tag}
        try:
            return renderer(answers, templates)
        except TemplateError:
            return {}


def _matching(contents: Mapping[str, bytes], wanted: Wanted) -> dict[str, bytes]:
    return {
        path: contents[path]
        for path, recorded in wanted.items()
        if path in contents and file_hash(contents[path]) == recorded
    }
