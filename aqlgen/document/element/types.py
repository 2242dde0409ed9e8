"""Types and parameters of an adapter element as JSON Schemas (element type, 8)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Final

from aqlgen.document.element.reader import Field, Node, Reader, type_name
from aqlgen.ir import Json

__all__ = ["CONSTRAINTS", "constrained", "parameter_name", "text_type"]

JSON_TYPES: Final = ("string", "integer", "number", "boolean", "array", "object")
CONSTRAINTS: Final[Mapping[str, Field]] = {
    "description": Field(),
    "default": Field(""),
    "enum": Field("array"),
    "minimum": Field("number"),
    "maximum": Field("number"),
    "pattern": Field(),
    "format": Field(),
    "minLength": Field("integer"),
    "maxLength": Field("integer"),
    "items": Field("object"),
    "sensitive": Field("boolean"),
}
"""What a parameter may say beside its type: the keys of the adapter schema, and of introspection's ParameterInfo."""

_ITEMS: Final[Mapping[str, Field]] = {"name": Field(), "type": Field(), "required": Field("boolean"), **CONSTRAINTS}
_BOUNDS: Final = (("minimum", "maximum"), ("minLength", "maxLength"))
_COPIED: Final = ("pattern", "format", *_BOUNDS[0], *_BOUNDS[1])
_CLOSE: Final[Mapping[str, str]] = {
    **dict.fromkeys(("str", "char", "varchar"), "string"),
    **dict.fromkeys(("int", "int32", "int64"), "integer"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("bool",), "boolean"),
    **dict.fromkeys(("list", "tuple"), "array"),
    **dict.fromkeys(("dict", "map"), "object"),
}
"""What people write for a JSON type, with what it is here."""

_NAME_OF_TYPE: Final = re.compile(r"\w[\w .$/:<>,\[\]{}()#@+-]{0,199}")
_MOST_MEMBERS: Final = 50
_LONGEST_NAME: Final = 200


def text_type(reader: Reader, node: Node) -> dict[str, Json]:
    """Return the schema of a type that is a text: a JSON type, several with `|` between, or any value.

    Any other name is of one of the API's types, whose shape an element does not tell, unless it is nearly a JSON type.
    """
    schemas = []
    for word in str(node.value).split("|")[:_MOST_MEMBERS]:
        word = word.strip()
        if word in JSON_TYPES:
            schemas.append({"type": word})
            continue
        close = [_CLOSE[word]] if word in _CLOSE else get_close_matches(word[:_LONGEST_NAME], JSON_TYPES, 1, 0.85)
        if _NAME_OF_TYPE.fullmatch(word) and not close:
            return {}
        expected = ", ".join(JSON_TYPES)
        message = f"{node.path} must be a type, and is {reader.shown(node.value)}"
        hint = f"Write `type: {close[0] if close else 'string'}`."
        reader.report("schema-invalid-type", node, message, expected=expected, suggestion=hint)
        return {}
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def constrained(reader: Reader, members: Mapping[str, Node], schema: dict[str, Json]) -> dict[str, Json]:
    """Return a schema with what a parameter says beside its type; report what contradicts it."""
    kind = schema.get("type")
    result = {**schema, **{key: members[key].value for key in _COPIED if key in members}}
    for low, high in _BOUNDS:
        if low in members and high in members and members[low].value > members[high].value:
            reader.bad_value(members[high], f"at least {low}, {members[low].value}", f"Exchange {low} and {high}.")
    if "items" in members and kind == "array":
        inner = reader.fields(members["items"], _ITEMS)
        if "type" in inner:
            result["items"] = constrained(reader, inner, text_type(reader, inner["type"]))
    if "enum" in members:
        result["enum"] = _values(reader, members["enum"], kind)
    if "default" in members:
        _check_default(reader, members, result, kind)
        result["default"] = members["default"].value
    if "sensitive" in members and members["sensitive"].value and kind == "string":
        result.setdefault("format", "password")
    return result


def _values(reader: Reader, node: Node, kind: Json) -> list[Json]:
    """Return the values of an enumeration; report those of another type, repeated ones, and that there are none."""
    if not node.value:
        reader.bad_value(node, "a list of at least one value", "Leave the line out to allow any value.")
    values: list[Json] = []
    seen: set[tuple[type, Json]] = set()
    for item in node.items():
        key = type(item.value), None if isinstance(item.value, dict | list) else item.value
        if kind in JSON_TYPES and item.value is not None and not _fits(item.value, kind):
            reader.wrong_type(item, kind)
        elif key in seen and not isinstance(item.value, dict | list):
            message = f"the value {reader.shown(item.value)} is here twice"
            expected, hint = "each value once", "Keep one of them."
            reader.report("schema-duplicate-name", item, message, expected=expected, suggestion=hint)
        else:
            seen.add(key)
            values.append(item.value)
    return values


def _check_default(reader: Reader, members: Mapping[str, Node], schema: Mapping[str, Json], kind: Json) -> None:
    node = members["default"]
    if kind in JSON_TYPES and node.value is not None and not _fits(node.value, kind):
        reader.wrong_type(node, kind)
    elif "enum" in schema and node.value not in schema["enum"] and node.value is not None:
        few = ", ".join(map(reader.shown, schema["enum"][:5]))
        reader.bad_value(node, f"one of the values of enum ({few})", "Write one of them, or leave the line out.")
    elif type(node.value) in (int, float):
        low, high = schema.get("minimum"), schema.get("maximum")
        if (low is not None and node.value < low) or (high is not None and node.value > high):
            reader.bad_value(node, "within minimum and maximum", "Write a value that is, or leave the line out.")


def _fits(value: Json, kind: str) -> bool:
    actual = type_name(value)
    return actual == kind or (kind == "number" and actual == "integer")


def parameter_name(reader: Reader, node: Node, name: str) -> bool:
    """Return True if a text can be the name of a parameter; report it otherwise."""
    if 0 < len(name) <= _LONGEST_NAME and name == name.strip() and name.isprintable():
        return True
    expected = f"1 to {_LONGEST_NAME} visible characters without spaces around"
    reader.bad_name(node, name, expected, "Write the agent's name, such as `user_name`.")
    return False
