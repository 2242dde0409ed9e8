# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Aggregates of a list: count, group_by, sum, avg, min, max (R-SEL-4; aggregations document).

`{"by_state": {"group_by": "state", "count": true, "sum": "amount"}}` names each result. One expression alone needs no
name: `{"count": true}` is named `result`. A result of one function is its value, of several an object by function, and
with `group_by` an object by the values of the field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from ..errors import Failure, invalid
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


@dataclass(slots=True)
class _Tally:
    """What is known of the values of one field in one group."""

    count: int = 0
    total: Decimal = Decimal()
    least: Any = None
    most: Any = None

    def add(self, values: Iterable[Any]) -> None:
        for value in values:
            number = number_of(value)
            if number is not None:
                self.count += 1
                self.total += number
            elif not isinstance(value, str) or len(value) > _LONGEST:
                continue
            self.least = value if self.least is None else min(self.least, value, key=_place)
            self.most = value if self.most is None else max(self.most, value, key=_place)

    def result(self, function: str) -> Any:
        if function in ("min", "max"):
            return self.least if function == "min" else self.most
        if not self.count:
            return None
        return _plain(self.total if function == "sum" else self.total / self.count)


@dataclass(slots=True)
class _Group:
    count: int = 0
    tallies: dict[tuple[str, ...], _Tally] = field(default_factory=dict)

    def add(self, item: Any, paths: Iterable[tuple[str, ...]]) -> None:
        self.count += 1
        for path in paths:
            self.tallies.setdefault(path, _Tally()).add(values_at(item, path))

    def result(self, functions: Mapping[str, tuple[str, ...]]) -> Any:
        results = {
            function: self.tallies.get(path, _Tally()).result(function) if path else self.count
            for function, path in functions.items()
        }
        return next(iter(results.values())) if len(results) == 1 else results


class Aggregates:
    """The results of a request over the items that are added to it."""

    def __init__(self, expressions: Mapping[str, _Expression]) -> None:
        self._expressions = expressions
        self._groups: dict[str, dict[str, _Group]] = {name: {} for name in expressions}

    @property
    def fields(self) -> set[str]:
        """The paths of the fields that are asked about."""
        paths = {path for expression in self._expressions.values() for path in expression.functions.values()}
        paths |= {expression.group_by for expression in self._expressions.values() if expression.group_by is not None}
        return {".".join(path) for path in paths if path}

    @property
    def only_counts(self) -> bool:
        """True if the number of items is all that is asked for."""
        return all(
            expression.group_by is None and set(expression.functions) == {"count"}
            for expression in self._expressions.values()
        )

    def add(self, items: Iterable[Any]) -> None:
        """Add items."""
        for item in items:
            for name, expression in self._expressions.items():
                paths = {path for path in expression.functions.values() if path}
                groups = self._groups[name]
                keys = [""] if expression.group_by is None else _keys(item, expression.group_by)
                for key in keys:
                    if key not in groups and len(groups) >= _MOST_GROUPS:
                        key = _REST
                    groups.setdefault(key, _Group()).add(item, paths)

    def results(self, count: int | None = None) -> dict[str, Any]:
        """Return the results by name; `count` is the number of all items, where the API states it."""
        results: dict[str, Any] = {}
        for name, expression in self._expressions.items():
            groups = self._groups[name]
            if expression.group_by is None:
                whole = groups.get("", _Group())
                results[name] = whole.result(expression.functions) if count is None else count
            else:
                ordered = sorted(groups.items(), key=lambda entry: -entry[1].count)
                results[name] = {key: group.result(expression.functions) for key, group in ordered}
        return results


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
    return list(dict.fromkeys(map(_name_of_group, values))) or ["null"]


def _name_of_group(value: Any) -> str:
    text = value if isinstance(value, str) else encoded(value)
    return text if len(text) <= _LONGEST_KEY else f"{text[: _LONGEST_KEY - 1]}…"


def _place(value: Any) -> tuple[int, Any]:
    return order_key(value) or (3, 0)


def _plain(number: Decimal) -> int | float:
    """Return a number of JSON, whole where it is and a float holds it exactly."""
    if number == number.to_integral_value() and abs(number) < _EXACT:
        return int(number)
    return float(number)


def _refused(rule: str, value: Any) -> Failure:
    return invalid(
        "aggregate",
        f"Parameter 'aggregate' cannot be read: {rule}. "
        "Example: {'by_state': {'group_by': 'state', 'count': true, 'sum': 'amount'}}.",
        actual_value=repr(value)[:100],
    )
