"""JSON Schema validators, compiled at their first use (JSON Schema 2020-12).

A compiled document carries the types that it reaches under the key `types`, so that `{"$ref": "#/types/Pet"}` resolves
within it. Invalid keywords (a broken pattern, a value of a wrong kind) are dropped one by one; a schema that cannot be
compiled at all checks nothing. The target API has the last word anyway.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..table import JsonSchema, Row, Table
from . import references, subschemas, type_named
from .field_names import NAMED_AS

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

PROTOCOL_SCHEMAS: Mapping[str, JsonSchema] = {
    "FieldSelection": {
        "anyOf": [
            {"enum": ["minimal", "standard", "full"]},
            {"type": "array", "maxItems": 500, "items": {"type": "string", "minLength": 1}},
        ]
    },
    "WhereCondition": {"type": "object", "minProperties": 1, "maxProperties": 20},
    "AggregateRequest": {"type": "object", "minProperties": 1, "maxProperties": 20},
}
"""Types of the protocol that parameters have."""

_REPAIRS = 50
_BACKTRACKS = 100_000
_BACKTRACKING = re.compile(r"\(\?(?:<?[=!]|[>(])|\\[1-9kG]")
"""Constructs that no expression of linear time has: lookaround, atomic and conditional groups, references to groups."""
_LONG_TEXT = r"^[\s\S]{1001}|(?:"
"""The beginning of a pattern that only tries what follows on texts of at most 1,000 characters."""


class Schemas:
    """The validators of an adapter: one for the parameters of each operation, one for a body that needs its own."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._direct: dict[str, tuple[str, ...]] = {}

    def parameters(self, row: Row) -> Draft202012Validator:
        """Compile the validator of an operation's parameters: required ones, no unknown ones, the schema of each."""
        properties = {
            name: {key: value for key, value in item.schema.items() if key != NAMED_AS}  # a reference to check nothing
            for name, item in row.parameters.items()
        }
        document = {
            "type": "object",
            "properties": properties,
            "required": [name for name, parameter in row.parameters.items() if parameter.required],
            "additionalProperties": False,
        }
        validator = self._compile(document)
        if validator is None:
            document["properties"] = {
                name: {} if self._compile(schema) is None else schema for name, schema in properties.items()
            }
            validator = self._compile(document)
        if validator is None:
            validator = self._compile({**document, "properties": {name: {} for name in properties}})
        if validator is None:  # pragma: no cover - names and booleans only: always a schema
            raise AssertionError(row.name)
        return validator

    def schema(self, schema: JsonSchema) -> Draft202012Validator | None:
        """Compile the validator of one schema; return None if it cannot be compiled."""
        return self._compile(schema)

    def closure(self, schema: Any) -> dict[str, JsonSchema]:
        """Return the types that a schema reaches, by name; one that does not exist admits anything."""
        reached: dict[str, JsonSchema] = {}
        todo = list(references(schema))
        while todo:
            name = todo.pop()
            if name in reached:
                continue
            target = reached[name] = self._table.types.get(name) or PROTOCOL_SCHEMAS.get(name, {})
            direct = self._direct.get(name)
            if direct is None:
                direct = self._direct[name] = tuple(dict.fromkeys(references(target)))
            todo.extend(direct)
        return reached

    def _compile(self, schema: JsonSchema) -> Draft202012Validator | None:
        from jsonschema_rs import ValidationError

        document: dict[str, Any] = {**schema, "types": self.closure(schema)}
        copied = False
        for _ in range(_REPAIRS):
            try:
                return _draft_2020(document)
            except ValidationError as error:
                if not copied:
                    document, copied = _repairable(document), True
                elif not _drop(document, list(error.instance_path)):
                    return None
            except (ValueError, RecursionError):
                return None
        return None


def _draft_2020(document: Mapping[str, Any]) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator, FancyRegexOptions

    # Most patterns run in linear time; those with lookaround or references to groups backtrack, perhaps without end.
    patterns = FancyRegexOptions(backtrack_limit=_BACKTRACKS)
    return Draft202012Validator(
        _with_bounded_patterns(document), validate_formats=True, offline=True, pattern_options=patterns
    )


def _with_bounded_patterns(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document whose patterns that backtrack admit any long text: the target API has the last word on it."""
    if not any(map(_backtracks, subschemas(dict(document)))):
        return dict(document)
    copy: dict[str, Any] = json.loads(json.dumps(document))
    for schema in filter(_backtracks, list(subschemas(copy))):
        schema["pattern"] = f"{_LONG_TEXT}{schema['pattern']})"
    return copy


def _backtracks(schema: Mapping[str, Any]) -> bool:
    pattern = schema.get("pattern")
    return isinstance(pattern, str) and not pattern.startswith(_LONG_TEXT) and _BACKTRACKING.search(pattern) is not None


def stated_pattern(pattern: str) -> str:
    """Return a pattern of a compiled schema as the document states it."""
    return pattern.removeprefix(_LONG_TEXT)[:-1] if pattern.startswith(_LONG_TEXT) else pattern


def _repairable(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy that may be changed, without what would turn references away from the document itself."""
    copy: dict[str, Any] = json.loads(json.dumps(document))
    for schema in subschemas(copy):
        for key in ("$id", "$schema", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary"):
            if isinstance(schema.get(key), str):
                del schema[key]
        if isinstance(schema.get("$ref"), str) and type_named(schema["$ref"]) is None:
            del schema["$ref"]
    return copy


def _drop(document: dict[str, Any], path: list[str | int]) -> bool:
    """Remove the keyword that the path leads to, or the nearest thing above it that can be removed."""
    if not path:
        return False
    parent: Any = document
    for step in path[:-1]:
        parent = parent[step]
    if isinstance(parent, dict):
        del parent[str(path[-1])]
        return True
    return _drop(document, path[:-1])
