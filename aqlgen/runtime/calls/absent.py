"""Fields that an agent asks about and no item has: a condition on one would match everything, or nothing (R-SEL-4).

An item does not tell whether it has a field where null, or an empty list, stands on the way to it. With such items
alone every spelling means the same, and no field counts as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..text import alike, folded, line
from .conditions import values_at

_MOST_ITEMS: Final = 20
_MOST_NAMES: Final = 500
_MOST_NAMED: Final = 4
_DEEPEST: Final = 4
_LONGEST: Final = 100
_MOST_ELEMENTS: Final = 100
_MOST_LOOKS: Final = 25_000


class Absence:
    """What items show of fields, seen page by page."""

    def __init__(self, fields: Iterable[str]) -> None:
        self._unseen = set(fields)
        self._lacking: set[str] = set()
        self._sample: list[Any] = []
        self._budget = _MOST_LOOKS

    def see(self, items: Sequence[Any]) -> None:
        """Look at some items."""
        self._sample += items[: _MOST_ITEMS - len(self._sample)]
        for field in sorted(self._unseen):
            path = tuple(field.split("."))
            self._budget -= len(items) * len(path) ** 2
            if self._budget < 0:
                self._unseen.clear()  # too much to look at: nothing is said of any field
                return
            answers: set[bool | None] = set()
            for item in items:
                answers.add(has_field(item, path))
                if True in answers:
                    self._unseen.discard(field)
                    break
            else:
                if False in answers:
                    self._lacking.add(field)

    @property
    def fields(self) -> dict[str, str | None]:
        """The fields that no item has, each with the nearest that one has."""
        return {field: _nearest(field, self._sample) for field in sorted(self._unseen & self._lacking)}


def absent_fields(items: Sequence[Any], fields: Iterable[str]) -> dict[str, str | None]:
    """Return the fields that none of the items has, each with the nearest that one has."""
    absence = Absence(fields)
    absence.see(items)
    return absence.fields


def has_field(item: Any, path: Sequence[str]) -> bool | None:
    """Return whether an item has a field, in any element where a list is on the way; None if it does not tell."""
    if values_at(item, tuple(path)):
        return True
    for depth in range(len(path)):
        values = values_at(item, tuple(path[:depth])) if depth else [item]
        plain = [value for value in values if not isinstance(value, list)]
        if None in plain or (values and not plain):
            return None
    return False


def named_with_nearest(fields: Mapping[str, str | None]) -> str:
    """Return fields as a message names them: `'nmae' (did you mean 'name'?)`."""
    return ", ".join(
        f"'{line(field, _LONGEST)}'" + (f" (did you mean '{line(near, _LONGEST)}'?)" if near else "")
        for field, near in list(fields.items())[:_MOST_NAMED]
    )


def _nearest(field: str, items: Sequence[Any]) -> str | None:
    """Return the field of the items that is meant: spelled otherwise, deeper or higher, or nearly alike."""
    paths = list(dict.fromkeys(path for item in items for path in _paths(item, "", 0)))[:_MOST_NAMES]
    same = [path for path in paths if folded(path) == folded(field)]
    last = field[:_LONGEST].rpartition(".")[2]
    of_name = [path for path in paths if alike(path[:_LONGEST].rpartition(".")[2], last)]
    of_name.sort(key=lambda path: folded(path.rpartition(".")[2]) != folded(last))
    return next(iter(same or of_name), None)


def _paths(item: Any, prefix: str, depth: int) -> Iterator[str]:
    if isinstance(item, list):
        item = next((element for element in item[:_MOST_ELEMENTS] if isinstance(element, Mapping)), None)
    if not isinstance(item, Mapping) or depth >= _DEEPEST:
        return
    inner = list(item.items())[:_MOST_ELEMENTS]
    yield from (f"{prefix}{key}" for key, _ in inner)
    for key, value in inner:
        yield from _paths(value, f"{prefix}{key}.", depth + 1)
