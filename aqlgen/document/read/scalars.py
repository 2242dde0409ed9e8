"""What a plain YAML scalar means: the core schema of YAML 1.2.2, section 10.3.2.

So `no`, `on` and dates are text, `010` is ten and `0o10` eight. Infinities and not-a-number stay text: JSON has none.
"""

from __future__ import annotations

import math
import re
from typing import Final

from aqlgen.ir import Json

_WORDS: Final[dict[str, Json]] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_NUMBER_STARTS: Final = frozenset("+-.0123456789")
_INTEGER: Final = re.compile(r"[-+]?[0-9]{1,1000}")
_BASED: Final = re.compile(r"0o[0-7]{1,1000}|0x[0-9a-fA-F]{1,1000}")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


def plain(text: str) -> Json:
    """Return the value of a scalar written without quotes and without a tag."""
    if not text or text[0] not in _NUMBER_STARTS:
        return _WORDS.get(text, text)
    if _INTEGER.fullmatch(text):
        return int(text)
    if _BASED.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        value = float(text)
        return value if math.isfinite(value) else text
    return text
