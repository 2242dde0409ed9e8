# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The API's own parameters of pages: what size is asked for, and where a page asks to begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..table import Row
    from .plans import Plan

__all__ = ["asked", "first_lead", "number", "put"]


def first_lead(row: Row, plan: Plan) -> int | str | None:
    """Return the parameter's value for the first page; None where it can be left out.

    A page or an offset is told where the API's own default may be another, or where it must be told; a cursor that must
    be told is empty, since none was given yet.
    """
    parameter = row.parameters.get(plan.lead or "")
    if parameter is None:
        return None
    demanded = parameter.name in (row.paging.demanded if row.paging is not None else ())
    default = parameter.schema.get("default")
    if plan.style in ("page", "offset"):
        return plan.start if demanded or (number(default) is None and plan.start == 0) else None
    if not demanded:
        return None
    if isinstance(default, (int, str)):
        return default
    kinds = parameter.schema.get("type", "string")
    return "" if "string" in kinds else 0


def asked(row: Row, plan: Plan, wanted: int) -> int | None:
    """Return the size to ask the API for, as its parameter allows; None when it has none."""
    if plan.size is None:
        return None
    parameter = row.parameters.get(plan.size)
    schema: Mapping[str, Any] = {} if parameter is None else parameter.schema
    options = sorted(one for one in schema.get("enum", ()) if isinstance(one, int))
    if options:
        return next((one for one in options if one >= wanted), options[-1])
    least, most = number(schema.get("minimum")), number(schema.get("maximum"))
    wanted = wanted if least is None else max(wanted, least)
    return wanted if most is None else min(wanted, most)


def put(params: dict[str, Any], plan: Plan, row: Row, name: str, value: int | str) -> None:
    """Set a parameter of the API, as text where it is one; one within an object of the body as a copy of that."""
    parameter = row.parameters.get(name)
    if parameter is not None:
        kind = parameter.schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        if isinstance(value, int) and "string" in kinds and "integer" not in kinds and "number" not in kinds:
            value = str(value)
        elif isinstance(value, str) and value.isdigit() and ("integer" in kinds or "number" in kinds):
            value = int(value)
        params[name] = value
        return
    body = row.body
    path = plan.within if body is None or body.shape == "fields" else (body.parameter or "", *plan.within)
    here = params
    for step in path:
        inner = here.get(step)
        here[step] = here = dict(inner) if isinstance(inner, Mapping) else {}
    here[name] = value


def number(value: Any) -> int | None:
    """Return a whole number, also one written as text; None for anything else."""
    if isinstance(value, str) and value.isdigit():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
