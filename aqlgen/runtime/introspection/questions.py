# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a search says beside its words: its verb, its object, one or many, and of which things it gives ids."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..text import without_unseen
from .synonyms import VERBS
from .terms import plain_words, set_of, stem, words_of

__all__ = ["Asked", "Question", "question"]

_QUOTED = re.compile(r"\"[^\"]{1,200}+\"|(?<![\w'])'[^']{1,200}+'(?!\w)|<[^<>]{1,200}+>|`[^`]{1,200}+`|“[^”]{1,200}+”")
_ITEM = re.compile(r"[^\W_]++(?:[-_'][^\W_]++)*+|[.!?;](?=\s|$)|[\x00,&]")
_ACT = re.compile(r"\s*+([A-Za-z]{2,20}+) (?:an?|the|my|this|that|all|some|one) ")
_MARKS = set_of(
    "with named called titled using setting saying where whose which because including returning having only so"
    " starting interpreting adding its by sorted showing"
)
"""Words behind which a request goes on to its particulars."""
_JOINTS = set_of(
    "of in for on to from at across inside between about and or as into through that is are was were has have"
)
"""Words that end the object of a request."""
_COUNTS = set_of("list all every first last next up some several")
"""Words before the object that say that there are many of it, or in what order."""
_HOLDERS = set_of("detail details information info data metadata set page record records")
"""Words of what is told of an object: the object comes behind them."""
_VAGUE = set_of("detail details information info record records")
"""Those of them that are seldom things of their own."""
_MINE = set_of("my me mine i own current authenticated our we us user users")
_MANY = set_of("list all every up several")
_OBJECT, _CIRCUMSTANCE, _PARTICULAR, _AFTERTHOUGHT, _TOLD = range(5)
_PHRASES = (
    ("get rid of", "delete"),
    ("throw away", "delete"),
    ("throw out", "delete"),
    ("take away", "remove"),
    ("take back", "undo"),
    ("give me", "show"),
    ("give us", "show"),
    ("turn off", "disable"),
    ("turn on", "enable"),
    ("switch off", "disable"),
    ("switch on", "enable"),
    ("write down", "create note"),
    ("make a copy of", "copy"),
    ("look up", "find"),
    ("look for", "find"),
    ("sign up", "signup"),
    ("sign in", "login"),
    ("sign out", "logout"),
    ("log in", "login"),
    ("log out", "logout"),
    ("call off", "cancel"),
    ("set up", "create"),
    ("money back", "refund"),
    ("right now", "current"),
    ("read aloud", "speech"),
    ("took part", "participant"),
    ("take part", "participant"),
    ("takes part", "participant"),
    ("bring back", "restore"),
    ("go back", "rollback"),
    ("roll back", "rollback"),
    ("try again", "retry"),
    ("shut down", "stop"),
    ("back up", "backup"),
    ("clean up", "prune"),
    ("time off", "vacation"),
    ("who am i", "current user profile account"),
    ("hand over", "transfer"),
    ("kick out", "kick"),
    ("carry on", "resume"),
    ("put away", "archive"),
    ("fill in", "submit"),
    ("number of", "count of"),
    ("partially update", "patch"),
    ("how many", "count"),
)
"""What people say in several words where names have one."""
_MOST_WORDS = 60
_OPENERS = set_of("please can could you i want need to would like help me let us d we should how do does tell")


@dataclass(frozen=True, slots=True)
class Asked:
    """One word of a question: its stem, where it stands, and what its spelling says."""

    stem: str
    place: int
    """0 in the object of the request, 1 behind a preposition, 2 among its particulars, 3 in a later sentence.

    4 for a word such as `info`, wherever it stands.
    """
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
    identified: frozenset[str] = frozenset()
    """The stems of the things of which it gives ids."""
    several: bool = False
    """Whether it gives several ids, or other values, of one thing."""
    acts: bool = False
    """Whether it begins like an act of which the verb is not known: `fork a repository`."""
    mine: bool = False
    """Whether it is about the one who asks."""


def question(text: str) -> Question:
    """Read a search; numbers, identifiers and quoted texts are no words of it unless nothing else is there."""
    text = without_unseen(text)[:1000]
    bare = _QUOTED.sub(" \x00 ", text)
    lower = bare.lower()
    for phrase, word in _PHRASES:
        start = lower.find(phrase)
        end = start + len(phrase)
        if start >= 0 and not lower[start - 1 : start].isalpha() and not lower[end : end + 1].isalpha():
            bare = bare[:start] + word + bare[end:]
            lower = bare.lower()
    asked = replace(_asked(bare, quoted="\x00" in bare), acts=_acts(bare), mine=not _MINE.isdisjoint(words_of(bare)))
    if asked.words:
        return asked
    words = tuple(Asked(part, _OBJECT, part, name=False) for part in map(stem, words_of(text)[:_MOST_WORDS]))
    return replace(asked, words=words)


