"""Descriptions as agents read them: plain words in one line, cut where a sentence or a word ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from aqlgen.runtime.text import brief

LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
TAG = re.compile(
    r"`[^`\n]*+`|</?(?:a|b|br|code|dd|div|dl|dt|em|h[1-6]|hr|i|img|li|ol|p|pre|small|span|strong|table|tbody|td|th|thead"
    r"|tr|u|ul)(?:\s[^<>]*+)?/?>",
    re.IGNORECASE,
)
"""Code, which stays as it is, or a tag that is markup wherever it stands."""
PAIR = re.compile(r"`[^`\n]*+`|<(/?)([A-Za-z][A-Za-z0-9_-]{0,40}+)(?:\s[^<>]*+)?>")
"""Code, which stays as it is, or a tag of any name, which is markup if another closes it."""
RAISED = frozenset({"sub", "sup"})
"""Elements without which a number would be another."""
CONTENT = 200
"""Characters of an element in which its words are looked for."""


def prose(text: str) -> str:
    """Return the words of a description in one line, without link addresses, HTML tags and other paired tags."""
    if "](" in text:
        text = LINK.sub(r"\1", text)
    if "<" in text:
        text = TAG.sub(lambda match: match[0] if match[0].startswith("`") else " ", without_pairs(text))
    return " ".join(text.split())


def without_pairs(text: str) -> str:
    """Return a text without the other tags that stand in pairs: of HTML, or around words (`<note>… …</note>`).

    What stands alone is a placeholder (`<id>`, `List<string>`), and a pair around a single value is an example of XML.
    """
    if "</" not in text:
        return text
    from aqlgen.document.texts.markup import HTML_ELEMENTS

    opened: dict[str, list[re.Match[str]]] = {}
    markup: list[tuple[int, int]] = []
    for match in PAIR.finditer(text):
        name = match[2]
        if name is None or TAG.fullmatch(match[0]):
            continue
        if not match[1]:
            opened.setdefault(name, []).append(match)
        elif opened.get(name):
            opening = opened[name].pop()
            content = text[opening.end() : min(match.start(), opening.end() + CONTENT)]
            is_html = name.lower() in HTML_ELEMENTS - RAISED
            if is_html or (len(content.split()) > 1 and name.lower() not in RAISED):
                markup += [opening.span(), match.span()]
    parts, at = [], 0
    for start, end in sorted(markup):
        parts.append(text[at:start])
        at = end
    return " ".join([*parts, text[at:]])


SENTENCE_END = re.compile(r"\s(?:(?<=[.!?]\s)|(?<=[.!?][\"'”)]\s))\s*")
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


@lru_cache(65536)  # most texts are read by several stages, and many operations share theirs
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a description that say something to an agent, each in one line of plain words.

    Left out are the representations of an answer by their media types, references to pages without their content, and
    the marks of Markdown.
    """
    whole = list(paragraphs(without_pairs(text)))
    kept = [paragraph for paragraph in whole if not MEDIA_TYPE.match(paragraph)]
    parts = [part for paragraph in kept for part in SENTENCE_END.split(paragraph) if not _is_noise(part)]
    if len(kept) < len(whole):
        parts = [part for part in parts if not ABOUT_MEDIA_TYPES.search(part)]
    return tuple(words for part in map(prose, parts) if (words := EMPHASIS.sub("", part) if "**" in part else part))


def useful(text: str) -> str:
    """Return a description without what says nothing to an agent; all of it if that is everything."""
    return " ".join(sentences(text)) or prose(text)


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs and items of a text in Markdown, each in one line without the marks of headings."""
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
    """Return at most `limit` characters of a description, cut after a sentence, a clause or a word."""
    return brief(prose(text), limit, most=limit)
