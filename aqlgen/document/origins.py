"""Where the parts of a tree came from that was put together from several: the map behind every line in a diagnostic.

A tree that is changed (files bundled, an overlay applied, Swagger 2.0 converted) is a new tree; what was put into it is
noted here by the container and key where it stands. What is not noted came from the same place as its container.
"""

from __future__ import annotations

from aqlgen.document.positions import escape, split
from aqlgen.ir import Json, Origin


class Origins:
    """Origins by place. The containers are kept alive, so that their identity stays their own."""

    def __init__(self) -> None:
        self._noted: dict[tuple[int, str | int], Origin] = {}
        self._holders: dict[int, Json] = {}

    def note(self, container: dict[str, Json] | list[Json], key: str | int, origin: Origin) -> None:
        """Say that what stands at `key` of `container` came from `origin`, with all within it that is not noted."""
        self._noted[id(container), key] = origin
        self._holders[id(container)] = container

    def carry(self, old: dict[str, Json] | list[Json], new: dict[str, Json] | list[Json]) -> None:
        """Say that `new` is `old` changed: what stands at the same key of both came from the same place."""
        if id(old) in self._holders:
            for key in new if isinstance(new, dict) else range(len(new)):
                if noted := self._noted.get((id(old), key)):
                    self.note(new, key, noted)

    def find(self, root: Json, pointer: str) -> Origin:
        """Give the origin of what `pointer` leads to from `root`; of parts that are not there, where they would be."""
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
