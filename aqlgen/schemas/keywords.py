"""Keywords with values: types, enumerations and bounds, the misspellings of them that people write, and findings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from json import dumps, loads

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import escape, nodes, pointer_to
from aqlgen.ir import Json
from aqlgen.runtime.schema import json_type


@dataclass(frozen=True, slots=True)
class Finding:
    """A keyword of a schema of the document that cannot be used as written."""

    code: str
    node: Mapping[str, Json]
    key: str
    message: str
    severity: Severity


class Findings:
    """A collection of findings, one for each keyword and code."""

    def __init__(self) -> None:
        self._findings: dict[tuple[int, str, str], Finding] = {}

    def add(
        self, code: str, node: Mapping[str, Json], key: str, message: str, severity: Severity = Severity.WARNING
    ) -> None:
        """Add the finding that `key` of a schema (the object in the document itself) cannot be used."""
        self._findings.setdefault((id(node), key, code), Finding(code, node, key, message, severity))

    def diagnostics(self, root: Json) -> list[Diagnostic]:
        """Return the findings as diagnostics with pointers; the document is only walked if there are any."""
        if not self._findings:
            return []
        pointers = _pointers(root, {key[0] for key in self._findings})
        return [
            Diagnostic(finding.code, finding.severity, finding.message, pointer=f"{pointer}/{escape(finding.key)}")
            for finding in self._findings.values()
            if (pointer := pointers.get(id(finding.node))) is not None
        ]


def _pointers(root: Json, wanted: set[int]) -> dict[int, str]:
    """Return the first pointer to each of the objects that the document contains."""
    pointers: dict[int, str] = {}
    for node, at in nodes(root):
        if id(node) in wanted:
            pointers[id(node)] = pointer_to(at)
            if len(pointers) == len(wanted):
                break
    return pointers


NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
)
BOUNDS = frozenset((*NUMBERS, *COUNTS))
MAX_DIGITS = 300
"""Longer integers are no sensible bounds, and no float can hold them."""


def copy_bounds(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings) -> None:
    """Copy the bounds that are numbers; exclusiveMinimum is a flag in 3.0, and a number since 3.1."""
    if raw.keys().isdisjoint(BOUNDS):
        return
    for key in filter(raw.__contains__, NUMBERS):
        value = raw[key]
        if is_number(value) and (key != "multipleOf" or value > 0):
            node[key] = value
        elif not (key.startswith("exclusive") and isinstance(value, bool)):
            findings.add("bad-schema", raw, key, f"{key} is not a number that can be a bound; it is left out")
    for key in filter(raw.__contains__, COUNTS):
        if is_number(raw[key]) and raw[key] >= 0 and raw[key] == int(raw[key]):
            node[key] = int(raw[key])
        else:
            findings.add("bad-schema", raw, key, f"{key} is not an integer of 0 or more; it is left out")
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if raw.get(flag) is True and bound in node:
            node[flag] = node.pop(bound)


def is_number(value: Json) -> bool:
    """Return True if a value is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return bool(abs(value) < 10**MAX_DIGITS)


TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")


_LITERAL = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?|true|false|\[.*\]|\{.*\}", re.DOTALL)
_MOST_TEXT = 1000


def spelled_value(text: str) -> Json:
    """Return the JSON value that a string spells (`"10"` is 10), or the string itself."""
    literal = text.strip()
    if len(literal) > _MOST_TEXT or not _LITERAL.fullmatch(literal):
        return text
    try:
        return loads(literal)
    except (ValueError, RecursionError):
        return text


def read_types(raw: Mapping[str, Json], findings: Findings) -> list[str]:
    """Return the types that a schema names."""
    if raw["type"] in TYPES:
        return [raw["type"]]
    listed = raw["type"] if isinstance(raw["type"], list) else [raw["type"]]
    types = list(dict.fromkeys(word for word in listed if word in TYPES))
    for word in listed:
        if word not in types:
            findings.add("bad-schema", raw, "type", f"the type {word!r} is not one of JSON Schema; it is left out")
    return types


def has_type(kind: str, value: Json) -> bool:
    """Return True if a value has a type of JSON Schema."""
    if isinstance(value, float) and kind == "integer":
        return value.is_integer()
    actual = json_type(value)
    return actual == kind or (actual == "integer" and kind == "number")


def distinct(values: Iterable[Json]) -> list[Json]:
    """Return the values, each once; `true` is no 1."""
    unique: dict[object, Json] = {}
    for value in values:
        plain = value is None or isinstance(value, str | int | float)
        unique.setdefault((type(value) is bool, value) if plain else ("json", repr(value)), value)
    return list(unique.values())


def copy_enum(
    raw: Mapping[str, Json], node: dict[str, Json], types: list[str], findings: Findings, *, nullable: bool
) -> list[Json] | None:
    """Copy the values without repeats; return them instead where they are meant for the items of an array."""
    kinds = [kind for kind in types if kind != "null"]
    values = _listed(raw, kinds, findings)
    if not values:
        return None
    kept = _of_types(values, kinds)
    if "array" in kinds and len(kept) == values.count(None) < len(values):
        message = "no value of the enum is an array; it is taken as that of the items"
        findings.add("bad-schema", raw, "enum", message)
        return values
    if len(kept) < len(values):
        lacks = len(kept) == kept.count(None)
        way = "the type is left out" if lacks else "the others are left out"
        findings.add("bad-schema", raw, "enum", f"not every value of the enum is of type {' or '.join(kinds)}; {way}")
        if lacks:
            node.pop("type", None)
        values = values if lacks else kept
    node["enum"] = [*values, None] if (nullable or "null" in types) and None not in values else values
    return None


def _of_types(values: list[Json], kinds: list[str]) -> list[Json]:
    """Return the values of the types, and null, which documents list instead of `nullable`."""
    return [value for value in values if not kinds or value is None or any(has_type(kind, value) for kind in kinds)]


def _listed(raw: Mapping[str, Json], kinds: list[str], findings: Findings) -> list[Json]:
    """Return the values of an enum, each once; texts for the numbers among texts."""
    values = raw["enum"]
    if not isinstance(values, list) or not values:
        findings.add("bad-schema", raw, "enum", "enum must be a list of one value or more; it is left out")
        return []
    values = distinct(values)
    if kinds == ["string"] and any(isinstance(value, int | float) for value in values):
        findings.add("bad-schema", raw, "enum", "enum values are not strings; treated as strings")
        values = [dumps(value) if isinstance(value, int | float) else value for value in values]
    return values
