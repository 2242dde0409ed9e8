"""Types and enumerated values of a schema, and what people write for them (JSON Schema validation 2020-12, 6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps

from aqlgen.ir import Json
from aqlgen.schemas.findings import Findings

KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
TYPES = frozenset(KINDS)
TYPES_ALONE = tuple(TYPES)
SYNONYMS: Mapping[str, tuple[str, str | None]] = {
    **dict.fromkeys(("int", "int32", "int64", "long", "short"), ("integer", None)),
    **dict.fromkeys(("float", "double", "decimal"), ("number", None)),
    **dict.fromkeys(("bool", "Boolean"), ("boolean", None)),
    **dict.fromkeys(("str", "text", "char", "String"), ("string", None)),
    **dict.fromkeys(("list", "List", "Array"), ("array", None)),
    **dict.fromkeys(("map", "dict", "hash", "Object"), ("object", None)),
    **dict.fromkeys(("date", "uuid", "uri", "email", "password", "byte"), ("string", "")),
    **dict.fromkeys(("date-time", "datetime", "timestamp"), ("string", "date-time")),
    **dict.fromkeys(("file", "binary"), ("string", "binary")),
}
"""What people write for a type, with the format that it stands for; an empty one is its own name."""


def types_in(raw: Mapping[str, Json], node: dict[str, Json], findings: Findings) -> list[str]:
    """Give the types that a schema names; a synonym may bring a format with it."""
    if raw["type"] in TYPES_ALONE:
        return [raw["type"]]
    listed = raw["type"] if isinstance(raw["type"], list) else [raw["type"]]
    found: dict[str, None] = {}
    for one in listed:
        if isinstance(one, str) and one in TYPES:
            found[one] = None
            continue
        known, form = SYNONYMS.get(one, (None, None)) if isinstance(one, str) else (None, None)
        if known is None:
            findings.add("bad-schema", raw, "type", f"the type {one!r} is not one of JSON Schema; it is left out")
            continue
        found[known] = None
        if form is not None:
            node["format"] = form or one
        findings.add("bad-schema", raw, "type", f"the type {one!r} is not one of JSON Schema; it is taken as {known!r}")
    return list(found)


def is_of(kind: str, value: Json) -> bool:
    """Whether a value is of a type of JSON Schema."""
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, KINDS[kind])


def values_in(
    raw: Mapping[str, Json], node: dict[str, Json], types: list[str], findings: Findings, *, nullable: bool
) -> None:
    """Carry the values, each once; where none of them is of the type, they are taken as they were likely meant."""
    values = raw["enum"]
    if not isinstance(values, list) or not values:
        findings.add("bad-schema", raw, "enum", "enum must be a list of one value or more; it is left out")
        return
    unique: dict[object, Json] = {}
    for value in values:
        plain = value is None or isinstance(value, str | int | float)
        unique.setdefault((type(value) is bool, value) if plain else ("json", repr(value)), value)
    found = list(unique.values())
    told, real = [one for one in found if one is not None], [kind for kind in types if kind != "null"]
    if told and real and not any(is_of(kind, value) for value in told for kind in real):
        if "array" in types:
            findings.add(
                "bad-schema", raw, "enum", "no value of the enum is an array; it is taken as that of the items"
            )
            node["items of enum"] = found
            return
        if real[0] == "string" and all(isinstance(value, int | float) for value in told):
            findings.add("bad-schema", raw, "enum", "no value of the enum is a string; they are taken as texts")
            found = [None if value is None else dumps(value) for value in found]
        else:
            findings.add(
                "bad-schema", raw, "enum", f"no value of the enum is of type {real[0]!r}; the type is left out"
            )
            node.pop("type", None)
    elif real == ["string"] and any(_is_number(value) for value in found):
        findings.add("bad-schema", raw, "enum", "some values of the enum are numbers; they are taken as texts")
        found = [dumps(value) if _is_number(value) else value for value in found]
    if nullable and not any(value is None for value in found):
        found.append(None)
    node["enum"] = found


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
