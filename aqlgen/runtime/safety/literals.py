# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
r"""Foreign text in a question to a person, written so that it cannot imitate the question around it.

A value is JSON on one line. What could end its quotes, act as markup, reorder the line, or be invisible is written as
`\uXXXX`, decided by the character's Unicode properties. Letters of every script stay as they are, except within a word
that mixes Latin letters with those of a script that looks like it. Secrets are known by the names of their fields, and
by what the document declares of these, at any depth of a call's parameters (R-SAFE-5).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..exact_json import write_json
from ..schema.reader import follow, referred, union_of, without_null

if TYPE_CHECKING:
    from ..schema.reader import Types
    from ..table import Row

__all__ = [
    "CUT_NAME",
    "SECRET_NAME",
    "has_right_to_left",
    "key_literal",
    "literal",
    "prose",
    "secret_names",
    "url_text",
]

CUT_NAME = "... (a name of"
"""The sign behind the beginning of a field's name that is too long to be shown."""

_LONGEST_KEY = 64
_MOST_MARKS = 2
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_PRINTABLE = re.compile(r"[\x20-\x7e]*")
_MARKUP = re.compile(
    r"""["\\*`]              # ends the quotes, or is emphasis or code
    | <(?=[A-Za-z/!?])       # HTML
    | &(?=\#?\w+;)           # a character reference
    | \](?=[(\[])            # a link
    | ~(?=~) | (?<=~)~       # struck through
    | (?<![^\W_])_ | _(?![^\W_])  # emphasis: not within a word
    """,
    re.VERBOSE,
)
_UNSEEN = re.compile(r"FILLER|SELECTOR|JOINER|INHERENT|BLANK|INVISIBLE")
_QUOTE = re.compile(
    r"DOUBLE[A-Z -]{0,80}(QUOTATION|PRIME|APOSTROPHE)|FULLWIDTH QUOTATION|DITTO|GERSHAYIM|PRIME QUOTATION"
)
_LOOKS_LATIN = re.compile(
    r"CYRILLIC|GREEK|ARMENIAN|CHEROKEE|COPTIC|LISU|MATHEMATICAL|FULLWIDTH|SCRIPT|DOUBLE-STRUCK|BLACK-LETTER|ROMAN"
)
_IN_URL = re.compile(r"""["\\*`<>\[\]|~^\s]""")


_encode = json.JSONEncoder(default=str).encode


def literal(value: Any) -> str:
    """Return a JSON value on one line."""
    if isinstance(value, str):
        return f'"{_escaped(value)}"'
    if isinstance(value, Mapping):
        return "{" + ", ".join(f'"{_ascii(str(key))}": {literal(inner)}' for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(literal, value)) + "]"
    return write_json(value, _encode)


def key_literal(key: str) -> str:
    """Return the name of a field: a plain word as it is, anything else as JSON in ASCII, bounded."""
    if _WORD.fullmatch(key) and len(key) <= _LONGEST_KEY:
        return key if "__" not in key and key.strip("_") == key else f'"{_escaped(key)}"'
    text = f'"{_ascii(key[:_LONGEST_KEY])}"'
    return text if len(key) <= _LONGEST_KEY else f"{text}{CUT_NAME} {len(key):,} characters)"


def prose(text: str, most: int) -> str:
    """Return a text of the document, the owner or the agent as one line without markup, at most `most` characters."""
    words = " ".join(text.split())
    return _escaped(words if len(words) <= most else words[: most - 1].rstrip() + "…").replace("\\u0022", "'")


def url_text(url: str) -> str:
    """Return an address in printable ASCII; what could be markup is percent-encoded, which means the same."""
    text = _IN_URL.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), url)
    return json.dumps(text)[1:-1]


