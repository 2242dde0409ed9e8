"""The two sides of the merge: what was generated last time and what is generated now, for each file by whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from aqlgen.project import ANSWERS
from aqlgen.project.committed import Committed
from aqlgen.project.pristine import Pristine
from aqlgen.project.repository import Entry
from aqlgen.render.kinds import Kind, kind
from aqlgen.render.provenance import FILE

__all__ = ["Blob", "Sides", "sides"]

Blob: TypeAlias = Entry | bytes
"""A file as it is committed, or new content of it."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides, path → file. What is on neither is the user's own."""

    base: Mapping[str, Blob]
    theirs: Mapping[str, Blob]


def sides(committed: Committed, generated: Mapping[str, bytes], yours: Mapping[str, bytes]) -> Sides:
    """Make the sides of what is committed and what is generated now; `yours` are files of the user's that change.

    A machine file is on the base as it is committed, so that the new one replaces it. A shared one is there as it was
    generated, or empty where that is not to be found, so that git leaves both versions for the user to choose from.
    """
    project, entries = committed.project, committed.entries
    base: dict[str, Blob] = {}
    theirs: dict[str, Blob] = {}
    edited: dict[str, str | None] = {}
    gone: dict[str, str | None] = {}
    for path in sorted({*generated, *project.recorded, *yours}):
        whose, recorded = kind(path, project.package), project.recorded.get(path)
        entry, content = entries.get(path), generated.get(path)
        if whose is Kind.YOURS:
            content = yours.get(path)
            if content is None and entry is None and recorded is None:
                content = generated[path]  # new in the template
            new = entry if content is None else content
        else:
            new = content
        if new is not None:
            theirs[path] = committed.spelled(path, new) if isinstance(new, bytes) else new
        if whose is Kind.YOURS or (whose is Kind.MACHINE and (recorded or path in (FILE, ANSWERS))):
            if entry is None and whose is Kind.MACHINE:
                entry = entries.get(committed.placed(path))
            if entry is not None:
                base[path] = entry
            elif whose is Kind.MACHINE:
                gone[path] = recorded
        elif committed.unedited(path):
            base[path] = entries[path]
        else:
            edited[path] = recorded
    pristine = Pristine(committed, generated)
    found = {**pristine.find(edited), **pristine.moved(gone)}
    unknown = dict.fromkeys((path for path, recorded in edited.items() if recorded), b"")
    base |= {path: committed.spelled(path, content) for path, content in (unknown | found).items()}
    return Sides(base, theirs)
