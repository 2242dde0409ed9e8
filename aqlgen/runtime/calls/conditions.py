"""Conditions on items: the form of `where`, which lists and steps share (R-SEL-4).

A condition is an object: `{"state": "open"}`, `{"amount": {"gt": 3, "lte": 10}}`. Its keys are fields, by paths with
dots; all must hold. The operators are eq, ne, gt, gte, lt, lte, in, contains and startswith; a plain value is eq. Of a
list within an item, one element that holds is enough; ne holds if no element is equal. A missing field is null.

Numbers are compared as numbers, also where an item has one as text, in the form of JSON; times with an offset as
instants; other texts by their characters. `contains` looks for a text within a text, or for an element of a list,
`startswith` for the beginning of a text, both in any case.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, Final, TypeAlias

from ..errors import Failure, invalid

Matcher: TypeAlias = Callable[[Any], bool]

MOST_FIELDS: Final = 20
_MOST_OPTIONS: Final = 200
_LONGEST_PATH: Final = 200
_LONGEST_NUMBER: Final = 40
_LONGEST_INTEGER: Final = 128
"""Characters of a number or a time, and bits of an integer."""

_MOST_VALUES: Final = 10_000
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d{1,3})?", re.ASCII)

_ORDERS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gt": operator.gt,
    "gte": operator.ge,
    "lt": operator.lt,
    "lte": operator.le,
}
OPERATORS: Final = ("eq", "ne", *_ORDERS, "in", "contains", "startswith")


def compile_condition(condition: Any, agent_path: Callable[[str], str] = str) -> Matcher:
    """Return the test of a condition, for many items. Raises Failure (VALIDATION_INVALID_VALUE) if it is none.

    `agent_path` returns the path of a field in the agent's names.
    """
    if not isinstance(condition, Mapping) or not condition or len(condition) > MOST_FIELDS:
        raise _refused(f"it is an object of 1 to {MOST_FIELDS} fields", condition)
    tests: list[tuple[tuple[str, ...], Callable[[list[Any]], bool]]] = []
    for field, wanted in condition.items():
        is_path = isinstance(field, str) and len(field) <= _LONGEST_PATH
        path = tuple(agent_path(field).split(".")) if is_path else ("",)
        if "" in path:
            raise _refused(f"a field is a path of names with dots, no more than {_LONGEST_PATH} characters", field)
        tests += [(path, test) for test in _tests(str(field), wanted)]

    def matcher(item: Any) -> bool:
        return all(test(values_at(item, path)) for path, test in tests)

    return matcher


def values_at(item: Any, path: tuple[str, ...]) -> list[Any]:
    """Return the values at a path, of each element where a list is on the way; of a list at its end its elements.

    A name that has dots itself is found, too. The list is empty if the item has no such field.
    """
    if isinstance(item, Mapping) and len(path) > 1 and ".".join(path) in item:
        path = (".".join(path),)
    values = [item]
    for step in path:
        values = [value[step] for value in _elements(values) if isinstance(value, Mapping) and step in value]
    if any(isinstance(value, list) for value in values):
        return [*values, *_elements([value for value in values if isinstance(value, list)])][:_MOST_VALUES]
    return values


def is_equal(left: Any, right: Any) -> bool:
    """Return True for the same JSON value; a number equals its text, and true is not a number."""
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if isinstance(left, int) and isinstance(right, int):
        return left == right and left.bit_length() <= _LONGEST_INTEGER
    if isinstance(left, (str, int, float)) and isinstance(right, (str, int, float)):
        first, second = number_of(left), number_of(right)
        return first is not None and first == second
    return bool(left == right)


def number_of(value: Any) -> Decimal | None:
    """Return a number that a float can hold, also one written as text as JSON writes it; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, int) and value.bit_length() > _LONGEST_INTEGER:
        return None
    text = value if isinstance(value, str) else repr(value)
    is_number = len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) and math.isfinite(float(text))
    return Decimal(text) if is_number else None


