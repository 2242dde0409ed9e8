# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Deep merge of what changes into what is there: objects merge, arrays replace, null removes (R-UPD-2; RFC 7396)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .shapes import folded, referred, union_of
from .table import JsonSchema, Table

__all__ = ["differences", "merged", "operations", "writable"]

_DEEPEST = 40


def merged(there: Any, change: Any) -> Any:
    """Give what is there with the change merged into it, as a copy; an object that was not there loses its nulls."""
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
    """Give the operations that turn one into the other (RFC 6902)."""
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
    """Give the operations of a change when nothing is known of what is there: `add` replaces what is there already."""
    for key, value in change.items():
        here = f"{path}/{_escaped(key)}"
        if value is None:
            yield {"op": "remove", "path": here}
        elif isinstance(value, dict) and value:
            yield from operations(value, here)
        else:
            yield {"op": "add", "path": here, "value": value}


def writable(table: Table, value: Any, written: JsonSchema, read: JsonSchema, depth: int = 0) -> Any:
    """Give what was read without what cannot be written: fields that only reading declares, and nulls that are refused.

    A field that neither declares stays: nothing of it may be lost.
    """
    if depth > _DEEPEST or not isinstance(value, (dict, list)):
        return value
    to, of = union_of(table, written), union_of(table, read)
    if isinstance(value, list):
        items, others = next(iter(to.items), {}), next(iter(of.items), {})
        return [writable(table, one, items, others, depth + 1) for one in value] if items else value
    if not to.properties:
        return value
    known = {wire: (name, schema) for name, (wire, schema) in to.properties.items()}
    told = dict(of.properties.values())
    hidden = {folded(name) for name in to.hidden}
    kept: dict[str, Any] = {}
    for key, one in value.items():
        if key in known:
            name, schema = known[key]
            if one is not None or name in to.required or _nullable(table, schema):
                kept[key] = writable(table, one, schema, told.get(key, {}), depth + 1)
        elif key not in told and folded(key) not in hidden:
            kept[key] = one
    return kept


def _nullable(table: Table, schema: JsonSchema, depth: int = 0) -> bool:
    """Whether a schema admits null, or does not say what it admits."""
    name = referred(schema)
    if name is not None:
        return depth < _DEEPEST and _nullable(table, table.types.get(name, {}), depth + 1)
    kind = schema.get("type")
    if kind is not None:
        return "null" in kind if isinstance(kind, list) else bool(kind == "null")
    if "enum" in schema:
        return None in schema["enum"]
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if isinstance(options, list):
            return any(isinstance(one, Mapping) and _nullable(table, one, depth + 1) for one in options)
    return "properties" not in schema and "allOf" not in schema


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
