"""Deriving the override that turns one row into another, as far as overrides can express it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aqlgen.decide.decision import Override
from aqlgen.ir import Json
from aqlgen.project.edits.rows import CALLED, Found
from aqlgen.schemas import shorten
from aqlgen.table.rows import MAX_SUMMARY

__all__ = ["FOLLOWING", "Difference", "entry", "leftovers"]

FOLLOWING: Final = frozenset(
    "rule confidence review danger_reason moves_money tags resource verb relative etag update idempotency carries"
    " long_running deprecation example returns responses deprecated".split()
)
"""Entries of a row that follow from others: an override of those may change these, without an edit of them."""

_OVERRIDABLE: Final = ("danger", "confirmation", "cooldown_seconds", "example", "aliases")
"""Entries that an override holds as they are in the row."""

_FOUND: Final = frozenset({"parameters", "demanded"})
"""Keys of `pagination` that follow from the operation's parameters."""

_PARAMETER: Final = ("description", "sensitive")
_DERIVED: Final = frozenset({"parameters", "summary", "description", "pagination", "body"})


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference that no override can cause: its keys in the row, and a sentence about it."""

    at: tuple[str, ...]
    message: str


Same = Callable[[Json, Json], bool]


def entry(
    base: Found | None, goal: Found | None, existing: Override | None, touched: frozenset[str]
) -> dict[str, Json]:
    """Return the override that turns one row into another, as far as there is one; {} if there is none.

    `existing` is the override of the operation in the user's file, `touched` the keys that the user edited.
    """
    if goal is None:
        return {} if base is None else {"hidden": True}
    if base is None:
        return {}
    override: dict[str, Json] = {}
    if goal.name != base.name:
        override["name"] = goal.name
    if goal.family != base.family:
        override["category"] = goal.family.upper()
    for key in _OVERRIDABLE:
        if key in goal.row and goal.row[key] != base.row.get(key) and (key not in FOLLOWING or key in touched):
            override[key] = goal.row[key]
    override |= _texts(base.row, goal.row)
    if goal.row.get("pagination") != base.row.get("pagination"):
        paging = _inner(goal.row, "pagination")
        override["pagination"] = {key: value for key, value in paging.items() if key not in _FOUND} or False
    content_type = _inner(goal.row, "body").get("content_type")
    if content_type is not None and content_type != _inner(base.row, "body").get("content_type"):
        override["body"] = {"content_type": content_type}
    parameters = dict(_parameters(base.row, goal.row, existing, touched))
    return override | ({"parameters": parameters} if parameters else {})


def _inner(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the value of a key if it is an object, which in an edited row it need not be; else {}."""
    value = row.get(key)
    return value if isinstance(value, Mapping) else {}


def _texts(base: Mapping[str, Any], goal: Mapping[str, Any]) -> dict[str, Json]:
    """Return the texts that make summary and description as they should be; either stands for both if it is alone."""
    old, new = base.get("summary"), goal.get("summary")
    before, after = base.get("description", old), goal.get("description", new)
    if after == before:
        return {} if old == new else {"summary": new}
    return {"description": after} | ({"summary": new} if new != shorten(str(after), MAX_SUMMARY) else {})


def _parameters(
    base: Mapping[str, Any], goal: Mapping[str, Any], existing: Override | None, touched: frozenset[str]
) -> Iterator[tuple[str, Json]]:
    for where, old in base["parameters"].items():
        new = goal["parameters"].get(where)
        if where.startswith("adapter:") or new == old or (new is None and where not in touched):
            continue
        override: dict[str, Json] = {}
        if new is None:
            override["hidden"] = True
        else:
            if new[CALLED] != old[CALLED]:
                override["name"] = new[CALLED]
            override |= {key: new[key] for key in _PARAMETER if key in new and new[key] != old.get(key)}
            if "sensitive" in old and "sensitive" not in new:
                override["sensitive"] = False
            examples = _inner(new, "schema").get("examples")
            if isinstance(examples, list) and len(examples) == 1 and examples != _inner(old, "schema").get("examples"):
                override["example"] = examples[0]
        if override:
            yield _key(where, base, existing), override


def _key(where: str, base: Mapping[str, Any], existing: Override | None) -> str:
    """Return the key of a parameter: as in the user's file, else the wire name alone where that is unique."""
    wire = where.partition(":")[2]
    known = existing.parameters if existing is not None else {}
    for spelled in (where, wire):
        if spelled in known:
            return spelled
    places = (*base["parameters"], *_inner(base, "pagination").get("parameters", ()))
    return wire if sum(place.partition(":")[2] == wire for place in places) == 1 else where


def leftovers(actual: Found | None, goal: Found | None, touched: frozenset[str], same: Same) -> list[Difference]:
    """Return the differences between a row and the row that it should be; `same` compares their values.

    Entries that follow from others, and the parameters of the adapter itself, may change unless the user changed them.
    """
    if actual is None or goal is None:
        return [] if actual is goal else [Difference((), "a row can be taken out, but not put in")]
    differences = []
    if actual.name != goal.name:
        differences.append(Difference((), f"it cannot be called `{goal.name}`"))
    if actual.family != goal.family:
        differences.append(Difference((), f"it cannot be moved to {goal.family}.json"))
    for key in dict.fromkeys((*goal.row, *actual.row)):
        if key in FOLLOWING and key not in touched:
            continue
        if key == "parameters":
            differences.extend(_unlike(actual.row[key], goal.row[key], touched, same))
        elif not same(_worded(key, goal.row.get(key)), _worded(key, actual.row.get(key))):
            overridable = key in _OVERRIDABLE or key in _DERIVED
            why = "cannot be had by an override" if overridable else "is nothing that an override decides"
            differences.append(Difference((key,), f"`{key}` as it is now {why}"))
    return differences


def _worded(key: str, value: Json) -> Json:
    """Return the words of a text: the table formats texts again."""
    return value.split() if isinstance(value, str) and key in ("summary", "description", "confirmation") else value


def _unlike(
    actual: Mapping[str, Any], goal: Mapping[str, Any], touched: frozenset[str], same: Same
) -> Iterator[Difference]:
    for where in dict.fromkeys((*goal, *actual)):
        old, new = actual.get(where), goal.get(where)
        if same(new, old) or (where.startswith("adapter:") and where not in touched):
            continue
        if old is None:
            name = where if new is None else new[CALLED]
            yield Difference(("parameters", where), f"the parameter `{name}` is not there any more")
        elif new is None:
            why = "cannot be hidden" if where in touched else "is there then"
            yield Difference(("parameters",), f"the parameter `{old[CALLED]}` {why}")
        else:
            keys = [key for key in dict.fromkeys((*new, *old)) if not same(new.get(key), old.get(key))]
            names = ", ".join(f"`{'name' if key == CALLED else key}`" for key in keys)
            yield Difference(("parameters", where), f"{names} of the parameter cannot be changed so by an override")