def order_key(value: Any) -> tuple[int, Any] | None:
    """Return the sort key of a value: numbers, then times with an offset, then texts; None for others."""
    number = number_of(value)
    if number is not None:
        return 0, number
    if not isinstance(value, str):
        return None
    instant = _instant(value)
    return (2, value) if instant is None else (1, instant)


def _elements(values: list[Any]) -> Iterator[Any]:
    """Yield values, of a list its elements instead."""
    count = 0
    for value in values:
        for element in value if isinstance(value, list) else (value,):
            count += 1
            if count > _MOST_VALUES:
                return
            yield element


def _tests(field: str, wanted: Any) -> Iterator[Callable[[list[Any]], bool]]:
    if isinstance(wanted, list):
        raise _refused(f"for one of several values give {{'{field}': {{'in': […]}}}}", wanted)
    if not isinstance(wanted, Mapping):
        yield _test("eq", wanted)
        return
    unknown = [key for key in wanted if key not in OPERATORS]
    if unknown or not wanted:
        raise _refused(f"the operators of '{field}' are {', '.join(OPERATORS)}", unknown[:1] or wanted)
    for key, value in wanted.items():
        expected = _expected(key, value)
        if expected:
            raise _refused(f"'{key}' of '{field}' takes {expected}", value)
        yield _test(key, value)


def _expected(key: str, value: Any) -> str:
    """Return the kind of value that an operator expects, "" if the value is of that kind."""
    if key == "in":
        is_options = isinstance(value, list) and len(value) <= _MOST_OPTIONS
        return "" if is_options else f"a list of no more than {_MOST_OPTIONS} values"
    if key in _ORDERS:
        return "a number or a text" if isinstance(value, bool) or not isinstance(value, (int, float, str)) else ""
    if key == "startswith":
        return "" if isinstance(value, str) else "a text"
    return "one plain value" if key == "contains" and isinstance(value, (list, Mapping)) else ""


def _test(key: str, wanted: Any) -> Callable[[list[Any]], bool]:
    if key in _OF_ONE:
        holds = _OF_ONE[key](wanted)
        return lambda values: any(map(holds, values))
    if key == "in":
        return lambda values: any(is_equal(value, option) for value in values or [None] for option in wanted)
    if key == "ne":
        return lambda values: not any(is_equal(value, wanted) for value in values or [None])
    return lambda values: any(is_equal(value, wanted) for value in values or [None])


def _ordered(order: Callable[[Any, Any], bool], wanted: Any) -> Callable[[Any], bool]:
    bound, limit = number_of(wanted), _instant(wanted) if isinstance(wanted, str) else None

    def holds(value: Any) -> bool:
        number = number_of(value) if bound is not None else None
        if number is not None:
            return order(number, bound)
        if not isinstance(value, str) or not isinstance(wanted, str):
            return False
        instant = _instant(value) if limit is not None else None
        return order(value, wanted) if instant is None else order(instant, limit)

    return holds


def _instant(text: str) -> datetime | None:
    """Return a time that has an offset, None for any other text."""
    if len(text) > _LONGEST_NUMBER or not text[:4].isdigit():
        return None
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo is not None else None


def _contains(wanted: Any) -> Callable[[Any], bool]:
    folded = wanted.casefold() if isinstance(wanted, str) else None

    def holds(value: Any) -> bool:
        if isinstance(value, str) and folded is not None:
            return folded in value.casefold()
        return isinstance(value, list) and any(is_equal(element, wanted) for element in value)

    return holds


def _starts(wanted: str) -> Callable[[Any], bool]:
    folded = wanted.casefold()
    return lambda value: isinstance(value, str) and value.casefold().startswith(folded)


_OF_ONE: Final[Mapping[str, Callable[[Any], Callable[[Any], bool]]]] = {
    **{key: partial(_ordered, order) for key, order in _ORDERS.items()},
    "contains": _contains,
    "startswith": _starts,
}
"""The operators that hold if one value passes: each reads its bound once, and returns the test of a value."""


def _refused(rule: str, value: Any) -> Failure:
    return invalid(
        "where",
        f"Parameter 'where' is not a condition: {rule}. Examples: {{'state': 'open'}}, {{'amount': {{'gt': 3}}}}.",
        actual_value=repr(value)[:100],
    )