def _acts(text: str) -> bool:
    """Return True if a text begins with a word that may be a verb which is not known, and an article."""
    first = _ACT.match(text)
    word = first[1].lower() if first else ""
    return word not in _OPENERS and stem(word) not in VERBS and bool(plain_words(word))


def _asked(text: str, *, quoted: bool) -> Question:
    reading = _Reading()
    for piece in _ITEM.findall(text)[: _MOST_WORDS * 3]:
        reading.take(piece)
    return reading.question(quoted=quoted)


class _Reading:
    """A question while it is read, a piece at a time: what was spoken of so far, and what the next piece may be."""

    def __init__(self) -> None:
        self._words: list[Asked] = []
        self._values = _Values()
        self._verb = self._noun = ""
        self._many = False
        self._place = _OBJECT
        self._at_start = self._in_object = True
        self._counting = False

    def take(self, piece: str) -> None:
        """Take a piece: a sign, a word that says how others belong together, a value, or words."""
        lower = piece.lower()
        if self._is_sign(piece):
            return
        if lower in _NAMING:
            self._values.naming = True
        if not (self._is_mark(lower) or self._is_opening(lower) or self._is_joint(lower) or self._is_value(piece)):
            self._take_words(piece)

    def question(self, *, quoted: bool) -> Question:
        """Return what was read."""
        words, values = tuple(self._words[:_MOST_WORDS]), self._values
        identified = frozenset(values.identified)
        return Question(words, self._verb, self._noun, self._many, quoted, identified, values.several)

    def _is_sign(self, piece: str) -> bool:
        if piece in ".!?;":
            self._place = _AFTERTHOUGHT if self._words else self._place
            return True
        if piece in "\x00,&":
            self._values.mark(piece)
            return True
        return False

    def _is_mark(self, lower: str) -> bool:
        """Return True for a word behind which particulars stand."""
        if lower not in _MARKS or not self._words:
            return False
        self._place, self._in_object = max(self._place, _PARTICULAR), False
        return True

    def _is_opening(self, lower: str) -> bool:
        """Return True for a word of courtesy, and for one that says how many are meant."""
        if self._at_start and lower in _OPENERS:
            return True
        if not self._in_object or lower not in _COUNTS:
            return False
        self._counting, self._many = True, self._many or lower in _MANY
        self._at_start, self._verb = False, self._verb or ("list" if lower == "list" else "")
        return True

    def _is_joint(self, lower: str) -> bool:
        """Return True for a word that joins others, such as a preposition, behind which the object has ended."""
        if lower not in _JOINTS:
            return False
        self._values.mark(lower)
        if self._in_object and self._words and self._words[-1].word in _HOLDERS:
            self._noun = ""
        elif self._noun or (self._words and not self._verb):
            self._in_object, self._place = False, max(self._place, _CIRCUMSTANCE)
        return True

    def _is_value(self, piece: str) -> bool:
        """Return True for a number and an identifier."""
        self._many = self._many or (self._counting and piece.isdigit() and piece != "1")
        counted, self._counting = self._counting, False
        if not any(map(str.isdigit, piece)) or not (any(map(str.isupper, piece)) or piece.isdigit()):
            return False
        if not counted:
            self._values.mark("\x00")
        return True

    def _take_words(self, piece: str) -> None:
        is_name = piece[0].isupper() and not self._at_start and not piece.isupper()
        for part in plain_words(piece):
            if part.isdigit():
                continue
            part_stem = stem(part)
            if self._at_start and part_stem in VERBS:
                self._verb = part_stem
            elif self._in_object and not (part in _VAGUE and self._noun):
                self._noun = part
            self._words.append(Asked(part_stem, _TOLD if part in _VAGUE else self._place, part, is_name))
            self._values.of(part_stem)
            self._at_start = self._at_start and part.endswith("ly") and not self._verb


_NAMING = set_of("named called titled name title title saying text message")
"""Words behind which a value is no id."""


class _Values:
    """The values in a question: quoted texts, numbers and identifiers, each of the thing that was spoken of last."""

    def __init__(self) -> None:
        self.identified: set[str] = set()
        self.several = False
        self.naming = False
        self._thing = ""
        self._valued = ""
        self._joined = False

    def of(self, thing: str) -> None:
        """Take the thing that is spoken of."""
        if thing != self._thing:
            self.naming = False
        self._thing, self._joined = thing, self._joined and thing == self._valued

    def mark(self, piece: str) -> None:
        """Take a value (a NUL), or what stands between values."""
        if piece != "\x00":
            self._joined = piece in (",", "&", "and") and bool(self._valued)
            return
        if self._thing and not self.naming:
            self.identified.add(self._thing)
        self.several = self.several or (self._joined and self._thing == self._valued)
        self._valued, self._joined = self._thing, False
