"""From the difference between two rows to the override that makes one of the other, as far as overrides can say it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aqlgen.decide.decision import Override
from aqlgen.edits.rows import CALLED, Found
from aqlgen.ir import Json
from aqlgen.schemas import shorten
from aqlgen.table import MAX_SUMMARY

__all__ = ["FOLLOWING", "Difference", "entry", "leftovers"]

FOLLOWING: Final = frozenset(
    "rule confidence review danger_reason resource verb relative etag update idempotency long_running deprecation"
    " example returns responses deprecated".split()
)
"""Entries of a row that follow from others: an override of those may change these, which no edit asked for."""

_SAID: Final = ("danger", "confirmation", "example", "aliases")
"""Entries that an override says as they stand in the row."""

_PARAMETER: Final = ("description", "sensitive")
_UNSAID: Final = frozenset({"parameters", "summary", "description", "pagination", "body"})


@dataclass(frozen=True, slots=True)
class Difference:
    """What no override can bring about: where it stands in the row, and a sentence about it."""

    at: tuple[str, ...]
    message: str


Same = Callable[[Json, Json], bool]


def entry(base: Found | None, goal: Found | None, own: Override | None, touched: frozenset[str]) -> dict[str, Json]:
    """Give the override that turns one row into another, without what cannot be said; {} when there is nothing to say.

    `own` is what the user's file says of the operation already, `touched` the keys that the user edited.
    """
    if goal is None:
        return {} if base is None else {"hidden": True}
    if base is None:
        return {}
    found: dict[str, Json] = {}
    if goal.name != base.name:
        found["name"] = goal.name
    if goal.family != base.family:
        found["category"] = goal.family.upper()
    for key in _SAID:
        if key in goal.row and goal.row[key] != base.row.get(key) and (key not in FOLLOWING or key in touched):
            found[key] = goal.row[key]
    found |= _texts(base.row, goal.row)
    if goal.row.get("pagination") != base.row.get("pagination"):
        paging = _inner(goal.row, "pagination")
        found["pagination"] = {key: one for key, one in paging.items() if key != "parameters"} or False
    wanted = _inner(goal.row, "body").get("content_type")
    if wanted is not None and wanted != _inner(base.row, "body").get("content_type"):
        found["body"] = {"content_type": wanted}
    parameters = dict(_parameters(base.row, goal.row, own, touched))
    return found | ({"parameters": parameters} if parameters else {})


def _inner(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Give what stands at a key when it is an object, which by hand it need not be."""
    found = row.get(key)
    return found if isinstance(found, Mapping) else {}


def _texts(base: Mapping[str, Any], goal: Mapping[str, Any]) -> dict[str, Json]:
    """Give what must be said so that summary and description are as they should; without its own, one says both."""
    old, new = base.get("summary"), goal.get("summary")
    before, after = base.get("description", old), goal.get("description", new)
    if after == before:
        return {} if old == new else {"summary": new}
    return {"description": after} | ({"summary": new} if new != shorten(str(after), MAX_SUMMARY) else {})


def _parameters(
    base: Mapping[str, Any], goal: Mapping[str, Any], own: Override | None, touched: frozenset[str]
) -> Iterator[tuple[str, Json]]:
    for where, old in base["parameters"].items():
        new = goal["parameters"].get(where)
        if where.startswith("adapter:") or new == old or (new is None and where not in touched):
            continue
        given: dict[str, Json] = {}
        if new is None:
            given["hidden"] = True
        else:
            if new[CALLED] != old[CALLED]:
                given["name"] = new[CALLED]
            given |= {key: new[key] for key in _PARAMETER if key in new and new[key] != old.get(key)}
            if "sensitive" in old and "sensitive" not in new:
                given["sensitive"] = False
            examples = _inner(new, "schema").get("examples")
            if isinstance(examples, list) and len(examples) == 1 and examples != _inner(old, "schema").get("examples"):
                given["example"] = examples[0]
        if given:
            yield _key(where, base, own), given


def _key(where: str, base: Mapping[str, Any], own: Override | None) -> str:
    """Give the key of a parameter: as the user's file has it, else the wire name alone where that is enough."""
    wire = where.partition(":")[2]
    known = own.parameters if own is not None else {}
    for spelled in (where, wire):
        if spelled in known:
            return spelled
    every = (*base["parameters"], *_inner(base, "pagination").get("parameters", ()))
    return wire if sum(one.partition(":")[2] == wire for one in every) == 1 else where


def leftovers(found: Found | None, goal: Found | None, touched: frozenset[str], same: Same) -> list[Difference]:
    """Give how a row is not what it should be, where the user changed it and where it should have stayed.

    `same` compares what should be with what is.

    What follows from other entries, and the parameters of the adapter's own, may change unless the user changed them.
    """
    if found is None or goal is None:
        return [] if found is goal else [Difference((), "a row can be taken out, but not put in")]
    left = []
    if found.name != goal.name:
        left.append(Difference((), f"it cannot be called `{goal.name}`"))
    if found.family != goal.family:
        left.append(Difference((), f"it cannot be moved to {goal.family}.json"))
    for key in dict.fromkeys((*goal.row, *found.row)):
        if key in FOLLOWING and key not in touched:
            continue
        if key == "parameters":
            left.extend(_unlike(found.row[key], goal.row[key], touched, same))
        elif not same(_worded(key, goal.row.get(key)), _worded(key, found.row.get(key))):
            said = key in _SAID or key in _UNSAID
            why = "cannot be had by an override" if said else "is nothing that an override decides"
            left.append(Difference((key,), f"`{key}` as it is now {why}"))
    return left


def _worded(key: str, value: Json) -> Json:
    """Take a text by its words: texts of the table are laid out anew."""
    return value.split() if isinstance(value, str) and key in ("summary", "description", "confirmation") else value


def _unlike(
    found: Mapping[str, Any], goal: Mapping[str, Any], touched: frozenset[str], same: Same
) -> Iterator[Difference]:
    for where in dict.fromkeys((*goal, *found)):
        old, new = found.get(where), goal.get(where)
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
