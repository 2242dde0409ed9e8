"""A walk over every object that can hold a reference, which copies only what changes.

Where the specification has components, a reference becomes one to a component, so that cycles stay cycles. Where it has
none (path items, operations, all unusual places), the target replaces the reference. `bundle` walks every used part of
the document and its files, and puts the components into their sections.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.link.components import OMITTED, Components
from aqlgen.document.link.objects import OBJECT_TYPES, Layout, ObjectType, layout_of
from aqlgen.document.link.references import Failure, File, References, Target
from aqlgen.document.positions import Origins, escape, join, split
from aqlgen.document.read import Library, Limits, Source
from aqlgen.ir import Json, Origin

_MORE_DEPTH: Final = 64
_LEAST_BOUND: Final = 300_000
_PAGE: Final = 64
"""How many characters of text weigh as much as a value."""

_Walked: TypeAlias = tuple[Json, Origin | None]


@dataclass(frozen=True, slots=True)
class Cursor:
    """The position of the walk: file, pointer and depth."""

    file: File
    pointer: str
    depth: int = 0

    def step(self, key: str) -> Cursor:
        """Return the position of a member."""
        return Cursor(self.file, f"{self.pointer}/{escape(key)}", self.depth + 1)

    @property
    def origin(self) -> Origin:
        """The position as an origin."""
        return self.file.origin(self.pointer)


class Walk:
    """The walk that builds the parts of the bundle; collects `warnings`, and `errors` that reject the document."""

    def __init__(
        self, references: References, components: Components, layout: Layout, origins: Origins, limits: Limits
    ) -> None:
        self.warnings: list[Diagnostic] = []
        self.errors: list[Diagnostic] = []
        self.quiet = False
        self.references = references
        self.components = components
        self.layout = layout
        self.origins = origins
        self._limits = limits
        self._count = self._bound = 0
        self._weights: dict[int, int] = {}
        self._inlining: set[tuple[str, str]] = set()

    def walk(self, value: Json, kind: ObjectType, at: Cursor) -> _Walked:
        """Return the bundle's version of `value`, the same object if nothing changes, and its origin if not `at`.

        Raises DocumentError if the bundle would be too large.
        """
        self._weigh(len(value))
        if at.depth > self._limits.depth + _MORE_DEPTH:
            raise _too_large()
        if isinstance(value, list):
            return self._list(value, kind, at), None
        reference = value.get("$ref")
        if not isinstance(reference, str):
            return self._object(value, kind, at), None
        if kind.name in self.layout.sections:
            return self._reference(value, reference, kind, at), None
        return self._inline(value, reference, kind, at)

    def report(self, failure: Failure, at: Cursor) -> None:
        """Report a failed reference; in unused parts only if no legitimate document contains such a reference."""
        forbidden = failure.code == "forbidden-reference"
        if self.quiet and not forbidden:
            return
        severity = Severity.ERROR if forbidden else Severity.WARNING
        name = at.file.source.name
        diagnostic = Diagnostic(failure.code, severity, failure.message, at.pointer, name, help=failure.help)
        (self.errors if forbidden else self.warnings).append(diagnostic)
        if failure.cause is not None:
            self.warnings += (replace(cause, severity=Severity.WARNING) for cause in failure.cause.diagnostics)

    def _list(self, value: list[Json], kind: ObjectType, at: Cursor) -> Json:
        if not kind.items:
            return value
        items: list[Json] | None = None
        for index, item in enumerate(value):
            new, moved = item, None
            if isinstance(item, (dict, list)):
                new, moved = self.walk(item, OBJECT_TYPES[kind.items], at.step(str(index)))
            if items is None and (new is not item or moved is not None):
                items = value[:index]
            if items is None or new is OMITTED:
                continue
            items.append(new)
            if moved is not None or len(items) != index + 1:
                self.origins.note(items, len(items) - 1, moved or at.step(str(index)).origin)
        return value if items is None else items

    def _object(self, value: dict[str, Json], kind: ObjectType, at: Cursor) -> dict[str, Json]:
        changed: dict[str, Json] | None = None
        for key, inner in value.items():
            if not isinstance(inner, (dict, list)):
                if isinstance(inner, str) and len(inner) > _PAGE:
                    self._weigh(len(inner) // _PAGE)
                continue
            new, moved = self._member(key, inner, kind, at)
            if new is inner and moved is None:
                continue
            changed = changed or dict(value)
            if new is OMITTED:
                del changed[key]
                continue
            changed[key] = new
            if moved is not None:
                self.origins.note(changed, key, moved)
        result = value if changed is None else changed
        return self._without_addresses(result, at) if kind.name == "schema" else result

    def _member(self, key: str, value: Json, kind: ObjectType, at: Cursor) -> _Walked:
        if key == "discriminator" and kind.name == "schema":
            return _discriminator(self, value, at.step(key)), None
        name = kind.fields.get(key) or kind.entries
        if not name or (kind.extensions and key.startswith("x-")):
            if self._inlining:  # the same data may repeat
                self._weigh(self._weight(value))
            return value, None
        return self.walk(value, OBJECT_TYPES[name], at.step(key))

    def _without_addresses(self, value: dict[str, Json], at: Cursor) -> dict[str, Json]:
        """Return a schema without addresses of its own; `$recursiveRef` means the component or the file around it."""
        if _ADDRESSES.isdisjoint(value):
            return value
        bare = {key: inner for key, inner in value.items() if key not in _ADDRESSES}
        self.origins.carry(value, bare)
        if "$recursiveRef" in value and "$ref" not in bare:
            entry = self.layout.entry_of(split(at.pointer)) if at.file is self.references.root else ()
            around = "#" + join((*self.layout.holder, *entry)) if entry is not None else ""
            target = self.references.resolve(around, at.file, at.pointer)
            if isinstance(target, Target):
                self.components.point(bare, "$ref", target, OBJECT_TYPES["schema"])
        return bare

    def _reference(self, value: dict[str, Json], reference: str, kind: ObjectType, at: Cursor) -> Json:
        target = self.references.resolve(reference, at.file, at.pointer)
        in_root = at.file is self.references.root
        if isinstance(target, Failure):
            if in_root and reference.startswith("#"):
                return value  # a later stage reports it, if anything uses it
            self.report(target, at.step("$ref"))
            return self._replacement(value, kind, at)
        rest = self._object(value, kind, at) if len(value) > 1 else value
        reference_object = dict(rest)
        self.origins.carry(rest, reference_object)
        self.components.point(reference_object, "$ref", self.references.final_target(target), kind)
        return value if in_root and rest is value and reference_object["$ref"] == reference else reference_object

    def _replacement(self, value: dict[str, Json], kind: ObjectType, at: Cursor) -> Json:
        """Return a replacement for an unreadable target that claims as little as possible."""
        if kind.name == "requestBody":
            return value  # unresolved, so that the operation is skipped
        rest = _without(value)
        if kind.name == "schema":
            return self._object(rest, kind, at)
        if kind.name == "response":
            return {"description": "", **rest}
        return rest if kind.name == "parameter" and rest.get("required") is True else OMITTED

    def _inline(self, value: dict[str, Json], reference: str, kind: ObjectType, at: Cursor) -> _Walked:
        """Replace a reference by its target, overridden by the members beside the reference."""
        target = self.references.resolve(reference, at.file, at.pointer)
        if not isinstance(target, Failure) and (target.file.address, target.pointer) in self._inlining:
            target = Failure("unresolved-reference", f"the reference {reference!r} leads in a circle")
        overrides = self._object(_without(value), kind, at) if len(value) > 1 else {}
        if isinstance(target, Failure):
            self.report(target, at.step("$ref"))
            return overrides or OMITTED, None
        key = (target.file.address, target.pointer)
        self._inlining.add(key)
        try:
            new, moved = target.value, None
            if isinstance(new, (dict, list)):
                new, moved = self.walk(new, kind, Cursor(target.file, target.pointer, at.depth + 1))
        finally:
            self._inlining.discard(key)
        if overrides and isinstance(new, dict):
            merged = {**new, **overrides}
            self.origins.carry(new, merged)
            for name in overrides:
                self.origins.note(merged, name, at.step(name).origin)
            self.origins.carry(overrides, merged)
            new = merged
        return new, moved or target.file.origin(target.pointer)

    def _weigh(self, weight: int) -> None:
        """Count what goes into the bundle; far more than was read means that the same parts repeat without end."""
        self._count += weight
        if self._count > self._bound:
            read = sum(len(file.source.text) for file in self.references.files.values())
            self._bound = min(self._limits.nodes, _LEAST_BOUND + read)
            if self._count > self._bound:
                raise _too_large()

    def _weight(self, value: Json) -> int:
        """Return the size of data in values and pages of text, each object measured once."""
        if isinstance(value, str):
            return 1 + len(value) // _PAGE
        if not isinstance(value, (dict, list)):
            return 1
        known = self._weights.get(id(value))
        if known is None:
            known = 1 + sum(map(self._weight, value.values() if isinstance(value, dict) else value))
            self._weights[id(value)] = known
        return known


def _too_large() -> DocumentError:
    message = "the files refer to one another so often that the whole would be too large"
    return DocumentError.of("document-too-large", message)


def _without(value: dict[str, Json]) -> dict[str, Json]:
    return {key: inner for key, inner in value.items() if key != "$ref"}


_ADDRESSES: Final = frozenset({"$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef"})
_SUFFIXES: Final = (".json", ".yaml", ".yml")


def _discriminator(walk: Walk, value: Json, at: Cursor) -> Json:
    """Return a discriminator whose mapping refers into the bundle; schema names stay (OpenAPI 3.1.1, 4.8.25)."""
    mapping = value.get("mapping") if isinstance(value, dict) else None
    if not isinstance(mapping, dict):
        return value
    references = dict(mapping)
    for name, reference in mapping.items():
        if isinstance(reference, str) and ("/" in reference or "#" in reference or reference.endswith(_SUFFIXES)):
            target = walk.references.resolve(reference, at.file, at.pointer)
            if isinstance(target, Target):
                walk.components.point(references, name, walk.references.final_target(target), OBJECT_TYPES["schema"])
            elif not reference.startswith("#"):
                walk.report(target, at.step("mapping").step(name))
    return {**value, "mapping": references}


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
    return root, sources, (*walk.warnings, *in_files), len(sources) > 1


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
