# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Conditions on items: `where` of a step (R-STEP-1).

`{field: value}` or `{field: {gt: 3}}`; all of them must hold. A field is a path with dots; one that an item does not
have is null. Only numbers and texts have an order, each among its like, and true is not 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ..errors import Code, Failure
from ..text import line

__all__ = ["OPERATORS", "Where", "holds", "read_where"]


def _equal(value: Any, other: Any) -> bool:
    if isinstance(value, bool) or isinstance(other, bool):
        return value is other
    return bool(value == other)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def test(value: Any, other: Any) -> bool:
        numbers = all(isinstance(side, int | float) and not isinstance(side, bool) for side in (value, other))
        texts = isinstance(value, str) and isinstance(other, str)
        return (numbers or texts) and compare(value, other)

    return test


def _is_in(value: Any, options: Any) -> bool:
    return isinstance(options, list) and any(_equal(value, option) for option in options)


def _contains(value: Any, part: Any) -> bool:
    if isinstance(value, str):
        return isinstance(part, str) and part in value
    return isinstance(value, list) and any(_equal(inner, part) for inner in value)


OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda value, other: not _equal(value, other),
    "gt": _ordered(lambda value, other: value > other),
    "gte": _ordered(lambda value, other: value >= other),
    "lt": _ordered(lambda value, other: value < other),
    "lte": _ordered(lambda value, other: value <= other),
    "in": _is_in,
    "contains": _contains,
}


Where: TypeAlias = Mapping[str, Mapping[str, Any]]
"""Conditions in their long form: field → operator → value."""


def read_where(where: Any) -> Where:
    """Return conditions in their long form. Raises Failure for what is none.

    What is an operator is decided here, before references are resolved: data of the API are values.
    """
    if not isinstance(where, Mapping) or not where:
        raise Failure(
            Code.INVALID_TYPE, "where is an object of fields, such as {state: 'open'}", {"param_name": "where"}
        )
    return {str(field): _read(str(field), condition) for field, condition in where.items()}


def _read(field: str, condition: Any) -> Mapping[str, Any]:
    if not isinstance(condition, Mapping) or "$ref" in condition:
        return {"eq": condition}
    unknown = [name for name in condition if name not in OPERATORS]
    if unknown or not condition:
        named = f" has '{line(str(unknown[0]), 40)}'" if unknown else " is empty"
        raise Failure(
            Code.INVALID_VALUE,
            f"where of '{line(field, 64)}'{named}; the operators are {', '.join(OPERATORS)}",
            {"param_name": "where", "valid": list(OPERATORS)},
        )
    if "in" in condition and not isinstance(condition["in"], list | Mapping):
        raise Failure(Code.INVALID_TYPE, "'in' of a where takes a list", {"param_name": "where"})
    return condition


def holds(item: Any, where: Where) -> bool:
    """Return True if an item meets all conditions, whose references are resolved."""
    return all(
        OPERATORS[name](_value(item, field.split(".")), other)
        for field, condition in where.items()
        for name, other in condition.items()
    )


def _value(item: Any, path: Sequence[str]) -> Any:
    for step in path:
        item = item.get(step) if isinstance(item, Mapping) else None
    return item
