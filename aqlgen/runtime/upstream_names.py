# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Which parameters an error of the API is about, in the API's own spelling (RFC 9457 and the common shapes)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .shapes import folded

__all__ = ["LISTS", "by_name", "is_texts", "names_of"]

_PARAMS = (
    "param",
    "parameter",
    "parametername",
    "field",
    "fieldname",
    "loc",
    "propertypath",
    "instancepath",
    "path",
    "pointer",
    "name",
    "property",
    "attribute",
    "location",
    "target",
)
_TOP_PARAMS = ("param", "parameter", "field")
_MAPS = ("errors", "fielderrors", "validationerrors", "modelstate")
"""Keys whose object has the names of parameters as keys."""
LISTS = (
    *_MAPS,
    "invalidparams",
    "invalidparameters",
    "detail",
    "details",
    "violations",
    "fieldviolations",
    "constraintviolations",
    "issues",
    "suberrors",
    "elements",
)
_NAMED = ("fields", "parameters", "params", "membernames")
"""Keys of a list of names."""
_DEEPEST = 6


def by_name(body: Mapping[str, Any]) -> dict[str, Any]:
    """Give the values by their folded keys: `ErrorMessage`, `error_message` and `errorMessage` are one."""
    return {folded(str(key)): value for key, value in body.items()}


def is_texts(value: Any) -> bool:
    """Whether a value is a list of texts."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def names_of(body: Any, depth: int) -> Iterator[str]:
    """Give the names of the parameters that the error is about."""
    if depth > _DEEPEST:
        return
    if isinstance(body, list):
        for one in body[:20]:
            yield from names_of(one, depth + 1)
        return
    if not isinstance(body, Mapping):
        return
    known = by_name(body)
    for key in _PARAMS if depth else _TOP_PARAMS:
        name = _name(known.get(key))
        if name:
            yield name
            break
    for key in _NAMED:
        value = known.get(key)
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            yield from filter(None, map(_name, value[:20]))
    for key in ("source", "error", *LISTS):
        value = known.get(key)
        if isinstance(value, Mapping) and (key in _MAPS or (value and all(map(_is_list, value.values())))):
            yield from (_name(str(name)) for name in list(value)[:20])
        elif isinstance(value, list | Mapping):
            yield from names_of(value, depth + 1)
    if not depth and body and all(is_texts(value) for value in body.values()):
        yield from (str(name) for name in list(body)[:20])


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _name(value: Any) -> str:
    """Give a name out of `petId`, `/data/petId`, `body.petId` or `["body", "petId"]`."""
    if isinstance(value, list):
        steps = [str(one) for one in value]
    elif isinstance(value, str):
        steps = [one for one in re.split(r"[/.]", value.removeprefix("#")) if one not in ("", "$")]
    else:
        return ""
    if len(steps) > 1 and steps[0] in ("body", "query", "path", "header", "cookie", "data", "attributes", "params"):
        steps = steps[1:]
    if len(steps) > 1 and steps[0] == "attributes":
        steps = steps[1:]
    return ".".join(steps)[:100]
