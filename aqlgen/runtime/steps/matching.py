# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Conditions of steps: `where` and `expect`, which halt a plan if they ask about a field that is not there (R-STEP-1).

A condition on such a field holds for every item or for none, and what a plan does next would be done to all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..calls.absent import absent_fields, named_with_nearest
from ..calls.conditions import compile_condition
from ..calls.listing import UNKNOWN_FIELD
from ..errors import Code, Failure

__all__ = ["Declares", "check_known", "matching", "shortcoming"]

Declares = Callable[[str], bool]
"""Whether the document declares a field: an item may lack it for all that."""


def matching(items: Sequence[Any], condition: Mapping[str, Any], declares: Declares) -> list[Any]:
    """Return the items that meet a condition. Raises Failure where none has a field of it."""
    matcher = compile_condition(condition)
    absent = _undeclared(items, condition, declares)
    if absent:
        raise _unknown(named_with_nearest(absent), list(absent))
    return list(filter(matcher, items))


def shortcoming(data: Any, condition: Mapping[str, Any], declares: Declares) -> str:
    """Return how an answer fails what is expected of it, "" if it does not. Raises Failure for no condition."""
    absent = _undeclared([data], condition, declares)
    if absent:
        return f"does not meet 'expect': it has no field {named_with_nearest(absent)}"
    return "" if compile_condition(condition, "expect")(data) else "does not meet 'expect'"


def check_known(warnings: Sequence[Mapping[str, Any]]) -> None:
    """Raise Failure if a call filtered or counted a list by a field that no item has."""
    for warning in warnings:
        details = warning.get("details", {})
        if warning["code"] == UNKNOWN_FIELD and "undeclared" in details:
            raise _unknown(named_with_nearest(details["undeclared"]), list(details["undeclared"]))


def _undeclared(items: Sequence[Any], condition: Mapping[str, Any], declares: Declares) -> dict[str, str | None]:
    return {field: near for field, near in absent_fields(items, condition).items() if not declares(field)}


def _unknown(names: str, fields: Sequence[str]) -> Failure:
    return Failure(
        Code.INVALID_VALUE,
        f"No item has the field {names}, so the condition would hold for every item, or never. Correct the name, or "
        "leave the condition out",
        {"param_name": "where", "fields": list(fields)},
    )
