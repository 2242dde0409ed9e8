"""The `input` of an update without a body: those of its query parameters that are neither identifiers nor filters.

(R-UPD-1.) They are accepted under their own names as well, and not shown beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from aqlgen.ir import Json
from aqlgen.runtime.table import Parameter
from aqlgen.table.parameters import BARE
from aqlgen.words import split

__all__ = ["input_of_query", "within_input"]

_INPUT: Final = "input"
_IDENTIFYING: Final = BARE - {"name"}
_ASKING: Final = frozenset(
    "filter filters where q query search fields field expand expansion embed include includes exclude view format alt"
    " pretty page pages limit offset cursor after before sort order orderby version callback token force dry timeout"
    " async validate preview debug trace locale lang etag idempotency".split()
)
"""Words of parameters that pick, shape the answer, or say how the call is performed."""


def input_of_query(parameters: Iterable[Parameter]) -> tuple[Parameter, tuple[Parameter, ...], dict[str, Parameter]]:
    """Return `input`, the parameters beside it, and those that it holds, by their names."""
    beside: list[Parameter] = []
    held: dict[str, Parameter] = {}
    required: list[str] = []
    for parameter in parameters:
        if parameter.name == _INPUT:
            parameter = replace(parameter, name=f"{parameter.location}_{_INPUT}")
        if _is_field(parameter):
            held[parameter.name] = replace(parameter, required=False)
            required += [parameter.name] if parameter.required else []
        else:
            beside.append(parameter)
    properties: dict[str, Json] = {}
    for name, parameter in held.items():
        described: dict[str, Json] = {"description": parameter.description} if parameter.description else {}
        spelled: dict[str, Json] = {} if name == parameter.wire else {"x-name": parameter.wire}
        properties[name] = {**parameter.schema, **described, **spelled}
    schema: dict[str, Json] = {"type": "object", "properties": properties, "additionalProperties": False}
    schema |= {"required": required} if required else {}
    whole = Parameter(
        name=_INPUT,
        wire=_INPUT,
        location="adapter",
        required=bool(required),
        schema=schema,
        description="" if held else "The operation takes no fields.",
        sensitive=any(parameter.sensitive for parameter in held.values()),
    )
    return whole, tuple(beside), held


def within_input(example: Mapping[str, Json], held: Mapping[str, Parameter]) -> dict[str, Json]:
    """Return the parameters of a call with those that `input` holds in it."""
    fields = {name: value for name, value in example.items() if name in held}
    beside = {name: value for name, value in example.items() if name not in held}
    return {**beside, _INPUT: fields} if fields else beside


def _is_field(parameter: Parameter) -> bool:
    """Return True for a query parameter that an update sets."""
    if parameter.location != "query" or parameter.preset is not None:
        return False
    words = split(parameter.wire)
    if not words or words[-1] in ("id", "ids") or "_".join(words) in _IDENTIFYING:
        return False
    return _ASKING.isdisjoint(words)
