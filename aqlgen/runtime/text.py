"""Text that people and agents read: cleaned of what is not seen, bounded, without traces of the code (R-ENV-4).

`folded`, `letters` and `words` make names and words comparable.

Characters that a reader does not see are taken out of texts, and escaped in JSON and on terminals.
`UNSEEN` is made from the properties of Unicode 17: control, format, surrogate and private-use characters (Cc, Cf, Cs,
Co), Default_Ignorable_Code_Point (variation selectors, tags, fillers of Hangul, vowels of Khmer, the grapheme joiner),
noncharacters, the separators of lines and paragraphs, and the blank of Braille. Not in it are the signs of Arabic,
Syriac and Kaithi that are shown though they are format characters (Prepended_Concatenation_Mark).

Persian and the scripts of India need joiners within words. Only there, between two of their letters, one is kept.

`estimate` counts a text's tokens without a vocabulary, and errs on the high side. The text is split as byte-pair
tokenisers of today do before they look anything up (o200k), and each piece is charged by its kind: a word of lower case
is a token or two, what looks drawn at random (keys, hashes, base64) costs nearly what it has characters. A token is at
least a byte, so a text of few bytes needs no estimate.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any, Final

from .exact_json import write_json

_CHARACTERS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u2800\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    + "".join(f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0xE0000, 0x10000))
    + "\U000e0000-\U000e0fff\U000efffe-\U0010ffff"
)
_JOINING = (
    "\u0620-\u06d3\u06ee-\u07ff\u0840-\u085f\u08a0-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3\u1820-\u18aa"
    "\u1b00-\u1b4b"
)
"""Letters and marks of the scripts in whose words joiners stand."""
_LINE_END = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"
    "|(?:\x1b[\\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?"
    "|\x1b[ -/]*[0-~]"
)
"""Control sequences and strings of terminals (ECMA-48, 5.4 and 5.6), with what they carry."""


@cache
def _unseen() -> re.Pattern[str]:
    """Compile the pattern, which takes longer than most starts can spare: ASCII does without."""
    return re.compile(f"[{_CHARACTERS}]|(?<![{_JOINING}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINING}])")


def without_unseen(text: str) -> str:
    """Return a text without terminal sequences and unseen characters; each end of a line becomes a line feed."""
    if text.isascii() and text.isprintable():
        return text
    text = _LINE_END.sub("\n", text)
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _unseen().sub("", _SEQUENCE.sub("", text))


def has_unseen(text: str) -> bool:
    """Return True if a value holds a character that a reader does not see, other than tabs and ends of lines."""
    return not (text.isascii() and text.isprintable()) and _unseen().search(text.replace("\r\n", "\n")) is not None


def escaped(json: str) -> str:
    """Write unseen characters of a JSON text as escapes, so that they are seen and the value stays what it is."""
    if json.isascii() and "\x7f" not in json:
        return json
    unseen = _unseen()  # what it looks behind at stands on the same line
    lines = (
        line if line.isascii() and "\x7f" not in line else unseen.sub(_json_escape, line) for line in json.split("\n")
    )
    return "\n".join(lines)


def escaped_data(value: Any) -> Any:
    """Return JSON data in whose texts and keys unseen characters stand as escapes of JSON: they are read, not sent."""
    if isinstance(value, str):
        return _unseen().sub(_json_escape, value) if has_unseen(value) else value
    if isinstance(value, Mapping):
        return {escaped_data(key): escaped_data(inner) for key, inner in value.items()}
    return [escaped_data(item) for item in value] if isinstance(value, (list, tuple)) else value


def visible(text: str) -> str:
    """Return a text for one line of a terminal: what would act or hide there is written as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return _unseen().sub(_escape, text).replace("\n", "\\n").replace("\t", "\\x09")


