"""The parameters and fields that an API's error is about, under the agent's own names (R-ERR-2).

A name is one that the table declares, never a word that only the API said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import Code
from ..schema import MISSING, Types, at, union_of
from ..table import ADAPTER, Row
from ..text import bounded, folded
from .api_error import PLACES, WRAPPERS, ApiError, Fault, kind_of_fault

_OF_CONTENT = frozenset({400, 409, 412, 422, 428})
"""Statuses by which an API refuses what a request says, not who sends it nor that it fails itself."""
_MAX_PROBLEMS = 20
_MAX_WORDS = 200


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
    name = _agent_name(row, types, fault)
    if not name and not (fault.listed and (fault.message + fault.name)):
        return {}
    by_words = kind is Code.MISSING_PARAM and kind_of_fault(fault.code, ()) is not kind
    if by_words and name and at(params, name.split(".")) not in (MISSING, None, ""):
        kind = Code.INVALID_VALUE
    words = {"name": fault.name, "code": fault.code, "message": fault.message}
    upstream = {key: bounded(text, _MAX_WORDS) for key, text in words.items() if text}
    return {"code": kind.value, **({"param_name": name} if name else {}), "upstream": upstream}


def _agent_name(row: Row, types: Types, fault: Fault) -> str:
    """Return the agent's name of the parameter, or of the field of `input`, that a fault is in; "" if there is none."""
    place = fault.place
    for step in fault.steps:
        name = _named(row, types, place, step)
        if name or step not in WRAPPERS:
            return name
        place = step if step in PLACES else place or "body"
    return ""


def _named(row: Row, types: Types, place: str, step: str) -> str:
    """Return the parameter or the field that has a name in any spelling, first one of that place.

    APIs do not always tell the path and the query of an address apart. Of an operation with a body, a parameter of the
    path is meant only where the API says so.
    """
    of_path = place in ("path", "query") or (not place and row.body is None)
    alike = [
        (location, name)
        for name, parameter in row.parameters.items()
        for location in [parameter.location]
        if location != ADAPTER and folded(step) in (folded(parameter.wire), folded(name))
    ]
    alike = [(location, name) for location, name in alike if location != "path" or of_path]
    alike += [("body", name) for name in _fields(row, types, step)]
    return min(alike, key=lambda entry: entry[0] != place, default=("", ""))[1]


def _fields(row: Row, types: Types, step: str) -> Iterator[str]:
    """Yield the fields of that name in a parameter that is the whole body, or that holds further fields of it."""
    whole = row.body.parameter if row.body is not None and row.body.shape == "whole" else None
    for name, parameter in row.parameters.items():
        if name == whole or parameter.location == "body_rest":
            fields = union_of(types, parameter.schema).properties.items()
            yield from (f"{name}.{key}" for key, (wire, _) in fields if folded(step) in (folded(wire), folded(key)))
