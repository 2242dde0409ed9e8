# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The fingerprint of a call, which binds a confirmation token or a cursor to an operation with its parameters."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["fingerprint"]


def fingerprint(operation: str, params: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an operation with its parameters; their order and the form of numbers do not matter."""
    text = json.dumps([operation, _canonical(params)], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _canonical(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
