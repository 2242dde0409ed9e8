# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Cuts an answer that is longer than its limit (R-WARN-3, R-REQ-9; warnings document, 4.3).

What can be cut without making it something else is cut: the longest list that stands in the answer, or within objects
of it, loses its last items, and a plain text its end. Everything else (binary content, an object without a list that
matters) would be damaged: it is refused. An answer to a call that changed something is never refused, since that would
look as if nothing had happened: where it cannot be cut, it is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .errors import Code, Failure
from .notices import Notice

__all__ = ["CODE", "refusal", "stream_notice", "truncate"]

CODE = "VALIDATION_TRUNCATED_WARNING"
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def truncate(data: Any, most: int, *, performed: bool = False) -> tuple[Any, Notice | None]:
    """Give the data in `most` bytes of JSON or fewer, and the warning if some is lost.

    `performed` says that the call changed something. Raises Failure (PAYLOAD_TOO_LARGE). Costs as much as writing the
    data, so call it only when the response was long.
    """
    size = _size(data)
    if size <= most:
        return data, None
    if isinstance(data, str):
        return _text(data, size, most)
    found = max(_lists(data, ()), key=lambda one: one[0], default=None)
    if found is not None:
        weight, path, items = found
        kept = _fitting(items, most - (size - weight))
        if kept:
            field = ".".join(path) or "data"
            return _replaced(data, path, items[:kept]), _notice(field, len(items), kept, "items", most)
    if performed:
        return None, _notice("data", 1, 0, "items", most)
    raise refusal(most, size)


def stream_notice(cut: str, data: Any) -> Notice:
    """Tell that a stream was not listened to until its end; `cut` is what ended it: events, bytes, time, break."""
    kept = len(data) if isinstance(data, list) else 0
    why = {
        "events": "no more are taken from a stream",
        "bytes": "an answer may not hold more",
        "time": "the time for listening to a stream is over",
        "break": "the connection broke",
    }[cut]
    details = {"field": "data", "truncated_count": kept, "limit": kept, "reason": why}
    return Notice(CODE, f"Response truncated to {kept} items: {why}", "low", details)


def refusal(most: int, size: int, *, performed: bool = False) -> Failure:
    """PAYLOAD_TOO_LARGE for an answer that cannot be shown."""
    message = f"Payload exceeds response_size limit of {most} bytes"
    advice = "the API has performed the call, only its answer is lost" if performed else "ask for less"
    details: dict[str, Any] = {
        "limit_type": "response_size",
        "limit_value": most,
        "actual_value": size,
        "unit": "bytes",
    }
    if not performed:
        advice += ", such as a smaller page"
    return Failure(Code.PAYLOAD_TOO_LARGE, f"{message}: {advice}", details)


def _size(value: Any) -> int:
    text = _encode(value)
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _lists(value: Any, path: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...], list[Any]]]:
    """Give every list within objects, with its size and the way to it."""
    if isinstance(value, list):
        yield _size(value), path, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _lists(one, (*path, key))


def _fitting(items: list[Any], room: int) -> int:
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


def _text(text: str, size: int, most: int) -> tuple[str, Notice]:
    kept = text
    while size > most:
        kept = kept[: max(0, min(len(kept) * most // size, len(kept) - 1))]
        size = _size(kept)
    return kept, _notice("data", len(text), len(kept), "characters", most)


def _notice(field: str, original: int, kept: int, what: str, most: int) -> Notice:
    severity = "medium" if kept * 2 < original else "low"
    details = {
        "field": field,
        "original_count": original,
        "truncated_count": kept,
        "limit": kept,
        "max_response_size": most,
    }
    return Notice(CODE, f"Response truncated to {kept} {what}", severity, details)
