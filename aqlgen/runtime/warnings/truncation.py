# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Truncation of answers that are longer than their limit (R-WARN-3, R-REQ-9; warnings document, 4.3).

Only lists and plain texts are cut: the longest list in the answer, or in its objects, loses its last items, and a text
its end. Everything else (binary content, an object without a long list) would be damaged and is refused. An answer to a
call that changed something is never refused, since that would look as if nothing had happened: if it cannot be cut, it
is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..errors import response_too_large
from .collector import CallWarning

__all__ = ["CODE", "stream_warning", "truncate"]

CODE = "VALIDATION_TRUNCATED_WARNING"
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def truncate(data: Any, most: int, *, performed: bool = False) -> tuple[Any, CallWarning | None]:
    """Return the data in `most` bytes of JSON or fewer, and the warning if some is lost.

    `performed` says that the call changed something. Raises Failure (PAYLOAD_TOO_LARGE). Costs as much as encoding the
    data, so call it only when the response was long.
    """
    size = _size(data)
    if size <= most:
        return data, None
    if isinstance(data, str):
        return _text(data, size, most)
    longest = max(_lists(data, ()), key=lambda entry: entry[0], default=None)
    if longest is not None:
        weight, path, items = longest
        kept = _count_fitting(items, most - (size - weight))
        if kept:
            field = ".".join(path) or "data"
            return _replaced(data, path, items[:kept]), _warning(field, len(items), kept, "items", most)
    if performed:
        return None, _warning("data", 1, 0, "items", most)
    raise response_too_large(most, size)


def stream_warning(cut: str, data: Any) -> CallWarning:
    """Return the warning that a stream was not read to its end; `cut` says why: events, bytes, time or break."""
    kept = len(data) if isinstance(data, list) else 0
    reason = {
        "events": "no more are taken from a stream",
        "bytes": "an answer may not hold more",
        "time": "the time for listening to a stream is over",
        "break": "the connection broke",
    }[cut]
    details = {"field": "data", "truncated_count": kept, "limit": kept, "reason": reason}
    return CallWarning(CODE, f"Response truncated to {kept} items: {reason}", "low", details)


def _size(value: Any) -> int:
    text = _encode(value)
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _lists(value: Any, path: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...], list[Any]]]:
    """Yield every list within objects, with its size and path."""
    if isinstance(value, list):
        yield _size(value), path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _lists(inner, (*path, key))


def _count_fitting(items: list[Any], room: int) -> int:
    """Count the leading items that fit into a list of `room` bytes."""
    room -= 1  # the brackets, less the comma that the last item does not need
    for index, item in enumerate(items):
        room -= _size(item) + 1
        if room < 0:
            return index
    return len(items)


def _replaced(data: Any, path: tuple[str, ...], items: list[Any]) -> Any:
    if not path:
        return items
    return {**data, path[0]: _replaced(data[path[0]], path[1:], items)}


def _text(text: str, size: int, most: int) -> tuple[str, CallWarning]:
    kept = text
    while size > most:
        kept = kept[: max(0, min(len(kept) * most // size, len(kept) - 1))]
        size = _size(kept)
    return kept, _warning("data", len(text), len(kept), "characters", most)


def _warning(field: str, original: int, kept: int, what: str, most: int) -> CallWarning:
    severity = "medium" if kept * 2 < original else "low"
    details = {
        "field": field,
        "original_count": original,
        "truncated_count": kept,
        "limit": kept,
        "max_response_size": most,
    }
    return CallWarning(CODE, f"Response truncated to {kept} {what}", severity, details)
