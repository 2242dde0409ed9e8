"""What a path says: nouns and their items, the action at its end, and whether it is a remote procedure.

Versions, dates, `api` and the like are residue: no noun, kept for the case that only they tell two paths apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from aqlgen.decisions import Category
from aqlgen.words import singular, split

from .verbs import leading

__all__ = ["Noun", "Shape", "is_plural", "shape", "thing", "thing_called"]


@dataclass(frozen=True, slots=True)
class Noun:
    """A literal segment: its words, and the parameters that follow it (`/repos/{owner}/{repo}`: two)."""

    words: tuple[str, ...]
    parameters: tuple[tuple[str, ...], ...]

    @property
    def one(self) -> tuple[str, ...]:
        """The words with the last in the singular; a parameter's name knows it best (`/cwsus/{cwsuId}`)."""
        last = self.words[-1]
        if self.parameters and f"{self.parameters[0][0]}s" == last:
            return (*self.words[:-1], self.parameters[0][0])
        return (*self.words[:-1], singular(last))

    @property
    def bare(self) -> bool:
        """Whether only a parameter gives the noun (`/{mount_path}/`); a plural is a segment of its own."""
        return not is_plural(self.words) and self.words in [thing(name) for name in self.parameters]


@dataclass(frozen=True, slots=True)
class Shape:
    """A path, read. `action` holds a last segment that is a verb (`/cancel`, `:cancel`, `/chat.postMessage`).

    `area` counts the nouns that stand before a version, `marks` holds what a literal query says (`?beta=true`).
    """

    nouns: tuple[Noun, ...]
    action: tuple[str, ...]
    qualifier: tuple[str, ...]
    procedure: bool
    residue: tuple[str, ...]
    area: int = 0
    marks: tuple[str, ...] = ()
    queried: bool = False

    @property
    def item(self) -> bool:
        """Whether the path ends at one thing: a parameter, or an action on what a parameter names."""
        return bool(self.nouns and self.nouns[-1].parameters)


_VERSION: Final = re.compile(
    r"v\d+([._-]?\d+)*((alpha|beta|rc|p\d+(alpha|beta)|preview)\d*)?|\d{4}-\d{2}(-\d{2})?|\d+(\.\d+)+", re.IGNORECASE
)
_RESIDUE: Final = frozenset({"api", "apis", "rest", "restapi", "-", "_", "svc", "ws"})
_ENDING: Final = re.compile(r"\.(json|xml|csv|yaml|yml|txt|html|php|asp|aspx|do|cgi|jsp)$", re.IGNORECASE)
_PARAMETER: Final = re.compile(r"\{([^{}]*)\}")
_DOTTED: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z][A-Za-z0-9_]*)+")
_DOMAIN: Final = re.compile(r"[a-z0-9.-]+\.(io|com|org|net|dev)")
_CAMEL: Final = re.compile(r"[a-z][A-Z]|[a-z]\.[a-z]")
_RANDOM: Final = re.compile(r"-(?=[A-Za-z]*\d)(?=[a-z\d]*[A-Z])(?=[A-Z\d]*[a-z])[A-Za-z\d]{10,}$")
"""What a machine put behind a name (`securityClassification-6VMVochwUWo`)."""
_RPC: Final = re.compile(r"[?#&](?:.*&)?(?:Action|X-Amz-Target|method|operation)=([^&=#]+)", re.IGNORECASE)


_ACTIONS: Final = frozenset({"action", "actions", "command", "commands", "lifecycle"})
_CONTROLS: Final = frozenset({"start", "stop", "pause", "resume", "cancel"})
"""Verbs that another verb stands before, which is a noun to them: `gather_stop` stops gathering."""
_ALWAYS_VERBS: Final = frozenset(
    "get list fetch retrieve describe find delete remove create update set regenerate generate validate evaluate enable"
    " disable send add enumerate sync synchronize populate purge rotate renew reset count manage terminate hide unhide"
    " approve reject revoke rename activate deactivate publish unpublish assign unassign attach detach submit calculate"
    " compute".split()
)
"""Verbs that make a plural behind them their object (`listKeys`), not a compound (`transferLimits`, `check-runs`)."""

_BEFORE_OBJECTS: Final = frozenset("validate verify calculate evaluate generate search delete remove".split())
"""Verbs that are a segment of their own before the one of their object."""

_MAKES_THINGS: Final = frozenset(
    "upload download export import share invite login preview install click search view".split()
)
_THINGS: Final = frozenset("url urls uri uris link links click clicks".split())
"""With the verbs before: `download-url` is a URL, nothing is downloaded."""


def is_plural(words: tuple[str, ...]) -> bool:
    """Whether the last word is a plural."""
    return bool(words) and singular(words[-1]) != words[-1]


