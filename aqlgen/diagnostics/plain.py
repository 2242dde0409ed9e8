"""Text of a document for people: without characters that act on a terminal or hide from a reviewer.

These are control characters, marks of direction (which show a text in another order than a program reads it) and
characters that are not shown at all, tags among them, in which whole sentences can be hidden.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["counted", "escaped", "plain"]

_UNSEEN: Final = (
    "\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f"
)
_ABOVE_SPACE: Final = re.compile(f"[{_UNSEEN}]")
_ALL: Final = re.compile(f"[\x00-\x1f{_UNSEEN}]")


def plain(text: str, most: int = 0) -> str:
    """Return one line without such characters, cut to `most` characters when a number is given."""
    if not (text.isascii() and text.isprintable()):
        text = _ALL.sub("", " ".join(text.split()))
    text = " ".join(text.split())
    return text if not most or len(text) <= most else text[: most - 1].rstrip() + "…"


def escaped(json: str) -> str:
    """Write such characters of a JSON text as escapes; those below the space are escapes already."""
    return json if json.isascii() and "\x7f" not in json else _ABOVE_SPACE.sub(_escape, json)


def _escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the right form: `1 operation`, `1,223 operations`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
