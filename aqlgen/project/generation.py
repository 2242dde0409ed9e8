"""Rendering a prepared document, and generating a project again from what it keeps or from something newer.

The record names the release that this aqlgen is: a checkout has its tag in the history, an installed one has it from
its build (`hatch_build.py`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from aqlgen import __version__, git
from aqlgen.diagnostics.errors import FileError
from aqlgen.document.request import Request
from aqlgen.options import overrides_content
from aqlgen.pipeline import Options, Prepared, Progress, prepare
from aqlgen.project import OVERRIDES, Project, documents_of
from aqlgen.project.options import recorded_options
from aqlgen.project.worktree import as_generated
from aqlgen.render import Order, render, timed
from aqlgen.render.provenance import FILE, Kind, generated_at, kind
from aqlgen.resources import PACKAGED, Release, own_templates

_PARTS: Final = ("copier.yml", "templates", "aqlgen/runtime")


@cache
def current() -> Release:
    """Return the release of this aqlgen's own templates; none when they were changed since."""
    record = PACKAGED / "release.txt"
    if record.is_file():
        return Release(*record.read_text(encoding="utf-8").splitlines())
    root = PACKAGED.parent.parent
    checkout = root if own_templates() == root and (root / ".git").exists() else None
    tag = f"v{__version__}"
    if checkout is None or not _is_release(checkout, tag):
        return Release()
    settings: dict[str, Any] = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    commit = git.attempt("rev-parse", f"refs/tags/{tag}^{{commit}}", cwd=checkout).text
    return Release(tag, commit, settings["tool"]["hatch"]["build"]["hooks"]["custom"]["address"])


def _is_release(root: Path, tag: str) -> bool:
    """Return True if the templates in the work tree are those of a tag, to the byte."""
    try:
        changed = git.attempt("diff", "--quiet", f"refs/tags/{tag}", "--", *_PARTS, cwd=root)
        added = git.attempt("ls-files", "--others", "--exclude-standard", "--", *_PARTS, cwd=root)
    except FileError:
        return False
    return changed.code == added.code == 0 and not added.out


@dataclass(frozen=True, slots=True)
class Regenerated:
    """The result: everything known about the document, and every file by its path."""

    prepared: Prepared
    tree: Mapping[str, bytes]


def order_of(options: Options, prepared: Prepared, license: str) -> Order:
    """Return the order for what was prepared with these options. Raises AqlgenError."""
    return Order(
        identity=prepared.identity,
        table=prepared.table,
        raw=prepared.raw,
        kept=prepared.kept,
        license=license,
        overrides=overrides_content(options),
        options=recorded_options(options, prepared, license),
        skipped=tuple((skipped.key, skipped.diagnostic.message) for skipped in prepared.skipped),
        generated_at=generated_at(),
        release=current(),
        sealed=options.runtime != "source",
        parts=options.parts,
    )


def regenerate(
    project: Project,
    options: Options,
    license: str,
    progress: Progress,
    *,
    earlier: Prepared | None = None,
) -> Regenerated:
    """Generate a project again. Raises AqlgenError.

    Documents that an earlier result has are not read again.
    The recorded time stays while nothing else is new, so that `SOURCE_DATE_EPOCH` alone changes nothing.
    """
    prepared = prepare(options, progress, earlier)
    progress("rendering")
    order = order_of(options, prepared, license)
    order = replace(
        order,
        kept=_kept(project, prepared.requests, order.kept),
        overrides=order.overrides and as_generated(order.overrides, project.recorded.get(OVERRIDES, "")),
        hashes=_unchanged(project, order),
        conformance=project.provenance.get("conformance"),
    )
    before = project.provenance.get("generated_at")
    tree = render(replace(order, generated_at=before if isinstance(before, str) else None))
    if before != order.generated_at and tree[FILE] != (project.folder / FILE).read_bytes():
        tree = timed(order, tree)
    return Regenerated(prepared, tree)


def _unchanged(project: Project, order: Order) -> dict[str, str]:
    """Return the recorded hashes of the user's files, except for overrides that are in use."""
    used = set() if order.overrides is None else {OVERRIDES}
    yours = (path for path in project.recorded if kind(path, project.package) is Kind.YOURS and path not in used)
    return {path: project.recorded[path] for path in yours}


def _kept(project: Project, apis: Iterable[Request], kept: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the inputs that the project keeps; what it already keeps beside a document stays under its name."""
    inputs: dict[str, bytes] = {}
    for api in apis:
        home = f"{api.name}/" if api.name else ""
        of_api = {path: content for path, content in kept.items() if path.startswith(home)}
        inputs |= _kept_of(project, api, home, of_api)
    return inputs


def _kept_of(project: Project, request: Request, home: str, kept: Mapping[str, bytes]) -> dict[str, bytes]:
    beside = (*project.overlays(request.name), *project.workflows(request.name))
    known = {str(path): path.relative_to(project.folder / "openapi").as_posix() for path in beside}
    places = [path for path in kept if path.startswith((f"{home}overlays/", f"{home}workflows/"))]
    sources = dict(zip(places, (*request.overlays, *request.workflows), strict=True))
    documents = (project.folder / name for name in documents_of(request.name))
    again = Path(request.spec) == next(filter(Path.is_file, documents), None)
    inputs: dict[str, bytes] = {}
    for path, content in kept.items():
        place = known.get(sources.get(path, ""))
        unchanged = place is not None or (again and path not in sources)
        recorded = project.recorded.get(f"openapi/{place or path}", "")
        inputs[place or path] = as_generated(content, recorded) if unchanged else content
    return inputs
