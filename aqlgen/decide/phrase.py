"""What people called an operation: the verb, the object and the namespace in its operationId or in an extension.

Styles read: `listPets`, `list-pets`, `issues/list-for-repo`, `compute.instances.list`, `Sites_Get`, `GET_DescribeVpcs`,
`read_item_items__item_id__get`, `getUserUsingGET`, `UserController_findOne`, `users_list`, `aws-write-role-tag`.
An operationId that only repeats the method and the path says nothing, and gives no phrase.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from aqlgen.decisions import Category
from aqlgen.ir import Operation
from aqlgen.words import plural, singular, split

from .declared import method_name
from .generated import fixed_words, repeats, without_path
from .shape import is_plural, shape
from .verbs import Verb, leading

__all__ = ["Phrase", "phrase"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A name given by people, read. `verb` is None when none is found; `lead` keeps its adverb (bulk delete)."""

    verb: Verb | None
    lead: tuple[str, ...]
    object: tuple[str, ...]
    namespace: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def evidence(self) -> frozenset[str]:
        """All words in the singular, to be compared with those of a path."""
        return _singulars((*self.namespace, *self.object))

    def evidence_for(self, nouns: Iterable[tuple[str, ...]]) -> frozenset[str]:
        """Give the same for a path's nouns: a weak verb (`reportTelephone`) that is one of them is a word as well."""
        verb = self.verb
        if verb is None or verb.strong or (verb.word,) not in nouns:
            return self.evidence
        return self.evidence | {verb.word}


