"""A parser for JSON that notices repeated keys (RFC 8259, section 4, leaves their meaning open)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.diagnostics.errors import DocumentError
from aqlgen.document.positions import CONTAINERS, Lines, Position, join
from aqlgen.document.read.limits import MOST_FINDINGS, Limits, too_deep, too_many
from aqlgen.ir import Json

_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKENS: Final = re.compile(_STRING + r"|[{}\[\],:]")
_HALF: Final = re.compile(
    r"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|[c-fC-F](?<!\\u[dD][89abAB]..\\u[dD].))|\\\\u[dD][89a-fA-F]"
)
"""Half a surrogate pair, or a candidate: after an escaped backslash only a parser can tell."""
_LONE: Final = re.compile("[\ud800-\udfff]")


def parse(name: str, text: str, limits: Limits) -> tuple[Json, list[Diagnostic]]:
    """Parse JSON. Raises DocumentError on a syntax error and past the limits.

    A repeated key keeps its last value, with a warning. Numbers that no float can hold (1e999, NaN) become text,
    because they could not be written as JSON again. Half surrogate pairs become U+FFFD.
    """
    if _holds_more_than(text, limits.nodes):
        raise too_many(name, limits)
    repeated = False

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal repeated
        members = dict(pairs)
        repeated |= len(members) != len(pairs)
        return members

    try:
        root = _decode(name, text, collect)
    except RecursionError:
        raise too_deep(name, limits, *_depth_reached(text, limits.depth)) from None
    if _deeper_than(root, limits.depth):
        raise too_deep(name, limits, *_depth_reached(text, limits.depth))
    if _HALF.search(text):
        root = _without_lone_surrogates(root)
    return root, list(islice(_repeated_keys(name, text), MOST_FINDINGS)) if repeated else []


def _decode(name: str, text: str, collect: Callable[[list[tuple[str, Any]]], dict[str, Any]], **more: Any) -> Json:
    try:
        return json.loads(text, object_pairs_hook=collect, parse_float=_finite, parse_constant=str, **more)
    except json.JSONDecodeError as error:
        raise _not_json(name, text, error) from None
    except ValueError:  # an integer of more digits than Python converts
        return _decode(name, text, collect, parse_int=lambda digits: int(digits) if len(digits) < 1000 else digits)


def _not_json(name: str, text: str, error: json.JSONDecodeError) -> DocumentError:
    problem, way = error.msg[0].lower() + error.msg[1:], ""
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
        problem, way = "the text ends in the middle", "The file seems to be truncated."
    elif text[error.pos] in "/#":
        problem, way = "a comment is here", "JSON has no comments."
    line, column = Lines(text).place(error.pos)
    return DocumentError.of("json-syntax", f"not valid JSON: {problem}", file=name, line=line, column=column, help=way)


def _finite(number: str) -> float | str:
    value = float(number)
    return value if math.isfinite(value) else number


def _holds_more_than(text: str, nodes: int) -> bool:
    """Return True if the text holds too many values, before building them; checks go from cheap to exact."""
    if len(text) // 2 <= nodes or text.count(",") + text.count("[") + text.count("{") <= nodes:
        return False
    bare = re.sub(_STRING, "", text)
    return bare.count(",") + bare.count("[") + bare.count("{") > nodes


def _deeper_than(root: Json, depth: int) -> bool:
    level: list[Any] = [root]
    for _ in range(depth):
        level = [
            value
            for holder in level
            for value in (holder.values() if holder.__class__ is dict else holder)
            if value.__class__ in CONTAINERS  # half the time of isinstance
        ]
        if not level:
            return False
    return True


def _depth_reached(text: str, depth: int) -> Position:
    """Return the position of the bracket that opens one level too many."""
    level = 0
    for match in _TOKENS.finditer(text):
        level += 1 if match[0] in "{[" else -1 if match[0] in "}]" else 0
        if level > depth:
            return Lines(text).place(match.start())
    return 0, 0


def _without_lone_surrogates(value: Json) -> Json:
    if isinstance(value, str):
        return _LONE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_lone_surrogates(inner) for inner in value]
    if isinstance(value, dict):
        return {_LONE.sub("\ufffd", key): _without_lone_surrogates(inner) for key, inner in value.items()}
    return value


def _repeated_keys(name: str, text: str) -> Iterator[Diagnostic]:
    """Yield warnings for repeated keys by a second, slower scan of valid JSON; only run if there are any."""
    lines = Lines(text)
    stack: list[dict[str, int] | int] = []  # for an object the offsets of its keys, for a list the index
    path: list[str] = []  # one part for each of them
    word, offset = "", 0
    for match in _TOKENS.finditer(text):
        sign = match[0]
        if sign in "{[":
            stack.append({} if sign == "{" else 0)
            path.append("0")
        elif sign in "}]":
            stack.pop()
            path.pop()
        elif sign == ",":
            if isinstance(index := stack[-1], int):
                stack[-1] = index + 1
                path[-1] = str(index + 1)
        elif sign != ":":
            word, offset = sign, match.start()
        elif isinstance(keys := stack[-1], dict):
            path[-1] = key = json.loads(word)
            if key in keys:
                yield repeated_key(name, key, join(path), lines, keys[key], offset)
            keys[key] = offset


def repeated_key(name: str, key: str, pointer: str, lines: Lines, first: int, second: int) -> Diagnostic:
    """Build the warning about a repeated key in one object; offsets count characters from 0."""
    line, column = lines.place(second)
    shown = key if len(key) <= 60 else key[:59] + "…"
    return Diagnostic(
        "duplicate-key",
        Severity.WARNING,
        f"the key “{shown}” was given before, on line {lines.place(first)[0]}; that one is ignored",
        pointer=pointer,
        file=name,
        line=line,
        column=column,
        help="Keep one of them.",
    )
