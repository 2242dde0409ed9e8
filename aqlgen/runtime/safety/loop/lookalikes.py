"""Texts of agents without what only looks different: for patterns, and for the names of agents (R-LOOP-4).

Width, case, accents, invisible characters and letters that look like Latin ones make no difference. In names of agents
blanks, hyphens and other signs do not count either, nor do digits that look like letters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_LONGEST = 8000
_LOOK_ALIKES = {
    "a": "\u0430\u03b1\u0251\u1d00",
    "b": "\u0432\u044c\u03b2\u0185",
    "c": "\u0441\u03c3\u1d04",
    "d": "\u0501",
    "e": "\u0435\u03b5\u0454\u04bd\u1d07",
    "f": "\u0493\u03dd",
    "g": "\u0261\u0581\u1d83\u050d",
    "h": "\u04bb\u0570\u029c",
    "i": "\u0456\u03b9\u0131\u0269\u026a",
    "j": "\u0458\u0237\u1d0a",
    "k": "\u043a\u03ba\u049b\u1d0b",
    "l": "\u04cf\u029f\u056c",
    "m": "\u043c\u1d0d",
    "n": "\u043f\u03b7\u0578\u0274",
    "o": "\u043e\u03bf\u0585\u1d0f",
    "p": "\u0440\u03c1\u1d18",
    "q": "\u051b\u0563\u0584",
    "r": "\u0433\u0280\u1d26",
    "s": "\u0455\ua731\u01bd",
    "t": "\u0442\u03c4\u1d1b",
    "u": "\u03c5\u057d\u1d1c",
    "v": "\u03bd\u0475\u1d20",
    "w": "\u051d\u03c9\u1d21\u0461",
    "x": "\u0445\u03c7",
    "y": "\u0443\u04af\u03b3\u028f",
    "z": "\u03b6\u1d22",
}
"""Small letters of Cyrillic, Greek, Armenian and phonetic scripts by the Latin letter that they look like."""
_LATIN = {other: letter for letter, others in _LOOK_ALIKES.items() for other in others}
_NAMED = re.compile(
    r"(?:LATIN|REGIONAL)[A-Z ]{1,60}LETTER (?:SMALL CAPITAL |REVERSED |TURNED |SIDEWAYS |INSULAR )?([A-Z])\b"
)
"""Unicode's name of a letter that is a Latin one with a stroke or a hook, small, turned or in a box."""
_NAME_LETTERS = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", "3": "e", "5": "s", "$": "s", "@": "a"})
_JOINERS = {"Pc": "_", "Pd": "-"}
_UNSEEN = frozenset({"Mn", "Me", "Cf", "Cc", "Cs", "Co", "Cn"})
_FILLERS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u17b4\u17b5")


@lru_cache(maxsize=1024)
def _latin(letter: str) -> str:
    """Return the Latin letter, underscore or hyphen that a character looks like, or itself."""
    known = _LATIN.get(letter)
    if known is None:
        named = _NAMED.search(unicodedata.name(letter, ""))
        known = _JOINERS.get(unicodedata.category(letter), letter) if named is None else named[1].lower()
    return known


@lru_cache(maxsize=128)
def normalized(text: str) -> str:
    """Return a text as patterns match it: what looks the same is the same, and one blank stands for any."""
    spaced = "".join(" " if character.isspace() else character for character in text[:_LONGEST])
    parts = unicodedata.normalize("NFKD", spaced).casefold()  # at most 18 times as long
    seen = (letter for letter in parts if unicodedata.category(letter) not in _UNSEEN and letter not in _FILLERS)
    # Letters that look alike may only appear by folding, and accents within them.
    plain = (letter if letter.isascii() else _latin(letter) for letter in seen)
    return " ".join("".join(plain).split())


@lru_cache(maxsize=4096)
def agent_key(name: str) -> str:
    """Return the key that all spellings of an agent's name share; a name of signs alone stands for itself."""
    text = normalized(name).translate(_NAME_LETTERS)
    return "".join(letter for letter in text if letter.isalnum()) or "".join(text.split()) or "-"
