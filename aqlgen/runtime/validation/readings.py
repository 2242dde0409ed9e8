# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Readings of what is not as its schema wants it, with what they change, and the choice among several (R-REQ-4).

Those of one value are: of a text as JSON, of a number as text, of a list of one. A reading is sure if the value can
mean nothing else; others are only proposed to whoever made the call. The digits of numbers are kept, or there is no
sure reading: `007` is no 7 and 1.10 no text. Words such as `yes` are no booleans, and an empty text is nothing at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

from ..exact_json import read_float, write_json
from ..schema.reader import (
    MISSING,
    Types,
    alternatives,
    as_schema,
    declared_types,
    json_type,
    only_type,
    parts,
    without_null,
)
from ..table import JsonSchema
from ..text import letters

__all__ = [
    "ALL_TYPES",
    "Change",
    "Outcome",
    "Place",
    "Reading",
    "admitted_types",
    "least",
    "member",
    "readings",
    "same",
    "structured",
    "timed",
    "written",
]

Place: TypeAlias = "tuple[str | int, ...]"


@dataclass(frozen=True, slots=True)
class Change:
    """What became of the value at a place: `before` and `now`, MISSING where there was or is none.

    `kinds` are the steps that led there; `moved` is the place that it came from.
    """

    before: Any
    now: Any
    kinds: tuple[str, ...]
    moved: Place | None = None


@dataclass(slots=True)
class Outcome:
    """A value as it was read, with every change by its place; `complete` if nothing of it is wrong any more."""

    value: Any
    changes: dict[Place, Change] = field(default_factory=dict)
    complete: bool = False

    def note(self, place: Place, change: Change) -> None:
        """Add a change, to what was done at its place before."""
        earlier = self.changes.get(place)
        if earlier is not None:
            change = Change(earlier.before, change.now, earlier.kinds + change.kinds, earlier.moved or change.moved)
        self.changes[place] = change


def same(value: Any, other: Any) -> bool:
    """Return True for equal JSON values: 1, 1.0 and true are three."""
    if type(value) is not type(other):
        return False
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(same(inner, other[key]) for key, inner in value.items())
    if isinstance(value, list):
        return len(value) == len(other) and all(map(same, value, other))
    return bool(value == other)


def least(outcomes: Sequence[Outcome]) -> Outcome | None:
    """Return the only reading, or the one that changes least if all others change the same and more; else None."""
    for outcome in outcomes:
        if all(outcome is other or same(outcome.value, other.value) or _within(outcome, other) for other in outcomes):
            return outcome
    return None


def _within(outcome: Outcome, other: Outcome) -> bool:
    if isinstance(other.value, list) and len(other.value) == 1 and same(other.value[0], outcome.value):
        return True
    return len(outcome.changes) < len(other.changes) and all(
        place in other.changes and same(change.now, other.changes[place].now)
        for place, change in outcome.changes.items()
    )


_LONGEST_NUMBER = 120
_LONGEST_JSON = 256 * 1024
_INTEGER = re.compile(r"(-?(?:0|[1-9][0-9]{0,99}))(?:\.0{1,18})?")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,3})?")
_PADDED = re.compile(r"([+-]?)0{0,99}([0-9]{1,99})")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?)(Z|z|[+-][0-9]{2}:[0-9]{2}|)"
)
_BOOLEANS = {"1": True, "0": False, "yes": True, "no": False, "on": True, "off": False}


ALL_TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_DEEPEST = 8


class Reading(NamedTuple):
    """A value in place of another. `kind` says what was done."""

    value: Any
    kind: str
    sure: bool = True


def structured(text: str) -> Any:
    """Return the object or list that a text is the JSON of, else MISSING: also where a key is given twice."""
    text = text.strip()
    if text[:1] not in ("{", "[") or len(text) > _LONGEST_JSON:
        return MISSING
    try:
        return json.loads(text, parse_float=read_float, parse_constant=_refuse, object_pairs_hook=_distinct)
    except (ValueError, RecursionError):
        return MISSING


def _refuse(text: str) -> None:
    raise ValueError(text)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("twice")
    return value


