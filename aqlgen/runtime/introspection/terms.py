# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Words of searches and of what is searched: stems, stop words, synonyms, and what a question says beside its words.

The synonyms are this project's own. Each row holds for any API: verbs that mean one thing to its users, and nouns
that one vendor says where another says its neighbour.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from ..text import alike, without_unseen

__all__ = [
    "FINDS",
    "READING",
    "VERBS",
    "Asked",
    "Question",
    "plain_words",
    "question",
    "same_words",
    "stem",
    "synonyms",
    "terms",
    "verb_class",
]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORD = re.compile(r"[a-z]++|[0-9]++|[^\W\d_a-z]++")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_STOP = _set(
    "a an the of for to in on by with and or from is be as that this it its are was were which who whom whose what"
    " when where how why do does did me i my you your we our us can could would should will some any s t re ve ll"
    " please want need let help using use given specific single if not no than then there their they them his her"
    " he she has have had been being into out about ones also more via per such these those etc same just"
    " id ids gid uuid record number certain many tell much am im so but"
)
_SUFFIXES = tuple(
    sorted(
        _set("ization isation ations ation ings ing edly ed ment ers er ors or ion ions able ly"),
        key=lambda suffix: (-len(suffix), suffix),
    )
)
"""The longest that ends a word is taken."""
_LONGEST = 40
"""Letters of a word that count."""


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """Return what a lower-case word shares with its other forms: director, directed and directs are `direct`."""
    word = word[:_LONGEST]
    if len(word) <= 3 or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "i"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")) and len(word) > 4:
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    suffix = next((end for end in _SUFFIXES if word.endswith(end) and len(word) - len(end) >= 4), "")
    word = word.removesuffix(suffix)
    if len(word) > 4 and word[-1] == "e":
        word = word[:-1]
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "sl":
        word = word[:-1]
    return word[:-1] + "i" if word[-1] == "y" else word


def _words(text: str) -> list[str]:
    return _WORD.findall(_CAMEL.sub(" ", without_unseen(text)).lower())


def plain_words(text: str) -> list[str]:
    """Return the lower-case words of a text, also those within names, without stop words."""
    return [word for word in _words(text) if word not in _STOP]


@lru_cache(maxsize=16384)
def terms(text: str) -> tuple[str, ...]:
    """Return the stems of a text's words, in order, without stop words."""
    return tuple(map(stem, plain_words(text)))


_VERB_ROWS = (
    "create add new make insert register post append put open start",
    "get fetch show view retrieve read lookup see describe display",
    "list all enumerate browse",
    "search find query look",
    "update edit modify change patch set rename adjust replace",
    "delete remove destroy erase clear drop",
    "execute run start trigger invoke launch",
    "cancel abort stop void",
    "close resolve complete finish",
    "send post deliver",
    "enable activate turn",
    "disable deactivate",
    "copy duplicate clone",
    "invite ask",
    "leave quit",
    "approve accept",
    "reject deny decline",
    "archive retire",
    "restore recover undelete",
    "upload attach",
    "schedule plan",
    "follow subscribe",
    "pause halt",
    "skip next",
    "play start resume",
    "unfollow unsubscribe cancel",
)
_NOUN_ROWS = (
    "ticket issue bug",
    "refund money back",
    "repository repo",
    "organization org",
    "film movie",
    "show series tv",
    "song track music",
    "artist singer band musician",
    "image picture photo cover poster logo",
    "cast crew credit actor actress director star",
    "user member person people account",
    "customer client buyer",
    "message chat",
    "comment note reply story",
    "folder directory",
    "webhook hook callback",
    "subscription plan",
    "price cost",
    "payment charge",
    "picture avatar icon",
    "label tag",
    "team group",
    "document doc",
    "attachment file",
    "collaborator contributor",
    "star favorite like",
    "disk volume storage",
    "fork copy",
    "director directed",
    "email mail",
    "prune unused",
    "resize bigger smaller grow",
    "transcription speech recording audio voice",
    "environment env",
    "configuration config setting",
    "administrator admin",
    "application app",
    "workspace team organization",
    "channel conversation room",
    "current currently now",
    "favorite saved top liked",
    "library saved my",
    "suggestion recommendation recommend similar",
    "rating rated score vote",
    "newest latest recent",
    "worker employee staff",
    "machine server instance vm",
    "container pod",
    "secret credential password",
    "permission access right",
    "log history audit",
    "invoice bill billing",
    "order purchase",
    "product item",
    "pull merge pr mr",
    "branch ref",
    "release version",
    "schedule calendar",
    "event meeting appointment",
    "location place",
    "delivery shipment shipping",
    "company production studio network",
    "episode season",
    "play playback player",
    "volume loud quiet",
    "list playlist",
)


