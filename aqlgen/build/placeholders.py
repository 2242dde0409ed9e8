"""Path parameters and the names in braces of the path, made to fit each other (OpenAPI 3.1.1, 4.8.8 and 4.8.12.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from aqlgen.build.context import Context
from aqlgen.ir import MISSING, Location, Origin, Parameter
from aqlgen.runtime.encode.urls import placeholders


def fitted(
    context: Context, found: Mapping[tuple[str, Location], Parameter], path: str, pointer: str
) -> tuple[Parameter, ...]:
    """Give the parameters that fit the path: spelled as in its template, one for each placeholder, and no others."""
    used = tuple(dict.fromkeys(placeholders(path)))
    undeclared = {_folded(name): name for name in used if (name, Location.PATH) not in found}
    kept: list[Parameter] = []
    for (name, location), parameter in found.items():
        if location is not Location.PATH or name in used:
            kept.append(parameter)
        elif (spelled := undeclared.pop(_folded(name), None)) is not None:
            message = f"the parameter {name!r} is spelled {{{spelled}}} in the path {path}; that counts"
            context.warn("bad-parameter", message, parameter.origin.pointer)
            kept.append(replace(parameter, name=spelled))
        else:
            message = f"the path {path} has no {{{name}}}; the parameter {name!r} is left out"
            context.warn("bad-parameter", message, parameter.origin.pointer)
    for name in undeclared.values():
        message = f"the path {path} has {{{name}}}, which no parameter declares; it is taken as a string"
        context.warn("bad-parameter", message, pointer, help=f"Declare {name!r} with `in: path`.")
        kept.append(_plain(name, pointer))
    return tuple(kept)


def _folded(name: str) -> str:
    """Give a name without case and signs, which is how spellings of one name differ."""
    return re.sub(r"[\W_]+", "", name).lower() or name


def _plain(name: str, pointer: str) -> Parameter:
    return Parameter(
        name=name,
        location=Location.PATH,
        required=True,
        schema={"type": "string"},
        description="",
        deprecated=False,
        style="simple",
        explode=False,
        allow_reserved=False,
        content_type=None,
        example=MISSING,
        origin=Origin(pointer),
    )