@lru_cache(maxsize=16384)
def shape(method: str, path: str) -> Shape:
    """Read a path's template; the method tells whether a verb at its end is an action (`POST …/lock`) or a noun."""
    method = method.upper()
    if match := _RPC.search(path):
        return Shape((), split(match[1].rsplit(".", 1)[-1]), (), procedure=True, residue=(), queried=True)
    reader = _Reader()
    path, _, query = path.partition("?")
    marks = tuple(word for word in split(query) if word not in ("true", "1", "yes"))
    segments = [segment for segment in re.split("[/#]", path) if segment]
    for index, segment in enumerate(segments):
        before = segments[index - 1] if index else ""
        after = segments[index + 1] if index + 1 < len(segments) else ""
        reader.read(before, segment, after)
    nouns, action = reader.nouns, reader.action
    if not action and nouns and not nouns[-1].parameters:
        camel = _CAMEL.search(segments[-1]) is not None
        if reader.dotted:
            end = nouns[-1].words
            unknown = method == "POST" and len(end) == 1 and not is_plural(end)  # `chat.unfurl`
            action = nouns.pop().words if unknown or _is_procedure(end) else ()
        elif len(nouns) > 1 and nouns[-2].parameters and (method, nouns[-1].words) == ("GET", ("list",)):
            pass  # a card's list, which is no list of cards
        elif _is_action(nouns[-1].words, method, alone=len(nouns) == 1, camel=camel):
            action = nouns.pop().words
        elif len(nouns) > 1 and nouns[-2].words[-1] in _ACTIONS and not nouns[-2].parameters and method == "POST":
            ordered = _verb_first(nouns[-1].words)
            if leading(ordered) and not is_plural(ordered[:1]):
                action = ordered
                nouns.pop()
        elif method == "POST" and (_asks(nouns[-1].words) or _controls(nouns[-1].words)):
            action = _verb_first(nouns.pop().words)
    if not action and method in ("POST", "PUT") and len(nouns) > 1 and _acts_before_item(nouns[-2], nouns[-1]):
        last = nouns.pop()
        action, nouns[-1] = last.words, replace(nouns[-1], parameters=last.parameters)
    if not action and method in ("POST", "PUT") and len(nouns) > 1 and _acts_on_next(nouns[-2], nouns[-1]):
        last = nouns.pop()
        action = (*nouns.pop().words, *last.words)
    if _controls(action):
        action = _verb_first(action)
    if action and nouns and nouns[-1].words[-1] in _ACTIONS and not nouns[-1].parameters:
        nouns.pop()
    area = reader.area if reader.area < len(nouns) else 0
    procedure = bool(action) and not nouns
    return Shape(tuple(nouns), action, reader.qualifier, procedure, tuple(reader.residue), area, marks)


@lru_cache(maxsize=16384)
def _segment(segment: str) -> tuple[tuple[tuple[str, ...], ...], str]:
    """Give the parameters of a segment, in words, and what stands beside them."""
    segment = _RANDOM.sub("", _ENDING.sub("", segment))
    parameters = tuple(split(name.split("=")[0]) or ("value",) for name in _PARAMETER.findall(segment))
    return parameters, _PARAMETER.sub(" ", segment).strip()


@lru_cache(maxsize=16384)
def _is_version(literal: str) -> bool:
    return bool(_VERSION.fullmatch(literal) or _DOMAIN.fullmatch(literal))


class _Reader:
    """Collects what the segments of a path say, one after the other."""

    def __init__(self) -> None:
        self.nouns: list[Noun] = []
        self.action: tuple[str, ...] = ()
        self.qualifier: tuple[str, ...] = ()
        self.residue: list[str] = []
        self.area = 0
        self.dotted = False

    def read(self, before: str, segment: str, after: str) -> None:
        last = not after
        parameters, literal = _segment(segment)
        if last and ":" in literal:
            literal, _, action = literal.partition(":")
            self.action = split(action)
        elif last and not parameters and _DOTTED.fullmatch(literal) and not _DOMAIN.fullmatch(literal):
            self.dotted = True
            *spaces, literal = literal.split(".")
            self.nouns += [Noun(words, ()) for space in spaces if (words := split(space))]
        words = split(literal)
        if self._is_residue(before, literal, after):
            self.residue += words
            if not any(noun.parameters for noun in self.nouns):
                self.area = len(self.nouns)
            words = ()
        elif len(words) > 1 and _VERSION.fullmatch(words[-1]):
            self.residue.append(words[-1])
            words = words[:-1]
        elif words[:1] == ("by",) and self.nouns:
            self.qualifier, words = words, ()
        self._add(words, parameters)

    def _is_residue(self, before: str, literal: str, after: str) -> bool:
        if _is_version(literal) or (not self.nouns and (literal.lower() in _RESIDUE or literal.isdigit())):
            return True
        space = after if literal.lower() == "providers" else literal if before.lower() == "providers" else ""
        return "." in space and "{" not in space

    def _add(self, words: tuple[str, ...], parameters: tuple[tuple[str, ...], ...]) -> None:
        if words:
            self.nouns.append(Noun(words, parameters))
        elif parameters and self.nouns:
            self.nouns[-1] = Noun(self.nouns[-1].words, self.nouns[-1].parameters + parameters)
        else:
            self.nouns += [Noun(noun, (name,)) for name in parameters if (noun := thing(name))]