def terminal_text(text: str) -> str:
    """Return a text of several lines for a terminal: what would act or hide there is written as an escape."""
    return "\n".join(map(visible, text.split("\n")))


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_SPACE = re.compile(r"\s+")
_LEAK = re.compile(r"at\s+\S+|typeerror|referenceerror|syntaxerror|/src/|/node_modules/|\.[tj]s:\d+", re.IGNORECASE)
_TRACE = re.compile(r"\n[^\S\n]+(?:at\s|File \")|Traceback \(most recent")
_WORD = re.compile(r"[a-z]+|[0-9]+|[^\W\d_a-z]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STOP_WORDS = frozenset(
    ("a", "an", "the", "of", "for", "to", "in", "on", "by", "with", "and", "or", "from", "is", "be", "as", "that")
)


_SENTENCE = re.compile(r"(?<![\W_][A-Za-z])[.!?][\"')\]*`]{0,2}(?=\s+[^\sa-z])|。")
"""The end of a sentence; `e.g.` ends none."""
_CLAUSES = (", ", "; ", ": ", " (", " - ", " – ", " — ")


def clean(text: str, most: int = 2000) -> str:
    """Remove what is not seen, keep line breaks, and cut the text to `most` characters."""
    text = without_unseen(text).strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def line(text: str, most: int) -> str:
    """Return a text as one clean line of at most `most` characters."""
    return clean(_SPACE.sub(" ", without_unseen(text)), most)


def ended(text: str) -> str:
    """Return a text that ends as a sentence does, so that another may follow."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def bounded(text: str, limit: int = 500) -> str:
    """Return a foreign text as one line of at most `limit` characters, without its stack trace."""
    return line(without_trace(text), limit)


def brief(text: str, limit: int, most: int = 0) -> str:
    """Return about `limit` characters of a text: whole sentences, or else whole clauses, or else whole words.

    If no sentence ends there, one more may take `most` characters in all, or else twice the limit.
    """
    if len(text) <= limit or not limit:
        return text[:limit]
    low, most, head = limit // 3, most or limit * 2, text[:limit]
    ends = [match.end() for match in _SENTENCE.finditer(text, low, most)] + [len(text)] * (len(text) <= most)
    if ends:
        return text[: max((end for end in ends if end <= limit), default=ends[0])].rstrip()
    clause = max(map(head.rfind, _CLAUSES))
    return head[: clause if clause > low else max(head.rfind(" "), limit // 2)].rstrip(",;: ") + " …"


def without_trace(text: str) -> str:
    """Return a foreign text up to its stack trace, without what is not seen."""
    text = without_unseen(text)
    trace = _TRACE.search(text)
    return text if trace is None else text[: trace.start()].rstrip()


def leaks(text: str) -> bool:
    """Return True if the protocol's check of messages would take a text for a stack trace or a path."""
    return _LEAK.search(text) is not None


def shown(value: Any) -> str:
    """Return a value as it is written in a sentence: a text in quotes, anything else as JSON."""
    return visible(f"'{value}'" if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def listed(values: Iterable[Any], limit: int = 20) -> str:
    """Return values as `'a', 'b', 'c'`; those above `limit` are only counted."""
    values = list(values)
    texts = ", ".join(map(shown, values[:limit]))
    return texts if len(values) <= limit else f"{texts} and {len(values) - limit} more"


def first_ones(names: Sequence[str], limit: int, kind: str | None) -> list[str]:
    """Return the first of some names, with how many more there are in the type that has them; one more is named."""
    more = f"… {len(names) - limit} more" + (f" in {kind}" if kind else "")
    return list(names) if len(names) <= limit + 1 else [*names[:limit], more]


def counted(number: int, what: str) -> str:
    """Return a number with its noun: `1 operation`, `1,200 operations`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def folded(name: str) -> str:
    """Return a name without what spellings differ in: case, hyphens, underscores."""
    return name.replace("-", "").replace("_", "").lower()


def letters(name: str) -> str:
    """Return only the letters and digits of a name or a word, without their case."""
    return "".join(filter(str.isalnum, name)).casefold()


def iso_time(seconds: float, timespec: str = "seconds") -> str:
    """Return a time since the epoch in ISO 8601, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=timespec).replace("+00:00", "Z")


