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

from aqlgen.document.link.dynamic import MOST_VARIANTS, Bindings, Dynamic
from aqlgen.document.link.objects import KINDS, Kind, Layout
from aqlgen.document.link.references import References, Spot, is_bare
from aqlgen.document.origins import Origins
from aqlgen.document.positions import escape, join, split
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


def words_of(address: str, pointer: str, main: str) -> tuple[str, ...]:
    """Give the words for a place, the outermost first: folders from the root document's on, the file's stem, its path.

    The last is the short name: of a whole file its stem, else the last part of the pointer that says something.
    """
    path = os.path.relpath(address, os.path.dirname(main) or ".").replace("\\", "/")
    folders = [part for part in path.split("/")[:-1] if part not in ("..", ".")]
    stem = path.rpartition("/")[2].rsplit(".", 1)[0]
    around = folders if stem.lower() in _EMPTY_STEMS and folders else [*folders, stem]
    parts = [part for part in split(pointer) if part not in _HOLDERS]
    inner: list[str] = []
    for part in reversed(parts):
        inner.insert(0, part)
        if not part.isdecimal() and part not in _PLACES:
            break
    else:
        inner = [*around[-1:], *inner]
        around = around[:-1]
    outer = [*around, *parts[: len(parts) - len(inner)]]
    return *map(_clean, outer), _clean("_".join(inner))


def assign(wanted: Mapping[Key, Sequence[str]], taken: Iterable[str]) -> dict[Key, str]:
    """Give each key a name of its own from its words, none of them `taken`."""
    taken = set(taken)
    found: dict[Key, str] = {}
    groups: dict[str, list[Key]] = defaultdict(list)
    for key, words in wanted.items():
        groups[words[-1] or "part"].append(key)
    for name, keys in groups.items():
        if len(keys) == 1 and name not in taken:
            found[keys[0]] = name
    used = taken | set(found.values())
    for name in sorted(groups):
        rest = [key for key in groups[name] if key not in found]
        for key, longer in zip(rest, _longer([wanted[key] for key in rest], used), strict=True):
            found[key] = longer
            used.add(longer)
    return found


def _longer(group: list[Sequence[str]], used: set[str]) -> list[str]:
    """Take as many words as it needs to tell all of a group apart; where words do not suffice, a hash of them all."""
    for count in range(2, max((len(words) for words in group), default=0) + 1):
        names = ["_".join(filter(None, words[-count:])) for words in group]
        if len(set(names)) == len(names) and not used & set(names):
            return names
    return [
        f"{words[-1]}_{sha256(repr((at, tuple(words))).encode()).hexdigest()[:8]}" for at, words in enumerate(group)
    ]


def _clean(word: str) -> str:
    return _FORBIDDEN.sub("_", word).strip("_.")[:80]


DROP: Final = object()
"""Stands for what is left out."""

_Key: TypeAlias = tuple[str, str, str, Bindings]


@dataclass(slots=True, eq=False)
class Part:
    """A component: what it is made from, where it came from, and everything that waits for its name (holder and key).

    One that the root document names has its name from the beginning: `name` is its section and name.
    """

    kind: Kind
    spot: Spot
    scope: Bindings = ()
    name: tuple[str, str] | None = None
    uses: list[tuple[dict[str, Json], str]] = field(default_factory=list)
    value: Json = None
    origin: Origin | None = None
    queued: bool = False


