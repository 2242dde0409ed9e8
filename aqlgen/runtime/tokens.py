# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""An estimate of a text's tokens that errs on the high side, without a vocabulary.

The text is split as byte-pair tokenisers of today do before they look anything up (o200k), and each piece is charged by
its kind: a word of lower case is a token or two, what looks drawn at random (keys, hashes, base64) costs nearly what it
has characters. A token is at least a byte, so a text of few bytes needs no estimate.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, Final

from .exact_json import write_json

__all__ = ["encoded", "estimate", "tokens_of", "weight"]

_PIECE: Final = re.compile(r"[ -/:-@\[-`{-~]?[A-Za-z0-9]+| ?[!-/:-@\[-`{-~]+|[^\x00-\x7f]+|\s+|[\x00-\x7f]")
_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_WORD, _SIGNS = 7, 3
"""Letters of a word, and signs in a row, that are one token as a rule."""

_RANDOM, _LETTERS, _SIGN = 0.72, 0.58, 0.7
"""Tokens a character of mixed letters and digits, of letters that are no word, of signs beyond the first three."""

_ALPHABETS: Final = 0xE7F
_EAST_ASIAN: Final = ((0x3000, 0x9FFF, 1.2), (0xAC00, 0xD7FF, 1.0), (0xFF00, 0xFFEF, 1.2))


def encoded(value: Any) -> str:
    """Return the JSON text of a value as answers are written."""
    return write_json(value, _encoder.encode)


def tokens_of(value: Any) -> int:
    """Return how many tokens the JSON of a value is at most, as a rule."""
    return estimate(encoded(value))


def estimate(text: str) -> int:
    """Return how many tokens a text is at most, as a rule; at least 1."""
    return int(weight(text)) + 1


def weight(text: str) -> float:
    """Return the estimate of a text's tokens before it is rounded up."""
    return sum(_cost(piece) * count for piece, count in Counter(_PIECE.findall(text)).items())


def _cost(piece: str) -> float:
    last = piece[-1]
    if last > "\x7f":
        return sum(map(_cost_of_character, piece))
    if last.isspace():
        return 1 + (len(piece) > 1 and "\n" in piece) + len(piece) // 32  # the end of a line, and what indents the next
    if not last.isalnum():
        return 1 + max(0, len(piece) - _SIGNS) * _SIGN
    joined = not piece[0].isalnum()
    word = piece[1:] if joined else piece
    if word.isdigit():
        return (len(word) + 2) // 3 + joined
    if not word.isalpha():
        return max(1.0, len(word) * _RANDOM) + joined
    # A sign before a word often is a token with it, a space always.
    return _cost_of_word(word) + (0.3 if joined and piece[0] != " " else 0)


def _cost_of_word(word: str) -> float:
    rest = word[1:]
    if rest.islower() or not rest:
        length = len(word)
        if length <= _WORD:
            return 1
        return 1 + (length - _WORD) / 4 if length <= 2 * _WORD + 4 else length * _LETTERS
    if word.isupper():
        return max(1.0, len(word) * _LETTERS)
    humps = 1 + sum(letter.isupper() for letter in rest)
    return max(humps, len(word) / 5) if len(word) / humps >= _SIGNS else len(word) * _RANDOM


def _cost_of_character(character: str) -> float:
    point = ord(character)
    if point <= _ALPHABETS:
        return 0.65
    for first, last, cost in _EAST_ASIAN:
        if first <= point <= last:
            return cost
    return 2.25
