"""The texts of a document for people and agents, and the values in it that are sent or shown as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from aqlgen.document.link.objects import DATA, OBJECT_TYPES, ObjectType
from aqlgen.document.positions import At, Origins
from aqlgen.ir import Json

__all__ = ["Walk"]

_TEXTS: Final = frozenset({"title", "summary", "description"})
_LOOSE_TEXTS: Final = _TEXTS | {"name", "version", "termsOfService", "email"}
"""Texts of the info, its contact and its licence, of tags, servers and links to more documents."""
_VALUES: Final = DATA | {"value", "dataValue"}
_MAY_TELL: Final = re.compile("(?i)replac|success|supersed|alternativ|migrat|sunset|deprecat|remov|eol")
"""Names of what agents are told from extensions; others hold samples of code and the like."""
_NAMED: Final = frozenset({"properties", "patternProperties"})


@dataclass(frozen=True, slots=True)
class Walk:
    """Walks a tree; `clean` gives a text in its new form, `look` sees a value that must stay as it is.

    `look` returns False for a value of which there is nothing to say; it sees each of those once.
    """

    clean: Callable[[str, At], str]
    look: Callable[[str, At], bool]
    origins: Origins
    _harmless: set[str] = field(default_factory=set, init=False)

    def document(self, root: dict[str, Json]) -> dict[str, Json]:
        """Return the tree with its texts in their new form; what has none is the same object."""
        changed: dict[str, Json] = self._object(root, OBJECT_TYPES["openapi"], None)
        return changed

    def _walk(self, value: Json, kind: ObjectType, at: At) -> Json:
        if isinstance(value, dict):
            return self._object(value, kind, at)
        if isinstance(value, list) and kind.items:
            return self._list(value, OBJECT_TYPES[kind.items], at)
        return value

    def _list(self, value: list[Json], kind: ObjectType, at: At) -> list[Json]:
        changed: list[Json] | None = None
        for index, item in enumerate(value):
            new: Json = item
            if isinstance(item, (dict, list)):
                new = self._walk(item, kind, (at, index))
            elif isinstance(item, str) and kind.name == "loose":  # tags of an operation
                new = self.clean(item, (at, index))
            if new is not item:
                changed = list(value) if changed is None else changed
                changed[index] = new
        if changed is None:
            return value
        self.origins.carry(value, changed)
        return changed

    def _object(self, value: dict[str, Json], kind: ObjectType, at: At) -> dict[str, Json]:
        texts = (_LOOSE_TEXTS if kind.name == "loose" else _TEXTS) if kind.texts else ()
        changed: dict[str, Json] | None = None
        for key, member in value.items():
            new: Json = member
            if isinstance(member, str):
                if key in texts:
                    new = self.clean(member, (at, key))
                elif key in _VALUES or (key == "name" and kind.name == "parameter"):
                    self._look(member, (at, key))
                elif key.startswith("x-") and kind.name == "operation":
                    new = self._extension(member, (at, key))
            elif isinstance(member, (dict, list)):
                new = self._member(key, member, kind, at)
            if new is not member:
                changed = dict(value) if changed is None else changed
                changed[key] = new
        if changed is None:
            return value
        self.origins.carry(value, changed)
        return changed

    def _member(self, key: str, member: Json, kind: ObjectType, at: At) -> Json:
        within = (at, key)
        if key.startswith("x-") and kind.texts:
            return self._extension(member, within) if kind.name == "operation" else member
        name = kind.fields.get(key) or kind.entries
        if name:
            if key in _NAMED and kind.name == "schema" and isinstance(member, dict):
                for property_name in member:
                    if property_name not in self._harmless:
                        self._look(property_name, (within, property_name))
            return self._walk(member, OBJECT_TYPES[name], within)
        if key in _VALUES:
            for text, place in _strings(member, within):
                if text not in self._harmless:
                    self._look(text, place)
        return member

    def _look(self, value: str, at: At) -> None:
        if value not in self._harmless and not self.look(value, at):
            self._harmless.add(value)

    def _extension(self, value: Json, at: tuple[At, str | int], depth: int = 0) -> Json:
        """Clean what an extension of an operation tells of its end: a text, or the texts of an object."""
        if isinstance(value, str) and _MAY_TELL.search(str(at[1])):
            return self.clean(value, at)
        if isinstance(value, dict) and not depth:
            new = {key: self._extension(item, (at, str(key)), depth + 1) for key, item in value.items()}
            return value if all(new[key] is item for key, item in value.items()) else new
        return value


def _strings(value: Json, at: At) -> Iterator[tuple[str, At]]:
    """Yield the texts in a value, keys of objects included."""
    stack: list[tuple[Json, At]] = [(value, at)]
    while stack:
        item, place = stack.pop()
        if isinstance(item, str):
            yield item, place
        elif isinstance(item, dict):
            stack += ((inner, (place, key)) for key, inner in item.items())
            yield from ((key, (place, key)) for key in item)
        elif isinstance(item, list):
            stack += ((inner, (place, index)) for index, inner in enumerate(item))
