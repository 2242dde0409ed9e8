# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a search says beside its words: its verb, its object, one or many, and of which things it gives ids."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, pairwise

from ..text import without_unseen
from .synonyms import plain_verbs, verb_class
from .terms import plain_words, set_of, stem, terms, words_of

__all__ = ["Question", "question"]

_VALUE = re.compile(
    r"\"[^\"]{1,200}+\"|(?<![\w'])'[^']{1,200}+'(?!\w)|<[^<>]{1,200}+>|`[^`]{1,200}+`|“[^”]{1,200}+”"
    r"|(?<![\w-])(?=[\w-]{0,40}\d)[A-Z0-9-][\w-]*+"
)
_PIECE = re.compile(r"[^\W_]++(?:[-_'][^\W_]++)*+|[.!?;,](?=\s|$)|\x00")
_NAME = re.compile(r"(?<=\w )[A-Z][^\W\d_]*[a-z]")
_IDENTIFIER = re.compile(r"(?<![A-Za-z])(?:[A-Za-z]++(?:_[A-Za-z]++)++|[a-z]++(?:[A-Z][a-z]++)++)")
_MOST_WORDS = 60
_OPENERS = set_of(
    "please can could you i want need to would like help me let us d we should how do does tell a an the my our"
)
_JOINTS = set_of(
    "of in for on to from at across inside between about and or as into through that is are was were has have by with"
    " within per under whose which using named called titled where"
)
"""Words that end the object of a request."""
_ALL = set_of("list all every several many")
_NAMING = set_of("name named called titled title text message saying")
"""Words behind which a value is no id."""


@dataclass(frozen=True, slots=True)
class Question:
    """A search as its words, with the verb that it begins with and the object behind that."""

    words: Mapping[str, str]
    """Its words by their stems, in order."""
    identifiers: frozenset[str]
    """The identifiers in it, as terms: `cancel_at` is cancelat."""
    pairs: frozenset[tuple[str, str]]
    """The stems that stand side by side."""
    verb: str
    """The stem of the verb that it begins with; "" if it begins with none."""
    noun: str
    """The stem of the last word of its object; "" without one."""
    many: bool
    """Whether it asks for several of them."""
    identified: frozenset[str]
    """The stems of the things of which it gives ids."""
    quoted: bool
    """Whether it has text in quotes."""
    names: frozenset[str]
    """The stems of words that are written like names: with a capital, within a sentence."""


def question(text: str) -> Question:
    """Read a search; numbers, identifiers and quoted texts are no words of it unless nothing else is there."""
    text = plain_verbs(without_unseen(text)[:1000])
    bare = _VALUE.sub(" \x00 ", text)
    words: dict[str, str] = {}
    identified: set[str] = set()
    verb = noun = thing = ""
    many, opening, in_object, naming = False, True, True, False
    for piece in _PIECE.findall(bare):
        lower = piece.lower()
        naming = lower in _NAMING or (naming and lower in _JOINTS)
        if piece == "\x00":
            identified |= {thing} if thing and not naming else set()
        elif piece in ".!?;,":
            in_object = in_object and not words
        elif opening and lower in _OPENERS:
            continue
        elif in_object and not noun and lower in _ALL:
            many, opening, verb = True, False, verb or ("list" if lower == "list" else "")
        elif lower in _JOINTS:
            in_object = in_object and not noun
        else:
            for word in plain_words(piece):
                thing = stem(word)
                words[thing] = word
                if opening and verb_class(thing):
                    verb = thing
                elif in_object and not word.endswith("ly"):
                    noun = word
                opening = opening and word.endswith("ly")
    many = many or (noun.endswith("s") and stem(noun) != noun)
    words = dict(islice(words.items(), _MOST_WORDS)) or {stem(word): word for word in words_of(text)[:_MOST_WORDS]}
    identifiers = frozenset("".join(terms(name)) for name in _IDENTIFIER.findall(bare))
    pairs = frozenset(pairwise(terms(bare)[:_MOST_WORDS]))
    quoted = any(value[0] in "'\"`“" for value in _VALUE.findall(text))
    names = frozenset(stem(name.lower()) for name in _NAME.findall(bare))
    return Question(words, identifiers, pairs, verb, stem(noun), many, frozenset(identified), quoted, names)