class Parts:
    """All components of a document, and which of them are still to be walked."""

    def __init__(self, references: References, layout: Layout) -> None:
        self.dynamic = Dynamic(references)
        self.queue: deque[Part] = deque()
        self._references = references
        self._layout = layout
        self._named: dict[tuple[str, str], Part] = {}
        self._brought: dict[_Key, Part] = {}
        self._claims: dict[tuple[str, str, str], Part] = {}
        self._variants = 0

    def claim(self) -> None:
        """Learn what the root document names, so that the same thing, met in another file, is known by that name."""
        for kind, section in self._layout.sections.items():
            for name, at in self._listed(section):
                target = self._meant(at)
                if target.file is self._references.root or _place(kind, target) in self._claims:
                    target = at
                part = self._named[section, name] = Part(KINDS[kind], target, name=(section, name))
                if target.file is not self._references.root:
                    self._claims.setdefault(_place(kind, target), part)

    def all_named(self) -> Iterator[Part]:
        """Give the components that the root document names."""
        return iter(self._named.values())

    def use(self, part: Part) -> None:
        """Have a component walked, if it is not yet."""
        if not part.queued:
            part.queued = True
            self.queue.append(part)

    def point(self, holder: dict[str, Json], key: str, target: Spot, kind: Kind, scope: Bindings) -> None:
        """Let a member of `holder` refer to the place of `target` in the bundle, now or once it has a name."""
        needed = self.dynamic.needed(scope, target)
        if needed and self._variants < MOST_VARIANTS:
            self._variants += 1
        else:
            needed = ()
        place = None if needed else self._place_of(kind, target)
        if place is not None:
            holder[key] = place
            return
        identity = (kind.name, target.file.address, target.pointer, needed)
        part = self._brought.get(identity)
        if part is None:
            part = self._brought[identity] = Part(kind, target, needed)
        part.uses.append((holder, key))
        holder[key] = ""
        self.use(part)

    def place(self, made: dict[str, Json], origins: Origins) -> None:
        """Put all components into the sections of `made` under their names."""
        sections = self._sections(made)
        for kind, section in self._layout.sections.items():
            named = {name: part for (where, name), part in self._named.items() if where == section}
            brought = {key: part for key, part in self._brought.items() if key[0] == kind}
            if not named and not brought:
                continue
            entries: dict[str, Json] = {}
            names = assign({key: self._words(part) for key, part in brought.items()}, named)
            for key, name in names.items():
                brought[key].name = (section, name)
            for part in (
                *named.values(),
                *(brought[key] for key, _ in sorted(names.items(), key=lambda pair: pair[1])),
            ):
                self._put(entries, part, origins)
            sections[section] = entries

    def _sections(self, made: dict[str, Json]) -> dict[str, Json]:
        """Give the object that holds the sections, a copy of the root document's own."""
        for step in self._layout.holder:
            old = made.get(step)
            inner = {key: value for key, value in old.items() if key != "$ref"} if isinstance(old, dict) else {}
            if inner or self._named or self._brought:
                made[step] = inner
            made = inner
        return made

    def _put(self, entries: dict[str, Json], part: Part, origins: Origins) -> None:
        if part.name is None:
            return
        section, name = part.name
        if part.value is DROP:
            return
        for holder, key in part.uses:
            holder[key] = "#" + join((*self._layout.holder, section, name))
        entries[name] = part.value
        if part.origin is not None:
            origins.note(entries, name, part.origin)

    def _place_of(self, kind: Kind, target: Spot) -> str | None:
        """Give the reference to what has a place already."""
        part = self._claims.get(_place(kind.name, target))
        if part is not None and part.name is not None:
            self.use(part)
            return "#" + join((*self._layout.holder, *part.name))
        parts = split(target.pointer)
        if target.file is not self._references.root or self._layout.kind_at(parts) is None:
            return None
        entry = self._layout.entry_of(parts)
        if entry in self._named:
            self.use(self._named[entry])
        return f"#{target.pointer}"

    def _listed(self, section: str) -> Iterator[tuple[str, Spot]]:
        """Give the names in a section; it may be in another file, and so may all of them."""
        place = self._references.resolve("#" + join((*self._layout.holder, section)), self._references.root, "")
        for _ in range(10):
            if not isinstance(place, Spot) or not isinstance(place.value, dict):
                return
            reference = place.value.get("$ref")
            for name, value in place.value.items():
                if name != "$ref" or not isinstance(reference, str):
                    yield name, Spot(place.file, f"{place.pointer}/{escape(name)}", value)
            if not isinstance(reference, str):
                return
            place = self._references.resolve(reference, place.file, place.pointer)

    def _meant(self, at: Spot) -> Spot:
        """Give what an entry stands for: itself, or what it refers to when it does nothing else."""
        if not is_bare(at.value):
            return at
        found = self._references.resolve(at.value["$ref"], at.file, at.pointer)
        return self._references.settle(found) if isinstance(found, Spot) else at

    def _words(self, part: Part) -> tuple[str, ...]:
        main = self._references.root.address
        words = words_of(part.spot.file.address, part.spot.pointer, main)
        for _, address, pointer in part.scope:
            user = words_of(address, pointer.split("/$defs/")[0], main)[-1]
            words = (*words[:-1], f"{words[-1]}_{user}")
        return words


def _place(kind: str, spot: Spot) -> tuple[str, str, str]:
    return kind, spot.file.address, spot.pointer
