"""Texts and numbers that fit a flat schema: small, readable, always the same."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.ir import Json
from aqlgen.schemas import matches
from aqlgen.table.matching import matching

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


def _pattern_text(pattern: str, low: int, high: int, known: str | None) -> str:
    """Return a text that matches a pattern, of a valid length if a few attempts find one."""
    samples = (sample for more in TRIES if (sample := matching(pattern, more)) is not None)
    candidates = ((known,) if known else ()), PLAIN, samples, ("example" * (low // 7 + 1),)
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
    low, high = schema.get("minimum"), schema.get("maximum")
    gap = step or _gap(schema)
    if "exclusiveMinimum" in schema and (low is None or schema["exclusiveMinimum"] >= low):
        low = schema["exclusiveMinimum"] + gap
    if "exclusiveMaximum" in schema and (high is None or schema["exclusiveMaximum"] <= high):
        high = schema["exclusiveMaximum"] - gap
    value: float = step if step and step > 1 else 1
    if low is not None and value < low:
        value = low
    if high is not None and value > high:
        value = high
    if step:
        value = -(-value // step) * step
        value = value - step if high is not None and value > high else value
    return int(value) if whole or (isinstance(value, float) and value.is_integer()) else value


def _gap(schema: Mapping[str, Json]) -> float:
    """Return a step that stays between exclusive bounds."""
    low = schema.get("exclusiveMinimum", schema.get("minimum"))
    high = schema.get("exclusiveMaximum", schema.get("maximum"))
    return (high - low) / 2 if low is not None and high is not None and high - low < 2 else 1
