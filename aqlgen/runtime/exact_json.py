"""JSON whose numbers keep their digits, read and written (RFC 8259, 6), and the fingerprint of a call.

Integers are exact in Python. A number with a fraction or an exponent is a float; where the float would be written with
other digits (1.10, 0.1000000000000000055, 1e400) it is an `ExactFloat`, which carries its text. Reading costs a call a
float, writing nothing as long as no such number is alive.

The fingerprint binds a cursor or a confirmation to an operation with its parameters, whatever their order and the form
of their numbers.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_LARGEST = sys.float_info.max
_PLAIN_LENGTH = 16
"""The most characters of a number that surely is written as it was read: 15 digits and a point."""
_LOSING = re.compile(rb"\d(?:\.(?:\d{7}|0000|\d++(?<=\d0))|\d{9}\.\d|[eE][+-]?\d{3,}+[\s,\]}])")
"""What every JSON text has that holds a number which a float may not keep, and some others have."""
_MARK = secrets.token_hex(16) + ":"
"""The beginning of a text that stands for a number while JSON is written; nobody outside can know it."""
_MARKED = re.compile(rf'"{_MARK}([^"]*+)"')
_alive: set[int] = set()
"""The identities of all exact floats that are alive."""
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class ExactFloat(float):
    """A float with the text of the number that it was read from; for arithmetic and validation it is the float."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> ExactFloat:
        """Make the float of a number of JSON. Raises ValueError for another text."""
        number = super().__new__(cls, text)
        number.text = text
        _alive.add(id(number))
        return number

    def __del__(self) -> None:
        """Forget the number."""
        _alive.discard(id(self))

    @property
    def is_equal(self) -> bool:
        """True if the float equals the number, however it is written."""
        from decimal import Decimal

        try:
            return math.isfinite(self) and Decimal(self.text) == Decimal(float.__repr__(self))
        except ArithmeticError:  # an exponent that no decimal has
            return False

    def __repr__(self) -> str:
        """Return the text that the number was read from."""
        return self.text

    def __reduce__(self) -> tuple[type[ExactFloat], tuple[str]]:
        """Return the class and the argument of a copy, for `copy` and `pickle`."""
        return ExactFloat, (self.text,)


def read_float(text: str) -> float:
    """Return a number of JSON with a fraction or an exponent; to be `parse_float` of a JSON decoder."""
    if len(text) <= _PLAIN_LENGTH and text[-1] != "0" and "e" not in text and "E" not in text and "0000" not in text:
        return float(text)
    number = float(text)
    return number if repr(number) == text else ExactFloat(text)


def read_json(text: str | bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the value of a JSON text; `pairs` makes objects. Raises ValueError, also for NaN, and RecursionError."""
    return json.loads(text, parse_float=read_float, parse_constant=_refused, object_pairs_hook=pairs)


def _refused(name: str) -> None:
    raise ValueError(name)


def loses_digits(content: bytes) -> bool:
    """Return True if a JSON text may hold a number that a reader of floats would not keep."""
    return _LOSING.search(content) is not None


def write_json(value: Any, encode: Callable[[Any], str] = _compact) -> str:
    """Return a value as JSON, compact unless `encode` writes otherwise. Raises what `encode` raises."""
    if not _alive or not _holds(value):
        return encode(value)
    return _MARKED.sub(r"\1", encode(_replaced(value, lambda number: _MARK + number.text)))


def holds_whole(value: Any) -> bool:
    """Return True if there is a whole number in the form of a float in a value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return is_whole(value) or any(map(holds_whole, inner))


def is_whole(value: Any) -> bool:
    """Return True for a float that is a whole number, and stands for no other one."""
    is_near = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return is_near and (not isinstance(value, ExactFloat) or value.is_equal)


def with_floats(value: Any, *, to_show: bool = False) -> Any:
    """Return a value with the nearest plain floats, for those who know no others: validators, structured content.

    A number beyond all floats is the largest of them, `to_show` its text.
    """
    if not _alive or not _holds(value):
        return value
    return _replaced(
        value, lambda it: it.text if to_show and math.isinf(it) else min(max(float(it), -_LARGEST), _LARGEST)
    )


def _holds(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return type(value) is ExactFloat or any(map(_holds, inner))


def _replaced(value: Any, replacement: Callable[[ExactFloat], Any]) -> Any:
    if type(value) is ExactFloat:
        return replacement(value)
    if isinstance(value, dict):
        return {key: _replaced(item, replacement) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(item, replacement) for item in value]
    return value


_sorted = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def fingerprint(operation: str, params: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an operation with its parameters; their order and the form of numbers do not matter."""
    text = canonical([operation, params])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical(value: Any) -> str:
    """Return a value as JSON that is the same for equal values, whatever the order of keys and the form of numbers."""
    return write_json(_canonical(value), _sorted)


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


def size_of(value: Any, limit: int) -> int:
    """Return about how many characters a value has as JSON; the count ends past the limit."""
    total, todo = 0, [value]
    while todo and total <= limit:
        inner = todo.pop()
        if isinstance(inner, str):
            total += len(inner) + 2
        elif isinstance(inner, Mapping):
            total += 2 + sum(len(str(key)) + 4 for key in inner)
            todo.extend(inner.values())
        elif isinstance(inner, Sequence):
            total += 2 + len(inner)
            todo.extend(inner)
        else:
            total += len(inner.text) if isinstance(inner, ExactFloat) else 8
    return total
