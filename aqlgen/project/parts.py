"""Adding parts to a project, such as workflows or a Dockerfile, and taking them away; git is not needed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from aqlgen.diagnostics.errors import OptionError
from aqlgen.ir import Json
from aqlgen.options import known_parts, part_of
from aqlgen.pipeline import Progress
from aqlgen.project import Project
from aqlgen.project.generated_paths import refuse_links
from aqlgen.project.generation import regenerate
from aqlgen.project.records import ANSWERS
from aqlgen.project.worktree import State, Worktree
from aqlgen.project.write import changing
from aqlgen.render.adapter_element import other_addresses
from aqlgen.render.provenance import FILE, Kind, kind


@dataclass(frozen=True, slots=True)
class Changed:
    """The files that were written and removed."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    elsewhere: Mapping[str, int] = field(default_factory=dict)
    """The number of operations of the added element that the API serves elsewhere, by address."""

    def as_json(self) -> dict[str, Json]:
        """Return the JSON form."""
        return {"success": True, "added": list(self.added), "removed": list(self.removed)}


def change_parts(folder: Path, add: Collection[str], remove: Collection[str], progress: Progress) -> Changed:
    """Write the files of parts, remove those of others, and record both. Raises AqlgenError; then nothing is changed.

    A file that is there already stays as it is where it is the owner's or was added, and else is refused. A deleted
    file of a part that is added is written again.
    """
    project = Project.open(folder)
    options = project.options()
    named = known_parts(add)
    parts = {*options.parts, *named} - set(known_parts(remove))
    generated = regenerate(project, replace(options, parts=tuple(sorted(parts))), project.license, progress)
    tree, table = generated.tree, generated.prepared.table
    added = [path for path in tree if path not in project.recorded or part_of(path, project.package) in named]
    added.remove(FILE)
    gone = [path for path in project.recorded if path not in tree]
    _refuse_outdated(project, tree, gone)
    present = {path for path in added if (folder / path).exists()}
    _refuse_edited(project, [*_files_as_folders(folder, added), *(present - project.recorded.keys())], gone)
    refuse_links(folder, (*added, *gone))
    written = tuple(path for path in added if path not in present)
    progress("writing")
    removed = tuple(path for path in gone if (folder / path).exists())
    with changing(folder, {**dict.fromkeys(removed), **{path: tree[path] for path in (*written, ANSWERS, FILE)}}):
        pass
    elsewhere = other_addresses(table) if "element" in named else {}
    return Changed(written, removed, elsewhere)


def _files_as_folders(folder: Path, paths: Collection[str]) -> list[str]:
    """Return the files that are in the place of folders of generated paths."""
    folders = {str(parent) for path in paths for parent in PurePosixPath(path).parents}
    return sorted(path for path in folders if (folder / path).is_file())


def _refuse_edited(project: Project, present: Collection[str], gone: Collection[str]) -> None:
    """Raise OptionError for a file that would be written over, or removed with an edit."""
    states = Worktree(project).states()
    occupied = [path for path in present if kind(path, project.package) is not Kind.YOURS]
    edited = [path for path in gone if states[path] is State.EDITED]
    for paths, why in ((occupied, "is there already"), (edited, "was edited")):
        if paths:
            raise OptionError.of("bad-option", f"{paths[0]} {why}", help="Move it elsewhere, or delete it, first.")


def _refuse_outdated(project: Project, tree: Mapping[str, bytes], gone: Collection[str]) -> None:
    """Raise OptionError for a project of which more than parts would change: the record would not fit its files."""
    hashes = json.loads(tree[FILE])["files"]["each"]
    changed = [path for path, digest in project.recorded.items() if path not in (*gone, ANSWERS)]
    changed = [path for path in changed if hashes[path] != project.recorded[path]]
    changed += [path for path in gone if not part_of(path, project.package)]
    if changed:
        raise OptionError.of(
            "bad-option",
            f"the project is not up to date: `aqlgen update` would change {changed[0]}",
            help="Run `aqlgen update` first.",
        )
