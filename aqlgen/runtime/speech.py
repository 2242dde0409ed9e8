# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What may stand in a message to an agent: short, quoted, without secrets or an implementation's traces (R-ENV-4)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

__all__ = ["bounded", "leaks", "listed", "redact", "redacted", "shown"]

_LEAK = re.compile(r"at\s+\S+|typeerror|referenceerror|syntaxerror|/src/|/node_modules/|\.[tj]s:\d+", re.IGNORECASE)
_TRACE = re.compile(r"\n\s+at\s|Traceback \(most recent|\n\s+File \"")
_SHORTEST_SECRET = 4  # replacing every 'a' in an answer would hide nothing and spoil the text


def leaks(text: str) -> bool:
    """Whether a text would be taken for a stack trace or a path by the protocol's own check of messages."""
    return _LEAK.search(text) is not None


def redact(text: str, secrets: Iterable[str]) -> str:
    """Give the text with every secret replaced by `***`, the longest first."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET and secret in text:
            text = text.replace(secret, "***")
    return text


def redacted(value: Any, secrets: Iterable[str]) -> Any:
    """Give JSON data with every secret in its texts and keys replaced by `***`."""
    if isinstance(value, str):
        return redact(value, secrets)
    if isinstance(value, dict):
        return {redact(key, secrets): redacted(one, secrets) for key, one in value.items()}
    return [redacted(one, secrets) for one in value] if isinstance(value, list) else value


def bounded(text: str, limit: int = 500) -> str:
    """Give a foreign text on one line, without a stack trace, of `limit` characters or fewer."""
    trace = _TRACE.search(text)
    if trace is not None:
        text = text[: trace.start()]
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def shown(value: Any) -> str:
    """Give a value as it may stand in a sentence: a text in quotes, anything else as JSON."""
    return f"'{value}'" if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def listed(values: Iterable[Any], limit: int = 20) -> str:
    """Give values as `'a', 'b', 'c'`; those above `limit` are only counted."""
    texts = [shown(value) for value in values]
    more = len(texts) - limit
    return ", ".join(texts) if more <= 0 else ", ".join(texts[:limit]) + f" and {more} more"
