"""Markdown and HTML of a document's texts without what is not shown to a person who reads them rendered.

CommonMark lets descriptions hold HTML (OpenAPI 3.1.1, 3.5). What a browser or a Markdown viewer does not show is taken
out: comments, declarations, elements that are hidden or never rendered, attributes that hold words, images with their
alternative texts, titles of links, and link reference definitions. An element that opens on a click (`<details>`) is
shown. Each part that is taken out leaves a space, so that what stands around it does not join to new markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape
from itertools import islice
from typing import Final


@dataclass(slots=True)
class Rendered:
    """The shown text, and the parts that are not shown."""

    text: str
    hidden: list[str] = field(default_factory=list)


def rendered(text: str) -> Rendered:
    """Return the shown text, and its hidden parts."""
    result = Rendered(_TEMPLATE_TAG.sub(" ", text))
    if "<" in text:
        result.text = "".join(_Html(result.text, result.hidden).shown())
    if "]" in result.text:
        result.text = _without_definitions(_without_link_titles(result.text, result.hidden), result.hidden)
    return result


# HTML

_TEMPLATE_TAG: Final = re.compile(r"\{%[^{}%]{0,300}%\}")
_MARKUP: Final = re.compile(r"<(?:!--|[!?]|/(?![A-Za-z>])|(/?)([A-Za-z][A-Za-z0-9:-]*))")
_COMMENT_MARK: Final = re.compile(r"<!--(?:-?>)?|--!?>")
_ELEMENT_TAG: Final = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:-]*)")
_IN_TAG: Final = re.compile("[<>\"']")
_SPACES: Final = re.compile(r"[\s\x00]+|/\*[^*]*\*/")
_NEVER_RENDERED: Final = frozenset(("script", "style"))
_NEVER_RENDERED_IF_CLOSED: Final = frozenset("head iframe noembed noframes noscript object template title".split())
_CONCEALING_STYLES: Final = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|content-visibility:hidden|mso-hide:all|opacity:(?:0(?:\.0*)?%?|\.0+)(?![.\d])"
    r"|font-size:(?:0|0?\.\d+|1)(?:px|pt|em|rem|%)?(?![.\w])|(?<![-\w])(?:max-)?(?:width|height):0(?:px|em|%)?(?![.\w])"
    r"|(?<![-\w])color:(?:transparent|white|#fff\b|#ffffff\b|#ffff?0\b|rgba\([^()]{0,40},0\)|rgb\(255,255,255\))"
    r"|text-indent:-\d{3}|(?:left|top|right|bottom):-\d{3}|clip:rect\(|clip-path:(?:inset|circle|polygon)|scale\(0"
)
_CONCEALING_ATTRIBUTES: Final = re.compile(
    r"""(?:^|[\s"'/])(?:hidden(?![\w-])|aria-hidden\s*=\s*["']?true|type\s*=\s*["']?hidden"""
    r"""|class\s*=\s*+["']?[^"'<>=]{0,200}?\b(?:hidden|invisible|sr-only|visually-hidden|screen-reader-text|d-none)\b"""
    r"""|color\s*=\s*["']?(?:white|#fff)|size\s*=\s*["']?-?[01]\b)"""
)
_WORDED_ATTRIBUTES: Final = re.compile(
    r"(?:^|[\s\"'/])(?:title|alt|label|placeholder|summary|content|value|srcdoc|abbr|download|cite|aria-\w{1,40}|data-[\w-]{1,80}"
    r"|on[a-z]{3,30})\s*=",
)
HTML_ELEMENTS: Final = frozenset(
    (
        "a abbr address article aside audio b base bdi bdo blockquote body br button canvas caption center cite code"
        " col dd del details dfn dialog div dl dt em embed fieldset figcaption figure font footer form h1 h2 h3 h4 h5"
        " h6 header hr html i iframe img input ins kbd label legend li link main map mark marquee math meta meter nav"
        " nobr noscript object ol optgroup option output p param picture pre progress q s samp section select small"
        " source span strong sub summary sup svg table tbody td textarea tfoot th thead time tr track u ul var video"
        " wbr"
    ).split()
)
_VOID: Final = frozenset("area base br col embed hr img input link meta param source track wbr".split())


class _Html:
    """One pass over a text. No part of it is searched twice for an end that is not there."""

    def __init__(self, text: str, hidden: list[str]) -> None:
        self._text = text
        self._hidden = hidden
        self._absent: set[str] = set()
        """Signs that do not come any more."""
        self._closes: dict[str, int] | None = None

    def shown(self) -> Iterator[str]:
        """Yield the parts that are shown."""
        text, at = self._text, 0
        while (match := _MARKUP.search(text, at)) is not None:
            start = match.start()
            end = self._end_of_hidden(match)
            if end is None:  # a tag that shows what it holds, or no tag at all
                yield text[at : match.end()]
                at = match.end()
                continue
            yield text[at:start]
            yield " "
            self._hidden.append(text[start:end])
            at = end
        yield text[at:]

    def _end_of_hidden(self, match: re.Match[str]) -> int | None:
        """Return where the hidden part ends that begins with this markup; None if it is shown."""
        opening, name = match[0], match[2]
        if opening == "<!--":
            return self._end_of_comment(match.start())
        if name is None:
            end = self._find(">", match.end())
            return None if end < 0 else end + 1
        end_of_tag = self._end_of_tag(match.end())
        if match[1] or end_of_tag is None:
            return None
        element = name.lower()
        attributes = unescape(self._text[match.end() : end_of_tag - 1]).lower()
        if _conceals(attributes):
            return end_of_tag if element in _VOID else self._end_of_element(element, end_of_tag)
        if element in _NEVER_RENDERED:
            return self._end_of_element(element, end_of_tag)
        if element in _NEVER_RENDERED_IF_CLOSED and self._last_close(element) >= end_of_tag:
            return self._end_of_element(element, end_of_tag)
        if element == "img" or (element in HTML_ELEMENTS and _WORDED_ATTRIBUTES.search(attributes)):
            return end_of_tag
        return None

    def _end_of_comment(self, start: int) -> int:
        """Return the end of a comment with those within it; of one without an end, the end of the text."""
        depth = 0
        for match in _COMMENT_MARK.finditer(self._text, start):
            if match[0].startswith("<"):
                depth += 0 if match[0].endswith(">") else 1
            else:
                depth -= 1
            if depth <= 0:
                return match.end()
        return len(self._text)

    def _end_of_tag(self, at: int) -> int | None:
        """Return the end of a tag; a quote opens a value behind an equals sign only. None if this is not a tag."""
        text = self._text
        while (match := _IN_TAG.search(text, at)) is not None:
            sign, at = match[0], match.end()
            if sign == ">":
                return at
            if sign == "<":
                return None
            if text[max(0, match.start() - 20) : match.start()].rstrip()[-1:] == "=":
                close = self._find(sign, at)
                if close < 0:
                    return None
                at = close + 1
        return None

    def _end_of_element(self, name: str, at: int) -> int:
        """Return the end of an element with those of its name within it; of one without an end, that of the text."""
        if self._last_close(name) < at:
            return len(self._text)
        depth = 1
        for match in _ELEMENT_TAG.finditer(self._text, at):
            if match[2].lower() == name:
                depth += -1 if match[1] else 1
            if not depth:
                return (self._find(">", match.end()) + 1) or len(self._text)
        return len(self._text)

    def _last_close(self, name: str) -> int:
        """Return where the last end tag of a name begins, -1 if there is none."""
        if self._closes is None:
            tags = _ELEMENT_TAG.finditer(self._text)
            self._closes = {match[2].lower(): match.start() for match in tags if match[1]}
        return self._closes.get(name, -1)

    def _find(self, sign: str, at: int) -> int:
        """Return the next place of a sign, -1 if there is none, which is remembered."""
        if sign in self._absent:
            return -1
        place = self._text.find(sign, at)
        if place < 0:
            self._absent.add(sign)
        return place


def _conceals(attributes: str) -> bool:
    if not attributes.strip("/ \t\n"):
        return False
    if _CONCEALING_ATTRIBUTES.search(attributes):
        return True
    return "style" in attributes and _CONCEALING_STYLES.search(_SPACES.sub("", attributes)) is not None


# Markdown

_LINK: Final = re.compile(r"(!?)\[([^\[\]]*)\]\(")
_IMAGE_REFERENCE: Final = re.compile(r"!\[[^\[\]]*\](?:\[[^\[\]]*\])?")
_COMMENT_IDIOM: Final = re.compile(
    r"\[[^\[\]\n]{0,200}\]:[ \t]{0,20}(?:#|<>)[ \t]{0,20}(?:\([^()\n]*\)|\"[^\"\n]*\"|'[^'\n]*')"
)
_DEFINITION: Final = re.compile(
    r"""^[ \t]*+\[(?!\^)[^\[\]\n]{1,200}\]:[ \t]*+(?:\n[ \t]*+)?(?:<[^<>\n]{0,2000}>|[^\s<]\S{0,2000}+)"""
    r"""(?:[ \t]*+(?:\n[ \t]*+)?(?:"[^"]{0,1000}"|'[^']{0,1000}'|\([^()]{0,1000}\)))?+[ \t]*+$""",
    re.MULTILINE,
)
_IN_ADDRESS: Final = re.compile(r"\]\(|[()\"']")
_MAX_SIGNS: Final = 200
"""Quotes and parentheses in the address and the title of a link."""


def _without_link_titles(text: str, hidden: list[str]) -> str:
    """Take out images, titles of links, and addresses that are no addresses (`javascript:`, `data:`)."""
    if "](" not in text and "![" not in text:
        return text
    parts, at = [], 0
    for match in _LINK.finditer(text):
        if match.start() < at:
            continue
        end = _end_of_address(text, match.end())
        if end is None:
            continue
        address, _, title = text[match.end() : end - 1].strip().partition(" ")
        scheme = address.strip("<").lower().partition(":")[0]
        if match[1]:
            kept = " "
        elif title or scheme in ("javascript", "data", "vbscript"):
            kept = match[2] if scheme in ("javascript", "data", "vbscript") else f"[{match[2]}]({address})"
        else:
            continue
        parts += [text[at : match.start()], kept]
        hidden.append(text[match.start() : end])
        at = end
    text = "".join(parts) + text[at:]
    if "![" in text:
        hidden += _IMAGE_REFERENCE.findall(text)
        text = _IMAGE_REFERENCE.sub(" ", text)
    return text


def _end_of_address(text: str, at: int) -> int | None:
    """Return the end of a link's address and title; parentheses may stand within both. None if it has no end."""
    depth, quote = 1, ""
    for match in islice(_IN_ADDRESS.finditer(text, at), _MAX_SIGNS):
        sign = match[0]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign if text[match.start() - 1].isspace() else ""
        elif sign == "](":
            return None
        else:
            depth += 1 if sign == "(" else -1
            if not depth:
                return match.end()
    return None


def _without_definitions(text: str, hidden: list[str]) -> str:
    """Take out link reference definitions (CommonMark, 4.7), among them `[//]: # (…)`, the comment of Markdown."""
    if "]:" not in text:
        return text
    for pattern in (_COMMENT_IDIOM, _DEFINITION):
        hidden += pattern.findall(text)
        text = pattern.sub(" ", text)
    return text
