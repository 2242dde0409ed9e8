# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The parameters and fields that an API's error is about, under the agent's own names (R-ERR-2).

A name consists of names that the table declares, of indices, and of keys that the call itself has: never of words that
only the API said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ..errors import Code
from ..schema import MISSING, Types, at, union_of
from ..table import ADAPTER, Parameter, Row
from ..text import bounded, folded, line
from .api_error import PLACES, WRAPPERS, ApiError, Fault, kind_of_fault, steps_of_name

_OF_CONTENT = frozenset({400, 409, 412, 422, 428})
"""Statuses by which an API refuses what a request says, not who sends it nor that it fails itself."""
_LEADING_NAME = re.compile(r"\s{0,9}+['\"`]?([A-Za-z_][\w.\[\]-]{0,99}+)")
_ABSENT: tuple[Any, ...] = (MISSING, None, "", [], {})
_MAX_PROBLEMS = 20
_MAX_WORDS = 200
_MOST_WRAPPERS = 3
_LONGEST = 200
_MAX_INDEX = 6


def field_errors(
    row: Row, types: Types, params: Mapping[str, Any], error: ApiError, status: int
) -> list[dict[str, Any]]:
    """Return the single faults: `param_name` is the agent's own name, `upstream` what the API says of it.

    A name that a text only quotes is that of a parameter where the API refuses the request for its content. What a call
    has given is not missing, unless a code says so.
    """
    faults = (fault for fault in error.faults if fault.listed or status in _OF_CONTENT)
    problems: list[dict[str, Any]] = []
    for fault in faults:
        problem = _problem(row, types, params, error, fault)
        if problem and problem not in problems:
            problems.append(problem)
    return problems[:_MAX_PROBLEMS]


def _problem(row: Row, types: Types, params: Mapping[str, Any], error: ApiError, fault: Fault) -> dict[str, Any]:
    """Return a fault as a problem of the call; empty if it is about nothing."""
    evidence = f"{fault.message} {fault.code}" if fault.listed else error.evidence
    kind = kind_of_fault(evidence, (fault.code,))
    leading = _LEADING_NAME.match(fault.message) if fault.listed and not fault.steps else None
    named = fault if leading is None else replace(fault, steps=steps_of_name(leading[1]))
    name = _agent_name(row, types, params, named, kind)
    if not name and not (fault.listed and (fault.message + fault.name)):
        return {}
    by_words = kind is Code.MISSING_PARAM and kind_of_fault(fault.code, ()) is not kind
    if by_words and name and at(params, steps_of_name(name)) not in _ABSENT:
        kind = Code.INVALID_VALUE
    words = {"name": fault.name, "code": fault.code, "message": fault.message}
    upstream = {key: bounded(text, _MAX_WORDS) for key, text in words.items() if text}
    return {"code": kind.value, **({"param_name": name} if name else {}), "upstream": upstream}


def _agent_name(row: Row, types: Types, params: Mapping[str, Any], fault: Fault, kind: Code) -> str:
    """Return the agent's path of what a fault is about, such as `input.tags[0]`; "" if the operation has none such.

    A parameter of the path is the last to be meant: only where the API names the path, or where nothing else has the
    name and the fault is none of a body. What the path holds was given and is known, so it is not missing or unknown.
    """
    of_path = row.body is None or kind not in (Code.MISSING_PARAM, Code.UNKNOWN_PARAM)
    for place, steps in _paths_within(fault):
        parameter = _parameter(row, place, steps[0])
        name = "" if parameter else _of_body(row, types, params, place, steps)
        if not parameter and not name and not place and of_path:
            parameter = _parameter(row, "path", steps[0])
        if parameter:
            name = parameter.name + _path(types, parameter.schema, params.get(parameter.name), steps[1:])
        if name:
            return line(name, _LONGEST)
    return ""


def _paths_within(fault: Fault) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the place and the steps as they stand, then without what leads into the request."""
    place, steps = fault.place, fault.steps
    for _ in range(_MOST_WRAPPERS):
        if len(steps) < 2 or steps[0] not in WRAPPERS:
            break
        yield place, steps
        if steps[0] in PLACES:
            place = steps[0]
        elif steps[0] != "params":  # the envelope of a body
            place = place or "body"
        steps = steps[1:]
    if steps:
        yield place, steps


def _parameter(row: Row, place: str, name: str) -> Parameter | None:
    """Return the parameter of a name, first one of that place and of that very spelling.

    APIs do not always tell the path and the query of an address apart.
    """
    wanted = folded(name)
    named = [
        parameter
        for parameter in row.parameters.values()
        if parameter.location != ADAPTER
        and wanted in (folded(parameter.wire), folded(parameter.name))
        and (parameter.location != "path" or place in ("path", "query"))
    ]
    places = ("body", "body_rest") if place == "body" else (place,)
    return min(
        named,
        key=lambda parameter: (
            bool(place) and parameter.location not in places,
            name != parameter.wire,
            name != parameter.name,
        ),
        default=None,
    )


def _of_body(row: Row, types: Types, params: Mapping[str, Any], place: str, steps: tuple[str, ...]) -> str:
    """Return the path within the parameter that is the whole body, or that holds further fields of it."""
    whole = row.body.parameter if row.body is not None and row.body.shape == "whole" else None
    for name, parameter in row.parameters.items() if place in ("", "body") else ():
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
        key: Any = min(declared, key=lambda name: (shape.properties[name][0] != step, name != step), default=step)
        if declared:
            path, schema = f"{path}.{key}", shape.properties[key][1]
        elif step.isascii() and step.isdigit() and len(step) < _MAX_INDEX and (shape.items or isinstance(value, list)):
            key = int(step)
            path, schema = f"{path}[{key}]", shape.items[0] if shape.items else {}
        elif isinstance(value, Mapping) and step in value:
            path, schema = f"{path}.{step}", shape.extra[0] if shape.extra else {}
        else:
            break
        value = at(value, (str(key),))
    return path
