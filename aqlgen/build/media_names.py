"""Media types that no registry knows, and what is plainly meant by their words.

Documents offer `application/form-data`, `multipart/form`, `application/x-www-form-urlencode`, `json`. A type is mended
only if it consists of nothing but the words of one known type and of fillers: any other word, as in
`application/vnd.shop.form`, makes it somebody's own.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from aqlgen.runtime.media import FORM, JSON, is_json, is_xml

__all__ = ["MULTIPART", "meant_by"]

MULTIPART: Final = "multipart/form-data"
XML: Final = "application/xml"

LONGEST: Final = 60
_WORD: Final = re.compile(r"multi|part|form|data|url|encod(?:ed|ing|e)|json|xml|x|www|application|text|type|content")
_SEPARATORS: Final = frozenset("/-_.+ ")
_URLENCODED: Final = frozenset({"url", "encode", "encoded", "encoding"})
_FILLERS: Final = frozenset({"x", "www", "application", "text", "type", "content"})


@lru_cache(maxsize=256)
def meant_by(content_type: str) -> str:
    """Return the known media type that a type in lower case plainly means, else the type itself."""
    if content_type in (FORM, MULTIPART, JSON, XML) or len(content_type) > LONGEST:
        return content_type
    words = _words(content_type) - _FILLERS
    if words == {"json"}:
        return JSON
    if words == {"xml"}:
        return content_type if is_xml(content_type) else XML
    coded, divided = bool(words & _URLENCODED), bool(words & {"multi", "part", "data"})
    if not (words & {"form", "url"} and words <= {"form", "data", "multi", "part", *_URLENCODED}):
        return content_type
    return content_type if coded and divided else MULTIPART if divided else FORM


def is_served_as_written(content_type: str) -> bool:
    """Return True for a mistaken type that servers know nevertheless, such as `text/json`."""
    return is_json(content_type)


def _words(content_type: str) -> frozenset[str]:
    """Return the known words that a type is made of; none if there is any other in it."""
    words: set[str] = set()
    start = 0
    while start < len(content_type):
        if content_type[start] in _SEPARATORS:
            start += 1
            continue
        match = _WORD.match(content_type, start)
        if match is None:
            return frozenset()
        words.add(match[0])
        start = match.end()
    return frozenset(words)
