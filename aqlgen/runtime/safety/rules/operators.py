"""The tests of a rule's conditions. Each answers True, False, or None where it cannot tell for sure.

A value that is only alike (another case, `%2e`, digits of another script, a number as text with blanks, a list as text
with commas) is doubtful: None. Rules that deny or confirm take None for met, rules that allow for not met.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, TypeAlias
from urllib.parse import unquote

from ...exact_json import ExactFloat
from ...quota.limits import Pattern
from ...text import without_unseen

Truth: TypeAlias = bool | None

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,5})?")
_DIVIDED = re.compile(r"[,;|+&\s]")
_PARTED = re.compile(r"[,;|+&\s?#]")
"""The separators of a list, and with them those of an address."""
_RANGE = re.compile(r"[0-9]{1,20}(?:-|\.\.|:)[0-9]{1,20}")
_SLASHES = str.maketrans(dict.fromkeys("\\\u2044\u2215\u2216\u29f5\u29f8\ufe68", "/"))
"""What some systems take for a slash."""
_TRUE = frozenset({"true", "1", "yes", "on", "y", "t"})
_FALSE = frozenset({"false", "0", "no", "off", "n", "f", "", "null", "none"})
_MOST_DECODED = 5


def no(truth: Truth) -> Truth:
    """Return the opposite."""
    return None if truth is None else not truth


def any_of(truths: Iterable[Truth]) -> Truth:
    """Return True if one is, None if one may be."""
    seen: Truth = False
    for truth in truths:
        if truth:
            return True
        seen = None if truth is None else seen
    return seen


def all_of(truths: Iterable[Truth]) -> Truth:
    """Return True if all are, None if all may be."""
    return no(any_of(no(truth) for truth in truths))


def _plain(text: str) -> str:
    """Return a text without what spellings of the same differ in."""
    decoded = _decodings(text)[-1]
    text = without_unseen(unicodedata.normalize("NFKC", decoded)).strip()
    text = text.lstrip("/\\").rstrip("./\\") or text  # servers leave these out at the ends of a name in an address
    return text.upper().casefold().replace("i\u0307", "i")  # first upper: an i without its dot is one, too


def _decodings(text: str) -> list[str]:
    """Return a text as it is, and as it is after each round of decoding."""
    texts = [text]
    while "%" in texts[-1] and len(texts) <= _MOST_DECODED:
        decoded = unquote(texts[-1], errors="replace")
        if decoded == texts[-1]:
            break
        texts.append(decoded)
    return texts


def _decimal(value: Any) -> Decimal | None:
    """Return a number, also one that is text; None for anything else."""
    if isinstance(value, ExactFloat):
        value = value.text
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, int):
        return Decimal(value)
    text = value.strip(" \t\r\n") if isinstance(value, str) else repr(value)
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


# Equality


def _equals(value: Any, expected: Any) -> Truth:
    if isinstance(expected, bool):
        if isinstance(value, bool):
            return value is expected
        if not isinstance(value, str | int | float):
            return None
        word = _plain(str(value))
        words, others = (_TRUE, _FALSE) if expected else (_FALSE, _TRUE)
        return False if word in others and word not in words else None
    if isinstance(expected, str):
        return _is_text(value, expected)
    number = _decimal(value)
    if number is None:
        return None
    if number != _decimal(expected):
        return False
    return True if isinstance(value, int | float) else None


def _is_text(value: Any, expected: str) -> Truth:
    if value == expected and isinstance(value, str):
        return True
    if not isinstance(value, str | int | float):
        return None
    text, plain = _plain(str(value)), _plain(expected)
    return None if plain == text or plain in _PARTED.split(text) else False


def _in(value: Any, expected: Sequence[Any]) -> Truth:
    return any_of(_equals(value, item) for item in expected)


@cache
def _pattern(text: str) -> Pattern:
    return Pattern(text)


def _matches(value: Any, expected: Sequence[str]) -> Truth:
    if not isinstance(value, str | int | float):
        return None
    text = str(value).lower() if isinstance(value, bool) else str(value)
    plain = _plain(text)
    for glob in expected:
        if _pattern(glob).fits_text(text):
            return True
    loose = [part for part in (plain, *_PARTED.split(plain)) if part]
    return None if any(_pattern(glob).fits_text(part) for glob in expected for part in loose) else False


# Amounts and counts


def _above(value: Any, expected: float) -> Truth:
    number, bound = _decimal(value), _decimal(expected)
    return None if number is None or bound is None else number > bound


def _items_above(value: Any, expected: int) -> Truth:
    if isinstance(value, list | tuple):
        if len(value) > expected:
            return True
        return None if sum(_count(item) for item in value) > expected or any(map(_is_wild, value)) else False
    if isinstance(value, str):
        if _is_wild(value):
            return None
        return _count(value) > expected
    if isinstance(value, Mapping):
        return None if len(value) > expected else False
    return expected < 1


def _count(value: Any) -> int:
    """Return how many things a value may stand for."""
    if isinstance(value, list | tuple):
        return sum(_count(item) for item in value)
    if isinstance(value, str):
        return len([part for part in _DIVIDED.split(_decodings(value)[-1]) if part]) or 1
    return 1


def _is_wild(value: Any) -> bool:
    """Return True for a text that may stand for more things than it names."""
    if not isinstance(value, str):
        return False
    return "*" in value or _plain(value) in ("all", "any") or any(map(_RANGE.fullmatch, _DIVIDED.split(value)))


# Paths


def _inside(value: Any, expected: Sequence[str]) -> Truth:
    """Return True for a path that is below one of some prefixes, however it may be read."""
    if not isinstance(value, str):
        return None
    readings = {reading for text in _decodings(value) for reading in _readings(text)}
    truths = {_is_below(reading, expected) for reading in readings}
    return truths.pop() if len(truths) == 1 else None


def _readings(text: str) -> Iterable[str]:
    """Yield the readings of a path: as it is, with slashes for back slashes, and with lookalikes replaced."""
    yield text
    yield text.translate(_SLASHES)
    plain = without_unseen(unicodedata.normalize("NFKC", text)).strip()
    yield plain.translate(_SLASHES)
    if ";" in plain or plain.startswith("~") or any(ord(char) < 32 for char in text):
        yield ".."  # a part of it may be cut off, or stand for another place


def _is_below(path: str, prefixes: Sequence[str]) -> Truth:
    resolved = _resolved(path)
    below = [_resolved(prefix) for prefix in prefixes]
    if any(_begins(resolved, prefix) for prefix in below):
        return True
    folded = [part.casefold() for part in resolved]
    leads_up = resolved[:1] == [".."]  # from a place that only the API knows
    is_near = any(_begins(folded, [part.casefold() for part in prefix]) for prefix in below)
    return None if leads_up or is_near else False


def _begins(path: Sequence[str], prefix: Sequence[str]) -> bool:
    """Return True if a path leads through a prefix; one of no parts is the place that relative paths begin at."""
    return path[: len(prefix)] == prefix if prefix else path[:1] not in ([""], [".."])


def _resolved(path: str) -> list[str]:
    """Return the parts of a path without `.` and `..`; a path from the root begins with an empty part."""
    parts: list[str] = [""] if path.startswith("/") else []
    for part in path.split("/"):
        if part == ".." and parts and parts[-1] not in ("", ".."):
            parts.pop()
        elif part not in ("", ".", "..") or (part == ".." and parts != [""]):
            parts.append(part)
    return parts


OPERATORS: Mapping[str, Callable[[Any, Any], Truth]] = {
    "equals": _equals,
    "in": _in,
    "not_in": lambda value, expected: no(_in(value, expected)),
    "matches": _matches,
    "above": _above,
    "at_most": lambda value, expected: no(_above(value, expected)),
    "items_above": _items_above,
    "items_at_most": lambda value, expected: no(_items_above(value, expected)),
    "outside": lambda value, expected: no(_inside(value, expected)),
    "inside": _inside,
}
"""The tests of a value, by their names."""

ABOUT_LISTS = frozenset({"given", "items_above", "items_at_most"})
"""Tests of a list as a whole; the others are of each of its items."""

IF_MISSING: Mapping[str, Truth] = {"equals": False, "in": False, "matches": False}
"""What a test says of a value that is not sent; the others cannot tell what the API does without it."""
