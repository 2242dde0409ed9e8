"""Patterns and formats of texts, in the form that the adapters' validator accepts (ECMA 262).

Syntax of other languages is translated where its meaning is plain. A pattern that still does not compile, or is too
large, cannot be used. A format goes where enumeration, examples or default beside it contradict it:
the rest is what the API was seen to take. Only formats that adapters check, and the ranges of integers, are looked at.
A placeholder such as `string` or `<uuid>` is no example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from jsonschema_rs import Draft202012Validator, ValidationError

from aqlgen.ir import Json
from aqlgen.schemas.descriptions import shorten

MAX_LENGTH = 5000
UNUSABLE: Final = f"is no regular expression of ECMA 262, or too large (at most {MAX_LENGTH:,} characters)"
LITERAL = re.compile(r"/(.+)/([gimsuy]*)", re.DOTALL)
MASK = re.compile(r"[Yy]{4}[-/.]?[Mm]{2}[-/.]?[Dd]{2}[\w:.+ -]*")
CLASS_DASH = re.compile(r"(\[[^\[\]]*\\[wdsWDS])-(?=[^\]])")


@lru_cache(maxsize=4096)
def usable(pattern: str) -> str | None:
    """Return the pattern in a form that compiles, None if there is none."""
    if len(pattern) > MAX_LENGTH:
        return None
    literal = LITERAL.fullmatch(pattern)
    if literal is not None:  # as in JavaScript: /^a$/i
        pattern = ("(?i)" if "i" in literal[2] else "") + literal[1]
    for candidate in (pattern, CLASS_DASH.sub(r"\1\\-", pattern.replace(r"\Z", "$").replace(r"\z", "$"))):
        if _compiles(candidate):
            return candidate
    return None


def is_mask(pattern: str, form: Json) -> bool:
    """Return True if a pattern beside a date format is a mask such as `YYYY-MM-DD` instead of a regular expression."""
    return form in ("date", "date-time") and MASK.fullmatch(pattern) is not None


def _compiles(pattern: str) -> bool:
    try:
        Draft202012Validator({"pattern": pattern})
    except (ValidationError, ValueError):
        return False
    return True


def matches(pattern: str, text: str) -> bool:
    """Return True if a usable pattern matches anywhere in a text, by the rules of the validator."""
    return _compiled(pattern).is_valid(text)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Draft202012Validator:
    return Draft202012Validator({"pattern": pattern})


RANGES: Final = {"int32": 2**31, "int64": 2**63}
"""The first integer above the format (OpenAPI, Format Registry)."""

MAX_EXAMPLES: Final = 10
CHECKED: Final = frozenset("uuid date date-time time duration ipv4 ipv6 email uri hostname uri-reference".split())
BLANKS: Final = ("<", ">", "{", "}", "...", "…")


def contradiction(form: str, node: Mapping[str, Json], raw: Mapping[str, Json]) -> str | None:
    """Return the contradiction to the format of a normalised node, as the end of a sentence; None without one."""
    if form in RANGES:
        return _outside(form, node, raw)
    if form not in CHECKED:
        return None
    listed = node.get("enum", (node.get("const"),))
    if any(isinstance(value, str) and not is_of(form, value) for value in listed):
        return "its enumeration contradicts it"
    for value in _examples(raw):
        if isinstance(value, str) and not exemplifies(form, value):
            return f"the document's own {shorten(value, 60)!r} contradicts it"
    return None


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
    """Return the problem of a number outside the range of the format of integers beside it; None without one."""
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
