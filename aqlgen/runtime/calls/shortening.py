# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What `standard` leaves of a thing that is long or deep: the beginning of texts and lists, and the upper levels.

Of another thing within it, at any level, what identifies that one is enough.
"""

from __future__ import annotations

from typing import Any, Final

from ..text import folded
from .identity import IDENTIFIERS, NAMES

__all__ = ["shortened"]

_LONGEST_TEXT, _TEXT = 600, 400
_LONGEST_LIST, _LIST = 20, 10
_MOST_FIELDS: Final = 12
"""Fields of a thing within another from which on only those that identify it are shown."""

_IDENTIFYING: Final = IDENTIFIERS | NAMES
_DEEPEST: Final = 3
"""Levels of objects below a thing; of what is deeper only the plain values of the level above stay."""


def shortened(value: Any, cut: set[str], path: str = "", depth: int = 0) -> Any:
    """Return a value with long texts, long lists and deep objects cut; `cut` takes the paths."""
    if isinstance(value, str):
        if len(value) <= _LONGEST_TEXT:
            return value
        cut.add(path)
        return f"{value[:_TEXT]}… [{len(value)} characters]"
    if isinstance(value, list):
        kept = value
        if depth and len(value) > _LONGEST_LIST:
            cut.add(path)
            kept = value[:_LIST]
        return [shortened(item, cut, path, depth) for item in kept]
    if not isinstance(value, dict):
        return value
    if depth and len(value) > _MOST_FIELDS and any(folded(key) in IDENTIFIERS for key in value):
        cut.add(path)
        return {
            key: inner
            for key, inner in value.items()
            if folded(key) in _IDENTIFYING and not isinstance(inner, (dict, list))
        }
    short: dict[str, Any] = {}
    for key, inner in value.items():
        inner_path = f"{path}.{key}" if path else key
        if depth >= _DEEPEST and isinstance(inner, (dict, list)) and inner:
            cut.add(inner_path)
        else:
            short[key] = shortened(inner, cut, inner_path, depth + 1)
    return short
