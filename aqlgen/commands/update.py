"""`aqlgen update`: a project generated anew and merged with what was made of it since."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from packaging.version import Version

from aqlgen import __version__
from aqlgen.commands.overriding import aliased, overridden, recovered, with_aliases
from aqlgen.commands.updated import Asked, Updated
from aqlgen.compare import compare, surface_of_folder, surface_of_table
from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, Progress
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.committed import Committed
from aqlgen.project.made import Made
from aqlgen.project.merging import merge, refuse_in_the_way, rehearsal
from aqlgen.project.ordering import spdx
from aqlgen.project.pristine import Pristine
from aqlgen.project.regenerating import regenerate
from aqlgen.project.repository import Repository
from aqlgen.project.sides import sides
from aqlgen.releases import current
from aqlgen.render.kinds import Kind, kind
from aqlgen.render.provenance import FILE

__all__ = ["update"]


def update(folder: Path, asked: Asked, *, dry_run: bool, progress: Progress) -> Updated:
    """Bring a project up to date by a merge into its work tree. Raises AqlgenError, and nothing is changed then."""
    project = Project.open(folder)
    _refuse_older(project)
    repository = Repository.open(folder)
    repository.refuse_unready()
    committed = Committed.of(project, repository)
    edits = recovered(committed, asked, progress)
    licensed = project.license if asked.license is None else spdx(asked.license)
    before = _data(committed)
    names = project.names(before)
    options = _options(project, asked, names, before)
    overrides = edits.overrides
    with overridden(options, overrides) as used:
        made = regenerate(project, used, licensed, progress)
    aliases = aliased(options, asked, made.prepared, names)
    if aliases:
        overrides = with_aliases(project, overrides, aliases)
        decided = {one.operation.key: one.name for one in made.prepared.decisions}
        with overridden(replace(options, names=decided), overrides) as used:
            made = regenerate(project, used, licensed, progress)
    progress("comparing")
    old = surface_of_folder({**made.tree, **before}, project.package)
    changes = compare(old, surface_of_table(made.prepared.table))
    progress("merging")
    both = sides(committed, made.tree, {} if overrides is None else {OVERRIDES: overrides})
    refuse_in_the_way(repository, both, committed.entries)
    with rehearsal(repository) if dry_run else nullcontext(repository) as place:
        merged = merge(place, both, f"aqlgen {__version__}")
    return Updated(
        folder=folder,
        prepared=made.prepared,
        merged=merged,
        changes=changes,
        before=Made.of(project.provenance, project.template_tag),
        after=Made.of(json.loads(made.tree[FILE]), current().tag),
        overrides_added=tuple(edits.entries),
        aliases_added=tuple(aliases),
        written=not dry_run,
    )


def _refuse_older(project: Project) -> None:
    """Refuse a project that a newer aqlgen made: what that brought would be taken back."""
    if project.version and Version(project.version) > Version(__version__):
        newer = str(Version(project.version))
        raise OptionError.of(
            "aqlgen-too-old",
            f"the project was made by aqlgen {newer}, and this is {__version__}",
            help=f"Install aqlgen {newer} or newer: pip install 'aqlgen>={newer}'.",
            file=str(project.folder),
        )


def _data(committed: Committed) -> dict[str, bytes]:
    """Give the data of the package as it is committed, under another name too, or as it once was where it is gone."""
    project = committed.project
    recorded = {
        path: one
        for path, one in project.recorded.items()
        if path.startswith(f"src/{project.package}/") and kind(path, project.package) is Kind.MACHINE
    }
    found = dict(committed.read(recorded))
    return found | Pristine(committed, {}).find({path: one for path, one in recorded.items() if path not in found})


def _options(project: Project, asked: Asked, names: Mapping[str, str], before: Mapping[str, bytes]) -> Options:
    """Give the options as recorded but for what is asked; the names that there were are kept."""
    spec = project.request().spec if asked.spec is None else asked.spec
    overlays = asked.overlays or tuple(map(str, project.overlays()))
    request = Request.of(spec, asked.headers, overlays, asked.allow)
    ids = project.operation_ids(before)
    options = project.options(request, names={} if asked.rename else names, ids=ids, strict=asked.strict)
    return replace(
        options,
        include=asked.include or options.include,
        exclude=asked.exclude or options.exclude,
        field_case=asked.field_case or options.field_case,
    )
