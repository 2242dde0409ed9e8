"""A project generated again, as this aqlgen generates it today from what it was made from, or from something newer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from aqlgen.pipeline import Options, Prepared, Progress, prepare
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.forms import as_generated
from aqlgen.project.ordering import order_of
from aqlgen.render import Order, render, timed
from aqlgen.render.kinds import Kind, kind
from aqlgen.render.provenance import FILE

__all__ = ["Regenerated", "regenerate"]


@dataclass(frozen=True, slots=True)
class Regenerated:
    """What came of it: everything known about the document, and every file by its path."""

    prepared: Prepared
    tree: Mapping[str, bytes]


def regenerate(project: Project, options: Options, license: str, progress: Progress) -> Regenerated:
    """Generate a project again. Raises AqlgenError.

    The recorded time stays while nothing else is new, so that `SOURCE_DATE_EPOCH` alone changes nothing.
    """
    prepared = prepare(options, progress)
    progress("rendering")
    order = order_of(options, prepared, license)
    recorded = dict(order.options)
    if Path(options.request.spec) == _document(project):
        recorded["spec_url"] = project.recorded_options.get("spec_url", "")
    order = replace(
        order,
        kept=_kept(project, options, order.kept),
        options=recorded,
        overrides=order.overrides and as_generated(order.overrides, project.recorded.get(OVERRIDES, "")),
        hashes=_since(project, order),
    )
    before = project.provenance.get("generated_at")
    tree = render(replace(order, generated_at=before if isinstance(before, str) else None))
    if before != order.generated_at and tree[FILE] != (project.folder / FILE).read_bytes():
        tree = timed(order, tree)
    return Regenerated(prepared, tree)


def _since(project: Project, order: Order) -> dict[str, str]:
    """Give the recorded hashes of the files that are the user's: of the overrides as they were used last."""
    used = set() if order.overrides is None else {OVERRIDES}
    yours = (path for path in project.recorded if kind(path, project.package) is Kind.YOURS and path not in used)
    return {path: project.recorded[path] for path in yours}


def _document(project: Project) -> Path | None:
    folder = project.folder / "openapi"
    return next((one for one in (folder / "openapi.json", folder / "openapi.yaml") if one.is_file()), None)


def _kept(project: Project, options: Options, kept: Mapping[str, bytes]) -> dict[str, bytes]:
    """Give what the project keeps of its inputs; overlays that it keeps already stay under their names."""
    own = {str(path): path.relative_to(project.folder / "openapi").as_posix() for path in project.overlays()}
    named = dict(zip([path for path in kept if path.startswith("overlays/")], options.request.overlays, strict=True))
    again = Path(options.request.spec) == _document(project)
    found: dict[str, bytes] = {}
    for path, content in kept.items():
        place = own.get(named.get(path, ""))
        own_form = place is not None or (again and path not in named)
        recorded = project.recorded.get(f"openapi/{place or path}", "")
        found[place or path] = as_generated(content, recorded) if own_form else content
    return found
