"""Where the verb stands in a name that people gave: named rules, the strongest first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from aqlgen.decide.decision import Category
from aqlgen.decide.naming.noun import Words, is_plural
from aqlgen.decide.naming.shape import Shape, shape
from aqlgen.decide.naming.verbs import Verb, leading_verb
from aqlgen.words import singular, split

__all__ = ["COMMON_VERBS", "VerbPlace", "find_phrase_verb"]

COMMON_VERBS: Final = frozenset(
    "get list create update delete read write add remove retrieve fetch patch put post set enable disable".split()
)
_PREFIX: Final = 3
"""The words that stand before a verb, at most."""
_SHORTEST: Final = 3
"""A shorter verb stands at the head only: `ur-ls` lists nothing."""
_ABOUT: Final = frozenset({"info", "information", "details", "stats"})
"""Last words of a name that has no verb (`stopInfo`)."""


class VerbPlace(NamedTuple):
    """A verb, and from where to where its words stand."""

    verb: Verb
    start: int
    end: int


@dataclass(frozen=True)
class _Name:
    """The words of a name, beside what the operation's path and summary say.

    `opening` is the summary's first word; `namespaced` says that a namespace stands before the words.
    """

    words: Words
    method: str
    path: str
    opening: Words
    namespaced: bool

    @property
    def reading(self) -> bool:
        return self.method == "GET"

    @property
    def sentence(self) -> bool:
        """True if the summary begins with the same word: the name is a sentence then, and this its verb."""
        return len(self.words) > 1 and self.opening == self.words[:1]

    @cached_property
    def shape(self) -> Shape:
        return shape(self.method, self.path)

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The first words of the path's nouns: a name that starts with one of them hardly starts with a verb."""
        return frozenset() if self.sentence else frozenset(noun.words[0] for noun in self.shape.nouns)

    @cached_property
    def head(self) -> tuple[Verb, int] | None:
        """The verb at the head, unless it is rather a noun."""
        head = leading_verb(self.words)
        changing = head is not None and head[0].category is not Category.READ
        if head is not None and self.reading and not self.sentence and changing and _speaks_of_noun(self, head[0]):
            return None
        return head

    @cached_property
    def doubtful(self) -> bool:
        """True if the verb at the head may be a noun of the path."""
        words = self.words
        if self.head is None or len(words) < 2:
            return False
        return words[0] in self.nouns or (words[-1] in COMMON_VERBS and _is_among(words[0], self.nouns))


def find_phrase_verb(words: Words, method: str, path: str, opening: Words, *, namespaced: bool) -> VerbPlace | None:
    """Return the verb of a name: at the head, at the end (`users_list`) or behind a prefix; a weak one comes last."""
    name = _Name(words, method, path, opening, namespaced)
    if _is_changing_noun(name):
        return None
    for rule in _RULES:
        place = rule(name)
        if place is not None:
            return place
    return None


def _is_changing_noun(name: _Name) -> bool:
    """Return True if the name of a GET is the path's last noun (`importErrors` of `/import-errors`)."""
    head = leading_verb(name.words) if name.reading and len(name.words) > 1 else None
    if head is None or head[0].category is Category.READ:
        return False
    return bool(name.shape.nouns) and name.shape.nouns[-1].words == name.words


def _speaks_of_noun(name: _Name, verb: Verb) -> bool:
    """Return True if the name of a GET begins with a noun that looks like a verb.

    So do `issueSubscriptions` of `/issues/{index}/subscriptions`, and `stopInfo`.
    """
    nouns = [noun.words for noun in name.shape.nouns]
    if len(name.words) < 2 or not nouns:
        return False
    if name.words[-1] in _ABOUT:
        return True
    ends = nouns[-1] == name.words[:1] and not name.shape.item
    return not (verb.strong or ends) and any(singular(name.words[0]) == singular(noun[0]) for noun in nouns)


