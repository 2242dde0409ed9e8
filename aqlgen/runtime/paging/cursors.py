# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Cursors: a place in a list as a short text that is opaque, URL-safe and tamper-evident (R-SEL-3).

A cursor is valid only for the operation, the parameters and the caller that it was made for. It is the sealed place in
few bytes: what is as usual takes none. It is good for as long as the key that sealed it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Code, Failure
from ..exact_json import fingerprint
from ..session import current_caller

if TYPE_CHECKING:
    from ..state.custody import State

__all__ = ["HASH", "Cursors", "Place"]

HASH = 4
"""Bytes of the hash of a page, which is compared with a few earlier ones of the same list."""

_KIND = "cursor"


class Place(NamedTuple):
    """A place in a list: a page of the API, and how many of its items come before the place.

    `position` requests the page: its number, offset, token, or path and query; None is the first one. `begin` counts
    the items before the page, `size` is the requested page size, `full` the length of the longest page so far. `seen`,
    `saved` and `origin` are hashes of earlier pages, to recognize a repeated one; `pages` counts the pages.
    """

    position: int | str | None = None
    begin: int = 0
    skip: int = 0
    size: int | None = None
    full: int = 0
    seen: str = ""
    saved: str = ""
    pages: int = 0
    origin: str = ""


class Cursors:
    """Writes and reads the cursors of this adapter and its replicas; one of another is refused."""

    def __init__(self, state: State) -> None:
        self._custody = state.shared

    async def prepare(self) -> None:
        """Make the cursors that are written and read next those that every replica reads, unless the store is away."""
        await self._custody.prepare()

    def write(self, operation: str, filters: Mapping[str, Any], place: Place) -> str:
        """Return the cursor of a place."""
        return self._custody.spare_sealer().wrap(_KIND, _pack(place), _bound(operation, filters))

    def read(self, name: str, cursor: str, operation: str, filters: Mapping[str, Any]) -> Place:
        """Return the place of a cursor. Raises Failure if it belongs to another list, or was changed."""
        packed = self._custody.spare_sealer().unwrap(_KIND, cursor, _bound(operation, filters))
        if not packed:
            raise _refused(name)
        return _unpack(packed)


def _bound(operation: str, filters: Mapping[str, Any]) -> str:
    return f"{fingerprint(operation, filters)} {current_caller() or ''}"


def _refused(name: str) -> Failure:
    return Failure(
        Code.INVALID_VALUE,
        f"Parameter '{name}' is no cursor of this operation with these parameters. Take it from `pageInfo` of a page "
        "asked for with the same ones, or leave it out to begin anew.",
        {"param_name": name},
    )


# The bytes of a place: which parts there are, the numbers, the hashes, and a position that is text at the end.

_TEXT, _NUMBER, _BEGIN, _SKIP, _SIZE, _FULL, _SEEN, _OTHERS = (1 << bit for bit in range(8))


def _pack(place: Place) -> bytes:
    position, text = place.position, b""
    parts = 0
    numbers: list[int] = []
    if isinstance(position, int) and position >= 0:
        parts |= _NUMBER
        numbers.append(position)
    elif position is not None:
        parts |= _TEXT | (_NUMBER if isinstance(position, int) else 0)
        text = str(position).encode("utf-8", "surrogatepass")
    usual = {_BEGIN: position if isinstance(position, int) and position >= 0 else 0, _SKIP: 0, _SIZE: None}
    usual[_FULL] = place.size or 0
    for part, value in ((_BEGIN, place.begin), (_SKIP, place.skip), (_SIZE, place.size), (_FULL, place.full)):
        if value != usual[part]:
            parts |= part
            numbers.append(value or 0)
    hashes = ""
    if place.seen or place.saved or place.origin or place.pages:
        parts |= _SEEN
        hashes = place.seen
        numbers.append(place.pages * 2 + bool(place.seen))
        if place.saved != place.seen or place.origin != place.seen:
            parts |= _OTHERS
            numbers.append(bool(place.saved) + 2 * bool(place.origin))
            hashes += place.saved + place.origin
    return bytes([parts]) + b"".join(map(_varint, numbers)) + bytes.fromhex(hashes) + text


def _unpack(packed: bytes) -> Place:
    """Return the place of authenticated bytes."""
    parts, end = packed[0], 1

    def number(part: int, usual: int = 0) -> int:
        nonlocal end
        if not parts & part:
            return usual
        value = shift = 0
        while True:
            byte = packed[end]
            end += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def hashed(present: int) -> str:
        nonlocal end
        if not present:
            return ""
        end += HASH
        return packed[end - HASH : end].hex()

    counted = bool(parts & _NUMBER and not parts & _TEXT)
    position: int | str | None = number(_NUMBER) if counted else None
    begin = number(_BEGIN, int(position or 0))
    skip = number(_SKIP)
    size = number(_SIZE) if parts & _SIZE else None
    full = number(_FULL, size or 0)
    pages = number(_SEEN)
    others = number(_OTHERS)
    seen = hashed(pages & 1)
    saved, origin = (hashed(others & 1), hashed(others & 2)) if parts & _OTHERS else (seen, seen)
    if parts & _TEXT:
        text = packed[end:].decode("utf-8", "surrogatepass")
        position = int(text) if parts & _NUMBER else text
    return Place(position, begin, skip, size, full, seen, saved, pages >> 1, origin)


def _varint(value: int) -> bytes:
    """Return a number that is not negative as groups of seven bits, the lowest first."""
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