def _related(rows: Iterable[str]) -> dict[str, frozenset[str]]:
    related: dict[str, set[str]] = {}
    for row in rows:
        stems = [stem(word) for word in row.split()]
        for word in stems:
            related.setdefault(word, set()).update(stems)
    return {word: frozenset(others - {word}) for word, others in related.items()}


_VERBS = _related(_VERB_ROWS)
_NOUNS = _related(_NOUN_ROWS)
_SAME = _related(
    (
        "create add new make insert",
        "get fetch show view retrieve read describe",
        "list enumerate",
        "search find query",
        "update edit modify change patch",
        "delete remove destroy erase",
        "execute run trigger invoke",
    )
)
"""Verbs that are the same in names; the rows above hold more, which only come near."""
_NOTHING: frozenset[str] = frozenset()

VERBS: Mapping[str, frozenset[int]] = {
    word: frozenset(
        2 if index in (1, 2, 3) else index for index, row in enumerate(_VERB_ROWS) if word in map(stem, row.split())
    )
    for word in _VERBS
}
"""The rows that a verb stands in; those that read are one."""
FINDS = frozenset({"search", "find", "query", "lookup"})
"""Verbs of operations that find things by their names."""


READING = frozenset(map(stem, _set("get fetch show view retrieve read see describe display list enumerate browse")))
"""Verbs of asking that tell no operation from another."""


def synonyms(word: str) -> frozenset[str]:
    """Return stems that may stand for a stem."""
    return _VERBS.get(word, _NOTHING) | _NOUNS.get(word, _NOTHING)


def same_words(text: str, name: str) -> bool:
    """Return True if two names are of the same words, but for a slip in one of them or for verbs that mean the same."""
    left, right = plain_words(text), plain_words(name)
    if alike("".join(left), "".join(right)):
        return True
    first, second = sorted(map(stem, left)), sorted(map(stem, right))
    only, other = [w for w in first if w not in second], [w for w in second if w not in first]
    if len(first) != len(second) or len(only) != len(other):
        return False
    return not only or (len(only) == 1 and other[0] in _SAME.get(only[0], _NOTHING))


def verb_class(word: str) -> frozenset[int]:
    """Return the rows of verbs that a stem stands in."""
    return VERBS.get(word, frozenset())


_QUOTED = re.compile(r"\"[^\"]{1,200}+\"|(?<![\w'])'[^']{1,200}+'(?!\w)|<[^<>]{1,200}+>|`[^`]{1,200}+`|“[^”]{1,200}+”")
_ITEM = re.compile(r"[^\W_]++(?:[-_'][^\W_]++)*+|[.!?;](?=\s|$)")
_MARKS = _set(
    "with named called titled using setting saying where whose which because including returning having only so"
    " starting interpreting adding its by sorted showing"
)
"""Words behind which a request goes on to its particulars."""
_JOINTS = _set("of in for on to from at across inside about and or as into through that is are was were has have")
"""Words that end the object of a request."""
_COUNTS = _set("list all every first last next up top some several")
"""Words before the object that say that there are many of it, or in what order."""
_HOLDERS = _set("detail details information info data metadata set page")
"""Words of what is told of an object: the object comes behind them."""
_MANY = _set("list all every up several")
_OBJECT, _CIRCUMSTANCE, _PARTICULAR, _AFTERTHOUGHT = range(4)
_PHRASES = (
    ("get rid of", "delete"),
    ("throw away", "delete"),
    ("throw out", "delete"),
    ("take away", "remove"),
    ("take back", "undo"),
    ("turn off", "disable"),
    ("turn on", "enable"),
    ("switch off", "disable"),
    ("switch on", "enable"),
    ("write down", "create note"),
    ("make a copy of", "copy"),
    ("look up", "find"),
    ("look for", "find"),
    ("sign up", "register"),
    ("call off", "cancel"),
    ("set up", "create"),
    ("money back", "refund"),
    ("right now", "current"),
    ("read aloud", "speech"),
)
"""What people say in several words where names have one."""
_MOST_WORDS = 60
_OPENERS = _set("please can could you i want need to would like help me let us d we should how do does give tell")


