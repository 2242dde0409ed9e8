"""What single schemas demand of a value by themselves: their keywords, patterns, listed values and tags."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..exact_json import with_floats
from ..schema import Types, fixed_values, shape_of
from ..table import JsonSchema
from .coercions import Members

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

MOST_FAULTS = 50
_MOST_LEAVES = 2000
_APPLICATORS = frozenset(
    {"$ref", "allOf", "anyOf", "oneOf", "properties", "patternProperties", "additionalProperties", "items"}
    | {"prefixItems", "unevaluatedProperties", "if", "then", "else", "dependentSchemas", "contains", "unevaluatedItems"}
    | {"default", "examples", "example", "description", "title", "discriminator"}
)
"""The keywords that the walk follows itself, and those that demand nothing."""
_WHOLE = frozenset({"enum", "const", "uniqueItems", "not", "propertyNames"})
"""The keywords that look into an object or a list; the others want its keys or its length."""
_OF_TEXT = frozenset({"enum", "const", "not", "pattern", "format", "minLength", "maxLength"})
"""The keywords that look into a text."""
_UNCHECKED = frozenset({"BacktrackLimitExceeded", "RegexEngineFailure"})


class Leaves:
    """The validators of single schemas without their applicators, compiled at their first use."""

    def __init__(self, compiled: Callable[[JsonSchema], Draft202012Validator | None]) -> None:
        self._compiled = compiled
        self._validators: dict[int, tuple[JsonSchema, Draft202012Validator | None, Set[str]]] = {}
        self._patterns: dict[str, Draft202012Validator | None] = {}
        self._members: dict[int, tuple[Sequence[Any], Members]] = {}
        self._tags: dict[int, tuple[JsonSchema, Sequence[tuple[str, JsonSchema, list[Any]]]]] = {}

    def matches(self, pattern: str, key: str) -> bool:
        """Return True if a key matches a pattern, in bounded time."""
        if pattern not in self._patterns:
            self._patterns[pattern] = self._compiled({"pattern": pattern})
        validator = self._patterns[pattern]
        return validator is not None and validator.is_valid(key)

    def members(self, options: Sequence[Any]) -> Members:
        """Return the values of an enumeration by how they are written."""
        cached = self._members.get(id(options))
        if cached is None:
            if len(self._members) >= _MOST_LEAVES:
                self._members.clear()
            cached = self._members[id(options)] = (options, Members(options))
        return cached[1]

    def tags(self, option: JsonSchema, types: Types) -> Sequence[tuple[str, JsonSchema, list[Any]]]:
        """Return the fields of an alternative that admit only listed values, each with its schema and the values."""
        cached = self._tags.get(id(option))
        if cached is None:
            if len(self._tags) >= _MOST_LEAVES:
                self._tags.clear()
            properties = shape_of(types, option).properties.items()
            tags = [(name, schema, fixed) for name, (_, schema) in properties if (fixed := fixed_values(schema, types))]
            cached = self._tags[id(option)] = (option, tags)
        return cached[1]

    def errors(self, schema: JsonSchema, value: Any) -> list[tuple[str, Any]] | None:
        """Return the keywords that a value breaks, each with what it demands; None where that cannot be checked."""
        validator, keywords = self._validator(schema)
        if validator is None:
            return []
        value = _outline(value, schema, keywords)
        if validator.is_valid(value):
            return []
        broken: list[tuple[str, Any]] = []
        for error in islice(validator.iter_errors(value), MOST_FAULTS):
            keyword = error.kind.name
            demand = schema[keyword] if keyword in ("enum", "const") and keyword in schema else error.kind.value
            if type(error.kind).__name__ not in _UNCHECKED and (keyword != "enum" or demand):
                broken.append((keyword, demand))
        return broken or None

    def _validator(self, schema: JsonSchema) -> tuple[Draft202012Validator | None, Set[str]]:
        """Return the validator of a schema alone, None if it demands nothing; and its keywords."""
        cached = self._validators.get(id(schema))
        if cached is None:
            if len(self._validators) >= _MOST_LEAVES:
                self._validators.clear()
            leaf = {key: demand for key, demand in schema.items() if key not in _APPLICATORS and key[:2] != "x-"}
            validator = self._compiled(leaf) if leaf else None
            cached = self._validators[id(schema)] = (schema, validator, leaf.keys())
        return cached[1:]


def _outline(value: Any, schema: JsonSchema, keywords: Set[str]) -> Any:
    """Return a value without what none of the keywords looks at, since an error repeats the whole, in plain floats."""
    if isinstance(value, str):
        return "" if keywords.isdisjoint(_OF_TEXT) else value
    if not isinstance(value, (dict, list)) or not keywords.isdisjoint(_WHOLE):
        return with_floats(value)
    if isinstance(value, list):
        return [None] * len(value) if keywords - {"type"} else []
    return dict.fromkeys(value if keywords - {"type", "required"} else value.keys() & set(schema.get("required", ())))
