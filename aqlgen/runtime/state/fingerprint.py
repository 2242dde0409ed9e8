# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The fingerprint of a call, which binds a cursor or a confirmation to an operation with its parameters."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..exact_json import ExactFloat, write_json

__all__ = ["fingerprint"]

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def fingerprint(operation: str, params: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an operation with its parameters; their order and the form of numbers do not matter."""
    text = write_json([operation, _canonical(params)], _encode)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _canonical(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    if type(value) is ExactFloat and value.is_equal:
        value = float(value)
    elif type(value) is ExactFloat:
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else value
