"""The shape of a path: nouns and their items, the action at its end (`/cancel`), and whether it is a remote procedure.

Versions, dates, `api` and the like are residue: no nouns, kept for the case that they alone tell two paths apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from aqlgen.decide.decision import Category
from aqlgen.decide.naming.noun import IDS, Noun, Words, is_plural, singulars, thing
from aqlgen.decide.naming.verbs import Verb, leading_verb
from aqlgen.words import singular, split

_ACTION_FOLDERS: Final = frozenset({"action", "actions", "command", "commands", "lifecycle"})
"""Segments behind which actions stand (`/runs/{id}/actions/cancel`)."""
_AT_END: Final = frozenset("delete purge destroy search lookup query".split())
"""Verbs that stand last: a web search, `gdpr-delete`."""
_ALWAYS_VERBS: Final = frozenset(
    "get list fetch retrieve describe find delete remove create update set regenerate generate validate evaluate enable"
    " disable send add enumerate sync synchronize populate purge rotate renew reset count manage terminate hide unhide"
    " approve reject revoke rename activate deactivate publish unpublish assign unassign attach detach submit calculate"
    " compute".split()
)
"""Verbs that take a plural behind them as their object (`listKeys`): no compound (`transferLimits`, `check-runs`)."""
_THINGS: Final = frozenset("url urls uri uris link chain click clicks".split())
"""Behind a verb they are what it is about: `download-url` is a URL, nothing is downloaded."""


def split_action(
    method: str, nouns: list[Noun], action: Words, *, dotted: bool, camel: bool
) -> tuple[list[Noun], Words]:
    """Split a path's nouns into the nouns before the action, and the words of the action.

    `action` are the words behind a colon, if there are any. `dotted` and `camel` say how the last segment is written.
    """
    if not action and nouns and not nouns[-1].parameters:
        action = _procedure(method, nouns[-1].words) if dotted else _last_segment(method, nouns, camel=camel)
        nouns = nouns[:-1] if action else nouns
    if not action and method in ("POST", "PUT") and len(nouns) > 1 and _acts_before_item(*nouns[-2:]):
        *others, before, last = nouns
        nouns, action = [*others, replace(before, parameters=last.parameters)], last.words
    if action and nouns and nouns[-1].words[-1] in _ACTION_FOLDERS and not nouns[-1].parameters:
        nouns = nouns[:-1]
    return nouns, action


def _procedure(method: str, words: Words) -> Words:
    """Return the last part of a dotted name if it is a verb: `chat.postMessage`, and the unknown `chat.unfurl`."""
    match = leading_verb(words)
    if match is not None and (match[0].strong if len(words) > match[1] else not is_plural(words)):
        return words
    return words if method == "POST" and len(words) == 1 and not is_plural(words) else ()


def _last_segment(method: str, nouns: list[Noun], *, camel: bool) -> Words:
    """Return the words of the last segment if it is an action, verb first; () if it is a noun."""
    words, alone = nouns[-1].words, len(nouns) == 1
    match = None if words[0].endswith("ed") else leading_verb(words)
    if match is not None and not _is_compound(method, words, *match, alone=alone and not camel):
        verb, used = match
        if _suits_method(method, verb, whole=len(words) == used, alone=alone):
            return words
    return _verb_first(words, nouns[:-1]) if method == "POST" else ()


def _verb_first(words: Words, before: list[Noun]) -> Words:
    """Return the words of an action in a folder of actions, or with its verb at the end (`gdpr-delete`), verb first."""
    folder = bool(before) and before[-1].words[-1] in _ACTION_FOLDERS and not before[-1].parameters
    last = len(words) == 2 and words[-1] in _AT_END and not words[0].endswith("ed")
    if not (folder or last):
        return ()
    ordered = (words[-1], *words[:-1]) if leading_verb(words[-1:]) else words
    return ordered if leading_verb(ordered) and not is_plural(ordered[:1]) else ()


def _acts_before_item(noun: Noun, last: Noun) -> bool:
    """Return True if a verb stands before the parameter of the noun before it: `/deployment/pause/{deploymentID}`."""
    known = leading_verb(last.words)
    if noun.parameters or len(last.parameters) != 1 or len(last.words) != 1 or known is None or not known[0].strong:
        return False
    named = {singular(word) for word in last.parameters[0]}
    return not is_plural(last.words) and (singular(noun.words[-1]) in named or named <= IDS)


def _is_compound(method: str, words: Words, verb: Verb, used: int, *, alone: bool) -> bool:
    """Return True if a verb is part of a noun: upload-url, pull-requests, check-runs, transferLimits."""
    if len(words) == used + 1 and words[-1] in _THINGS and verb.word not in _ALWAYS_VERBS:
        return True
    if not is_plural(words) or len(words) == used:
        return is_plural(words)
    if verb.word in _ALWAYS_VERBS or (method == "POST" and verb.word == "search"):
        return False
    return len(words) == used + 1 or alone  # but …/{id}/submit_tool_outputs


def _suits_method(method: str, verb: Verb, *, whole: bool, alone: bool) -> bool:
    """Return True if an action with this verb is called by the path's method."""
    if method in ("GET", "HEAD", "OPTIONS"):
        return verb.strong and verb.category is Category.READ
    if method == "DELETE":
        return verb.strong and (verb.category is Category.DELETE or verb.word in ("cancel", "stop", "abort"))
    if method == "PATCH" and verb.category is Category.CREATE and not whole:
        return False  # what is changed is a thing: `PATCH /settings/new_relic`
    return verb.strong or (method == "POST" and verb.category is not Category.READ and not alone and whole)


