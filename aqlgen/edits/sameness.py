"""Whether two values of different tables mean the same: types of single operations are called after those."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from aqlgen.ir import Json

__all__ = ["Sameness"]

_TYPES: Final = "#/types/"


class Sameness:
    """Compares by the types of the first table and those of the second, given as the contents of their files."""

    def __init__(self, first: bytes, second: bytes) -> None:
        self._first: Mapping[str, Json] = json.loads(first)
        self._second: Mapping[str, Json] = json.loads(second)
        self._taken: set[tuple[str, str]] = set()

    def __call__(self, one: Json, other: Json) -> bool:
        """Say whether a value of the first table is the same as one of the second, whatever its types are called."""
        if one == other:
            return True
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return one.keys() == other.keys() and all(self._member(key, one[key], other[key]) for key in one)
        if isinstance(one, list) and isinstance(other, list):
            return len(one) == len(other) and all(map(self, one, other))
        return False

    def _member(self, key: str, one: Json, other: Json) -> bool:
        if key != "$ref" or one == other or not (isinstance(one, str) and isinstance(other, str)):
            return self(one, other)
        names = one.removeprefix(_TYPES), other.removeprefix(_TYPES)
        if names in self._taken:  # of a type within itself, or seen before
            return True
        if names[0] not in self._first or names[1] not in self._second:
            return False
        self._taken.add(names)
        same = self(self._first[names[0]], self._second[names[1]])
        if not same:
            self._taken.discard(names)
        return same
