"""Sample texts and numbers for flat schemas: small, readable, deterministic.

A text for a regular expression of ECMA 262 is made in one pass over the expression. Look-arounds and back references
are skipped and quantifiers are taken low, so the text is a guess that the caller checks. Its length is bounded whatever
the expression says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Final

from aqlgen.ir import Json
from aqlgen.schemas import matches

FORMATS: Mapping[str, str] = {
    "date-time": "2026-01-15T10:30:00Z",
    "date": "2026-01-15",
    "time": "10:30:00Z",
    "duration": "P1D",
    "email": "ada@example.com",
    "idn-email": "ada@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ip": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "iri": "https://example.com/",
    "uri-reference": "/example",
    "iri-reference": "/example",
    "uri-template": "/example/{id}",
    "uuid": "3fa85f64-5717-4562-b3fc-2c963f66afa6",
    "json-pointer": "/example",
    "relative-json-pointer": "0",
    "regex": "^a",
    "byte": "aGVsbG8=",
    "binary": "aGVsbG8=",
}
PLAIN = ("example", "EXAMPLE", "1", "2026-01-15", "10:30", "en", "en-US", "USD", "+15555550100", "#aabbcc")
"""Texts that match many patterns, tried before one is made up."""

MAX_TEXT_LENGTH = 10_000
TRIES = (0, 1, 2, 5, 10, 30, 100, 300)


def sample_text(schema: Mapping[str, Json]) -> str:
    """Return a text that is valid, if one can be made up."""
    low: int = schema.get("minLength", 0)
    high: int = schema.get("maxLength", MAX_TEXT_LENGTH)
    known = FORMATS.get(str(schema.get("format")))
    if schema.get("contentEncoding") == "base64":
        known = FORMATS["byte"]
    if schema.get("pattern"):
        return _pattern_text(str(schema["pattern"]), low, high, known)
    if known is not None and low <= len(known) <= high:
        return known
    return ("example" * (min(low, MAX_TEXT_LENGTH) // 7 + 1))[: min(max(low, 7), high, MAX_TEXT_LENGTH)]


@lru_cache(1024)
def _pattern_text(pattern: str, low: int, high: int, known: str | None) -> str:
    """Return a text that matches a pattern, of a valid length if a few attempts find one."""
    samples = (sample for more in TRIES if (sample := matching_text(pattern, more)) is not None)
    candidates = ((known,) if known else ()), PLAIN, samples, ("example" * (min(low, MAX_TEXT_LENGTH) // 7 + 1),)
    for group in candidates:
        for candidate in group:
            fitting = candidate[: max(high, 0)] if len(candidate) > high else candidate
            if len(fitting) >= low and matches(pattern, fitting):
                return fitting
    return "example"


def sample_number(schema: Mapping[str, Json], *, whole: bool) -> Json:
    """Return a number that is valid, 1 if it is."""
    step = schema.get("multipleOf") or (1 if whole else 0)
    if whole and step != int(step):
        step = 1
    gap = step or _gap(schema)
    low = max(_bounds(schema, "minimum", "exclusiveMinimum", gap), default=-inf)
    high = min(_bounds(schema, "maximum", "exclusiveMaximum", -gap), default=inf)
    value: float = min(max(step, 1, low), high)
    if step:
        value = -(-value // step) * step
        value = value - step if value > high else value
    return int(value) if whole or (isinstance(value, float) and value.is_integer()) else value


def _bounds(schema: Mapping[str, Json], key: str, exclusive: str, gap: float) -> Iterator[float]:
    """Yield the bounds of a number as inclusive ones; `gap` leads from an exclusive one to what is admitted."""
    if key in schema:
        yield schema[key]
    if exclusive in schema:
        yield schema[exclusive] + gap


def _gap(schema: Mapping[str, Json]) -> float:
    """Return a step that stays between exclusive bounds."""
    low = schema.get("exclusiveMinimum", schema.get("minimum"))
    high = schema.get("exclusiveMaximum", schema.get("maximum"))
    return (high - low) / 2 if low is not None and high is not None and high - low < 2 else 1


MAX_LENGTH: Final = 2000
MAX_DEPTH: Final = 60

CLASSES: Final = {"d": "0", "w": "a", "s": " ", "D": "a", "W": "-", "S": "a"}
CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "0": "\0"}
QUANTIFIER: Final = re.compile(r"(?:([*+?])|\{(\d{1,6})(?:(,)(\d{0,6}))?\})[?+]?")
GROUP: Final = re.compile(r"\?(?:P?<[A-Za-z_]\w*>|:|[a-z]*:)")
AROUND: Final = re.compile(r"\?<?[=!]")
FLAGS: Final = re.compile(r"\?[a-zA-Z]+(?=\))")
FAVOURITES: Final = "aA0_-. bB1"
"""Characters for a negated class: the first of these that it does not exclude is taken."""


class NotReadError(Exception):
    """The expression is of a kind that is not read."""


def matching_text(pattern: str, more: int = 0) -> str | None:
    """Return a text that should match, None if there is none; `more` adds repetitions to each open quantifier."""
    try:
        return _Reader(pattern, more).read()
    except (NotReadError, IndexError, ValueError):
        return None


@dataclass(slots=True)
class _Reader:
    """Reads an expression from left to right and writes the text as it goes."""

    pattern: str
    more: int
    at: int = 0

    def read(self) -> str:
        text = self._alternatives(0)
        if self.at < len(self.pattern):
            raise NotReadError
        return text

    def _alternatives(self, depth: int) -> str:
        """Read until the group ends; the first alternative is taken."""
        if depth > MAX_DEPTH:
            raise NotReadError
        first = self._sequence(depth)
        while self.at < len(self.pattern) and self.pattern[self.at] == "|":
            self.at += 1
            self._sequence(depth)
        return first

    def _sequence(self, depth: int) -> str:
        parts: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            atom = self._atom(depth)
            parts.append((atom * self._times())[:MAX_LENGTH])
        return "".join(parts)[:MAX_LENGTH]

    def _times(self) -> int:
        """Read a quantifier and return how often to repeat what stands before it."""
        quantifier = QUANTIFIER.match(self.pattern, self.at)
        if quantifier is None:
            return 1
        self.at = quantifier.end()
        sign, low, comma, high = quantifier.groups()
        if sign == "?":
            return 1
        least = int(low) if low else 1
        if low and not comma:
            return min(least, MAX_LENGTH)
        most = int(high) if high else MAX_LENGTH
        return min(max(least, 1 if most else 0) + self.more, most, MAX_LENGTH)

    def _atom(self, depth: int) -> str:
        char = self.pattern[self.at]
        self.at += 1
        if char == "(":
            return self._group(depth)
        if char == "[":
            return self._class()
        if char == "\\":
            return self._escape()
        if char in "^$":
            return ""
        return "a" if char == "." else char

    def _group(self, depth: int) -> str:
        passed_over = False
        for kind in (GROUP, AROUND, FLAGS):
            opening = kind.match(self.pattern, self.at)
            if opening is not None:
                self.at, passed_over = opening.end(), kind is not GROUP
                break
        text = self._alternatives(depth + 1)
        if self.pattern[self.at] != ")":
            raise NotReadError
        self.at += 1
        return "" if passed_over else text

    def _escape(self) -> str:
        char = self.pattern[self.at]
        self.at += 1
        if char in CLASSES:
            return CLASSES[char]
        if char in CONTROLS:
            return CONTROLS[char]
        if char in "bBAzZ" or char.isdigit():
            return ""
        return char

    def _class(self) -> str:
        """Read a class and return its first member, or a character that a negated one does not exclude."""
        negated = self.pattern[self.at] == "^"
        self.at += negated
        ranges: list[tuple[str, str]] = []
        start = self.at
        while self.pattern[self.at] != "]" or self.at == start:
            low = self._member()
            if self.pattern[self.at] == "-" and self.pattern[self.at + 1] != "]":
                self.at += 1
                ranges.append((low, self._member()))
            else:
                ranges.append((low, low))
        self.at += 1
        if not negated:
            return _best(ranges)
        fitting = (char for char in FAVOURITES if not any(low <= char <= high for low, high in ranges))
        return next(fitting)

    def _member(self) -> str:
        char = self.pattern[self.at]
        self.at += 1
        return self._escape() or "\b" if char == "\\" else char


def _best(ranges: list[tuple[str, str]]) -> str:
    """Return a letter if a class has one, else its first member."""
    for wanted in "aA":
        if any(low <= wanted <= high for low, high in ranges):
            return wanted
    return ranges[0][0]
