# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The `input` of an update without a body: its fields are parameters of the query (R-UPD-1).

Calls are checked with the fields in `input`, and go on with each as a parameter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Code, Failure
from ..table import Row

__all__ = ["gathered", "spread"]

_INPUT = "input"


def gathered(row: Row, params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters with the fields that stand beside `input` in it. Raises Failure for one given twice."""
    held = row.update.parameters if row.update is not None else None
    inside = params.get(_INPUT, {})
    if not held or not isinstance(inside, Mapping):
        return params
    known = {**row.wire_names, **{name: name for name in held}}
    moved = {name: value for key, value in params.items() if (name := known.get(key, "")) in held}
    if not moved:
        return params
    twice = next((name for name in moved if name in inside), None)
    if twice is not None:
        message = f"Parameter '{twice}' is given twice, as 'input.{twice}' and as '{twice}': give it once"
        raise Failure(Code.INVALID_VALUE, message, {"param_name": twice})
    rest = {key: value for key, value in params.items() if known.get(key, "") not in held}
    return {**rest, _INPUT: {**inside, **moved}}


def spread(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with each field of `input` as one of them."""
    inside = params.get(_INPUT)
    if not isinstance(inside, Mapping):
        return params
    return {**{name: value for name, value in params.items() if name != _INPUT}, **inside}