@dataclass(frozen=True, slots=True)
class Shape:
    """A path, read. `action` holds a last segment that is a verb (`/cancel`, `:cancel`, `/chat.postMessage`).

    `query_words` are those of a literal query (`?beta=true`); `queried` is
    True if a query names the procedure.
    """

    nouns: tuple[Noun, ...]
    action: Words
    procedure: bool
    residue: Words
    query_words: Words = ()
    queried: bool = False

    @property
    def item(self) -> bool:
        """True if the path ends at one thing: a parameter, or an action on what a parameter names."""
        return bool(self.nouns and self.nouns[-1].parameters)


_VERSION: Final = re.compile(
    r"v\d+([._-]\d+)*((alpha|beta|rc|p\d+(alpha|beta)|preview)\d*)?|\d{4}-\d{2}(-\d{2})?|\d+(\.\d+)+", re.IGNORECASE
)
_RESIDUE: Final = frozenset({"api", "apis", "rest", "restapi", "-", "_", "svc", "ws"})
_ENDING: Final = re.compile(r"\.(json|xml|csv|yaml|yml|txt|html|php|asp|aspx|do|cgi|jsp)$", re.IGNORECASE)
_PARAMETER: Final = re.compile(r"\{([^{}]*)\}")
_DOTTED: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)+")
_DOMAIN: Final = re.compile(r"[a-z0-9.-]+\.(io|com|org|net|dev)")
_CAMEL: Final = re.compile(r"[a-z][A-Z]|[a-z]\.[a-z]")
_RANDOM: Final = re.compile(r"-(?=[A-Za-z]*\d)(?=[a-z\d]*[A-Z])(?=[A-Z\d]*[a-z])[A-Za-z\d]{10,}$")
"""An identifier that a machine appended to a name (`securityClassification-6VMVochwUWo`)."""
_RPC: Final = re.compile(r"[?#&](?:Action|X-Amz-Target|method|operation)=([^&=#]+)", re.IGNORECASE)
_SEPARATORS: Final = re.compile("[/#]")
_MOST_SEGMENTS: Final = 40
"""The segments that are read, from the end of a path: twice as many as any path of the corpus has."""


