"""Formats that contradict what stands beside them: bounds, pattern, enumeration, examples, default.

The rest is what the API was seen to take, so the format is let go. Only formats that adapters check, and the ranges of
integers, are looked at. A placeholder such as `string` or `<uuid>` is no example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from jsonschema_rs import Draft202012Validator

from aqlgen.ir import Json
from aqlgen.schemas.descriptions import shorten
from aqlgen.schemas.patterns import is_mask, matches

LENGTHS: Final[Mapping[str, tuple[int, int | None]]] = {
    "uuid": (36, 36), "date": (10, 10), "date-time": (20, None), "time": (9, None), "duration": (3, None),
    "ipv4": (7, 15), "ipv6": (2, 45), "email": (3, None), "uri": (3, None),
}  # fmt: skip
"""The fewest and the most characters of a text of the format (RFC 3339, 4122, 4291, 3986)."""

RANGES: Final = {"int32": 2**31, "int64": 2**63}
"""The first integer above the format (OpenAPI, Format Registry)."""

SAMPLES: Final[Mapping[str, tuple[str, ...]]] = {
    "uuid": (
        "3fa85f64-5717-4562-b3fc-2c963f66afa6",
        "3FA85F64-5717-4562-B3FC-2C963F66AFA6",
        "0188e9a0-7c3b-11ee-b962-0242ac120002",
        "0188e9a0-7c3b-7000-8000-0242ac120002",
        "00000000-0000-0000-0000-000000000000",
    ),
    "date": ("2026-01-15", "1999-12-31", "2024-02-01"),
    "date-time": ("2026-01-15T10:30:00Z", "2026-01-15T10:30:00.123Z", "2026-01-15T10:30:00+00:00"),
    "ipv4": ("192.0.2.1", "10.0.0.10", "255.255.255.255"),
}
"""Texts of formats that leave little to choose: a pattern that none of them matches is about something else."""

MAX_EXAMPLES: Final = 10
CHECKED: Final = frozenset({*LENGTHS, "hostname", "uri-reference"})
BLANKS: Final = ("<", ">", "{", "}", "...", "…")


def contradiction(form: str, node: Mapping[str, Json], raw: Mapping[str, Json]) -> str | None:
    """Return what contradicts the format of a normalised node, as the end of a sentence; None if nothing does."""
    if form in RANGES:
        return _outside(form, node, raw)
    if form not in CHECKED:
        return None
    least, most = LENGTHS.get(form, (0, None))
    if node.get("maxLength", least) < least or (most is not None and node.get("minLength", 0) > most):
        return "the bounds of its length contradict it"
    if form in SAMPLES and "pattern" in node and not any(matches(node["pattern"], text) for text in SAMPLES[form]):
        return "its pattern contradicts it"
    listed = node.get("enum", [node["const"]] if "const" in node else ())
    if any(isinstance(value, str) and not is_of(form, value) for value in listed):
        return "its enumeration contradicts it"
    misfit = next((value for value in _examples(raw) if isinstance(value, str) and not exemplifies(form, value)), None)
    return None if misfit is None else f"the document's own {shorten(misfit, 60)!r} contradicts it"


def exemplifies(form: str, example: Json) -> bool:
    """Return False if an example shows that the API takes texts of another format."""
    if not isinstance(example, str) or form not in CHECKED or is_of(form, example):
        return True
    text = example.strip(" \t\r\n\"'")
    if is_of(form, text) or text.lower() in ("", "string", "example", form) or is_mask(text, form):
        return True
    return any(blank in text for blank in BLANKS)


@lru_cache(maxsize=4096)
def is_of(form: str, text: str) -> bool:
    """Return True if a text has a format, by the validator of adapters."""
    return Draft202012Validator({"format": form}, validate_formats=True).is_valid(text)


def _outside(form: str, node: Mapping[str, Json], raw: Mapping[str, Json]) -> str | None:
    """Return which number beside a format of integers is outside of its range; None if none is."""
    limit = RANGES[form]
    stated = (node.get("minimum", 0), *node.get("enum", ()), *_examples(raw))
    numbers = [value for value in stated if isinstance(value, int) and not isinstance(value, bool)]
    misfit = next((number for number in numbers if not -limit <= number < limit), None)
    if misfit is None:  # a bound may be the first number that is not admitted
        bounds = (node.get("maximum", 0), node.get("minimum", 0))
        misfit = next((bound for bound in bounds if abs(bound) > limit), None)
    return None if misfit is None else f"{misfit} is outside of it"


def _examples(raw: Mapping[str, Json]) -> Iterator[Json]:
    """Yield the examples and the default of a schema of the document."""
    for key in ("example", "default"):
        if key in raw:
            yield raw[key]
    listed = raw.get("examples")
    yield from listed[:MAX_EXAMPLES] if isinstance(listed, list) else ()
