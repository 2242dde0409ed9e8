"""How a parameter's value is written, by style and explode (OpenAPI 3.1, Style Values and Style Examples).

Values are percent-encoded wherever they stand in a URL or a cookie; what separates them is not. Objects and arrays
within a value that has no style are written as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from ..errors import invalid
from ..exact_json import ExactFloat, write_json
from ..table import Parameter

_RESERVED = ":/?@!$'()*,;="  # RFC 3986's reserved characters without those that a query reads otherwise: # [ ] & +
_PATH_RESERVED = ":@!$&'()*+,;="  # those that a segment may hold (RFC 3986, 3.3)
_COOKIE_RESERVED = ":/?#[]@!$&'()*+="  # those that a cookie's value may hold (RFC 6265, 4.1.1)
_TRIPLET = re.compile(r"(%[0-9A-Fa-f]{2})")
_SEGMENT_TRIPLETS = frozenset({"%2f", "%5c", "%2e"})
"""Percent-encoded characters that would end a path's segment."""
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
"""What separates the values of an array, where it is no comma; tabs, and all of them beyond a query, are 2.0's."""
_NESTED = (Mapping, list, tuple)
"""Types of values within a value, which make it JSON in a header."""


def check_separable(value: Any, parameter: Parameter, *, plain: bool = False) -> None:
    """Raise Failure for a list or object with an item that would arrive as two, since it holds what separates them.

    In a URL a comma between items is not encoded, and one within an item is (RFC 6570, 3.2.1); `plain` is no URL.
    """
    if not isinstance(value, Mapping | list | tuple) or parameter.content_type is not None:
        return
    in_header = parameter.location == "header"
    separator = _SEPARATORS.get(parameter.style, "," if in_header or plain else "")
    items = [*value, *value.values()] if isinstance(value, Mapping) else value
    if not separator or (parameter.explode and not in_header) or any(isinstance(item, _NESTED) for item in items):
        return
    if any(separator in wire_text(item) for item in items if item is not None):
        message = f"Items of '{parameter.name}' are separated by {separator!r}, so no item can hold it: split the item"
        raise invalid(parameter.name, message)


def wire_text(value: Any) -> str:
    """Return the text that stands for one value on the wire, before any encoding."""
    if isinstance(value, str):
        return value
    if type(value) is ExactFloat:
        return value.text
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return write_json(value)


def percent_encoded(value: Any) -> str:
    """Return one value percent-encoded, with nothing left but RFC 3986's unreserved characters."""
    if type(value) is int:
        return str(value)
    text = wire_text(value)
    return text if text.isascii() and text.isalnum() else quote(text, safe="")


def _url_separator(style: str) -> str:
    return quote(_SEPARATORS.get(style, ","), safe=",")


def _reserved(value: Any, safe: str = _RESERVED, ends: Container[str] = ()) -> str:
    """Return one value with reserved characters and percent-encoded triplets left (RFC 6570, 3.2.3).

    A triplet that `ends` what the value stands in is encoded once more.
    """
    return "".join(
        part if index % 2 and part.lower() not in ends else quote(part, safe="" if index % 2 else safe)
        for index, part in enumerate(_TRIPLET.split(wire_text(value)))
    )


_path_reserved = partial(_reserved, safe=_PATH_RESERVED, ends=_SEGMENT_TRIPLETS)


def cookie_pairs(name: str, value: Any, *, explode: bool = True) -> list[str]:
    """Return the `name=value` parts of style `cookie` (OpenAPI 3.2); nothing is encoded, so the caller must refuse."""
    return _pairs(name, value, "form", explode, wire_text, str)


def form_cookies(key: str, value: Any, *, explode: bool = True, allow_reserved: bool = False) -> list[str]:
    """Return the `name=value` parts of style `form` in a cookie; `key` is the parameter's name, percent-encoded."""
    encoded = partial(_reserved, safe=_COOKIE_RESERVED) if allow_reserved else percent_encoded
    return _pairs(key, value, "form", explode, encoded)


def query_pairs(
    key: str, value: Any, style: str = "form", *, explode: bool = True, allow_reserved: bool = False
) -> list[str]:
    """Return the `key=value` parts of a query; none for null and for empty arrays and objects.

    `key` is the parameter's name, percent-encoded.
    """
    return _pairs(key, value, style, explode, _reserved if allow_reserved else percent_encoded)


def _encoded_name(name: str) -> str:
    return quote(name, safe="")


def _pairs(
    key: str,
    value: Any,
    style: str,
    explode: bool,
    encode: Callable[[Any], str],
    encode_name: Callable[[str], str] = _encoded_name,
) -> list[str]:
    if isinstance(value, str | int | float):
        return [f"{key}={encode(value)}"]
    if style == "deepObject":
        return [f"{path}={encode(scalar)}" for path, scalar in _deep_paths(key, value)]
    parts, has_keys = _parts(value, explode, encode, encode_name)
    if explode:
        return parts if has_keys else [f"{key}={part}" for part in parts]
    return [f"{key}={_url_separator(style).join(parts)}"] if parts else []


def _parts(
    value: Any, explode: bool, encode: Callable[[Any], str], encode_name: Callable[[str], str] = _encoded_name
) -> tuple[list[str], bool]:
    """Return the parts of an array, object or scalar without nulls, and True if each is `name=value`."""
    if isinstance(value, Mapping):
        pairs = [(encode_name(inner), encode(item)) for inner, item in value.items() if item is not None]
        if explode:
            return [f"{inner}={text}" for inner, text in pairs], True
        return [part for pair in pairs for part in pair], False
    items = value if isinstance(value, list | tuple) else (value,)
    return [encode(item) for item in items if item is not None], False


def _deep_paths(path: str, value: Any) -> Iterable[tuple[str, Any]]:
    """Yield (encoded path, scalar) of everything within a value: `a[b][c]`, and `a[b][]` for arrays of scalars."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _deep_paths(f"{path}%5B{quote(key, safe='')}%5D", item)
    elif isinstance(value, list | tuple):
        flat = not any(isinstance(item, Mapping | list | tuple) for item in value)
        for index, item in enumerate(value):
            yield from _deep_paths(f"{path}%5B{'' if flat else index}%5D", item)
    elif value is not None:
        yield path, value


def path_text(
    name: str, value: Any, style: str = "simple", *, explode: bool = False, allow_reserved: bool = False
) -> str:
    """Return the text of a parameter in a path, by style: simple, label or matrix.

    Null and empty arrays and objects stand for nothing (RFC 6570, 2.3), whatever the style.
    """
    parts, has_keys = _parts(value, explode, _path_reserved if allow_reserved else percent_encoded)
    if not parts:
        return ""
    if style == "label":
        return "".join(f".{part}" for part in parts) if explode else "." + ",".join(parts)
    if style == "matrix":
        if has_keys:
            return "".join(f";{part}" for part in parts)
        key = quote(name, safe="")
        return "".join(f";{key}={part}" if part else f";{key}" for part in (parts if explode else [",".join(parts)]))
    return _url_separator(style).join(parts)


def header_text(value: Any, style: str = "simple", *, explode: bool = False) -> str:
    """Return a header's value; lists and objects within one make it JSON, whose commas nothing would tell from others.

    Nothing is percent-encoded, so the caller must refuse line breaks.
    """
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    if any(isinstance(each, _NESTED) for each in inner):
        return write_json(value)
    return _SEPARATORS.get(style, ",").join(_parts(value, explode, wire_text, str)[0])
