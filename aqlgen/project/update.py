"""Updating a project: it is generated again and merged with what its owner changed since.

A project of one document becomes one of several APIs when a document is added: its own API is named after its document,
and what was kept by `METHOD /path` is kept by `NAME:METHOD /path`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from aqlgen.compare import Changes, compare, surface_of_folder, surface_of_table
from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.document.read import open_document
from aqlgen.document.request import Request
from aqlgen.ir import Json
from aqlgen.pipeline import Options, Prepared, Progress
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.generated_paths import refuse_links
from aqlgen.project.generation import Regenerated, current, regenerate
from aqlgen.project.merge import Merged, apply, merge, refuse_in_the_way
from aqlgen.project.options import RECORDED, spdx
from aqlgen.project.overriding import aliases, contradicted, overridden, with_entries
from aqlgen.project.records import Provenance
from aqlgen.project.refusals import refusals
from aqlgen.project.repository import Repository
from aqlgen.project.worktree import CheckRecord, State, Worktree
from aqlgen.render.provenance import FILE, Kind, is_code, kind
from aqlgen.resources import changelog
from aqlgen.runtime.table import WORKFLOWS
from aqlgen.table.identity import api_names, split_name

_FREE: Final = (OVERRIDES, "adapter.toml")
"""Files of the owner that an update reads, or leaves alone, as they are in the work tree."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of an update; what is empty or None stays as it is recorded."""

    specs: tuple[str, ...] = ()
    """The newer document, or those of several APIs as NAME=SPEC."""
    add: tuple[str, ...] = ()
    """Documents of further APIs."""
    remove: tuple[str, ...] = ()
    """APIs that the adapter is to have no more."""
    headers: tuple[str, ...] = ()
    overlays: tuple[str, ...] = ()
    workflows: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    license: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    field_case: str | None = None
    runtime: str | None = None
    rename: bool = False
    """Take the names that the operations would get today."""
    aliases: int | None = None
    """For how many days renamed operations answer to their old names; None for not at all."""
    strict: bool = False

    def request(self, spec: str, overlays: tuple[str, ...], workflows: tuple[str, ...]) -> Request:
        """Return the request for a document of an API. Raises OptionError."""
        return Request.of(spec, self.headers, overlays, self.allow, workflows)


