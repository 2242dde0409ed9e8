"""Coercions of one value: a text to a number, JSON text to an object, one value to a list (R-REQ-4).

A coercion is sure if the value can mean nothing else; others are only proposed to the caller. Numbers keep their
digits: `007` is not surely 7, and 1.10 is not a text. `yes` is not surely a boolean, and an empty text means nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from math import isfinite
from typing import Any, NamedTuple

from ..exact_json import read_float, read_json, write_json
from ..schema import MISSING, json_type
from ..text import letters

_LONGEST_NUMBER = 120
_LONGEST_JSON = 256 * 1024
_INTEGER = re.compile(r"(-?(?:0|[1-9][0-9]{0,99}))(?:\.0{1,18})?")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,3})?")
_PADDED = re.compile(r"([+-]?)0{0,99}([0-9]{1,99})")
_BOOLEANS = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False, "on": True, "off": False}
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?)(Z|z|[+-][0-9]{2}:[0-9]{2}|)"
)
_FOLDS: tuple[Callable[[str], str], ...] = (str, str.casefold, letters)
"""Spellings that are the same: to the letter, in any case, and, no longer surely, with any signs between."""
_DEEPEST_JSON = 64
"""The most that `limits.max_nesting_depth` can allow."""


class Coercion(NamedTuple):
    """A value in place of another. `kind` names the step."""

    value: Any
    kind: str
    sure: bool = True


def same(value: Any, other: Any) -> bool:
    """Return True for equal JSON values: 1, 1.0 and true are three."""
    if value is other or type(value) is not type(other):
        return value is other
    if isinstance(value, dict):
        return value.keys() == other.keys() and all(same(inner, other[key]) for key, inner in value.items())
    if isinstance(value, list):
        return len(value) == len(other) and all(map(same, value, other))
    return bool(value == other)


def structured(text: str) -> Any:
    """Return the object or list that a text is the JSON of, else MISSING: also where a key is given twice."""
    text = text.strip()
    if text[:1] not in ("{", "[") or len(text) > _LONGEST_JSON:
        return MISSING
    try:
        value = read_json(text, _distinct)
    except (ValueError, RecursionError):
        return MISSING
    level = [value]
    for _ in range(_DEEPEST_JSON):
        nested = (item.values() if isinstance(item, dict) else item for item in level)
        level = [item for items in nested for item in items if isinstance(item, (dict, list))]
    return MISSING if level else value


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("twice")
    return value


def written(value: Any) -> str:
    """Return a value as people write it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else write_json(value, json.JSONEncoder(ensure_ascii=False).encode)


class Members:
    """The listed values of an enumeration, by how they are written."""

    def __init__(self, options: Sequence[Any]) -> None:
        self._by_text: dict[Callable[[str], str], dict[str, list[Any]]] = {}
        for fold in _FOLDS:
            by_text = self._by_text[fold] = {}
            for option in options:
                by_text.setdefault(fold(written(option)), []).append(option)

    def find(self, value: Any) -> Coercion | None:
        """Return the only one that is written like a value, in any case; None if none or several."""
        text = written(value).strip() if isinstance(value, (str, bool, int, float)) else ""
        for fold, by_text in self._by_text.items() if text else ():
            alike = by_text.get(fold(text))
            if alike:
                return Coercion(alike[0], "member", fold is not letters) if len(alike) == 1 else None
        return None


def member(value: Any, options: Sequence[Any]) -> Coercion | None:
    """Return the only one of the listed values that is written like a value, in any case; None if none or several."""
    return Members(options).find(value)


def coercions(value: Any, types: Collection[str]) -> Iterator[Coercion]:
    """Yield the coercions of a value to one of the JSON types, the least change first."""
    if isinstance(value, str):
        yield from _of_text(value, types)
    elif isinstance(value, (bool, int, float)):
        yield from _of_number(value, types)
    elif isinstance(value, list) and len(value) == 1 and not isinstance(value[0], list) and value[0] is not None:
        yield Coercion(value[0], "item")
    if "array" in types and not isinstance(value, list):
        yield from _to_list(value)


def _of_text(value: str, types: Collection[str]) -> Iterator[Coercion]:
    text = value.strip()
    parsed = structured(text)
    if parsed is not MISSING:
        if json_type(parsed) in types:
            yield Coercion(parsed, "json")
        return
    if not text or len(text) > _LONGEST_NUMBER:
        return
    if "integer" in types or "number" in types:
        yield from _of_digits(text, types)
    if "boolean" in types and text.lower() in _BOOLEANS:
        yield Coercion(_BOOLEANS[text.lower()], "boolean", sure=text.lower() in ("true", "false"))


def _of_digits(text: str, types: Collection[str]) -> Iterator[Coercion]:
    whole = _INTEGER.fullmatch(text)
    if whole is not None:
        yield Coercion(int(whole[1]), "number")
    elif "number" in types and _NUMBER.fullmatch(text):
        number = read_float(text)
        if isfinite(number):
            yield Coercion(number, "number")
    elif (padded := _PADDED.fullmatch(text)) is not None:
        yield Coercion(int(padded[1] + padded[2]), "number", sure=False)


def _of_number(value: bool | float, types: Collection[str]) -> Iterator[Coercion]:
    """Yield the coercions of a number or boolean; the digits of a fraction are not known."""
    if value.bit_length() >= 400 if isinstance(value, int) else not isfinite(value):
        return
    if "string" in types:
        yield Coercion(write_json(value), "text", sure=type(value) is int)
    if "boolean" in types and value in (0, 1):
        yield Coercion(bool(value), "boolean", sure=False)


def _to_list(value: Any) -> Iterator[Coercion]:
    if value is None or (isinstance(value, str) and (not value.strip() or value.strip()[0] in '{["')):
        return
    if not isinstance(value, str) or "," not in value:
        yield Coercion([value], "list")
        return
    items = [item.strip() for item in value.split(",")]
    if all(items):
        yield Coercion(items, "divided", sure=False)


def dated(value: str, form: str) -> Coercion | None:
    """Return a text as the `date` or `date-time` that it probably means, or without the space around it."""
    text = value.strip()
    moment = _DATE_TIME.fullmatch(text)
    if form == "date-time" and _DATE.fullmatch(text):
        return Coercion(f"{text}T00:00:00Z", "time", sure=False)
    if form == "date-time" and moment is not None:
        return Coercion(f"{moment[1]}T{moment[2]}{moment[3].upper() or 'Z'}", "time", sure=False)
    if form == "date" and moment is not None:
        return Coercion(moment[1], "time", sure=False)
    return Coercion(text, "trimmed", sure=False) if text != value else None
