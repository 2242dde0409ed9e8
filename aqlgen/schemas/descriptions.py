"""Descriptions as agents read them: plain words in one line, cut where a sentence or a word ends."""

from __future__ import annotations

import re
from collections.abc import Iterator

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


SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[.!?][\"'”)])\s+")
ITEMS = ("- ", "* ", "+ ", "#", ">", "|")
"""Beginnings of lines of Markdown that do not continue the sentence before them."""
HEAD = re.compile(r"[>#\s]{1,12}")
EMPHASIS = re.compile(r"(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)")
ADDRESS = re.compile(r"://|\]\(/|\bhref=")
REFERENCE = re.compile(
    r"[\W_]{0,6}(?:for (?:(?:more|further|additional|detailed) )?(?:information|details|help|examples?)\b|see\b"
    r"|(?:learn|read) more\b"
    r"|(?:please )?refer to\b|please see\b|more (?:info|information|details)\b|find (?:out )?more\b|check out\b)",
    re.IGNORECASE,
)
ONLY_ADDRESS = re.compile(r"[(<]?https?://[^\s<>]{1,500}[>)]?\.?")
MEDIA_TYPE = re.compile(
    r"[-*+`_\s]{0,12}(?:application|audio|image|multipart|text|video)/[\w.+*-]{1,80}[`*_\s]{0,6}[:–-]"
)
MARK = re.compile(r"\[!\w{1,20}\]|[-=_*|:\s]{3,300}")
"""The mark of a callout, a rule between paragraphs, the line below the head of a table."""
ABOUT_MEDIA_TYPES = re.compile(r"\bmedia types?\b", re.IGNORECASE)


def sentences(text: str) -> list[str]:
    """Return the sentences of a description that say something to an agent, each in one line of plain words.

    Left out are the representations of an answer by their media types, references to pages without their content, and
    the marks of Markdown.
    """
    paragraphs = list(_paragraphs(text))
    kept = [paragraph for paragraph in paragraphs if not MEDIA_TYPE.match(paragraph)]
    parts = [part for paragraph in kept for part in SENTENCE_END.split(paragraph) if not _is_noise(part)]
    if len(kept) < len(paragraphs):
        parts = [part for part in parts if not ABOUT_MEDIA_TYPES.search(part)]
    return [words for part in parts if (words := EMPHASIS.sub("", prose(part)))]


def useful(text: str) -> str:
    """Return a description without what says nothing to an agent; all of it if that is everything."""
    return " ".join(sentences(text)) or prose(text)


def _paragraphs(text: str) -> Iterator[str]:
    paragraph: list[str] = []
    for line in map(str.strip, text.splitlines()):
        if paragraph and (not line or line.startswith(ITEMS)):
            yield " ".join(paragraph)
            paragraph = []
        shown = HEAD.sub("", line, count=1) if line.startswith((">", "#")) else line
        if shown and not MARK.fullmatch(shown):
            paragraph.append(shown)
    if paragraph:
        yield " ".join(paragraph)


def _is_noise(sentence: str) -> bool:
    if ONLY_ADDRESS.fullmatch(sentence):
        return True
    return REFERENCE.match(sentence) is not None and ADDRESS.search(sentence) is not None


def shorten(text: str, limit: int) -> str:
    """Return at most `limit` characters of a description, cut after a sentence that ends late enough, else a word."""
    return brief(prose(text), limit)
