"""JSON pointers, their lines and columns (both from 1, columns in characters), and the origins of an assembled tree.

Lines and columns are computed only for reports.
A value that a pointer does not reach in the text (it came by an alias or a merge key, or its key is missing) has the
position of its nearest ancestor in the text. The position of a member is its key, that of an item is its value.

By the origins of its parts each diagnostic can name a file and line.
Every change of a tree (files bundled, an overlay applied, Swagger 2.0 converted) makes a new tree. Each new part is
recorded here by its container and key. A part that is not recorded has the same origin as its container.
"""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from aqlgen.ir import Json, Origin
from aqlgen.runtime.schema import unescape

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_BREAK: Final = re.compile(r"\r\n?|\n")
_CONTINUATION: Final = re.compile("[\x80-\xbf]")

_Wanted: TypeAlias = dict[str, "_Wanted"]
Position: TypeAlias = tuple[int, int]
At: TypeAlias = "tuple[At, str | int] | None"
"""A place in a tree, of which few need the pointer: that of its container, and its key; None for the root."""
CONTAINERS: Final = frozenset({dict, list})


class Lines:
    """Conversion of character offsets (from 0) to lines and columns; the text is scanned on first use.

    A `narrow` text is UTF-8 with a character for each byte: one rare character makes each of a text four bytes long.
    """

    def __init__(self, text: str, *, narrow: bool = False) -> None:
        self._text = text
        self._starts: list[int] = []
        inner = _CONTINUATION.finditer(text) if narrow else ()
        self._continued = array("Q", (match.start() for match in inner))
        """The offsets of bytes within a character."""

    def place(self, offset: int) -> Position:
        """Return the line and column of an offset, both from 1."""
        if not self._starts:
            self._starts = [0, *(match.end() for match in _BREAK.finditer(self._text))]
        line = bisect_right(self._starts, offset)
        start = self._starts[line - 1]
        return line, offset - start + 1 - (bisect_left(self._continued, offset) - bisect_left(self._continued, start))


def escape(part: str) -> str:
    """Encode one part of a JSON pointer (RFC 6901, section 3)."""
    return part.replace("~", "~0").replace("/", "~1")


def join(parts: Iterable[str]) -> str:
    """Return the JSON pointer that goes through these keys."""
    return "".join("/" + escape(part) for part in parts)


def split(pointer: str) -> list[str]:
    """Return the parts of a JSON pointer, decoded."""
    return [unescape(part) for part in pointer.split("/")[1:]]


def nodes(root: object) -> Iterator[tuple[Any, At]]:
    """Yield every object and array once, with the first place of it; iterative, since documents nest deeply."""
    stack: list[tuple[Any, At]] = [(root, None)]
    seen: set[int] = set()
    while stack:
        node, at = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node, at
        entries = node.items() if isinstance(node, dict) else enumerate(node)
        inner = [(value, (at, key)) for key, value in entries if value.__class__ in CONTAINERS]
        stack.extend(reversed(inner))


def pointer_to(at: At) -> str:
    """Return the JSON pointer of a place (RFC 6901)."""
    parts = []
    while at is not None:
        at, key = at
        parts.append(f"/{escape(str(key))}")
    return "".join(reversed(parts))


def find(
    text: str, form: Literal["json", "yaml"], pointers: Iterable[str], *, narrow: bool = False
) -> dict[str, Position]:
    """Return the position of each pointer, in one pass over the text. Never raises for a text that was read before.

    `narrow` tells that a text of JSON is UTF-8 with a character for each byte.
    """
    wanted: _Wanted = {}
    parts = {pointer: split(pointer) for pointer in pointers}
    for path in parts.values():
        node = wanted
        for part in path:
            node = node.setdefault(part, {})
    offsets: dict[tuple[str, ...], int] = {}
    if form == "json":
        _scan_json(text, wanted, offsets, narrow=narrow)
    else:
        from aqlgen.document import yaml_events  # only YAML documents should pay for importing it

        yaml_events.scan(text, wanted, offsets)
    lines = Lines(text, narrow=narrow)
    return {pointer: lines.place(_nearest(tuple(path), offsets)) for pointer, path in parts.items()}


def _nearest(path: tuple[str, ...], offsets: dict[tuple[str, ...], int]) -> int:
    for length in range(len(path), -1, -1):
        if (offset := offsets.get(path[:length])) is not None:
            return offset
    return 0


@dataclass(frozen=True, slots=True)
class _JsonScan:
    """Steps into wanted values only; the standard library's decoder skips the others at full speed."""

    text: str
    offsets: dict[tuple[str, ...], int]
    skip: Callable[[str, int], tuple[Any, int]]
    narrow: bool

    def past_space(self, offset: int) -> int:
        match = _SPACE.match(self.text, offset)
        return match.end() if match else offset

    def visit(self, offset: int, wanted: _Wanted, path: tuple[str, ...]) -> int:
        text = self.text
        if not wanted or text[offset] not in "{[":
            return self.skip(text, offset)[1]
        is_object, index, offset = text[offset] == "{", 0, self.past_space(offset + 1)
        while text[offset] not in "}]":
            start, key = offset, str(index)
            if is_object:
                key, offset = self.skip(text, offset)
                if self.narrow and not key.isascii():
                    key = json.loads(text[start:offset].encode("latin-1").decode(errors="replace"))
                offset = self.past_space(self.past_space(offset) + 1)
            inner = wanted.get(key)
            if inner is not None:
                self.offsets[*path, key] = start
            offset = self.past_space(self.visit(offset, inner or {}, (*path, key)))
            if text[offset] == ",":
                offset = self.past_space(offset + 1)
            index += 1
        return offset + 1


def _scan_json(text: str, wanted: _Wanted, offsets: dict[tuple[str, ...], int], *, narrow: bool) -> None:
    """Note the offsets of wanted values. No function here refers to itself, since that would keep the text alive."""
    decoder = json.JSONDecoder(parse_int=float, object_pairs_hook=len)  # int() refuses many digits, no object is kept
    scan = _JsonScan(text, offsets, decoder.raw_decode, narrow)
    start = scan.past_space(0)
    offsets[()] = start
    scan.visit(start, wanted, ())


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