def _summary_verb(name: _Name) -> VerbPlace | None:
    """Find the summary's verb of reading inside the name of a GET (`notifyGetThread`)."""
    if not name.reading or name.sentence or not name.opening or name.opening[0] not in name.words[1:]:
        return None
    match = leading_verb(name.opening)
    if match is None or match[0].category is not Category.READ or not match[0].strong:
        return None
    if name.words in [noun.words for noun in name.shape.nouns]:
        return None  # a word search
    at = name.words.index(name.opening[0])
    return VerbPlace(match[0], at, at + 1) if at else None


def _at_head(name: _Name) -> VerbPlace | None:
    if name.head is None or name.doubtful:
        return None
    verb, size = name.head
    alone = name.namespaced and len(name.words) == size
    return VerbPlace(verb, 0, size) if verb.strong or name.sentence or alone else None


def _action_of_path(name: _Name) -> VerbPlace | None:
    """Find the path's action at the end of the name."""
    words, action = name.words, name.shape.action
    match = leading_verb(action) if action and words[-len(action) :] == action else None
    if match is None or not (match[0].strong or len(action) > match[1] or _is_posted_route(name, action)):
        return None
    start = len(words) - len(action)
    return VerbPlace(match[0], start, start + match[1])


def _is_posted_route(name: _Name, action: Words) -> bool:
    """Return True if the name of a POST is made of words of the path."""
    if name.method != "POST" or len(name.words) <= len(action):
        return False
    route = split(name.path)
    return set(name.words) <= {*route, *map(singular, route)}


def _behind_prefix(name: _Name) -> VerbPlace | None:
    """Find a common verb behind at most three words, or behind more whose last ones its object repeats."""
    for start in range(1, len(name.words) - 1):
        repeated = start <= _PREFIX or singular(name.words[start + 1]) in {*map(singular, name.words[:start])}
        if repeated and name.words[start] in COMMON_VERBS:
            match = leading_verb(name.words[start:])
            if match:
                return VerbPlace(match[0], start, start + match[1])
    return None


def _at_end(name: _Name) -> VerbPlace | None:
    last = name.words[-1:]
    match = leading_verb(last) if len(name.words) > 1 else None
    if match is None or not match[0].strong or len(last[0]) < _SHORTEST or _ends_noun(name, last[0]):
        return None
    return VerbPlace(match[0], len(name.words) - 1, len(name.words))


def _ends_noun(name: _Name, last: str) -> bool:
    """Return True if a word ends a noun of the path that is more than it: the store of `/vector_stores/{id}`."""
    if _is_run_together(last, name.path):
        return True
    ends = [noun for noun in name.shape.nouns if singular(noun.words[-1]) == singular(last)]
    return any(len(noun.words) > 1 or (noun.parameters and is_plural(noun.words)) for noun in ends)


def _is_run_together(last: str, path: str) -> bool:
    """Return True if the path runs the word together with another: `access-list` of `/accesslist` lists nothing."""
    return len(last) > 3 and any(word != last and word.endswith(last) for word in split(path))


def _inside(name: _Name) -> VerbPlace | None:
    """Find a strong verb before its object; words of the path are nouns rather than verbs. A GET needs none."""
    for nouns in () if name.reading else (name.nouns, frozenset[str]()):
        for start in (1, 2, 3):
            match = leading_verb(name.words[start:])
            if match and match[0].strong and start + match[1] < len(name.words) and name.words[start] not in nouns:
                return VerbPlace(match[0], start, start + match[1])
    return None


def _weak_head(name: _Name) -> VerbPlace | None:
    if name.head is None:
        return None
    verb, size = name.head
    return VerbPlace(verb, 0, size) if len(name.words) > size or (name.doubtful and verb.strong) else None


_RULES: Final[tuple[Callable[[_Name], VerbPlace | None], ...]] = (
    _summary_verb,
    _at_head,
    _action_of_path,
    _behind_prefix,
    _at_end,
    _inside,
    _weak_head,
)


def _is_among(word: str, nouns: frozenset[str]) -> bool:
    return any(singular(word) == singular(noun) for noun in nouns)
