"""The bundle: every used part of the document and its files walked, and components put into their sections."""

from __future__ import annotations

from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.link.components import OMITTED, Components
from aqlgen.document.link.objects import OBJECT_TYPES, Layout, layout_of
from aqlgen.document.link.references import References
from aqlgen.document.link.walk import Cursor, Walk
from aqlgen.document.positions import Origins, escape
from aqlgen.document.read import Library, Limits, Source
from aqlgen.ir import Json


def bundle(
    source: Source, library: Library, origins: Origins, limits: Limits
) -> tuple[dict[str, Json], tuple[Source, ...], tuple[Diagnostic, ...], bool]:
    """Return the tree, its source files, diagnostics, and whether the tree holds content of other files."""
    references = References(source, library)
    layout = layout_of(source.root)
    components = Components(references, layout)
    walk = Walk(references, components, layout, origins, limits)
    components.claim()
    root = _walk_root(source, layout, walk, origins)
    components.place(root, origins)
    if walk.errors:
        raise DocumentError(*walk.errors)
    sources = tuple(file.source for file in references.files.values())
    in_files = (diagnostic for file in sources[1:] for diagnostic in file.diagnostics)
    return root, sources, (*walk.warnings, *in_files), len(sources) > 1 or walk.texts > 0


def _walk_root(source: Source, layout: Layout, walk: Walk, origins: Origins) -> dict[str, Json]:
    """Walk the operations and the components that they use; then, without warnings, the rest."""
    root = dict(source.root)
    section_fields = {*layout.holder, *(() if layout.holder else layout.sections.values())}
    fields = [key for key in root if key in layout.top.fields and key not in section_fields]
    for key in sorted(fields, key=lambda key: key == "webhooks"):
        if key == "webhooks":
            _walk_components(walk)
            walk.quiet = True
        _walk_field(root, key, walk, layout, origins)
    _walk_components(walk)
    walk.quiet = True
    for component in walk.components.all_named():
        walk.components.use(component)
    _walk_components(walk)
    return root


def _walk_field(root: dict[str, Json], key: str, walk: Walk, layout: Layout, origins: Origins) -> None:
    value = root[key]
    if not isinstance(value, (dict, list)):
        return
    new, moved = walk.walk(value, OBJECT_TYPES[layout.top.fields[key]], Cursor(walk.references.root, f"/{escape(key)}"))
    if new is OMITTED:
        del root[key]
        return
    root[key] = new
    if moved is not None:
        origins.note(root, key, moved)


def _walk_components(walk: Walk) -> None:
    """Walk the components in the queue, and those that they use in turn."""
    while walk.components.queue:
        component = walk.components.queue.popleft()
        source = component.source
        component.value, moved = source.value, None
        if isinstance(source.value, (dict, list)):
            component.value, moved = walk.walk(source.value, component.kind, Cursor(source.file, source.pointer))
        component.origin = moved or source.file.origin(source.pointer)
