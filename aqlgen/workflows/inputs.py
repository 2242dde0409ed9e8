"""The inputs of a workflow as parameters of an operation (Arazzo 1.0, Workflow Object, inputs)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from aqlgen.document.positions import split
from aqlgen.ir import Json
from aqlgen.runtime.table import ADAPTER, Parameter
from aqlgen.words import snake
from aqlgen.workflows.expressions import UnsayableError, member

Text = Callable[[Json, str], str]
"""Returns a text of the document as agents may read it; the second argument is its pointer."""
_KEPT: Final[Mapping[str, type | tuple[type, ...]]] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (int, float)),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), int),
}
"""Bounds that stay, with the type of each."""
_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_FORMATS: Final = ("date", "date-time", "uuid", "email", "uri", "password")
_DEPTH: Final = 6
_MOST: Final = 100
_LONGEST: Final = 200


def inputs_of(root: Mapping[str, Json], schema: Json, pointer: str, text: Text) -> dict[str, Parameter]:
    """Return the inputs by the agent's names. Raises UnsayableError.

    Of the schemas stays what tells an agent what to give; each call of a step is checked by its own operation.
    """
    if schema is None:
        return {}
    reader = _Reader(root, text)
    target, pointer = reader.resolved(schema, pointer)
    properties, required = target.get("properties", {}), target.get("required", [])
    if not isinstance(properties, dict) or target.get("type", "object") != "object" or len(properties) > _MOST:
        raise UnsayableError(f"the inputs are not an object of up to {_MOST} properties", pointer)
    inputs: dict[str, Parameter] = {}
    for wire, inner in properties.items():
        place = member(member(pointer, "properties"), wire)
        name = snake(wire)[:64]
        if not name or name in inputs:
            raise UnsayableError(f"the input {wire[:40]!r} has no unique snake_case name", place)
        read = reader.schema(inner, place, _DEPTH)
        inputs[name] = Parameter(
            name=name,
            location=ADAPTER,
            wire=wire,
            required=isinstance(required, list) and wire in required and "default" not in read,
            sensitive=read.get("format") == "password",
            schema={key: value for key, value in read.items() if key != "description"},
            description=str(read.get("description", "")),
        )
    return inputs


class _Reader:
    def __init__(self, root: Mapping[str, Json], text: Text) -> None:
        self._root = root
        self._text = text

    def resolved(self, schema: Json, pointer: str) -> tuple[Mapping[str, Json], str]:
        """Return the schema that a reference within the document leads to. Raises UnsayableError."""
        for _ in range(_DEPTH):
            if not isinstance(schema, dict):
                raise UnsayableError("a schema of the inputs is not an object", pointer)
            reference = schema.get("$ref")
            if not isinstance(reference, str):
                return schema, pointer
            if not reference.startswith("#/"):
                raise UnsayableError("a schema of the inputs is outside the document", member(pointer, "$ref"))
            node: Json = dict(self._root)
            for part in split(reference[1:]):
                node = node.get(part) if isinstance(node, dict) else None
            schema, pointer = node, reference[1:]
        raise UnsayableError("a reference of the inputs leads on and on", pointer)

    def schema(self, schema: Json, pointer: str, depth: int) -> dict[str, Json]:
        """Return what stays of a schema: types, values, bounds and members."""
        if not depth or schema is True:
            return {}
        target, pointer = self.resolved(schema, pointer)
        kept: dict[str, Json] = {
            key: target[key]
            for key, kind in _KEPT.items()
            if isinstance(target.get(key), kind) and not isinstance(target[key], bool)
        }
        kinds = target.get("type")
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if isinstance(kinds, list) and kinds and _TYPES.issuperset(map(str, kinds)):
            kept["type"] = kinds[0] if len(kinds) == 1 else list(dict.fromkeys(kinds))
        if target.get("format") in _FORMATS:
            kept["format"] = target["format"]
        if target.get("description"):
            kept["description"] = self._text(target["description"], member(pointer, "description"))
        return kept | self._values(target, pointer) | self._members(target, pointer, depth)

    def _values(self, target: Mapping[str, Json], pointer: str) -> dict[str, Json]:
        """Return the listed values and the default, which are plain and read as no instruction."""
        kept: dict[str, Json] = {}
        values = target.get("enum", [target["const"]] if "const" in target else None)
        if isinstance(values, list) and 0 < len(values) <= _MOST and all(map(_is_plain, values)):
            if not all(self._is_clean(value, pointer) for value in values):
                raise UnsayableError("a listed value is not plain text", member(pointer, "enum"))
            kept["enum"] = values
        if "default" in target and _is_plain(target["default"]):
            kept |= {"default": target["default"]} if self._is_clean(target["default"], f"{pointer}/default") else {}
        return kept

    def _is_clean(self, value: Json, pointer: str) -> bool:
        return not isinstance(value, str) or self._text(value, pointer) == value

    def _members(self, target: Mapping[str, Json], pointer: str, depth: int) -> dict[str, Json]:
        """Return what stays of the properties and the items."""
        kept: dict[str, Json] = {}
        properties, required = target.get("properties"), target.get("required")
        if isinstance(properties, dict) and len(properties) <= _MOST:
            place = member(pointer, "properties")
            inner = {key: self.schema(schema, member(place, key), depth - 1) for key, schema in properties.items()}
            names = required if isinstance(required, list) else []
            kept = {"properties": inner, "required": [name for name in properties if name in names]}
        if isinstance(target.get("items"), dict):
            kept["items"] = self.schema(target["items"], member(pointer, "items"), depth - 1)
        return kept


def _is_plain(value: Json) -> bool:
    return value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _LONGEST)