def has_right_to_left(value: Any) -> bool:
    """Return True if a value holds letters that are written from right to left, which reorder what is beside them."""
    if isinstance(value, str):
        return not value.isascii() and any(unicodedata.bidirectional(char) in ("R", "AL", "AN") for char in value)
    if isinstance(value, Mapping):
        return any(has_right_to_left(str(key)) or has_right_to_left(inner) for key, inner in value.items())
    return isinstance(value, list | tuple) and any(map(has_right_to_left, value))


def _escaped(text: str) -> str:
    if _PRINTABLE.fullmatch(text):
        return _MARKUP.sub(_code, text)
    return "".join(_characters(text))


def _ascii(text: str) -> str:
    return "".join(char if char.isascii() else _code(char) for char in _escaped(text))


def _characters(text: str) -> list[str]:
    markup = {match.start() for match in _MARKUP.finditer(text)}
    mixed = _mixed_words(text)
    written: list[str] = []
    marks, base = 0, ""
    for position, char in enumerate(text):
        category = unicodedata.category(char)
        if category in ("Mn", "Me", "Mc"):
            marks += 1
            hidden = category == "Me" or marks > _MOST_MARKS or not base.isalpha() or _hides(char)
        else:
            marks, base = 0, char
            hidden = position in markup or _hides(char) or (position in mixed and _looks_latin(char))
        written.append(_code(char) if hidden else char)
    return written


def _mixed_words(text: str) -> set[int]:
    """Return the positions of words that hold both ASCII letters and letters that look like them."""
    positions: set[int] = set()
    for word in re.finditer(r"\S+", text):
        letters = word[0]
        if not letters.isascii() and re.search("[A-Za-z]", letters):
            positions.update(range(*word.span()))
    return positions


@lru_cache(4096)
def _hides(char: str) -> bool:
    """Return True for what is invisible, is no plain space, acts on the text around it, or looks like a quote."""
    if char.isascii():
        return not char.isprintable()
    name = unicodedata.name(char, "")
    return unicodedata.category(char)[0] in "CZ" or bool(_UNSEEN.search(name) or _QUOTE.search(name))


@lru_cache(4096)
def _looks_latin(char: str) -> bool:
    return not char.isascii() and bool(_LOOKS_LATIN.match(unicodedata.name(char, "")))


def _code(match: re.Match[str] | str) -> str:
    char = match if isinstance(match, str) else match[0]
    return "".join(f"\\u{ord(unit):04x}" for unit in _units(char))


def _units(char: str) -> list[str]:
    """Return the UTF-16 units of a character, as JSON writes one beyond the basic plane."""
    raw = char.encode("utf-16-be", "surrogatepass")
    return [chr(int.from_bytes(raw[index : index + 2], "big")) for index in range(0, len(raw), 2)]


SECRET_NAME = re.compile(
    r"passw|passphrase|secret|token|api_?key|credential|authori[sz]ation|private_?key|^pin$|cvv", re.IGNORECASE
)
"""A name whose value is shown to nobody and kept nowhere, whatever the document says of it."""

_MOST_SCHEMAS = 500
"""The most schemas that are looked at; of what is behind them the names alone tell."""


def secret_names(row: Row, types: Types) -> frozenset[str]:
    """Return the names of the fields whose values are secrets (`format: password`), by the agent's and the API's."""
    names: set[str] = set()
    todo: list[Any] = [parameter.schema for parameter in row.parameters.values() if parameter.location != "adapter"]
    seen: set[str | int] = set()
    while todo and len(seen) < _MOST_SCHEMAS:
        schema = todo.pop()
        if not isinstance(schema, Mapping) or not schema:
            continue
        target = follow(schema, types)
        key = referred(without_null(schema)[0]) or id(schema)
        if key in seen:
            continue
        seen.add(key)
        shape = union_of(types, target)
        for name, (wire, inner) in shape.properties.items():
            if follow(inner, types).get("format") == "password":
                names.update((name, wire))
            todo.append(inner)
        todo += [*shape.items, *shape.extra]
    return frozenset(names)
