"""The ceiling of an answer, in tokens: what is longer is cut, and a warning for each cut says how to go on (R-WARN-3).

Lists are cut at whole items, texts lose their end. In an object what is small stays, and what is large shares the rest
of the room, level by level, so that what lies deepest goes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..envelope import CallWarning
from ..text import encoded, estimate, line

CODE = "VALIDATION_TRUNCATED_WARNING"

_LONGEST_PATH: Final = 200
"""Characters of a path of `fields`."""

_LEAST: Final = 12
"""Tokens below which a value is not worth showing a part of."""

_ROUNDS: Final = 6
_MOST_WARNINGS: Final = 5
_CERTAIN: Final = 12
"""Characters a token from which on a text is longer than its room, whatever is in it."""

_BLOCK: Final = 32
"""Items of a list whose tokens are counted together."""

_PART = re.compile(r"(.{0,1000}?)\[(\d{0,9}):(\d{0,9})\]")
"""A path of `fields` with the part of its value that is asked for."""

_BRACKETS: Final = 2
_SEPARATOR: Final = 1


@dataclass(frozen=True, slots=True)
class Cut:
    """One cut: at `path` there were `original` items, characters or fields, and `kept` are left."""

    path: tuple[str, ...]
    unit: str
    original: int
    kept: int


def fit(
    data: Any, most: int, *, page: bool = False, change: Callable[[Any], Any] | None = None
) -> tuple[Any, list[Cut]]:
    """Return the data in at most `most` tokens, as estimated, and the cuts. A `page` keeps an item at least.

    Costs as much as encoding what there is room for, so call it only when the answer was long. `change` is applied to
    the items of a list, or of a page, as far as there is room for them.
    """
    paged = page and isinstance(data, dict)
    items = data["items"] if paged else data
    leading = None
    if isinstance(items, list):
        leading = _Leading(items, most, change)
        if leading.marks[-1][1] > most:
            return _cut(data, most, leading, paged=paged)
        data = {**data, "items": leading.shown} if paged else leading.shown
    if (leading is not None and not paged) or _cost(data, most) <= most:
        return data, []
    return _cut(data, most, leading, paged=paged)


def _cut(data: Any, most: int, leading: _Leading | None, *, paged: bool) -> tuple[Any, list[Cut]]:
    """Return data that is too long, cut to a smaller room until it fits, and the cuts."""
    room = most
    for _ in range(_ROUNDS):
        cuts: list[Cut] = []
        shrunk = _page(data, room, cuts, leading) if paged else _shrunk(data, room, (), cuts, leading)
        around = _cost({**shrunk, "items": []}, most) if paged else 0
        if (leading is not None and 0 < leading.tokens <= most - around) or _cost(shrunk, most) <= most:
            return shrunk, cuts
        room = room * 4 // 5
    return shrunk, cuts


def cut_warnings(
    cuts: Sequence[Cut], most: int, *, page: bool = False, selector: str = "fields", asked: Any = ()
) -> Iterator[CallWarning]:
    """Yield the warnings of cuts, the first few ones; `selector` is the parameter to repeat the call for the rest.

    `asked` are the fields of the call: a part of a part that it asked for is counted from the beginning of the whole.
    """
    for cut in cuts[:_MOST_WARNINGS]:
        details: dict[str, Any] = {
            "field": line(".".join(cut.path), _LONGEST_PATH) or "data",
            "original_count": cut.original,
            "truncated_count": cut.kept,
            "limit": cut.kept,
            "max_answer_tokens": most,
        }
        if page and cut.path == ("items",):
            details["next"] = "pageInfo.endCursor"
        elif selector:
            fields = _fields_of_rest(cut, asked, page=page)
            if 0 < len(fields) <= _LONGEST_PATH:
                details["next"] = {selector: [fields]}
        severity = "medium" if cut.kept * 2 < cut.original else "low"
        yield CallWarning(CODE, f"Response truncated to {cut.kept} {cut.unit}", severity, details)


def _fields_of_rest(cut: Cut, asked: Any, *, page: bool) -> str:
    """Return the path for `fields` that gives what a cut left out; "" if no path can say it."""
    path = cut.path[1:] if page and cut.path[:1] == ("items",) else cut.path
    if cut.unit == "characters" and not cut.kept:
        return ""
    if any(not step or "." in step or "[" in step for step in path):
        return ""
    name = ".".join(path)
    parts = map(_PART.fullmatch, asked if isinstance(asked, list) else ())
    begin, end = next(((int(part[2] or 0), part[3]) for part in parts if part and part[1] == name), (0, ""))
    return name if cut.unit == "fields" else f"{name}[{begin + cut.kept}:{end}]"


def _cost(value: Any, room: int) -> int:
    """Return the tokens of a value; more than the room, if only roughly, where it is far longer."""
    most = max(room, _LEAST) * _CERTAIN
    if _is_longer(value, most):
        return most
    text = encoded(value)
    return len(text) if len(text) > most else estimate(text)


def _is_longer(value: Any, most: int) -> bool:
    """Return True if the JSON of a value surely has more than so many characters. It looks at no more values."""
    values = [value]
    while values and most >= 0:
        inner = values.pop()
        most -= len(inner) if isinstance(inner, (str, list, dict)) else 1
        if most >= 0 and not isinstance(inner, str):
            values += inner.values() if isinstance(inner, dict) else inner if isinstance(inner, list) else ()
    return most < 0


def _page(data: dict[str, Any], room: int, cuts: list[Cut], leading: _Leading | None) -> dict[str, Any]:
    """Return a page whose items are cut, and what is beside them only where that is long."""
    beside = {key: value for key, value in data.items() if key not in ("items", "pageInfo")}
    cost = _cost(beside, room // 4)
    if cost > room // 4:
        beside = _shrunk(beside, room // 4, (), cuts)
        cost = room // 4
    info = data.get("pageInfo")
    left = room - cost - _cost(info, room) - _BRACKETS * 4
    items = _shrunk(data["items"], max(left, room // 4), ("items",), cuts, leading)
    return {"items": items, "pageInfo": info, **beside}


def _shrunk(value: Any, room: int, path: tuple[str, ...], cuts: list[Cut], leading: _Leading | None = None) -> Any:
    """Return a value that is too long, cut to a room; `leading` are the items of a list, if they were weighed."""
    if isinstance(value, str):
        return _text(value, room, path, cuts)
    if isinstance(value, list):
        return _list(room, path, cuts, _Leading(value, room) if leading is None else leading)
    if isinstance(value, dict):
        return _object(value, room, path, cuts)
    return value


def _text(text: str, room: int, path: tuple[str, ...], cuts: list[Cut]) -> str:
    kept = text[: room * _CERTAIN]
    while kept:
        cost = estimate(encoded(kept))
        if cost <= room:
            break
        kept = kept[: min(len(kept) * room // cost, len(kept) * 19 // 20)]
    kept = kept[: len(kept) // 4 * 4]  # whole groups, where it is base64
    cuts.append(Cut(path, "characters", len(text), len(kept)))
    return kept


def _list(room: int, path: tuple[str, ...], cuts: list[Cut], leading: _Leading) -> list[Any]:
    kept = leading.fitting(room)
    if leading.shown and not kept:
        kept = [_shrunk(leading.shown[0], max(room - _BRACKETS - _SEPARATOR, 1), path, cuts)]
    if len(kept) < leading.total:
        cuts.append(Cut(path, "items", leading.total, len(kept)))
    return kept


class _Leading:
    """The leading items of a list as they are shown, a little more than there is room for.

    `marks` are counts of items, each with the most tokens that these take; `tokens` are those of the items that were
    asked for last.
    """

    def __init__(self, items: list[Any], most: int, change: Callable[[Any], Any] | None = None) -> None:
        self.total = len(items)
        self.shown: list[Any] = []
        self.tokens = 0
        self.marks = [(0, 0)]
        for start in range(0, len(items), _BLOCK):
            block = items[start : start + _BLOCK]
            self.shown += block if change is None else map(change, block)
            joint = _SEPARATOR if start else 0
            self.marks.append((len(self.shown), self.marks[-1][1] + _cost(self.shown[start:], most) + joint))
            if self.marks[-1][1] > most:
                break

    def fitting(self, room: int) -> list[Any]:
        """Return the items that fit into a room."""
        count, self.tokens = max(mark for mark in self.marks if mark[1] <= room or not mark[0])
        for item in self.shown[count : count + _BLOCK]:
            cost = _cost(item, room) + _SEPARATOR
            if self.tokens + cost > room:
                break
            count, self.tokens = count + 1, self.tokens + cost
        return self.shown[:count]


def _object(value: dict[str, Any], room: int, path: tuple[str, ...], cuts: list[Cut]) -> dict[str, Any]:
    left = room - _BRACKETS
    if value.get("encoding") == "base64" and isinstance(value.get("content"), str):
        cuts.append(Cut((*path, "content"), "characters", len(value["content"]), 0))
        return {**value, "content": ""}  # a part of a file is of no use
    names = {key: _cost(key, room) + _BRACKETS for key in value} if len(value) * _LEAST <= room else {}
    if sum(names.values()) > left or not names:
        return _map(value, left, path, cuts)
    costs = {key: names[key] + _cost(inner, room) for key, inner in value.items()}
    rooms = dict(zip(value, _shared(list(costs.values()), left), strict=True))
    return {
        key: inner if rooms[key] >= costs[key] else _shrunk(inner, max(rooms[key] - names[key], 1), (*path, key), cuts)
        for key, inner in value.items()
    }


def _shared(costs: Sequence[int], room: int) -> list[int]:
    """Return the room of each of several values: what is small has all that it needs, what is large shares the rest."""
    rooms = list(costs)
    for count, index in enumerate(sorted(range(len(costs)), key=costs.__getitem__)):
        rooms[index] = min(costs[index], room // (len(costs) - count))
        room -= rooms[index]
    return rooms


def _map(value: Mapping[str, Any], left: int, path: tuple[str, ...], cuts: list[Cut]) -> dict[str, Any]:
    """Return the leading entries of an object that has more of them than can be shown in part."""
    kept: dict[str, Any] = {}
    for key, inner in value.items():
        left -= _cost(key, max(left, 1)) + _BRACKETS + _cost(inner, max(left, 1))
        if left < 0:
            break
        kept[key] = inner
    cuts.append(Cut(path, "fields", len(value), len(kept)))
    return kept
