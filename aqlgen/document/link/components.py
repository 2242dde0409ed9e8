"""The components of the bundle: those that the root document names, and those that come from other files.

A component of another file gets a name that is short where that is unique, and longer by the words around it where it
is not. The name depends on the set of names, never on an order: two with the same short name both get a longer one,
and a name of the root document never changes.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final, TypeAlias, TypeVar

from aqlgen.document.link.objects import OBJECT_TYPES, Layout, ObjectType
from aqlgen.document.link.references import References, Target, is_bare
from aqlgen.document.positions import Origins, escape, join, split
from aqlgen.ir import Json, Origin

_FORBIDDEN: Final = re.compile(r"[^A-Za-z0-9._-]+")
_EMPTY_STEMS: Final = frozenset({"index", "_index"})
_HOLDERS: Final = frozenset(
    "components schemas definitions $defs parameters responses requestBodies headers examples links callbacks "
    "securitySchemes properties patternProperties mediaTypes".split()
)
_PLACES: Final = frozenset(
    "items additionalProperties allOf anyOf oneOf prefixItems not if then else contains schema content".split()
)

Key = TypeVar("Key")


def name_words(address: str, pointer: str, main: str) -> tuple[str, ...]:
    """Return the words for a name, outermost first: folders below the root document's, the file's stem, the pointer.

    The last word is the short name: the stem for a whole file, else the last telling part of the pointer.
    """
    path = os.path.relpath(address, os.path.dirname(main) or ".").replace("\\", "/")
    folders = [folder for folder in path.split("/")[:-1] if folder not in ("..", ".")]
    stem = path.rpartition("/")[2].rsplit(".", 1)[0]
    around = folders if stem.lower() in _EMPTY_STEMS and folders else [*folders, stem]
    keys = [key for key in split(pointer) if key not in _HOLDERS]
    inner: list[str] = []
    for key in reversed(keys):
        inner.insert(0, key)
        if not key.isdecimal() and key not in _PLACES:
            break
    else:
        inner = [*around[-1:], *inner]
        around = around[:-1]
    outer = [*around, *keys[: len(keys) - len(inner)]]
    return *map(_clean, outer), _clean("_".join(inner))


def assign_names(wanted: Mapping[Key, Sequence[str]], taken: Iterable[str]) -> dict[Key, str]:
    """Return a unique name for each key, made of its words, none of them in `taken`."""
    taken = set(taken)
    names: dict[Key, str] = {}
    groups: dict[str, list[Key]] = defaultdict(list)
    for key, words in wanted.items():
        groups[words[-1] or "part"].append(key)
    for name, keys in groups.items():
        if len(keys) == 1 and name not in taken:
            names[keys[0]] = name
    used = taken | set(names.values())
    for name in sorted(groups):
        rest = [key for key in groups[name] if key not in names]
        for key, longer in zip(rest, _longer([wanted[key] for key in rest], used), strict=True):
            names[key] = longer
            used.add(longer)
    return names


def _longer(group: list[Sequence[str]], used: set[str]) -> list[str]:
    """Return names of as many words as a group needs to be unique; with a hash where words do not suffice."""
    for count in range(2, max((len(words) for words in group), default=0) + 1):
        names = ["_".join(filter(None, words[-count:])) for words in group]
        if len(set(names)) == len(names) and not used & set(names):
            return names
    return [
        f"{words[-1]}_{sha256(repr((at, tuple(words))).encode()).hexdigest()[:8]}" for at, words in enumerate(group)
    ]


def _clean(word: str) -> str:
    return _FORBIDDEN.sub("_", word).strip("_.")[:80]


OMITTED: Final = object()
"""A marker for a value that is left out."""

_Key: TypeAlias = tuple[str, str, str]


@dataclass(slots=True, eq=False)
class Component:
    """A component: its source, its origin, and every reference that waits for its name (holder and key).

    `name` is section and name. A component of the root document has it from the beginning.
    """

    kind: ObjectType
    source: Target
    name: tuple[str, str] | None = None
    uses: list[tuple[dict[str, Json], str]] = field(default_factory=list)
    value: Json = None
    origin: Origin | None = None
    queued: bool = False


class Components:
    """All components of a document, with a queue of those that are not walked yet."""

    def __init__(self, references: References, layout: Layout) -> None:
        self.queue: deque[Component] = deque()
        self._references = references
        self._layout = layout
        self._named: dict[tuple[str, str], Component] = {}
        self._imported: dict[_Key, Component] = {}
        self._claims: dict[_Key, Component] = {}

    def claim(self) -> None:
        """Register the root document's components, so that references from other files find them."""
        for kind, section in self._layout.sections.items():
            for name, at in self._section_entries(section):
                target = self._entry_target(at)
                if target.file is self._references.root or _place(kind, target) in self._claims:
                    target = at
                component = self._named[section, name] = Component(OBJECT_TYPES[kind], target, name=(section, name))
                if target.file is not self._references.root:
                    self._claims.setdefault(_place(kind, target), component)

    def all_named(self) -> Iterator[Component]:
        """Return an iterator over the components of the root document."""
        return iter(self._named.values())

    def use(self, component: Component) -> None:
        """Queue a component for the walk, once."""
        if not component.queued:
            component.queued = True
            self.queue.append(component)

    def point(self, holder: dict[str, Json], key: str, target: Target, kind: ObjectType) -> None:
        """Set a member of `holder` to the reference to `target` in the bundle, now or once the target has a name."""
        place = self._place_of(kind, target)
        if place is not None:
            holder[key] = place
            return
        identity = _place(kind.name, target)
        component = self._imported.get(identity)
        if component is None:
            component = self._imported[identity] = Component(kind, target)
        component.uses.append((holder, key))
        holder[key] = ""
        self.use(component)

    def place(self, bundle: dict[str, Json], origins: Origins) -> None:
        """Put all components into the sections of the bundle under their names."""
        sections = self._sections(bundle)
        for kind, section in self._layout.sections.items():
            named = {name: component for (where, name), component in self._named.items() if where == section}
            brought = {key: component for key, component in self._imported.items() if key[0] == kind}
            if not named and not brought:
                continue
            entries: dict[str, Json] = {}
            main = self._references.root.address
            sources = {key: component.source for key, component in brought.items()}
            wanted = {key: name_words(each.file.address, each.pointer, main) for key, each in sources.items()}
            names = assign_names(wanted, named)
            for key, name in names.items():
                brought[key].name = (section, name)
            for component in (
                *named.values(),
                *(brought[key] for key, _ in sorted(names.items(), key=lambda pair: pair[1])),
            ):
                self._put(entries, component, origins)
            sections[section] = entries

    def _sections(self, holder: dict[str, Json]) -> dict[str, Json]:
        """Return the object that holds the sections, a copy of the root document's."""
        for step in self._layout.holder:
            old = holder.get(step)
            inner = {key: value for key, value in old.items() if key != "$ref"} if isinstance(old, dict) else {}
            if inner or self._named or self._imported:
                holder[step] = inner
            holder = inner
        return holder

    def _put(self, entries: dict[str, Json], component: Component, origins: Origins) -> None:
        if component.name is None:
            return
        section, name = component.name
        if component.value is OMITTED:
            return
        for holder, key in component.uses:
            holder[key] = "#" + join((*self._layout.holder, section, name))
        entries[name] = component.value
        if component.origin is not None:
            origins.note(entries, name, component.origin)

    def _place_of(self, kind: ObjectType, target: Target) -> str | None:
        """Return the reference to a target that has a place in the bundle already, else None."""
        component = self._claims.get(_place(kind.name, target))
        if component is not None and component.name is not None:
            self.use(component)
            return "#" + join((*self._layout.holder, *component.name))
        keys = split(target.pointer)
        if target.file is not self._references.root or self._layout.type_at(keys) is None:
            return None
        entry = self._layout.entry_of(keys)
        if entry in self._named:
            self.use(self._named[entry])
        return f"#{target.pointer}"

    def _section_entries(self, section: str) -> Iterator[tuple[str, Target]]:
        """Yield the entries of a section, which may be in other files, as a whole or one by one."""
        place = self._references.resolve("#" + join((*self._layout.holder, section)), self._references.root, "")
        for _ in range(10):
            if not isinstance(place, Target) or not isinstance(place.value, dict):
                return
            reference = place.value.get("$ref")
            for name, value in place.value.items():
                if name != "$ref" or not isinstance(reference, str):
                    yield name, Target(place.file, f"{place.pointer}/{escape(name)}", value)
            if not isinstance(reference, str):
                return
            place = self._references.resolve(reference, place.file, place.pointer)

    def _entry_target(self, entry: Target) -> Target:
        """Return the entry itself, or the target of an entry that is only a reference."""
        if not is_bare(entry.value):
            return entry
        target = self._references.resolve(entry.value["$ref"], entry.file, entry.pointer)
        return self._references.final_target(target) if isinstance(target, Target) else entry


def _place(kind: str, target: Target) -> _Key:
    return kind, target.file.address, target.pointer
