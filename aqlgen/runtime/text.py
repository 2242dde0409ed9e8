# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Text of the API's document made fit to be shown, and names and words made comparable."""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["clean", "counted", "folded", "line", "words"]

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[a-z]+|[0-9]+|[^\W\d_a-z]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STOP_WORDS = frozenset(
    ("a", "an", "the", "of", "for", "to", "in", "on", "by", "with", "and", "or", "from", "is", "be", "as", "that")
)


def clean(text: str, most: int = 2000) -> str:
    """Drop control and direction characters, keep line breaks, and cut after `most` characters."""
    if not text.isascii() or not text.isprintable():
        text = _CONTROL.sub("", text.replace("\r\n", "\n"))
    text = text.strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def line(text: str, most: int) -> str:
    """Make one line of it, no longer than `most` characters."""
    return clean(_SPACE.sub(" ", _CONTROL.sub("", text.replace("\n", " "))), most)


def counted(number: int, what: str) -> str:
    """Say how many there are of something: `1 operation`, `1,200 operations`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def folded(name: str) -> str:
    """Return a name without what spellings differ in: case, hyphens, underscores."""
    return name.replace("-", "").replace("_", "").lower()


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
