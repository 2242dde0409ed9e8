"""Regular expressions of a document as the validator of the adapters takes them (ECMA 262; JSON Schema 2020-12, 6.4).

What people write by habits of other languages is put right where its meaning is plain; what still cannot be compiled,
or is too large to be, cannot be used.
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
CLASS_DASH = re.compile(r"(\[[^\]]*\\[wdsWDS])-(?=[^\]])")


@lru_cache(maxsize=4096)
def usable(pattern: str) -> str | None:
    """Give the pattern in a form that can be compiled, None when there is none."""
    if len(pattern) > MAX_LENGTH:
        return None
    literal = LITERAL.fullmatch(pattern)
    if literal is not None:  # as in JavaScript: /^a$/i
        pattern = ("(?i)" if "i" in literal[2] else "") + literal[1]
    for one in (pattern, CLASS_DASH.sub(r"\1\\-", pattern.replace(r"\Z", "$").replace(r"\z", "$"))):
        if _compiles(one):
            return one
    return None


def unusable(pattern: str) -> str:
    """Say what is wrong with a pattern that is not usable."""
    if len(pattern) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH:,} characters"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        return "is no regular expression of ECMA 262"
    return "cannot be checked by the adapter's validator: it is too large, or not of ECMA 262"


def is_mask(pattern: str, form: Json) -> bool:
    """Whether a pattern beside the format of a date shows how one is written, as `YYYY-MM-DD`, and is not to match."""
    return form in ("date", "date-time") and MASK.fullmatch(pattern) is not None


def _compiles(pattern: str) -> bool:
    try:
        Draft202012Validator({"pattern": pattern})
    except (ValidationError, ValueError):
        return False
    return True


def without(pattern: str, names: Iterable[str]) -> str:
    """Give a pattern that matches the same keys but for the ones named."""
    left_out = "|".join(map(re.escape, names))
    return rf"^(?!(?:{left_out})$)(?=[\s\S]*?(?:{pattern}))"


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern that can be compiled matches anywhere in a text, as the validator sees it."""
    return _compiled(pattern).is_valid(text)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Draft202012Validator:
    return Draft202012Validator({"pattern": pattern})
