"""Origins of the parts of an assembled tree, so that each diagnostic can name a file and line.

Every change of a tree (files bundled, an overlay applied, Swagger 2.0 converted) makes a new tree. Each new part is
recorded here by its container and key. A part that is not recorded has the same origin as its container.
"""

from __future__ import annotations

from aqlgen.document.positions import escape, split
from aqlgen.ir import Json, Origin


class Origins:
    """Origins by container and key. Containers are kept alive, so that no other object gets their identity."""

    def __init__(self) -> None:
        self._noted: dict[tuple[int, str | int], Origin] = {}
        self._holders: dict[int, Json] = {}

    def note(self, container: dict[str, Json] | list[Json], key: str | int, origin: Origin) -> None:
        """Record that the value at `key` of `container` came from `origin`, with every part that is not recorded."""
        self._noted[id(container), key] = origin
        self._holders[id(container)] = container

    def carry(self, old: dict[str, Json] | list[Json], new: dict[str, Json] | list[Json]) -> None:
        """Record that `new` is a changed copy of `old`: values at the same key have the same origin."""
        if id(old) in self._holders:
            for key in new if isinstance(new, dict) else range(len(new)):
                if noted := self._noted.get((id(old), key)):
                    self.note(new, key, noted)

    def find(self, root: Json, pointer: str) -> Origin:
        """Return the origin of the value at `pointer` in `root`; for a missing part, the place where it would be."""
        origin, below, node = Origin(""), "", root
        for part in split(pointer):
            key: str | int = int(part) if isinstance(node, list) and part.isdecimal() else part
            noted = self._noted.get((id(node), key)) if isinstance(node, (dict, list)) else None
            origin, below = (noted, "") if noted else (origin, f"{below}/{escape(part)}")
            node = _step(node, key)
        return Origin(origin.pointer + below, origin.file) if below else origin


def _step(node: Json, key: str | int) -> Json:
    try:
        return node[key]
    except (KeyError, IndexError, TypeError):
        return None