@lru_cache(maxsize=16384)
def _singulars(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(singular(word) for word in words)


_METHODS: Final = frozenset({"get", "post", "put", "patch", "delete", "head", "options"})
_LONGEST: Final = 400
"""How many characters of a name are read; no name that anybody gave is longer."""
_SENTENCE: Final = 120
_RUN: Final = 7
"""Fewer letters than these are one word."""
_SPACES: Final = 2
"""How many parts of a dotted chain before its verb tell what it is about (`projects.locations.models.list`)."""
_USING: Final = re.compile(r"Using(GET|POST|PUT|PATCH|DELETE|HEAD)(_\d+)?$")
_NUMBERED: Final = re.compile(r"[-_]\d+$")
_POSTMAN: Final = re.compile(r"(GET|POST)_[A-Z]")
_DOTS: Final = re.compile(r"[/.]+")
_DOTTED: Final = re.compile(r"\w[/.]\w")
_VERSION: Final = re.compile(r"v\d+((alpha|beta)\d*)?$")
_NOISE: Final = frozenset("a an the api controller endpoint route async operation func handler".split())
_COMMON: Final = frozenset(
    "get list create update delete read write add remove retrieve fetch patch put post set enable disable".split()
)


def phrase(operation: Operation, given: str | None = None) -> Phrase | None:
    """Read what people called the operation, None when nobody gave it a name; `given` is a name from elsewhere."""
    called = given or method_name(operation) or operation.operation_id
    if not called:
        return None
    begins = split(operation.summary[:40])[:1]
    called = _spelled(called[:_LONGEST], operation.summary[:_SENTENCE])
    return _read(called, operation.method.upper(), operation.path, begins)


def _spelled(called: str, summary: str) -> str:
    """Take a name that is one run of letters apart, where the summary has its words (deleteshortcut, Delete shortcut).

    A summary that only says the name again shows nothing.
    """
    if len(called) < _RUN or not (called.isalpha() and called.islower()):
        return called
    words = split(summary)
    runs = (words[start:end] for start in range(len(words)) for end in range(start + 2, min(start + 5, len(words)) + 1))
    return next((" ".join(run) for run in runs if "".join(run) == called), called)


@lru_cache(maxsize=16384)
def _read(text: str, method: str, path: str, begins: tuple[str, ...]) -> Phrase | None:
    text = _USING.sub("", _NUMBERED.sub("", text))
    if _POSTMAN.match(text):
        text = text.partition("_")[2]
    parts = _DOTS.split(text) if _DOTTED.search(text) else _azure(text)
    literals = fixed_words(path, method)
    spaces = [_clean(split(part), literals) for part in parts[:-1]]
    namespace = tuple(word for space in spaces[-_SPACES:] for word in space)
    words = _clean(split(parts[-1]), literals)
    second = leading(begins) if len(words) > 2 and words[0] == method.lower() and begins == words[1:2] else None
    if second and second[0].strong:
        words = words[1:]  # `postSimulateVoid`, "Simulate a void"
    whole = (*namespace, *words)
    every = tuple(word for space in spaces for word in space) if "{" in text else namespace
    if not whole or repeats((*every, *words), method, path):
        return None
    words = without_path(words, method.lower(), path)
    known = split(path)
    words = tuple(piece for word in words for piece in (_apart(word, known) if len(word) > 8 else (word,)))
    told = len(words) > 1 and begins == words[:1]  # the summary begins alike: it is a sentence, and that its verb
    nouns = frozenset() if told else _nouns(path, method)
    action = shape(method, path).action
    found = _verb(
        words,
        namespaced=bool(namespace),
        reading=method.upper() == "GET",
        path=nouns,
        told=told,
        action=action,
        route=(method, path),
        begins=begins,
    )
    if found is None:
        head = leading(namespace)
        if head and head[0].strong and head[1] == len(namespace):
            return Phrase(head[0], namespace, words, (), whole)
        return Phrase(None, (), words, namespace, whole)
    verb, start, end = found
    if words[end : end + 1] in (("or",), ("and",)) and (other := leading(words[end + 1 :])):
        end += 1 + other[1]
        verb = other[0] if other[0].category is Category.DELETE else verb
    before = words[:start]
    lead = (verb.word,) if verb.word in ("get", "list") else words[start:end]
    if lead == ("update", "or", "create"):
        lead = ("create", "or", "update")  # an upsert is a CREATE, and its name says so first
    return Phrase(verb, lead, words[end:], (*namespace, *before), whole)


def _azure(text: str) -> list[str]:
    """Split `Sites_CreateOrUpdate` and `pets_list` at the underscore where a namespace stands before it."""
    match = re.fullmatch(r"([A-Z][A-Za-z0-9]*|[a-z][A-Za-z0-9]*)_([A-Za-z][A-Za-z0-9]*)(_\d+)?", text)
    if match and leading(split(match[2])) and (match[1][0].isupper() or not leading(split(match[1]))):
        return [match[1], match[2]]
    return [text]


def _clean(words: tuple[str, ...], path: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out versions and words that say nothing, but for those that the path's nouns have too."""
    kept = tuple(
        word
        for word in words
        if not (word in _NOISE and not (len(word) > 2 and (word in path or plural(word) in path)))
        and not (word[0] == "v" and _VERSION.match(word))
    )
    return kept or words


def _apart(word: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Split a run-together word into verbs and words of the path: updateprojectspendlimit, getorders."""
    if word in known:
        return (word,)
    pieces = {*known, *(singular(one) for one in known)} | _COMMON
    ways: dict[int, tuple[str, ...]] = {0: ()}
    for end in range(1, len(word) + 1):
        for start in sorted(ways):
            if word[start:end] in pieces and end - start > 2:
                ways[end] = (*ways[start], word[start:end])
                break
    return ways.get(len(word), (word,))


def _verb(
    words: tuple[str, ...],
    *,
    namespaced: bool,
    reading: bool,
    path: frozenset[str],
    told: bool,
    action: tuple[str, ...],
    route: tuple[str, str],
    begins: tuple[str, ...],
) -> tuple[Verb, int, int] | None:
    """Find the verb: at the head, at the end (`users_list`) or behind a prefix; a weak one only if no strong one is."""
    head = leading(words)
    if reading and head and len(words) > 1 and head[0].category is not Category.READ and _is_last_noun(words, route):
        return None  # `importErrors` of `/import-errors`
    if reading and not told:
        if (seen := _seen(words, begins, route)) is not None:
            return seen
        if head and head[0].category is not Category.READ and _speaks_of_noun(words, head[0], route):
            head = None
    doubtful = (
        bool(head) and len(words) > 1 and (words[0] in path or (words[-1] in _COMMON and _is_among(words[0], path)))
    )
    if head and not doubtful and (head[0].strong or told or (namespaced and len(words) == head[1])):
        return head[0], 0, head[1]
    acting = leading(action) if action and words[-len(action) :] == action else None
    routed = (
        bool(acting)
        and len(words) > len(action)
        and set(words) <= {*split(route[1]), *(singular(word) for word in split(route[1]))}
    )
    if acting and (acting[0].strong or len(action) > acting[1] or (routed and route[0].upper() == "POST")):
        start = len(words) - len(action)
        return acting[0], start, start + acting[1]
    for start in (1, 2, 3):
        if start < len(words) - 1 and words[start] in _COMMON and (inner := leading(words[start:])):
            return inner[0], start, start + inner[1]
    if len(words) > 1 and (tail := leading(words[-1:])) and tail[0].strong and not _ends_noun(words[-1:], *route):
        return tail[0], len(words) - 1, len(words)
    for nouns in () if reading else (path, frozenset[str]()):  # words of the path are nouns rather than verbs
        for start in (1, 2, 3):
            inner = leading(words[start:])
            if inner and inner[0].strong and start + inner[1] < len(words) and words[start] not in nouns:
                return inner[0], start, start + inner[1]
    if head and (len(words) > head[1] or (doubtful and head[0].strong)):
        return head[0], 0, head[1]
    return None


def _seen(words: tuple[str, ...], begins: tuple[str, ...], route: tuple[str, str]) -> tuple[Verb, int, int] | None:
    """Find the summary's verb of reading inside the words that people call a GET by (`notifyGetThread`)."""
    if not begins or begins[0] not in words[1:]:
        return None
    verb = leading(begins)
    if verb is None or verb[0].category is not Category.READ or not verb[0].strong:
        return None
    if words in [noun.words for noun in shape(*route).nouns]:
        return None  # a word search
    at = words.index(begins[0])
    return (verb[0], at, at + 1) if at else None


def _is_last_noun(words: tuple[str, ...], route: tuple[str, str]) -> bool:
    nouns = shape(*route).nouns
    return bool(nouns) and nouns[-1].words == words


def _is_among(word: str, nouns: frozenset[str]) -> bool:
    return any(singular(word) == singular(noun) for noun in nouns)


def _speaks_of_noun(words: tuple[str, ...], verb: Verb, route: tuple[str, str]) -> bool:
    """Whether what a GET is called begins with a noun that looks like a verb.

    So do `issueSubscriptions` of `/issues/{index}/subscriptions`, and `stopInfo`.
    """
    nouns = [noun.words for noun in shape(*route).nouns]
    if len(words) < 2 or not nouns:
        return False
    if words[-1] in _TOLD_OF:
        return True
    ends = shape(*route).nouns[-1].words == words[:1] and not shape(*route).item
    return not (verb.strong or ends) and any(singular(words[0]) == singular(noun[0]) for noun in nouns)


_TOLD_OF: Final = frozenset({"info", "information", "details", "stats"})


def _compound(last: tuple[str, ...], path: str) -> bool:
    """Whether the path runs the last word together with another: `access-list` of `/accesslist` lists nothing."""
    return any(word != one and word.endswith(one) for one in last if len(one) > 3 for word in split(path))


def _ends_noun(last: tuple[str, ...], method: str, path: str) -> bool:
    """Whether a word ends a noun of the path that is more than it: the store of `/vector_stores/{id}`."""
    if _compound(last, path):
        return True
    ends = [noun for noun in shape(method, path).nouns if last and singular(noun.words[-1]) == singular(last[0])]
    return any(len(noun.words) > 1 or (noun.parameters and is_plural(noun.words)) for noun in ends)


def _nouns(path: str, method: str) -> frozenset[str]:
    """Give the first words of the path's nouns: a name that starts with one of them hardly starts with a verb."""
    return frozenset(noun.words[0] for noun in shape(method, path).nouns)
