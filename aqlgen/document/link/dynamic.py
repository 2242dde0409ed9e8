"""`$dynamicRef` resolved ahead of time (JSON Schema 2020-12, 8.2.3.2): its target depends on the referring schema.

A template, such as a page of items, contains `$dynamicRef: "#item"`; a schema that uses it defines the item by a
`$dynamicAnchor`. A scope is the names bound on the way to a schema, and the outermost binding of a name wins. So each
use gets a copy of the template of its own.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from aqlgen.document.link.files import File
from aqlgen.document.link.objects import DATA
from aqlgen.document.link.references import References, Target
from aqlgen.document.positions import escape

Bindings: TypeAlias = tuple[tuple[str, str, str], ...]
"""Sorted bindings: a name, and the file address and pointer that it is bound to."""

MOST_VARIANTS: Final = 1000
"""How many copies of schemas are made for their users, in one document."""

_MOST_STEPS: Final = 2_000_000


class DynamicScopes:
    """The dynamic names that schemas bind and need."""

    def __init__(self, references: References) -> None:
        self._references = references
        self._needs: dict[tuple[str, str], frozenset[str]] = {}
        self._steps = 0

    def bound(self, scope: Bindings, file: File, pointer: str) -> Bindings:
        """Return the scope within the schema at `pointer`: it binds the names that are not bound yet."""
        if not file.dynamic:
            return scope
        bound_names = {name for name, _, _ in scope}
        bindings: dict[str, str] = {}
        for place, name in file.dynamic.items():
            if name not in bound_names and (place == pointer or place.startswith(f"{pointer}/")):
                bindings.setdefault(name, place)
        return tuple(sorted((*scope, *((name, file.address, place) for name, place in bindings.items()))))

    def needed(self, scope: Bindings, target: Target) -> Bindings:
        """Return the part of a scope that changes the meaning of the target."""
        if not scope:
            return ()
        names = self._needed(target)
        bindings = tuple(binding for binding in scope if binding[0] in names)
        without_scope = self.bound((), target.file, target.pointer)
        return bindings if any(binding not in without_scope for binding in bindings) else ()

    def _needed(self, target: Target) -> frozenset[str]:
        """Return the names that a schema needs, itself or through its references."""
        key = target.file.address, target.pointer
        if key not in self._needs:
            self._needs[key] = self._look(target)
        return self._needs[key]

    def _look(self, target: Target) -> frozenset[str]:
        names: set[str] = set()
        seen = {(target.file.address, target.pointer)}
        todo = [target]
        while todo and self._steps < _MOST_STEPS:
            file, pointer, node = todo.pop()
            self._steps += 1
            if isinstance(node, list):
                todo += (Target(file, f"{pointer}/{index}", inner) for index, inner in enumerate(node))
            if not isinstance(node, dict):
                continue
            dynamic, reference = node.get("$dynamicRef"), node.get("$ref")
            if isinstance(dynamic, str):
                names.add(dynamic.rpartition("#")[2])
            for key, inner in node.items():
                if key not in DATA and not key.startswith("x-") and isinstance(inner, (dict, list)):
                    todo.append(Target(file, f"{pointer}/{escape(key)}", inner))
            referred = self._references.resolve(reference, file, pointer) if isinstance(reference, str) else None
            if isinstance(referred, Target) and (referred.file.address, referred.pointer) not in seen:
                seen.add((referred.file.address, referred.pointer))
                todo.append(referred)
        return frozenset(names)


def binding_of(scope: Bindings, name: str) -> tuple[str, str] | None:
    """Return the file address and pointer that a name is bound to in a scope, or None."""
    return next(((address, pointer) for bound_name, address, pointer in scope if bound_name == name), None)
