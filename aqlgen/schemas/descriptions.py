"""Descriptions as agents read them: plain words in one line, cut where a sentence or a word ends."""

from __future__ import annotations

import re

LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
TAG = re.compile(
    r"</?(?:a|b|br|code|dd|div|dl|dt|em|h[1-6]|hr|i|img|li|ol|p|pre|small|span|strong|table|tbody|td|th|thead|tr|u|ul)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)


def prose(text: str) -> str:
    """Give what a description says in words, in one line: without addresses of links and HTML tags."""
    if "](" in text:
        text = LINK.sub(r"\1", text)
    if "<" in text:
        text = TAG.sub(" ", text)
    return " ".join(text.split())


def shorten(text: str, limit: int) -> str:
    """Cut the prose of a text to `limit` characters: after a sentence when one ends late enough, else after a word."""
    text = prose(text)
    if len(text) <= limit:
        return text
    head = text[:limit]
    stop = head.rfind(". ")
    if stop > limit // 3:
        return head[: stop + 1]
    return head[: max(head.rfind(" "), limit // 2)].rstrip(",;: ") + " …"