@lru_cache(maxsize=16384)
def shape(method: str, path: str) -> Shape:
    """Read a path template; the method tells whether a verb at its end is an action (`POST …/lock`) or a noun."""
    if named := _RPC.findall(path):
        return Shape((), split(named[-1].rsplit(".", 1)[-1]), procedure=True, residue=(), queried=True)
    path, _, query = path.partition("?")
    segments = [segment for segment in _SEPARATORS.split(path) if segment][-_MOST_SEGMENTS:]
    reader = _Reader()
    for before, segment, after in zip(["", *segments], segments, [*segments[1:], ""], strict=False):
        reader.read(before, segment, after)
    camel = bool(segments) and _CAMEL.search(segments[-1]) is not None
    nouns, action = split_action(method.upper(), reader.nouns, reader.action, dotted=reader.dotted, camel=camel)
    return Shape(
        nouns=tuple(nouns),
        action=action,
        procedure=bool(action) and not nouns,
        residue=tuple(reader.residue),
        query_words=tuple(word for word in split(query) if word not in ("true", "1", "yes")),
    )


@lru_cache(maxsize=16384)
def _segment(segment: str) -> tuple[tuple[Words, ...], str]:
    """Return the parameters of a segment, in words, and the literal text beside them."""
    segment = _RANDOM.sub("", _ENDING.sub("", segment))
    parameters = tuple(split(name.split("=")[0]) or ("value",) for name in _PARAMETER.findall(segment))
    return parameters, _PARAMETER.sub(" ", segment).strip()


@lru_cache(maxsize=16384)
def _is_version(literal: str) -> bool:
    return bool(_VERSION.fullmatch(literal) or _DOMAIN.fullmatch(literal))


class _Reader:
    """Reads the segments of a path, one after the other."""

    def __init__(self) -> None:
        self.nouns: list[Noun] = []
        self.action: Words = ()
        self.residue: list[str] = []
        self.dotted = False

    def read(self, before: str, segment: str, after: str) -> None:
        parameters, literal = _segment(segment)
        if not after:
            literal = self._without_procedure(literal, parameters)
        words = split(literal)
        if self._is_residue(before, literal, after):
            self.residue += words
            words = ()
        elif len(words) > 1 and _VERSION.fullmatch(words[-1]):
            self.residue.append(words[-1])
            words = words[:-1]
        self._add(words, parameters)

    def _without_procedure(self, literal: str, parameters: tuple[Words, ...]) -> str:
        """Take the action behind a colon, or the namespaces of a dotted name, off the last segment."""
        if ":" in literal:
            literal, _, action = literal.partition(":")
            self.action = split(action)
        elif not parameters and _DOTTED.fullmatch(literal) and not _DOMAIN.fullmatch(literal):
            self.dotted = True
            *namespaces, literal = literal.split(".")
            self.nouns += [Noun(words, ()) for namespace in namespaces if (words := split(namespace))]
        return literal

    def _is_residue(self, before: str, literal: str, after: str) -> bool:
        early = not self.nouns or _is_version(after)
        if _is_version(literal) or (early and literal.lower() in _RESIDUE) or (not self.nouns and literal.isdigit()):
            return True
        provider = after if literal.lower() == "providers" else literal if before.lower() == "providers" else ""
        return "." in provider and "{" not in provider

    def _add(self, words: Words, parameters: tuple[Words, ...]) -> None:
        if words:
            self.nouns.append(Noun(words, parameters))
        elif parameters and self.nouns:
            self.nouns[-1] = Noun(self.nouns[-1].words, self.nouns[-1].parameters + parameters)
        else:
            self.nouns += [Noun(noun, (name,)) for name in parameters if (noun := thing(name))]


def action_as_noun(shape: Shape, words: Words) -> Shape:
    """Read the action of a path as a noun if people's words for the thing hold all of it in one run."""
    size, ones = len(shape.action), singulars(shape.action)
    runs = (words[start : start + size] for start in range(len(words) - size + 1))
    if size < 2 or not any(singulars(run) == ones for run in runs):
        return shape
    return replace(shape, nouns=(*shape.nouns, Noun(shape.action, ())), action=())