@dataclass(frozen=True, slots=True)
class Asked:
    """One word of a question: its stem, where it stands, and what its spelling says."""

    stem: str
    place: int
    """0 in the object of the request, 1 behind a preposition, 2 among its particulars, 3 in a later sentence."""
    word: str
    name: bool
    """Whether it is written like the name of a thing: a capital within the sentence."""


@dataclass(frozen=True, slots=True)
class Question:
    """A search as its words, with the verb that it begins with and the object behind that."""

    words: tuple[Asked, ...]
    verb: str
    """The stem of the verb that it begins with; "" if it begins with none."""
    noun: str
    """The last word of its object; "" without one."""
    many: bool
    """Whether it asks for all of them."""
    quoted: bool
    """Whether it has text in quotes."""


def question(text: str) -> Question:
    """Read a search; numbers, identifiers and quoted texts are no words of it unless nothing else is there."""
    text = without_unseen(text)[:1000]
    bare = _QUOTED.sub(" \x00 ", text)
    lower = bare.lower()
    for phrase, word in _PHRASES:
        start = lower.find(phrase)
        if start >= 0 and not lower[start - 1 : start].isalpha():
            bare = bare[:start] + word + bare[start + len(phrase) :]
            lower = bare.lower()
    asked = _asked(bare, quoted="\x00" in bare)
    if asked.words:
        return asked
    words = tuple(Asked(part, _OBJECT, part, name=False) for part in map(stem, _words(text)[:_MOST_WORDS]))
    return replace(asked, words=words)


def _asked(text: str, *, quoted: bool) -> Question:
    place, verb, noun, many = _OBJECT, "", "", False
    words: list[Asked] = []
    at_start, in_object, counting = True, True, False
    for piece in _ITEM.findall(text)[: _MOST_WORDS * 3]:
        lower = piece.lower()
        if piece in ".!?;":
            place = _AFTERTHOUGHT if words else place
            continue
        if lower in _MARKS and words:
            place, in_object = max(place, _PARTICULAR), False
            continue
        if at_start and lower in _OPENERS:
            continue
        if in_object and lower in _COUNTS:
            counting, many = True, many or lower in _MANY
            at_start, verb = False, verb or ("list" if lower == "list" else "")
            continue
        if lower in _JOINTS:
            if noun in _HOLDERS:
                noun = ""
            elif noun or (words and not verb):
                in_object, place = False, max(place, _CIRCUMSTANCE)
            continue
        many = many or (counting and piece.isdigit() and piece != "1")
        counting = False
        if any(map(str.isdigit, piece)) and (any(map(str.isupper, piece)) or piece.isdigit()):
            continue
        is_name = piece[0].isupper() and not at_start and not piece.isupper()
        for part in plain_words(piece):
            if part.isdigit():
                continue
            part_stem = stem(part)
            if at_start and part_stem in VERBS:
                verb = part_stem
            elif in_object:
                noun = part
            words.append(Asked(part_stem, place, part, is_name))
            at_start = False
    return Question(tuple(words[:_MOST_WORDS]), verb, noun, many, quoted)
