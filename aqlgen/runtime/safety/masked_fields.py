# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The fields that the document declares as secrets, at any depth of a call's parameters (R-SAFE-5)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..schema.reader import follow, referred, union_of, without_null

if TYPE_CHECKING:
    from ..schema.reader import Types
    from ..table import Row

__all__ = ["SECRET_NAME", "secret_names"]

SECRET_NAME = re.compile(
    r"passw|passphrase|secret|token|api_?key|credential|authori[sz]ation|private_?key|^pin$|cvv", re.IGNORECASE
)
"""A name whose value is shown to nobody and kept nowhere, whatever the document says of it."""

_MOST = 500
"""The most schemas that are looked at; of what is behind them the names alone tell."""


def secret_names(row: Row, types: Types) -> frozenset[str]:
    """Return the names of the fields whose values are secrets (`format: password`), by the agent's and the API's."""
    names: set[str] = set()
    todo: list[Any] = [parameter.schema for parameter in row.parameters.values() if parameter.location != "adapter"]
    seen: set[str | int] = set()
    while todo and len(seen) < _MOST:
        schema = todo.pop()
        if not isinstance(schema, Mapping) or not schema:
            continue
        target = follow(schema, types)
        key = referred(without_null(schema)[0]) or id(schema)
        if key in seen:
            continue
        seen.add(key)
        shape = union_of(types, target)
        for name, (wire, inner) in shape.properties.items():
            if follow(inner, types).get("format") == "password":
                names.update((name, wire))
            todo.append(inner)
        todo += [*shape.items, *shape.extra]
    return frozenset(names)
