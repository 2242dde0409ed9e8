# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""The limits of a request, and the check that its text is valid (specification, 4.7.1 and 4.7.5; R-REQ-9, R-REQ-10)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import Code, Failure
from ..settings.config import Config

__all__ = ["Limits", "too_large"]

_ESCAPED = 6
"""The most bytes that JSON spends on one byte of text: `\\u001f`."""


def too_large(limit_type: str, limit: int, actual: int, unit: str) -> Failure:
    """Build VALIDATION_PAYLOAD_TOO_LARGE; the unit is bytes, elements or levels."""
    details = {"limit_type": limit_type, "limit_value": limit, "actual_value": actual, "unit": unit}
    message = f"Payload exceeds {limit_type} limit of {limit} {unit}: it has {actual}. Send less in one request."
    return Failure(Code.PAYLOAD_TOO_LARGE, message, details)


class Limits:
    """The check of a call's arguments in one walk; a small call costs a few microseconds."""

    __slots__ = ("_array", "_depth", "_request", "_string")

    def __init__(self, config: Config) -> None:
        self._request = config.max_request_size
        self._string = config.max_string_length
        self._array = config.max_array_elements
        self._depth = config.max_nesting_depth

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise Failure if the arguments are too large or too deep, or hold text that is not valid."""
        bound = self._walk(arguments, 1, "")
        if bound <= self._request:
            return
        size = len(json.dumps(arguments, ensure_ascii=False, separators=(",", ":")).encode())
        if size > self._request:
            raise too_large("request_size", self._request, size, "bytes")

    def _walk(self, value: Any, depth: int, path: str) -> int:
        """Return an upper bound of the value's size as JSON."""
        kind = type(value)
        if kind is str:
            size = len(value)
            if value.isascii():
                if "\x00" in value:
                    raise _encoding(value, path)
            else:
                try:
                    size = len(value.encode())
                except UnicodeEncodeError:
                    raise _encoding(value, path) from None
                if "\x00" in value:
                    raise _encoding(value, path)
            if size > self._string:
                raise too_large("string_length", self._string, size, "bytes")
            return size * _ESCAPED + 2
        if kind is dict:
            if depth > self._depth:
                raise too_large("nesting_depth", self._depth, depth, "levels")
            total = 2
            for key, item in value.items():
                total += self._walk(key, depth, path) + 2
                total += self._walk(item, depth + 1, f"{path}.{key}" if path else key)
            return total
        if kind is list:
            if depth > self._depth:
                raise too_large("nesting_depth", self._depth, depth, "levels")
            if len(value) > self._array:
                raise too_large("array_elements", self._array, len(value), "elements")
            total = 2
            for index, item in enumerate(value):
                total += self._walk(item, depth + 1, f"{path}[{index}]") + 1
            return total
        if kind is int and value.bit_length() > 64:
            return int(value.bit_length())
        return 24


def _encoding(value: str, path: str) -> Failure:
    position = next(index for index, char in enumerate(value) if char == "\x00" or "\ud800" <= char <= "\udfff")
    details: dict[str, Any] = {"byte_offset": len(value[:position].encode())}
    if path:
        details["location"] = path.encode("utf-8", "replace").decode()
    what = "a null character" if value[position] == "\x00" else "bytes outside UTF-8, or half of a surrogate pair"
    where = f" '{details['location']}'" if path else ""
    message = f"Invalid character encoding in request:{where} holds {what}. Send text without it."
    return Failure(Code.INVALID_ENCODING, message, details)
