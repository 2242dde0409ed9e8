# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What to give instead of a value of the wrong type, where it can be seen what was meant (R-ENV-5).

Values are never turned into other types; whoever wrote them is told what to write.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

__all__ = ["instead"]

_LONGEST = 60


def instead(value: Any, types: Collection[str]) -> str:
    """Give what ends the message, such as ". Give 7, without quotes"; empty when nothing can be said."""
    if isinstance(value, str):
        read = _read(value)
        if _is_one_of(read, types):
            if isinstance(read, (list, dict)):
                return ". Give it as it is, not as the text of it"
            return _bounded(f". Give {json.dumps(read)}, without quotes")
    if "array" in types and value is not None and not isinstance(value, (list, Mapping)):
        parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else [value]
        return _bounded(f". Give a list: {json.dumps(parts, ensure_ascii=False)}") or ". Give a list"
    if "string" in types and isinstance(value, (bool, int, float)):
        return _bounded(f'. Give "{json.dumps(value)}", in quotes')
    return ""


def _read(text: str) -> Any:
    """Give the value that a text is the JSON of, `True` and `FALSE` too; else the text."""
    try:
        return json.loads(text.lower() if text.lower() in ("true", "false") else text)
    except (ValueError, RecursionError):
        return text


def _is_one_of(value: Any, types: Collection[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int):
        return "integer" in types or "number" in types
    if isinstance(value, float):
        return "number" in types
    return "array" in types if isinstance(value, list) else isinstance(value, dict) and "object" in types


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST else ""