_ADDRESSING: Final = frozenset("id ids name slug key uuid sid code path mount".split())
"""Words of a parameter that say how a thing is found (`{pki_mount_path}`)."""


def thing(name: tuple[str, ...]) -> tuple[str, ...]:
    """Find the noun in a parameter's name: (pet, id) is (pet,)."""
    while len(name) > 1 and name[-1] in _ADDRESSING:
        name = name[:-1]
    return name


def _verb_first(words: tuple[str, ...]) -> tuple[str, ...]:
    """Put a verb that stands last in front: (record, pause) is (pause, record)."""
    return (words[-1], *words[:-1]) if len(words) > 1 and leading(words[-1:]) else words


def thing_called(shape: Shape, words: tuple[str, ...]) -> Shape:
    """Read the action of a path as a noun, where people's words for the thing hold all of it in one run."""
    size, ones = len(shape.action), [singular(word) for word in shape.action]
    runs = (words[start : start + size] for start in range(len(words) - size + 1))
    if size < 2 or shape.procedure or not any([singular(word) for word in run] == ones for run in runs):
        return shape
    return replace(shape, nouns=(*shape.nouns, Noun(shape.action, ())), action=())


def _acts_before_item(noun: Noun, last: Noun) -> bool:
    """Whether a verb stands before the parameter of the noun before it: `/deployment/pause/{deploymentID}`."""
    known = leading(last.words) if len(last.words) == 1 and not noun.parameters and len(last.parameters) == 1 else None
    if known is None or not known[0].strong or is_plural(last.words):
        return False
    return singular(noun.words[-1]) in {singular(word) for word in last.parameters[0]}


def _acts_on_next(noun: Noun, last: Noun) -> bool:
    """Whether a verb stands before what it acts on: `/validate/job`."""
    return not (noun.parameters or last.parameters) and len(noun.words) == 1 and noun.words[0] in _BEFORE_OBJECTS


def _controls(words: tuple[str, ...]) -> bool:
    """Whether the second of two verbs is the one that is meant: gather stop, tidy cancel."""
    return len(words) == 2 and words[1] in _CONTROLS and leading(words[:1]) is not None


def _asks(words: tuple[str, ...]) -> bool:
    """Whether words end in what is done: a web search, a number lookup, `gdpr-delete`; not a saved search."""
    if len(words) == 2 and words[-1] in ("delete", "purge", "destroy"):
        return True
    return len(words) > 1 and words[-1] in ("search", "lookup", "query") and not words[0].endswith("ed")


def _is_procedure(words: tuple[str, ...]) -> bool:
    """Whether the last part of a dotted name (`chat.postMessage`) is a verb with or without its object."""
    found = leading(words)
    if found is None:
        return False
    return not is_plural(words) if len(words) == found[1] else found[0].strong


def _is_action(words: tuple[str, ...], method: str, *, alone: bool, camel: bool) -> bool:
    """Whether the words of a last segment say what is done, and not what it is done to."""
    found = leading(words)
    if found is None or words[0].endswith("ed"):
        return False
    verb, used = found
    compound = len(words) == used + 1
    if compound and words[-1] in _THINGS and verb.word in _MAKES_THINGS:
        return False  # upload-url, download-link
    looking = method == "POST" and verb.word == "search"
    if is_plural(words) and verb.word not in _ALWAYS_VERBS and not looking and (compound or (alone and not camel)):
        return False  # pull-requests, check-runs, transferLimits; but …/{id}/submit_tool_outputs
    if len(words) == used and is_plural(words):
        return False
    if method in ("GET", "HEAD", "OPTIONS"):
        changing = camel and len(words) > used and (alone or not is_plural(words))
        return verb.strong and (verb.category is Category.READ or changing)
    if method == "DELETE":
        return verb.strong and (verb.category is Category.DELETE or verb.word in ("cancel", "stop", "abort"))
    return verb.strong or (method == "POST" and verb.category is not Category.READ and not alone and len(words) == used)