@dataclass(frozen=True, slots=True)
class Updated:
    """The result of an update, or of its rehearsal."""

    folder: Path
    prepared: Prepared
    merged: Merged
    changes: Changes
    before: Provenance
    after: Provenance
    aliases_added: tuple[str, ...]
    written: bool
    checked: CheckRecord | None = None
    """What `aqlgen check` recorded before the update."""
    uncommitted: tuple[str, ...] = ()
    """Files of the owner that were taken as they are, although they are not committed."""

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings about the document and the overrides."""
        return self.prepared.diagnostics

    @property
    def changelog(self) -> list[str]:
        """The changelog since the version that wrote the project, empty for the same build."""
        return changelog(self.before.version) if self.before.aqlgen != self.after.aqlgen else []

    @property
    def exit_code(self) -> int:
        """0, or 1 when there are conflicts to resolve."""
        return 1 if self.merged.conflicts else 0


def update(folder: Path, asked: Asked, *, dry_run: bool, progress: Progress) -> Updated:
    """Bring a project up to date by a merge into its work tree. Raises AqlgenError, and nothing is changed then."""
    worktree = Worktree(Project.open(folder))
    with Repository.open(folder) as repository:
        uncommitted = repository.refuse_unready(_FREE, worktree.is_replaceable)
        updated = _update(worktree, repository, asked, uncommitted, dry_run=dry_run, progress=progress)
        return replace(updated, uncommitted=(*uncommitted, *repository.untracked(_FREE)))


def _update(
    worktree: Worktree,
    repository: Repository,
    asked: Asked,
    uncommitted: tuple[str, ...],
    *,
    dry_run: bool,
    progress: Progress,
) -> Updated:
    project, folder = worktree.project, worktree.project.folder
    if FILE not in repository.committed():
        raise FileError.of(
            "project-not-committed",
            f"the project in {folder} is not committed, so that an update could not be taken back",
            help=f"git add --all --force {folder} && git commit -m 'Generated by aqlgen'",
            file=str(folder),
        )
    today = _refuse_edits(worktree, asked, progress)
    licensed = project.license if asked.license is None else spdx(asked.license)
    before = _data(worktree)
    names = project.names(before)
    options = _options(project, asked, names, before)
    generated = regenerate(project, options, licensed, progress, earlier=today.prepared if today else None)
    yours: dict[str, bytes] = {}
    added: dict[str, dict[str, Json]] = {}
    if asked.aliases is not None:
        until = datetime.now(UTC).date() + timedelta(days=asked.aliases)
        added = aliases(names, options.ids, generated.prepared.decisions, until)
    if added:
        if OVERRIDES in uncommitted:
            raise FileError.of_all(
                "uncommitted-changes",
                f"the update would add to {OVERRIDES}, which has changes that are not committed",
                [str(folder / OVERRIDES)],
                help=f"Commit {OVERRIDES}, then update.",
            )
        yours[OVERRIDES] = with_entries(folder, added, "aliases")
        decided = {decision.operation.key: decision.name for decision in generated.prepared.decisions}
        used = overridden(replace(options, names=decided), folder, yours[OVERRIDES])
        generated = regenerate(project, used, licensed, progress, earlier=generated.prepared)
    tree = generated.tree
    stale = contradicted(project, options, generated.prepared, progress) if asked.specs or asked.overlays else ()
    prepared = replace(generated.prepared, diagnostics=(*stale, *generated.prepared.diagnostics))
    progress("comparing")
    optional = f"src/{project.package}/{WORKFLOWS}"
    known = {path: content for path, content in tree.items() if path != optional}
    old = surface_of_folder({**known, **before}, project.package)
    changes = compare(old, surface_of_table(generated.prepared.table))
    progress("merging")
    planned = merge(worktree, tree, yours)
    refuse_links(project.folder, (*tree, *planned.written, *planned.removed))
    refuse_in_the_way(repository, planned, worktree, tree)
    merged = planned.result(folder) if dry_run else apply(repository, planned)
    return Updated(
        folder=folder,
        prepared=prepared,
        merged=merged,
        changes=changes,
        before=Provenance.of(project.provenance, project.template_tag),
        after=Provenance.of(json.loads(tree[FILE]), current().tag),
        aliases_added=tuple(added),
        written=not dry_run,
        checked=CheckRecord.of(project.provenance),
    )


def _without_given(edited: Mapping[str, bytes], specs: Iterable[str]) -> dict[str, bytes]:
    """Leave out an edited document that is what one of the `specs` gives as the new one."""
    contents = [Path(spec).read_bytes() for _, spec in map(split_name, specs) if Path(spec).is_file()]
    return {
        path: content for path, content in edited.items() if not path.startswith("openapi/") or content not in contents
    }


def _refuse_edits(worktree: Worktree, asked: Asked, progress: Progress) -> Regenerated | None:
    """Refuse edits of machine files. Raises AqlgenError.

    Returns what this aqlgen generates from what the project keeps, where that was needed.
    """
    project = worktree.project
    changed = {path: worktree.read(path) or b"" for path in worktree.of(Kind.MACHINE, State.EDITED)}
    edited = _without_given(changed, asked.specs)
    if not edited:
        return None
    progress("reading edits")
    sound = not any(path.startswith("openapi/") for path in edited)
    today = regenerate(project, project.options(), project.license, progress) if sound else None
    refused = refusals(project, edited, today.tree if today else {})
    if refused:
        raise OptionError(*(replace(refusal, file=str(project.folder / refusal.file)) for refusal in refused))
    return today


def _data(worktree: Worktree) -> dict[str, bytes]:
    """Return the data of the package as it is."""
    project = worktree.project
    data = (path for path in project.recorded if path.startswith(f"src/{project.package}/"))
    machine = (path for path in data if kind(path, project.package) is Kind.MACHINE)
    contents = {path: worktree.read(path) for path in machine if not is_code(path, project.package)}
    return {path: content for path, content in contents.items() if content is not None}


def _options(project: Project, asked: Asked, names: Mapping[str, str], before: Mapping[str, bytes]) -> Options:
    """Return the recorded options, replaced by those that are asked for; existing names are kept."""
    ids: Mapping[str, str] = project.operation_ids(before)
    kept: Mapping[str, str] = {} if asked.rename else names
    if project.apis() or asked.add:
        requests, kept, ids = _documents(project, asked, kept, ids)
    else:
        if asked.remove or len(asked.specs) > 1 or any(split_name(spec)[0] for spec in asked.specs):
            way = "Give its document alone, and further ones by --add."
            raise OptionError.of("bad-option", "the adapter has one API, without a name", help=way)
        document = Request(asked.specs[0]) if asked.specs else project.request()
        request = project.beside(asked.request(document.spec, asked.overlays, asked.workflows))
        request = replace(request, element=project.is_of_element, spec_url=document.spec_url)
        requests = (request,)
    options = project.options(requests, names=kept, ids=ids, strict=asked.strict)
    replaceable = {field.name for field in fields(asked)} & RECORDED.keys()
    return replace(options, **{name: value for name in replaceable if (value := getattr(asked, name))})


def _documents(
    project: Project, asked: Asked, names: Mapping[str, str], ids: Mapping[str, str]
) -> tuple[tuple[Request, ...], Mapping[str, str], Mapping[str, str]]:
    """Return the documents of several APIs, with the names and the operationIds to keep. Raises AqlgenError."""
    apis = {api.name: api for api in project.apis()}
    if not apis:
        first = _first(project)
        apis = {first.name: first}
        names, ids = ({f"{first.name}:{key}": value for key, value in kept.items()} for kept in (names, ids))
    newer = _newer(asked.specs, apis)
    for name in asked.remove:
        if name not in apis or name in newer:
            message = f"--remove names {name}, which is not an API of the adapter, or is replaced by --spec"
            raise OptionError.of("bad-option", message, help=f"The APIs are {', '.join(apis)}.")
        del apis[name]
    requests = [_kept(project, api, newer.get(name), asked) for name, api in apis.items()]
    for name, spec in map(split_name, asked.add):
        if name in apis:
            way = f"Replace it: --spec {name}={spec}"
            raise OptionError.of("bad-option", f"there is an API {name} already", help=way)
        requests.append(replace(asked.request(spec, (), ()), name=name))
    if not requests:
        raise OptionError.of("bad-option", "no API would be left")
    return tuple(requests), names, ids


def _kept(project: Project, api: Request, newer: str | None, asked: Asked) -> Request:
    """Return the request for the newer document of an API, or for the one that the project keeps."""
    if newer is None:
        return api if api.spec else project.request(api)
    return project.beside(asked.request(newer, api.overlays, api.workflows), api)


def _first(project: Project) -> Request:
    """Return the one API of a project under the name that it has among several. Raises AqlgenError."""
    request = project.request()
    with open_document(request.spec) as (source, _):
        (name,) = api_names([request], [source.root])
    return replace(request, name=name, was_alone=True)


def _newer(specs: Sequence[str], apis: Mapping[str, Request]) -> dict[str, str]:
    """Return the newer documents by API. Raises OptionError."""
    newer: dict[str, str] = {}
    for written in specs:
        name, spec = split_name(written)
        name = name or (next(iter(apis)) if len(apis) == 1 else "")
        if name not in apis:
            known = " or ".join(f"--spec {api}={spec}" for api in list(apis)[:4])
            message = (
                f"--spec {written} names an API which is not an API of the adapter"
                if name
                else (f"--spec {written} does not name its API")
            )
            raise OptionError.of("bad-option", message, help=f"Write {known}, or --add NAME={spec} for a further one.")
        if name in newer:
            raise OptionError.of("bad-option", f"--spec gives {name} twice")
        newer[name] = spec
    return newer