_SHORT = 4


def alike(name: str, other: str) -> bool:
    """Return True if two names differ only in spelling: case, hyphens, or a slip of one or two letters.

    A digit is no slip, and two letters are one only in a long name.
    """
    left, right = letters(name), letters(other)
    if left == right:
        return bool(left)
    shorter = min(len(left), len(right))
    if shorter < _SHORT or [*filter(str.isdigit, left)] != [*filter(str.isdigit, right)]:
        return False
    return _is_slip(left, right) or (
        shorter >= 2 * _SHORT and any(_is_slip(part, right) for part in _without_one(left, right))
    )


def near_names(name: str, names: Iterable[str]) -> list[str]:
    """Return the names that differ from one only in spelling, or else those that share all words with it."""
    names, asked = list(names), {*words(name)}
    same = [other for other in names if alike(name, other)]
    return same or [other for other in names if asked and (its := {*words(other)}) and (asked <= its or asked >= its)]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Return a hint at the first of the names that one may mean, "" without one."""
    near = near_names(name, names)
    return f"Did you mean '{near[0]}'?" if near else ""


def _without_one(left: str, right: str) -> tuple[str, str, str]:
    """Return a text with its first difference from another mended in each way."""
    at = next(
        (index for index, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )
    letter = right[at : at + 1]
    return left[:at] + left[at + 1 :], left[:at] + letter + left[at:], left[:at] + letter + left[at + 1 :]


def _is_slip(left: str, right: str) -> bool:
    """Return True if one letter is missing, added or other, or two neighbours are exchanged."""
    if left == right:
        return True
    at = next(
        (index for index, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )
    rest, other = left[at:], right[at:]
    return (
        rest[1:] == other
        or rest == other[1:]
        or rest[1:] == other[1:]
        or (rest[:2] == other[1::-1] and len(rest) > 1 and rest[2:] == other[2:])
    )


def words(text: str) -> list[str]:
    """Return the stems of a text's words, in order."""
    return [_stem(word) for word in _WORD.findall(_CAMEL.sub(" ", text).lower()) if word not in _STOP_WORDS]


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


_PIECE: Final = re.compile(r"[ -/:-@\[-`{-~]?[A-Za-z0-9]+| ?[!-/:-@\[-`{-~]+|[^\x00-\x7f]+|\s+|[\x00-\x7f]")
_plain_encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

_WORD_LETTERS, _SIGNS = 7, 3
"""Letters of a word, and signs in a row, that are one token as a rule."""

_RANDOM, _LETTERS, _SIGN = 0.72, 0.58, 0.7
"""Tokens a character of mixed letters and digits, of letters that are no word, of signs beyond the first three."""

_ALPHABETS: Final = 0xE7F
_EAST_ASIAN: Final = ((0x3000, 0x9FFF, 1.2), (0xAC00, 0xD7FF, 1.0), (0xFF00, 0xFFEF, 1.2))


def encoded(value: Any) -> str:
    """Return the JSON text of a value as answers are written."""
    return write_json(value, _plain_encoder.encode)


def tokens_of(value: Any) -> int:
    """Return how many tokens the JSON of a value is at most, as a rule."""
    return estimate(encoded(value))


def estimate(text: str) -> int:
    """Return how many tokens a text is at most, as a rule; at least 1."""
    return int(sum(_cost(piece) * count for piece, count in Counter(_PIECE.findall(text)).items())) + 1


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
        if length <= _WORD_LETTERS:
            return 1
        return 1 + (length - _WORD_LETTERS) / 4 if length <= 2 * _WORD_LETTERS + 4 else length * _LETTERS
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
