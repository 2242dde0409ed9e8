# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How a parameter's value is written, by style and explode (OpenAPI 3.1, Style Values and Style Examples).

Values come percent-encoded wherever they stand in a URL or a cookie; what separates them does not. Objects and arrays
within a value that has no style of its own are written as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

__all__ = [
    "as_json",
    "cookie_pairs",
    "encoded",
    "form_cookies",
    "header_text",
    "path_text",
    "query_pairs",
    "separator",
    "text",
]

_RESERVED = ":/?@!$'()*,;="  # RFC 3986's reserved characters without those that a query reads otherwise: # [ ] & +
_PATH_RESERVED = ":@!$&'()*+,;="  # those that a segment may hold (RFC 3986, 3.3)
_COOKIE_RESERVED = ":/?#[]@!$&'()*+="  # those that a cookie's value may hold (RFC 6265, 4.1.1)
_TRIPLET = re.compile(r"(%[0-9A-Fa-f]{2})")
_LEAVING = frozenset({"%2f", "%5c", "%2e"})
_SEPARATORS = {"spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
"""What stands between the values of an array, where it is no comma; tabs, and all of them beyond a query, are 2.0's."""


def as_json(value: Any) -> str:
    """Give a value as compact JSON. Raises ValueError for numbers that JSON does not have."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def text(value: Any) -> str:
    """Give one value as the text that stands for it on the wire."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return as_json(value)


def encoded(value: Any) -> str:
    """Give one value percent-encoded, with nothing left but RFC 3986's unreserved characters."""
    if type(value) is int:
        return str(value)
    written = text(value)
    return written if written.isascii() and written.isalnum() else quote(written, safe="")


def separator(style: str) -> str:
    """Give what stands between the values of an array of a style, as it is before it is encoded."""
    return _SEPARATORS.get(style, ",")


def _reserved(value: Any, safe: str = _RESERVED) -> str:
    """Give one value with reserved characters and percent-encoded triplets left (RFC 6570, 3.2.3)."""
    return "".join(
        part if index % 2 else quote(part, safe=safe) for index, part in enumerate(_TRIPLET.split(text(value)))
    )


def _cookie_reserved(value: Any) -> str:
    return _reserved(value, _COOKIE_RESERVED)


def _path_reserved(value: Any) -> str:
    """Give one value of a path in the same way; a triplet of what would end its segment is encoded once more."""
    return "".join(
        quote(part, safe="" if part.lower() in _LEAVING else "%") if index % 2 else quote(part, safe=_PATH_RESERVED)
        for index, part in enumerate(_TRIPLET.split(text(value)))
    )


def cookie_pairs(name: str, value: Any, *, explode: bool = True) -> list[str]:
    """Give the `name=value` parts of style `cookie` (OpenAPI 3.2): nothing is encoded, so the caller must refuse."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        pairs = [(key, text(one)) for key, one in _pairs(value)]
        if explode:
            return [f"{key}={one}" for key, one in pairs]
        return [f"{name}=" + ",".join(part for pair in pairs for part in pair)] if pairs else []
    if isinstance(value, list | tuple):
        items = [text(one) for one in value if one is not None]
        if explode:
            return [f"{name}={one}" for one in items]
        return [f"{name}={','.join(items)}"] if items else []
    return [f"{name}={text(value)}"]


def form_cookies(key: str, value: Any, *, explode: bool = True, allow_reserved: bool = False) -> list[str]:
    """Give the `name=value` parts of style `form` in the cookies; `key` is the parameter's name, percent-encoded."""
    return _written(key, value, "form", explode, _cookie_reserved if allow_reserved else encoded)


def query_pairs(
    key: str, value: Any, style: str = "form", *, explode: bool = True, allow_reserved: bool = False
) -> list[str]:
    """Give the `key=value` parts of a query; none for null and for empty arrays and objects.

    `key` is the parameter's name, percent-encoded.
    """
    return _written(key, value, style, explode, _reserved if allow_reserved else encoded)


def _written(key: str, value: Any, style: str, explode: bool, write: Callable[[Any], str]) -> list[str]:
    if isinstance(value, str | int | float):
        return [f"{key}={write(value)}"]
    if value is None:
        return []
    if style == "deepObject":
        return [f"{path}={write(one)}" for path, one in _deep(key, value)]
    if isinstance(value, Mapping):
        pairs = [(quote(inner, safe=""), write(one)) for inner, one in _pairs(value)]
        if explode:
            return [f"{inner}={one}" for inner, one in pairs]
        items = [part for pair in pairs for part in pair]
    else:
        items = [write(one) for one in value if one is not None]
        if explode:
            return [f"{key}={one}" for one in items]
    return [f"{key}={_between(style).join(items)}"] if items else []


def _between(style: str) -> str:
    """Give the separator of a style as it stands in a URL."""
    return quote(separator(style), safe=",")


def _deep(path: str, value: Any) -> Iterable[tuple[str, Any]]:
    """Give (encoded path, scalar) of everything within a value, as `a[b][c]`; arrays of scalars as `a[b][]`."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _deep(f"{path}%5B{quote(key, safe='')}%5D", one)
    elif isinstance(value, list | tuple):
        flat = not any(isinstance(one, Mapping | list | tuple) for one in value)
        for index, one in enumerate(value):
            yield from _deep(f"{path}%5B{'' if flat else index}%5D", one)
    elif value is not None:
        yield path, value


def _pairs(value: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key, one) for key, one in value.items() if one is not None]


def path_text(
    name: str, value: Any, style: str = "simple", *, explode: bool = False, allow_reserved: bool = False
) -> str:
    """Give what stands in a path in place of a parameter: simple, label or matrix.

    Null and empty arrays and objects stand for nothing (RFC 6570, 2.3), whatever the style.
    """
    write = _path_reserved if allow_reserved else encoded
    key = quote(name, safe="")
    named = False
    if isinstance(value, Mapping):
        pairs = [(quote(inner, safe=""), write(one)) for inner, one in _pairs(value)]
        parts = [f"{inner}={one}" for inner, one in pairs] if explode else [one for pair in pairs for one in pair]
        named = explode
    elif isinstance(value, list | tuple):
        parts = [write(one) for one in value if one is not None]
    else:
        parts = [] if value is None else [write(value)]
    if not parts:
        return ""
    if style == "label":
        return "".join(f".{one}" for one in parts) if explode else "." + ",".join(parts)
    if style == "matrix":
        if named:
            return "".join(f";{one}" for one in parts)
        joined = parts if explode else [",".join(parts)]
        return "".join(f";{key}={one}" if one else f";{key}" for one in joined)
    return _between(style).join(parts)


def header_text(value: Any, style: str = "simple", *, explode: bool = False) -> str:
    """Give a header's value; nothing is percent-encoded, so the caller must refuse line breaks."""
    if isinstance(value, Mapping):
        glue = "=" if explode else ","
        return ",".join(f"{key}{glue}{text(one)}" for key, one in _pairs(value))
    if isinstance(value, list | tuple):
        return separator(style).join(text(one) for one in value if one is not None)
    return text(value)
