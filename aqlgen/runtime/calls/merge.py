# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Deep merge of a change into what is there: objects merge, arrays replace, null removes (R-UPD-2; RFC 7396)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..schema.reader import Types, nullable
from ..schema.shapes import union_of
from ..table import JsonSchema
from ..text import folded

__all__ = ["differences", "merged", "operations", "writable"]

_DEEPEST = 40


def merged(there: Any, change: Any) -> Any:
    """Return a copy of what is there with the change merged in; an object that was not there loses its nulls."""
    if not isinstance(change, dict):
        return change
    whole = dict(there) if isinstance(there, dict) else {}
    for key, value in change.items():
        if value is None:
            whole.pop(key, None)
        else:
            whole[key] = merged(whole.get(key), value)
    return whole


def differences(before: Any, after: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the operations that turn one value into the other (RFC 6902)."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        if before != after:
            yield {"op": "replace", "path": path, "value": after}
        return
    for key, value in before.items():
        if key not in after:
            yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
        else:
            yield from differences(value, after[key], f"{path}/{_escaped(key)}")
    for key, value in after.items():
        if key not in before:
            yield {"op": "add", "path": f"{path}/{_escaped(key)}", "value": value}


def operations(change: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the operations of a change to what is not known: `add` replaces what may be there."""
    for key, value in change.items():
        here = f"{path}/{_escaped(key)}"
        if value is None:
            yield {"op": "remove", "path": here}
        elif isinstance(value, dict) and value:
            yield from operations(value, here)
        else:
            yield {"op": "add", "path": here, "value": value}


def writable(types: Types, value: Any, written: JsonSchema, read: JsonSchema, depth: int = 0) -> Any:
    """Return what was read without what cannot be written: fields that only `read` declares, and refused nulls.

    A field that neither schema declares stays: nothing of it may be lost.
    """
    if depth > _DEEPEST or not isinstance(value, (dict, list)):
        return value
    target, source = union_of(types, written), union_of(types, read)
    if isinstance(value, list):
        items, read_items = next(iter(target.items), {}), next(iter(source.items), {})
        return [writable(types, item, items, read_items, depth + 1) for item in value] if items else value
    if not target.properties:
        return value
    by_wire = {wire: (name, schema) for name, (wire, schema) in target.properties.items()}
    read_schemas = dict(source.properties.values())
    hidden = {folded(name) for name in target.hidden}
    kept: dict[str, Any] = {}
    for key, inner in value.items():
        if key in by_wire:
            name, schema = by_wire[key]
            if inner is not None or name in target.required or nullable(schema, types):
                kept[key] = writable(types, inner, schema, read_schemas.get(key, {}), depth + 1)
        elif key not in read_schemas and folded(key) not in hidden:
            kept[key] = inner
    return kept


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
