"""Bounds of numbers, lengths and counts (JSON Schema validation 2020-12, 6.2 to 6.5)."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.ir import Json
from aqlgen.schemas.choices import written_as_text
from aqlgen.schemas.findings import Findings

NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
BOUNDS = frozenset((*NUMBERS, *COUNTS))
PAIRS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
)
MAX_DIGITS = 300
"""Longer integers are no bounds of anything, and no float can hold them."""


def bounds(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings) -> None:
    """Carry the bounds that are numbers; 3.0's exclusiveMinimum is a flag, since 3.1 it is a number of its own."""
    if raw.keys().isdisjoint(BOUNDS):
        return
    for key in NUMBERS:
        value: Json = _number(raw, key, findings)
        if is_number(value) and (key != "multipleOf" or value > 0):
            node[key] = value
        elif key in raw and not (key.startswith("exclusive") and isinstance(value, bool)):
            findings.add("bad-schema", raw, key, f"{key} is no number that can be a bound; it is left out")
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if raw.get(flag) is True and bound in node:
            node[flag] = node.pop(bound)
    for key in COUNTS:
        count: Json = _number(raw, key, findings)
        if is_number(count) and count >= 0 and count == int(count):
            node[key] = int(count)
        elif key in raw:
            findings.add("bad-schema", raw, key, f"{key} is no whole number of 0 or more; it is left out")
    for low, high in PAIRS:
        if low in node and high in node and node[low] > node[high]:
            message = f"{low} {node[low]} is over {high} {node[high]}, so that nothing fits; both are left out"
            findings.add("bad-schema", raw, low, message)
            del node[low], node[high]


def _number(raw: Mapping[str, Json], key: str, findings: Findings) -> Json:
    """Give a bound, of one that is written as a text the number."""
    value = raw.get(key)
    if isinstance(value, str) and is_number(number := written_as_text(value)):
        findings.add("bad-schema", raw, key, f"{key} is a text; it is taken as {number}")
        return number
    return value


def is_number(value: Json) -> bool:
    """Whether a value is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return bool(abs(value) < 10**MAX_DIGITS)
