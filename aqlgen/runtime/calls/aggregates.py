"""Aggregates of a list: count, group_by, sum, avg, min, max (R-SEL-4; aggregations document).

`{"by_state": {"group_by": "state", "count": true, "sum": "amount"}}` names each result. One expression alone needs no
name: `{"count": true}` is named `result`. A result of one function is its value, of several an object by function, and
with `group_by` an object by the values of the field.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from ..errors import Failure, invalid
from ..exact_json import ExactFloat
from ..text import encoded
from .conditions import number_of, order_key, values_at

FUNCTIONS: Final = ("count", "group_by", "sum", "avg", "min", "max")

_MOST_EXPRESSIONS: Final = 20
_MOST_GROUPS: Final = 200
_LONGEST: Final = 200
_LONGEST_KEY: Final = 100
_EXACT: Final = 2**53
_REST: Final = "(other)"


@dataclass(frozen=True, slots=True)
class _Expression:
    """One named result: the field to group by, and the fields of each function; `count` has none."""

    group_by: tuple[str, ...] | None
    functions: Mapping[str, tuple[str, ...]]


class Aggregates:
    """The results of a request over the items that are added to it."""

    def __init__(self, expressions: Mapping[str, _Expression]) -> None:
        self._expressions = expressions
        self._groups: dict[str, dict[str, list[Any]]] = {name: {} for name in expressions}

    @property
    def fields(self) -> set[str]:
        """The paths of the fields that are asked about."""
        paths = (path for each in self._expressions.values() for path in (each.group_by, *each.functions.values()))
        return {".".join(path) for path in paths if path}

    @property
    def only_counts(self) -> bool:
        """True if the number of items is all that is asked for."""
        return all(each.group_by is None and set(each.functions) == {"count"} for each in self._expressions.values())

    def add(self, items: Iterable[Any]) -> None:
        """Add items."""
        for item in items:
            for name, expression in self._expressions.items():
                groups = self._groups[name]
                for key in [""] if expression.group_by is None else _keys(item, expression.group_by):
                    known = key in groups or len(groups) < _MOST_GROUPS
                    groups.setdefault(key if known else _REST, []).append(item)

    def results(self, count: int | None = None) -> dict[str, Any]:
        """Return the results by name; `count` is the number of all items, where the API states it."""
        results: dict[str, Any] = {}
        for name, expression in self._expressions.items():
            groups = {
                key: _result(items, expression.functions)
                for key, items in sorted(self._groups[name].items(), key=lambda entry: -len(entry[1]))
            }
            whole = groups.get("", _result((), expression.functions)) if count is None else count
            results[name] = whole if expression.group_by is None else groups
        return results


def _result(items: Sequence[Any], functions: Mapping[str, tuple[str, ...]]) -> Any:
    """Return the result of a group: a value, or an object by function if there are several."""
    results = {
        function: _value(function, [value for item in items for value in values_at(item, path)]) if path else len(items)
        for function, path in functions.items()
    }
    return next(iter(results.values())) if len(results) == 1 else results


def _value(function: str, values: Iterable[Any]) -> Any:
    """Return a function of the values of a field: of its numbers, or of its texts, too; None of nothing."""
    numbers = [(number_of(value), value) for value in values]
    if function in ("min", "max"):
        comparable = [
            value
            for number, value in numbers
            if number is not None or (isinstance(value, str) and len(value) <= _LONGEST)
        ]
        return (min if function == "min" else max)(
            comparable, key=lambda value: order_key(value) or (3, 0), default=None
        )
    addends = [number for number, _ in numbers if number is not None]
    if not addends:
        return None
    total = sum(addends, Decimal())
    return _plain(total if function == "sum" else total / len(addends))


def read_aggregate(request: Any, agent_path: Callable[[str], str] = str) -> Aggregates:
    """Return the aggregates that a request asks for. Raises Failure (VALIDATION_INVALID_VALUE) for another one.

    `agent_path` returns the path of a field in the agent's names.
    """
    if not isinstance(request, Mapping) or not request:
        raise _refused("it is an object with an entry or more", request)
    if all(name in FUNCTIONS and not isinstance(value, Mapping) for name, value in request.items()):
        request = {"result": request}
    if len(request) > _MOST_EXPRESSIONS:
        raise _refused(f"there are no more than {_MOST_EXPRESSIONS} results", sorted(request))
    return Aggregates({name: _expression(name, value, agent_path) for name, value in request.items()})


def _expression(name: str, request: Any, agent_path: Callable[[str], str]) -> _Expression:
    request = {"count": True} if request == "count" else request
    if not isinstance(request, Mapping) or not request or not set(request) <= set(FUNCTIONS):
        raise _refused(f"'{name[:_LONGEST]}' is an object of {', '.join(FUNCTIONS)}", request)
    functions: dict[str, tuple[str, ...]] = {}
    for function, value in request.items():
        if function == "count":
            if value is not True:
                raise _refused("'count' is true, or left out", value)
            functions["count"] = ()
            continue
        path = tuple(agent_path(value).split(".")) if isinstance(value, str) and len(value) <= _LONGEST else ("",)
        if "" in path:
            raise _refused(f"'{function}' takes the path of a field", value)
        functions[function] = path
    group_by = functions.pop("group_by", None)
    return _Expression(group_by, functions or {"count": ()})


def _keys(item: Any, path: tuple[str, ...]) -> Sequence[str]:
    """Return the names of the groups that an item belongs to: more than one if the field is a list."""
    values = [value for value in values_at(item, path) if not isinstance(value, list)]
    texts = [value if isinstance(value, str) else encoded(value) for value in values]
    names = (text if len(text) <= _LONGEST_KEY else f"{text[: _LONGEST_KEY - 1]}…" for text in texts)
    return list(dict.fromkeys(names)) or ["null"]


def _plain(number: Decimal) -> int | float:
    """Return a number of JSON, whole where it is and a float holds it exactly."""
    if number == number.to_integral_value() and abs(number) < _EXACT:
        return int(number)
    nearest = float(number)
    return nearest if math.isfinite(nearest) else ExactFloat(str(number.normalize()))


def _refused(rule: str, value: Any) -> Failure:
    return invalid(
        "aggregate",
        f"Parameter 'aggregate' cannot be read: {rule}. "
        "Example: {'by_state': {'group_by': 'state', 'count': true, 'sum': 'amount'}}.",
        actual_value=repr(value)[:100],
    )
