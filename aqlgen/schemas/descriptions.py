"""Descriptions as agents read them: plain words in one line, cut where a sentence or a word ends."""

from __future__ import annotations

import re

from aqlgen.runtime.text import brief

LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
TAG = re.compile(
    r"</?(?:a|b|br|code|dd|div|dl|dt|em|h[1-6]|hr|i|img|li|ol|p|pre|small|span|strong|table|tbody|td|th|thead|tr|u|ul)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)


def prose(text: str) -> str:
    """Return the words of a description in one line, without link addresses and HTML tags."""
    if "](" in text:
        text = LINK.sub(r"\1", text)
    if "<" in text:
        text = TAG.sub(" ", text)
    return " ".join(text.split())


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` characters of a description, cut after a sentence that ends late enough, else a word."""
    return brief(prose(text), limit)