def written(value: Any) -> str:
    """Return a value as people write it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else write_json(value, json.JSONEncoder(ensure_ascii=False).encode)


def member(value: Any, options: Sequence[Any]) -> Reading | None:
    """Return the only one of the listed values that is written like a value, in any case; None if none or several."""
    if not isinstance(value, (str, bool, int, float)):
        return None
    text = written(value).strip()
    if not text:
        return None
    for sure, fold in ((True, str), (True, str.casefold), (False, letters)):
        alike = [option for option in options if fold(written(option)) == fold(text)]
        if alike:
            return Reading(alike[0], "member", sure) if len(alike) == 1 else None
    return None


def readings(value: Any, types: Collection[str], *, commas: bool = False) -> Iterator[Reading]:
    """Yield the readings of a value as one of the JSON types, the least change first.

    `commas` says that commas divide a text for a list, and a list for a text: no item can hold one.
    """
    if isinstance(value, str):
        yield from _of_text(value, types)
    elif isinstance(value, (bool, int, float)):
        yield from _of_number(value, types)
    elif isinstance(value, list):
        yield from _of_list(value, types, commas)
    if "array" in types and not isinstance(value, list):
        yield from _as_list(value, commas)


def _of_text(value: str, types: Collection[str]) -> Iterator[Reading]:
    text = value.strip()
    parsed = structured(text)
    if parsed is not MISSING:
        if json_type(parsed) in types:
            yield Reading(parsed, "json")
        elif "array" in types:
            yield Reading([parsed], "json")
        return
    if not text or len(text) > _LONGEST_NUMBER:
        return
    if "integer" in types or "number" in types:
        yield from _of_digits(text, types)
    if "boolean" in types:
        if text.lower() in ("true", "false"):
            yield Reading(text.lower() == "true", "boolean")
        elif text.lower() in _BOOLEANS:
            yield Reading(_BOOLEANS[text.lower()], "boolean", sure=False)


def _of_digits(text: str, types: Collection[str]) -> Iterator[Reading]:
    whole = _INTEGER.fullmatch(text)
    if whole is not None:
        yield Reading(int(whole[1]), "number")
    elif "number" in types and _NUMBER.fullmatch(text):
        number = read_float(text)
        if isfinite(number):
            yield Reading(number, "number")
    elif (padded := _PADDED.fullmatch(text)) is not None:
        yield Reading(int(padded[1] + padded[2]), "number", sure=False)


def _of_number(value: bool | float, types: Collection[str]) -> Iterator[Reading]:
    """Yield the readings of a number or boolean; the digits of a fraction are not known, and no boolean is a text."""
    if not isfinite(value):
        return
    if "string" in types and (not isinstance(value, int) or value.bit_length() < 400):
        yield Reading(write_json(value), "text", sure=type(value) is int)
    if "boolean" in types and value in (0, 1):
        yield Reading(bool(value), "boolean", sure=False)


def _of_list(value: list[Any], types: Collection[str], commas: bool) -> Iterator[Reading]:
    if len(value) == 1 and not isinstance(value[0], list) and value[0] is not None:
        yield Reading(value[0], "item")
    elif "string" in types and commas and value and all(json_type(item) in ("string", "integer") for item in value):
        texts = list(map(written, value))
        if not any("," in text for text in texts):
            yield Reading(",".join(texts), "joined")


def _as_list(value: Any, commas: bool) -> Iterator[Reading]:
    if value is None or (isinstance(value, str) and (not value.strip() or value.strip()[0] in '{["')):
        return
    if not isinstance(value, str) or "," not in value:
        yield Reading([value], "list")
        return
    items = [item.strip() for item in value.split(",")]
    if all(items):
        yield Reading(items, "divided", sure=commas)


def timed(value: str, form: str, *, start: bool) -> Iterator[Reading]:
    """Yield the readings of a text as a `date` or `date-time`; `start` says that a date means its first moment."""
    text = value.strip()
    moment = _DATE_TIME.fullmatch(text)
    if form == "date-time" and _DATE.fullmatch(text):
        yield Reading(f"{text}T00:00:00Z", "midnight", sure=start)
    elif form == "date-time" and moment is not None:
        yield Reading(f"{moment[1]}T{moment[2]}{moment[3].upper() or 'Z'}", "time", sure=bool(moment[3]))
    elif form == "date" and moment is not None:
        yield Reading(moment[1], "day", sure=False)
    elif text != value:
        yield Reading(text, "trimmed")


def admitted_types(schema: JsonSchema, types: Types, depth: int = 0) -> frozenset[str]:
    """Return the JSON types that a schema admits, `integer` wherever `number`; all where it says none."""
    admitted = ALL_TYPES
    for part in parts(schema, types) if depth < _DEEPEST else ():
        admitted &= _types_of_part(part, types, depth)
    return admitted or ALL_TYPES


def _types_of_part(part: JsonSchema, types: Types, depth: int) -> frozenset[str]:
    kinds = frozenset(declared_types(part))
    if not kinds and isinstance(part.get("enum"), list):
        kinds = frozenset(map(json_type, part["enum"]))
    if not kinds and "const" in part:
        kinds = frozenset({json_type(part["const"])})
    if not kinds:
        kinds = frozenset().union(*(admitted_types(as_schema(way), types, depth + 1) for way in alternatives(part)))
        if kinds and without_null(part)[1]:
            kinds |= {"null"}
    if not kinds:
        guess = only_type({key: value for key, value in part.items() if key != "allOf"})
        kinds = ALL_TYPES if guess is None else frozenset({guess, "null"} if guess in ("object", "array") else {guess})
    return (kinds | {"integer"} if "number" in kinds else kinds) & ALL_TYPES
