# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""From the name by which the API blames a parameter or field to the agent's own name of it (R-ERR-2).

What comes out consists of names that the table declares, of indices, and of keys that the call itself has: never of
words that only the API said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import Code
from ..schema.reader import Types, union_of
from ..table import ADAPTER, Parameter, Row
from ..text import folded, line
from .faults import PLACES, WRAPPERS, Fault

__all__ = ["agent_name"]

_IN_BODY = ("body", "body_rest")
_OF_ADDRESS = ("path", "query")
"""The places of a URL, which APIs do not always tell apart."""
_MOST_WRAPPERS = 3
_LONGEST = 200
_MAX_INDEX = 6


def agent_name(row: Row, types: Types, params: Mapping[str, Any], fault: Fault, kind: Code) -> str:
    """Return the agent's path of what a fault is about, such as `input.tags[0]`; "" if the operation has none such.

    A parameter of the path is the last to be meant: only where the API names the path, or where nothing else has the
    name and the fault is none of a body. What the path holds was given and is known, so it is not missing or unknown.
    """
    of_path = row.body is None or kind not in (Code.MISSING_PARAM, Code.UNKNOWN_PARAM)
    for place, steps in _readings(fault):
        name = _of_parameter(row, types, params, place, steps) or _of_body(row, types, params, place, steps)
        if not name and not place and of_path:
            name = _of_parameter(row, types, params, "path", steps)
        if name:
            return line(name, _LONGEST)
    return ""


def _readings(fault: Fault) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the steps as they stand, then without what leads into the request."""
    place, steps = fault.place, fault.steps
    for _ in range(_MOST_WRAPPERS + 1):
        if not steps:
            return
        yield place, steps
        if len(steps) < 2 or steps[0] not in WRAPPERS:
            return
        if steps[0] in PLACES:
            place = steps[0]
        elif steps[0] != "params":  # the envelope of a body
            place = place or "body"
        steps = steps[1:]


def _of_parameter(row: Row, types: Types, params: Mapping[str, Any], place: str, steps: tuple[str, ...]) -> str:
    """Return the path within the parameter that the first step names."""
    parameter = _parameter(row, place, steps[0])
    if parameter is None:
        return ""
    return parameter.name + _path(types, parameter.schema, params.get(parameter.name), steps[1:])


def _parameter(row: Row, place: str, name: str) -> Parameter | None:
    """Return the parameter of a name, first one of that place and of that very spelling."""
    wanted = folded(name)
    named = [
        parameter
        for parameter in row.parameters.values()
        if parameter.location != ADAPTER
        and wanted in (folded(parameter.wire), folded(parameter.name))
        and (parameter.location != "path" or place in _OF_ADDRESS)
    ]
    return min(named, key=lambda each: (not _is_in(each, place), name != each.wire, name != each.name), default=None)


def _is_in(parameter: Parameter, place: str) -> bool:
    return not place or parameter.location == place or (place == "body" and parameter.location in _IN_BODY)


def _of_body(row: Row, types: Types, params: Mapping[str, Any], place: str, steps: tuple[str, ...]) -> str:
    """Return the path within the parameter that is the whole body, or that holds further fields of it."""
    if place not in ("", "body"):
        return ""
    whole = row.body.parameter if row.body is not None and row.body.shape == "whole" else None
    for name, parameter in row.parameters.items():
        if name == whole or parameter.location == "body_rest":
            path = _path(types, parameter.schema, params.get(name), steps)
            if path:
                return name + path
    return ""


def _path(types: Types, schema: Mapping[str, Any], value: Any, steps: tuple[str, ...]) -> str:
    """Return the agent's spelling of steps below a value, as far as its schema declares them or it has them."""
    path = ""
    for step in steps:
        shape = union_of(types, schema)
        wanted = folded(step)
        declared = [name for name, (wire, _) in shape.properties.items() if wanted in (folded(wire), folded(name))]
        if declared:
            name = min(declared, key=lambda name: (shape.properties[name][0] != step, name != step))
            path, schema = f"{path}.{name}", shape.properties[name][1]
            value = value.get(name) if isinstance(value, Mapping) else None
        elif step.isascii() and step.isdigit() and len(step) < _MAX_INDEX and (shape.items or isinstance(value, list)):
            index = int(step)
            path, schema = f"{path}[{index}]", shape.items[0] if shape.items else {}
            value = value[index] if isinstance(value, list) and index < len(value) else None
        elif isinstance(value, Mapping) and step in value:
            path, schema, value = f"{path}.{step}", shape.extra[0] if shape.extra else {}, value[step]
        else:
            break
    return path
