"""Regular expressions of a document in the form that the adapters' validator accepts (ECMA 262).

Syntax of other languages is translated where its meaning is plain. A pattern that still does not compile, or is too
large, cannot be used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from jsonschema_rs import Draft202012Validator, ValidationError

from aqlgen.ir import Json

MAX_LENGTH = 5000
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


def unusable(pattern: str) -> str:
    """Return the reason why a pattern is not usable, as the end of a sentence."""
    if len(pattern) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH:,} characters"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return "is no regular expression of ECMA 262"
    return "cannot be checked by the adapter's validator: it is too large, or not of ECMA 262"


def is_mask(pattern: str, form: Json) -> bool:
    """Return True if a pattern beside a date format is a mask such as `YYYY-MM-DD` instead of a regular expression."""
    return form in ("date", "date-time") and MASK.fullmatch(pattern) is not None


def _compiles(pattern: str) -> bool:
    try:
        Draft202012Validator({"pattern": pattern})
    except (ValidationError, ValueError):
        return False
    return True


def without(pattern: str, names: Iterable[str]) -> str:
    """Return a pattern that matches the same keys except these names."""
    left_out = "|".join(map(re.escape, names))
    return rf"^(?!(?:{left_out})$)(?=[\s\S]*?(?:{pattern}))"


def matches(pattern: str, text: str) -> bool:
    """Return True if a usable pattern matches anywhere in a text, by the rules of the validator."""
    return _compiled(pattern).is_valid(text)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Draft202012Validator:
    return Draft202012Validator({"pattern": pattern})
