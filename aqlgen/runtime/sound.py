# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Makes data of the API fit to be passed on: no half of a surrogate pair, and not too deep to be written."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["sound"]

_DEEPEST = 150
"""Levels that the way to the client bears with room to spare; what lies deeper is given as its JSON."""


def sound(data: Any, content: bytes) -> Any:
    """Give the data, as it is when the JSON that it was read from gives no reason for doubt."""
    halves = b"\\ud" in content or b"\\uD" in content
    deep = content.count(b"}") + content.count(b"]") > _DEEPEST
    if not halves and (not deep or _depth(data) <= _DEEPEST):
        return data
    return _copied(data, 1)


def _depth(data: Any) -> int:
    """Count the levels of arrays and objects; stops when there are too many."""
    depth = 0
    level = [data] if isinstance(data, (dict, list)) else []
    while level and depth <= _DEEPEST:
        depth += 1
        level = [
            inner
            for one in level
            for inner in (one.values() if type(one) is dict else one)
            if type(inner) is dict or type(inner) is list
        ]
    return depth


def _copied(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not isinstance(value, (dict, list)):
        return value
    if depth > _DEEPEST:
        try:
            return json.dumps(value)
        except RecursionError:
            return None
    if isinstance(value, dict):
        return {_copied(key, depth): _copied(item, depth + 1) for key, item in value.items()}
    return [_copied(item, depth + 1) for item in value]
