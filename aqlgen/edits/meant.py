"""What the user meant a row to be: the edits that were made to the old row, on the row as it comes out today."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from aqlgen.edits.rows import CALLED, Found

__all__ = ["Meant", "meant"]

_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Meant:
    """What edited rows should be, by `METHOD /path`, None for one taken out; and what of each the user touched."""

    rows: Mapping[str, Found | None]
    touched: Mapping[str, frozenset[str]]


def meant(before: Mapping[str, Found], after: Mapping[str, Found], today: Mapping[str, Found]) -> Meant:
    """Carry what differs between the rows as generated and as edited over to the rows as they come out today."""
    rows: dict[str, Found | None] = {}
    touched: dict[str, frozenset[str]] = {}
    strange = {one.name for key, one in after.items() if key not in before}  # their method or path was changed
    for key, pristine in before.items():
        edited = after.get(key)
        if edited == pristine or (edited is None and pristine.name in strange):
            continue
        if edited is None:
            rows[key], touched[key] = None, frozenset()
        else:
            edited = _example_aside(pristine, edited)
            rows[key] = _carried(pristine, edited, today.get(key, pristine))
            touched[key] = _touched(pristine, edited)
    return Meant(rows, touched)


def _carried(pristine: Found, edited: Found, today: Found) -> Found:
    """Take entry by entry what the user changed from the edited row, all else from today's."""
    return Found(
        edited.name if edited.name != pristine.name else today.name,
        edited.family if edited.family != pristine.family else today.family,
        _merged(pristine.row, edited.row, today.row),
    )


def _merged(pristine: Any, edited: Any, today: Any) -> Any:
    if pristine == edited:
        return today
    if not (isinstance(pristine, Mapping) and isinstance(edited, Mapping) and isinstance(today, Mapping)):
        return edited
    found = {}
    for key in dict.fromkeys((*today, *edited)):
        value = _merged(pristine.get(key, _ABSENT), edited.get(key, _ABSENT), today.get(key, _ABSENT))
        if value is not _ABSENT:
            found[key] = value
    return found


def _touched(pristine: Found, edited: Found) -> frozenset[str]:
    """Give the keys of a row that the user changed, and the parameters."""
    own, inner = _changed(pristine.row, edited.row), _changed(pristine.row["parameters"], edited.row["parameters"])
    return frozenset((*own, *inner))


def _changed(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [key for key in {*one, *other} if one.get(key, _ABSENT) != other.get(key, _ABSENT)]


def _example_aside(pristine: Found, edited: Found) -> Found:
    """Take an example that only follows new names of parameters, or their absence, as not changed."""
    names = {one[CALLED]: where for where, one in pristine.row["parameters"].items()}
    given = pristine.row.get("example")
    if not isinstance(given, Mapping):
        return edited
    kept = {names.get(name, name): value for name, value in given.items()}
    now = {where: one[CALLED] for where, one in edited.row["parameters"].items()}
    following = {now[where]: value for where, value in kept.items() if where in now}
    return replace(edited, row={**edited.row, "example": given}) if edited.row.get("example") == following else edited
