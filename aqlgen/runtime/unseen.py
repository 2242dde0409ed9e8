# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Characters that a reader does not see: taken out of texts, escaped in JSON and on terminals.

`UNSEEN` is made from the properties of Unicode 17: control, format, surrogate and private-use characters (Cc, Cf, Cs,
Co), Default_Ignorable_Code_Point (variation selectors, tags, fillers of Hangul, vowels of Khmer, the grapheme joiner),
noncharacters, the separators of lines and paragraphs, and the blank of Braille. Not in it are the signs of Arabic,
Syriac and Kaithi that are shown though they are format characters (Prepended_Concatenation_Mark).

Persian and the scripts of India need joiners within words. Only there, between two of their letters, one is kept.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = ["escaped", "has_unseen", "terminal_text", "visible", "without_unseen"]

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
    return json if json.isascii() and "\x7f" not in json else _unseen().sub(_json_escape, json)


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
