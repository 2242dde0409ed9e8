# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""How a parameter's value is written, by style and explode (OpenAPI 3.1, Style Values and Style Examples).

Values come percent-encoded wherever they stand in a URL or a cookie; what separates them does not. Objects and arrays
within a value that has no style of its own are written as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

__all__ = ["as_json", "cookie_pairs", "encoded", "header_text", "path_text", "query_pairs", "text"]

_RESERVED = ":/?@!$'()*,;"  # RFC 3986's reserved characters without those that end a value in a query: # [ ] & = +
_PATH_RESERVED = ":@!$&'()*+,;="  # those that a segment may hold (RFC 3986, 3.3)
_TRIPLET = re.compile(r"(%[0-9A-Fa-f]{2})")
_LEAVING = frozenset({"%2f", "%5c", "%2e"})
_SEPARATORS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}


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


def _reserved(value: Any) -> str:
    """Give one value with reserved characters and percent-encoded triplets left (RFC 6570, 3.2.3)."""
    return "".join(
        part if index % 2 else quote(part, safe=_RESERVED) for index, part in enumerate(_TRIPLET.split(text(value)))
    )


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


def query_pairs(
    key: str, value: Any, style: str = "form", *, explode: bool = True, allow_reserved: bool = False
) -> list[str]:
    """Give the `key=value` parts of a query or of the cookies; none for null and for empty arrays and objects.

    `key` is the parameter's name, percent-encoded.
    """
    write = _reserved if allow_reserved else encoded
    if isinstance(value, str | int | float):
        return [f"{key}={write(value)}"]
    if value is None:
        return []
    if style == "deepObject":
        return [f"{path}={write(one)}" for path, one in _deep(key, value)]
    separator = _SEPARATORS.get(style, ",")
    if isinstance(value, Mapping):
        pairs = _pairs(value)
        if explode:
            return [f"{quote(inner, safe='')}={write(one)}" for inner, one in pairs]
        return [f"{key}=" + separator.join(f"{quote(inner, safe='')}{separator}{write(one)}" for inner, one in pairs)][
            : len(pairs)
        ]
    items = [write(one) for one in value if one is not None]
    if explode:
        return [f"{key}={one}" for one in items]
    return [f"{key}={separator.join(items)}"] if items else []


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
    return ",".join(parts)


def header_text(value: Any, *, explode: bool = False) -> str:
    """Give a header's value (style simple); nothing is percent-encoded, so the caller must refuse line breaks."""
    if isinstance(value, Mapping):
        glue = "=" if explode else ","
        return ",".join(f"{key}{glue}{text(one)}" for key, one in _pairs(value))
    if isinstance(value, list | tuple):
        return ",".join(text(one) for one in value if one is not None)
    return text(value)
