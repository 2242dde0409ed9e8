"""Where a resource is: in an answer and in a request that may wrap it, found by the fields that both declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from aqlgen.decide.schemas import Schemas
from aqlgen.ir import Json
from aqlgen.runtime.schema import pointer_of

DEEPEST: Final = 3
_MOST_PLACES: Final = 60
_IDENTIFYING: Final = frozenset({"id", "_id", "type", "object", "kind", "links", "_links", "meta"})
"""Fields that anything has: to have them in common says nothing."""
_ENOUGH: Final = 0.5
_NUMBERS: Final = frozenset({"integer", "number"})


@dataclass(frozen=True, slots=True)
class Place:
    """An object of a request or an answer: the names that lead to it, and its fields."""

    steps: tuple[str, ...]
    fields: Mapping[str, Json]

    @property
    def pointer(self) -> str:
        """The JSON pointer of the object (RFC 6901)."""
        return pointer_of(self.steps)


@dataclass(frozen=True, slots=True)
class Pair:
    """The places of a resource as it is written and as it is read; `shared` counts the fields in common."""

    written: Place
    read: Place
    shared: int

    @property
    def share(self) -> float:
        """The share of the written fields that are read."""
        return self.shared / len(self.written.fields)


def paired(written: Place, read: Place, schemas: Schemas) -> Pair | None:
    """Return where the resource is, None if request and answer have nothing in common.

    An object within the request counts only where the request itself has no field in common with the answer, and only
    with most of its fields: else it is a part of the resource and no wrapper.
    """
    answers = list(_places(read, schemas))
    best = _best(written, answers, schemas)
    if best is not None:
        return best
    wrapped = (_best(place, answers, schemas) for place in _places(written, schemas) if place.steps)
    pairs = [pair for pair in wrapped if pair is not None and pair.share >= _ENOUGH]
    return max(pairs, key=lambda pair: (pair.share, -len(pair.written.steps)), default=None)


def _best(written: Place, answers: list[Place], schemas: Schemas) -> Pair | None:
    """Return the pair with most fields in common; of equal ones that with the outermost object of the answer."""
    pairs = (Pair(written, place, _shared(written.fields, place.fields, schemas)) for place in answers)
    return max((pair for pair in pairs if pair.shared), key=lambda pair: pair.shared, default=None)


def _shared(written: Mapping[str, Json], read: Mapping[str, Json], schemas: Schemas) -> int:
    """Count the fields that are both written and read as the same kind of value."""
    names = [name for name in written if name in read and _alike(written[name], read[name], schemas)]
    return len(names) if set(names) - _IDENTIFYING or set(written) <= _IDENTIFYING else 0


def _alike(first: Json, second: Json, schemas: Schemas) -> bool:
    kinds = [set(schemas.kinds(schema)) for schema in (first, second)]
    kinds = [kind_set | _NUMBERS if kind_set & _NUMBERS else kind_set for kind_set in kinds]
    return not all(kinds) or bool(kinds[0] & kinds[1])


def _places(outermost: Place, schemas: Schemas) -> Iterator[Place]:
    """Yield an object and the objects within it, the outermost first."""
    level, count = [outermost], 0
    for _ in range(DEEPEST + 1):
        following: list[Place] = []
        for place in level:
            if count >= _MOST_PLACES:
                return
            count += 1
            yield place
            for name, schema in place.fields.items():
                fields = schemas.properties(schema) if schemas.kinds(schema) <= {"object"} else {}
                if fields:
                    following.append(Place((*place.steps, name), fields))
        level = following
