"""Whether a text is written for a model and not for a reader of the API, by the rules of `instruction_rules`.

A text is compared in lower case, one space between words, without marks of emphasis, with letters that look like Latin
ones written as those; letters that are written one by one are joined, and what is encoded in base64 is decoded.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from aqlgen.document.texts.instruction_rules import RULES, THRESHOLD, Rule
from aqlgen.runtime.text import without_unseen

__all__ = ["Instruction", "instruction_in"]


@dataclass(frozen=True, slots=True)
class Instruction:
    """The rules that fire on a text, the strongest first, and the words that the strongest one found."""

    rules: tuple[str, ...]
    quote: str


_EMPHASIS: Final = str.maketrans({"*": "", "`": "", "“": '"', "”": '"', "’": "'", "‘": "'"})
_LOOKALIKES: Final = str.maketrans(
    "аеорсухіїјѕԁһԛԝɡαορτνικυΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТХ",
    "aeopcyxiijsdhqwgaoptvikuABEZHIKMNOPTYXABEKMHOPCTX",
)
_KNOWN: Final = frozenset().union(*(rule.words for rule in RULES))
"""Words without which no rule of Latin letters fires."""
_WORD: Final = re.compile(r"\w+")
_LATIN: Final = re.compile("[a-zA-Z]")
_SPACED_OUT: Final = re.compile(r"(?<!\w)(?:\w[ .\-_]){6,60}\w(?!\w)")
_SPELLED: Final = re.compile(
    r"(?:ignore|disregard|forget)(?:all)?(?:of)?(?:the|your|my|any)?(?:previous|prior|above|earlier"
    r"|system)(?:instructions?|prompts?|rules)"
)
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/_-]{40,4000}={0,2}")
_MAX_QUOTE: Final = 160
_MAX_TEXT: Final = 20_000


def instruction_in(text: str) -> Instruction | None:
    """Return what shows that a text instructs a model, None if nothing does."""
    return None if len(text) < 6 else _instruction_in(text[:_MAX_TEXT])


@lru_cache(8192)
def _instruction_in(text: str) -> Instruction | None:
    folded = _folded(text)
    instruction = _judged(folded)
    if instruction is None and _SPACED_OUT.search(folded):
        joined = _SPACED_OUT.sub(_joined, folded)
        spelled = _SPELLED.search(joined)
        instruction = _judged(joined) if spelled is None else Instruction(("spells out instructions",), spelled[0])
    return instruction or _encoded(text)


def _judged(folded: str) -> Instruction | None:
    matches: list[tuple[Rule, str]] = []
    known = _KNOWN.intersection(_WORD.findall(folded))
    has_other_scripts = not folded.isascii()
    for rule in RULES if known or has_other_scripts else ():
        if not rule.words.isdisjoint(known) or (has_other_scripts and any(part in folded for part in rule.parts)):
            match = rule.pattern.search(folded)
            if match is not None:
                matches.append((rule, folded[max(0, match.start() - 20) : match.end() + 60]))
    if sum(rule.score for rule, _ in matches) < THRESHOLD:
        return None
    matches.sort(key=lambda entry: -entry[0].score)
    quote = matches[0][1]
    quote = quote if len(quote) <= _MAX_QUOTE else f"{quote[: _MAX_QUOTE - 1]}…"
    return Instruction(tuple(rule.name for rule, _ in matches), quote)


def _folded(text: str) -> str:
    """Return a text as the rules read it; ends of paragraphs stay, since roles begin there."""
    if not text.isascii():
        text = without_unseen(unicodedata.normalize("NFKC", text))
        if _LATIN.search(text) and sum(map(str.isascii, text)) * 2 > len(text):
            text = text.translate(_LOOKALIKES)
    if "*" in text or "`" in text or not text.isascii():
        text = text.translate(_EMPHASIS)
    text = text.lower()
    if "_" in text:
        text = text.replace("__", " ")
    return " ".join(text.split())


def _joined(match: re.Match[str]) -> str:
    """Join letters that are written one by one (`i g n o r e`)."""
    return re.sub(r"[ .\-_]", "", match[0])


def _encoded(text: str) -> Instruction | None:
    """Return what an encoded part of a text says to a model."""
    for match in _ENCODED.finditer(text):
        part = match[0].rstrip("=").replace("-", "+").replace("_", "/")
        try:
            decoded = base64.b64decode(part + "=" * (-len(part) % 4), validate=True).decode()
        except (binascii.Error, ValueError):
            continue
        if decoded.isprintable() and (instruction := _judged(_folded(decoded))) is not None:
            return Instruction((*instruction.rules, "encoded in base64"), instruction.quote)
    return None
