# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Words of searches and of what is searched: stems and stop words."""

from __future__ import annotations

import re
from functools import lru_cache

from ..text import without_unseen

__all__ = ["plain_words", "set_of", "stem", "terms", "words_of"]


def set_of(text: str) -> frozenset[str]:
    """Return the words between the spaces of a text."""
    return frozenset(text.split())


_WORD = re.compile(r"[a-z]++|[0-9]++|[^\W\d_a-z]++")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s\b)[a-z])")
_STOP = set_of(
    "a an the of for to in on by with and or from is be as that this it its are was were which who whom whose what"
    " when where how why do does did me i my you your we our us can could would should will some any s t re ve ll"
    " please want need let help using use given specific single if not no than then there their they them his her"
    " he she has have had been being into out about between ones also more via per such these those etc same just"
    " id ids gid uuid number certain many tell much am im so but"
)
_SUFFIXES = tuple(
    sorted(
        set_of(
            "ization isation ations ation ating ators ator ated ates ate ings ing edly ed ment ers er ors or ion ions"
            " able ly"
        ),
        key=lambda suffix: (-len(suffix), suffix),
    )
)
"""The longest that ends a word is taken."""
_LONGEST = 40
"""Letters of a word that count."""
_SHORT_ROWS = (
    "repo repository repositories repos",
    "org organization organizations organisation organisations orgs",
    "env environment environments envs",
    "config configuration configurations configs",
    "app application applications apps",
    "admin administrator administrators admins",
    "doc document documents docs",
    "db database databases dbs",
    "cert certificate certificates certs",
    "dir directory directories dirs",
    "img image images imgs",
    "msg message messages msgs",
    "lang language languages langs",
    "param parameter parameters params",
    "info information",
    "auth authentication",
)
_SHORT = {word: row.split()[0] for row in _SHORT_ROWS for word in row.split()}
"""The stems of words that have a common short form."""


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return what a lower-case word shares with its other forms: director, directed and directs are `direct`."""
    word = word[:_LONGEST]
    if len(word) <= 3 or not word.isascii() or word in _SHORT:
        return _SHORT.get(word, word)
    if word.endswith(("ies", "sses", "shes", "ches", "xes", "zes")) and len(word) > 4:
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    suffix = next((end for end in _SUFFIXES if word[4:].endswith(end)), "")
    word = word.removesuffix(suffix)
    if word[4:].endswith("e"):
        word = word[:-1]
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word[:-1] + "i" if word[-1] == "y" else word


def words_of(text: str) -> list[str]:
    """Return the lower-case words of a text, also those within names."""
    text = without_unseen(text)
    if not text[1:].islower():
        text = _CAMEL.sub(" ", text)
    return _WORD.findall(text.lower())


def plain_words(text: str) -> list[str]:
    """Return the lower-case words of a text, also those within names, without stop words."""
    return [word for word in words_of(text) if word not in _STOP]


@lru_cache(maxsize=16384)
def terms(text: str) -> tuple[str, ...]:
    """Return the stems of a text's words, in order, without stop words."""
    return tuple(map(stem, plain_words(text)))
