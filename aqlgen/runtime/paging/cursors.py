"""Cursors: a place in a list as a short text that is opaque, URL-safe and tamper-evident (R-SEL-3).

A cursor is valid only for the operation, the parameters and the caller that it was made for. It is the sealed place,
and good for as long as the key that sealed it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import invalid
from ..exact_json import fingerprint
from ..session import current_caller

if TYPE_CHECKING:
    from ..state.custody import State

HASH = 4
"""Bytes of the hash of a page, which is compared with a few earlier ones of the same list."""

_KIND = "place"


class Place(NamedTuple):
    """A place in a list: a page of the API, and how many of its items come before the place.

    `position` requests the page: its number, offset, token, or path and query; None is the first one. `begin` counts
    the items before the page, `size` is the requested page size, `full` the length of the longest page so far. `seen`
    and `origin` are hashes of the page before and of the first one, to recognize them; `origin` is "" if both are one.
    """

    position: int | str | None = None
    begin: int = 0
    skip: int = 0
    size: int | None = None
    full: int = 0
    seen: str = ""
    origin: str = ""


class Cursors:
    """Writes and reads the cursors of this adapter and its replicas; one of another is refused."""

    def __init__(self, state: State) -> None:
        self._custody = state.shared

    async def prepare(self) -> None:
        """Make the cursors that are written and read next those that every replica reads, unless the store is away."""
        await self._custody.prepare()

    def write(self, operation: str, filters: Mapping[str, Any], place: Place) -> str:
        """Return the cursor of a place, without what is usual at its end."""
        pairs = enumerate(zip(place, _USUAL, strict=True), 1)
        count = max((index for index, (value, usual) in pairs if value != usual), default=0)
        packed = json.dumps(place[:count], separators=(",", ":")).encode()
        return self._custody.spare_sealer().wrap(_KIND, packed, _bound(operation, filters))

    def read(self, name: str, cursor: str, operation: str, filters: Mapping[str, Any]) -> Place:
        """Return the place of a cursor. Raises Failure if it belongs to another list, or was changed."""
        packed = self._custody.spare_sealer().unwrap(_KIND, cursor, _bound(operation, filters))
        if not packed:
            raise invalid(
                name,
                f"Parameter '{name}' is not a cursor of this operation with these parameters. Take it from `pageInfo` "
                "of a page with the same parameters, or leave it out to start again.",
            )
        return Place(*json.loads(packed))


def _bound(operation: str, filters: Mapping[str, Any]) -> str:
    return f"{fingerprint(operation, filters)} {current_caller() or ''}"


_USUAL = Place()
