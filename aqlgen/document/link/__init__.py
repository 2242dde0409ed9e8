"""Linking: from a document in several files to one, in which every reference stays inside (`#/…`).

What the root document names stays where it is; what other files bring becomes a component beside it, or stands in place
where there can be none. What nothing in the document's operations uses is linked too, but silently.
"""

from __future__ import annotations

from dataclasses import dataclass

from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.link.kinds import KINDS, Layout, layout_of
from aqlgen.document.link.parts import DROP, Parts
from aqlgen.document.link.references import References
from aqlgen.document.link.scan import needs_linking
from aqlgen.document.link.walk import At, Walk
from aqlgen.document.origins import Origins
from aqlgen.document.positions import escape
from aqlgen.document.read import Library, Limits, Source
from aqlgen.ir import Json

__all__ = ["Linked", "link"]


@dataclass(frozen=True, slots=True)
class Linked:
    """The document as one tree, the files that it was made from (the root document first), and what there is to say.

    `bundled` tells that there is something of other files in it, so that the root document alone would not do.
    """

    root: dict[str, Json]
    sources: tuple[Source, ...]
    diagnostics: tuple[Diagnostic, ...]
    bundled: bool


def link(source: Source, library: Library, origins: Origins, limits: Limits) -> Linked:
    """Bundle the document. Raises DocumentError for what is never legitimate; warns of what cannot be read."""
    if not needs_linking(source):
        return Linked(dict(source.root), (source,), (), bundled=False)
    references = References(source, library)
    layout = layout_of(source.root)
    parts = Parts(references, layout)
    walk = Walk(references, parts, layout, origins, limits)
    parts.claim()
    root = _walked(source, layout, walk, origins)
    parts.place(root, origins)
    if walk.errors:
        raise DocumentError(*walk.errors)
    sources = tuple(file.source for file in references.files.values())
    own = (one for file in sources[1:] for one in file.diagnostics)
    return Linked(root, sources, (*walk.warnings, *own), bundled=len(sources) > 1 or walk.texts > 0)


def _walked(source: Source, layout: Layout, walk: Walk, origins: Origins) -> dict[str, Json]:
    """Walk what makes operations, and what that uses; then, silently, the rest."""
    root = dict(source.root)
    held = {*layout.holder, *(() if layout.holder else layout.sections.values())}
    fields = [key for key in root if key in layout.top.fields and key not in held]
    for key in sorted(fields, key=lambda key: key == "webhooks"):
        if key == "webhooks":
            _drain(walk)
            walk.quiet = True
        _field(root, key, walk, layout, origins)
    _drain(walk)
    walk.quiet = True
    for part in walk.parts.all_named():
        walk.parts.use(part)
    _drain(walk)
    return root


def _field(root: dict[str, Json], key: str, walk: Walk, layout: Layout, origins: Origins) -> None:
    value = root[key]
    if not isinstance(value, (dict, list)):
        return
    new, moved = walk.walk(value, KINDS[layout.top.fields[key]], At(walk.references.root, f"/{escape(key)}"))
    if new is DROP:
        del root[key]
        return
    root[key] = new
    if moved is not None:
        origins.note(root, key, moved)


def _drain(walk: Walk) -> None:
    """Walk the components that are used, and those that they use."""
    while walk.parts.queue:
        part = walk.parts.queue.popleft()
        spot = part.spot
        part.value, moved = spot.value, None
        if isinstance(spot.value, (dict, list)):
            scope = walk.parts.dynamic.bound(part.scope, spot.file, spot.pointer) if part.scope else None
            part.value, moved = walk.walk(spot.value, part.kind, At(spot.file, spot.pointer, scope))
        part.origin = moved or spot.file.origin(spot.pointer)
