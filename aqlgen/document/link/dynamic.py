"""`$dynamicRef` resolved ahead of time (JSON Schema 2020-12, 8.2.3.2): what it means depends on who refers.

A template, such as a page of anything, says `$dynamicRef: "#item"`; those that use it say what an item is by a
`$dynamicAnchor`. A scope is the names bound on the way to a schema, and the outermost binding of a name wins; so each
use gets the template once more, made for it.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from aqlgen.document.link.files import File
from aqlgen.document.link.objects import DATA
from aqlgen.document.link.references import References, Spot
from aqlgen.document.positions import escape

Bindings: TypeAlias = tuple[tuple[str, str, str], ...]
"""Name, file address and pointer of what it is bound to, sorted."""

MOST_VARIANTS: Final = 1000
"""How many times schemas are made anew for who uses them, in one document."""

_MOST_STEPS: Final = 2_000_000


class Dynamic:
    """Which dynamic names a schema binds, and which matter to it."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._needs: dict[tuple[str, str], frozenset[str]] = {}
        self._steps = 0

    def bound(self, scope: Bindings, file: File, pointer: str) -> Bindings:
        """Give the scope within the schema at `pointer`: names that are not bound yet get what it binds itself."""
        if not file.dynamic:
            return scope
        known = {name for name, _, _ in scope}
        own: dict[str, str] = {}
        for place, name in file.dynamic.items():
            if name not in known and (place == pointer or place.startswith(f"{pointer}/")):
                own.setdefault(name, place)
        return tuple(sorted((*scope, *((name, file.address, place) for name, place in own.items()))))

    def needed(self, scope: Bindings, target: Spot) -> Bindings:
        """Give the part of a scope that makes the target another schema than it is by itself."""
        if not scope:
            return ()
        names = self._needed(target)
        asked = tuple(one for one in scope if one[0] in names)
        itself = self.bound((), target.file, target.pointer)
        return asked if any(one not in itself for one in asked) else ()

    def _needed(self, target: Spot) -> frozenset[str]:
        """Give the names that a schema asks for, itself or through those that it refers to."""
        key = target.file.address, target.pointer
        if key not in self._needs:
            self._needs[key] = self._look(target)
        return self._needs[key]

    def _look(self, target: Spot) -> frozenset[str]:
        names: set[str] = set()
        seen = {(target.file.address, target.pointer)}
        todo = [target]
        while todo and self._steps < _MOST_STEPS:
            file, pointer, node = todo.pop()
            self._steps += 1
            if isinstance(node, list):
                todo += (Spot(file, f"{pointer}/{index}", inner) for index, inner in enumerate(node))
            if not isinstance(node, dict):
                continue
            asked, reference = node.get("$dynamicRef"), node.get("$ref")
            if isinstance(asked, str):
                names.add(asked.rpartition("#")[2])
            for key, inner in node.items():
                if key not in DATA and not key.startswith("x-") and isinstance(inner, (dict, list)):
                    todo.append(Spot(file, f"{pointer}/{escape(key)}", inner))
            found = self._references.resolve(reference, file, pointer) if isinstance(reference, str) else None
            if isinstance(found, Spot) and (found.file.address, found.pointer) not in seen:
                seen.add((found.file.address, found.pointer))
                todo.append(found)
        return frozenset(names)


def place_of(scope: Bindings, name: str) -> tuple[str, str] | None:
    """Give what a name is bound to in a scope: file address and pointer."""
    return next(((address, pointer) for one, address, pointer in scope if one == name), None)
