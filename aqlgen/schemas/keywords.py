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
PAIRS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
)
MAX_DIGITS = 300
"""Longer integers are no sensible bounds, and no float can hold them."""


def copy_bounds(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings) -> None:
    """Copy the bounds that are numbers; exclusiveMinimum is a flag in 3.0, and a number since 3.1."""
    if raw.keys().isdisjoint(BOUNDS):
        return
    for key in filter(raw.__contains__, (*NUMBERS, *COUNTS)):
        value = raw[key]
        least = 0 if key in COUNTS else None
        if is_number(value) and (key != "multipleOf" or value > 0) and (least is None or _is_count(value)):
            node[key] = value if least is None else int(value)
        elif not (key.startswith("exclusive") and isinstance(value, bool)):
            noun = "number that can be a bound" if least is None else "whole number of 0 or more"
            findings.add("bad-schema", raw, key, f"{key} is no {noun}; it is left out")
    for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if raw.get(flag) is True and bound in node:
            node[flag] = node.pop(bound)
    for low, high in PAIRS:
        if low in node and high in node and node[low] > node[high]:
            message = f"{low} {node[low]} is over {high} {node[high]}, so that nothing fits; both are left out"
            findings.add("bad-schema", raw, low, message)
            del node[low], node[high]


def _is_count(value: float) -> bool:
    return value >= 0 and value == int(value)


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
) -> None:
    """Copy the values without repeats; where none of them has the type, repair them by their likely meaning."""
    values = raw["enum"]
    if not isinstance(values, list) or not values:
        findings.add("bad-schema", raw, "enum", "enum must be a list of one value or more; it is left out")
        return
    values, kinds = distinct(values), [kind for kind in types if kind != "null"]
    present = [value for value in values if value is not None]
    is_typed = True
    if kinds == ["string"] and any(isinstance(value, int | float) for value in present):
        findings.add("bad-schema", raw, "enum", "values of the enum are no texts; they are taken as texts")
        values = [dumps(value) if isinstance(value, int | float) else value for value in values]
    elif present and kinds and not any(has_type(kind, value) for value in present for kind in kinds):
        if "array" in types:
            findings.add(
                "bad-schema", raw, "enum", "no value of the enum is an array; it is taken as that of the items"
            )
            node["items of enum"] = values
            return
        values, problem, is_typed = _meant(values, present, kinds)
        findings.add("bad-schema", raw, "enum", problem)
    if not is_typed:
        node.pop("type", None)
    values = _with_types(raw, values, kinds if is_typed else [], findings)
    node["enum"] = [*values, None] if nullable and not any(value is None for value in values) else values


def _meant(values: list[Json], present: list[Json], kinds: list[str]) -> tuple[list[Json], str, bool]:
    """Return what values of which none has a type mean, what is wrong with them, and whether they have the type then.

    `present` are those that are not null.
    """
    kind = kinds[0]
    if len(kinds) == 1 and all(isinstance(value, str) and has_type(kind, spelled_value(value)) for value in present):
        word = {"integer": "integers", "number": "numbers", "boolean": "true and false"}.get(kind, kind)
        spelled = [spelled_value(value) if isinstance(value, str) else value for value in values]
        return spelled, f"the values of the enum are texts; they are taken as {word}", True
    return values, f"no value of the enum is of type {kind!r}; the type is left out", False


def _with_types(raw: Mapping[str, Json], values: list[Json], kinds: list[str], findings: Findings) -> list[Json]:
    """Return the values that have one of the types, and null, which documents list instead of `nullable`."""
    kept = [value for value in values if value is None or any(has_type(kind, value) for kind in kinds)]
    if not kinds or len(kept) == len(values) or all(value is None for value in kept):
        return values
    message = f"some values of the enum are not of type {kinds[0]!r}; they are left out"
    findings.add("bad-schema", raw, "enum", message)
    return kept
