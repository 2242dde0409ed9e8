"""The inputs of the merge: what was generated last time and what is generated now, for each file by its owner."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from aqlgen.project.committed import Committed
from aqlgen.project.pristine import Pristine
from aqlgen.project.records import ANSWERS
from aqlgen.project.repository import Entry
from aqlgen.render.kinds import Kind, kind
from aqlgen.render.provenance import FILE

__all__ = ["Blob", "MergeInputs", "merge_inputs"]

Blob: TypeAlias = Entry | bytes
"""A file as it is committed, or its new content."""


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
            theirs[path] = committed.with_line_ends(path, new) if isinstance(new, bytes) else new
    unknown = dict.fromkeys((path for path, recorded in edited.items() if recorded), b"")
    found = unknown | Pristine(committed, generated).find(edited)
    base |= {path: committed.with_line_ends(path, content) for path, content in found.items()}
    return MergeInputs(base, theirs)
