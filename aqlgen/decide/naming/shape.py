"""The shape of a path: nouns and their items, the action at its end, and whether it is a remote procedure.

Versions, dates, `api` and the like are residue: no nouns, kept for the case that they alone tell two paths apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from aqlgen.decide.naming.noun import Noun, Words, singulars, thing
from aqlgen.decide.naming.path_actions import split_action
from aqlgen.words import split

__all__ = ["Shape", "action_as_noun", "shape"]


@dataclass(frozen=True, slots=True)
class Shape:
    """A path, read. `action` holds a last segment that is a verb (`/cancel`, `:cancel`, `/chat.postMessage`).

    `area` counts the nouns before a version, `query_words` are those of a literal query (`?beta=true`); `queried` is
    True if a query names the procedure.
    """

    nouns: tuple[Noun, ...]
    action: Words
    procedure: bool
    residue: Words
    area: int = 0
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


@lru_cache(maxsize=16384)
def shape(method: str, path: str) -> Shape:
    """Read a path template; the method tells whether a verb at its end is an action (`POST …/lock`) or a noun."""
    if named := _RPC.findall(path):
        return Shape((), split(named[-1].rsplit(".", 1)[-1]), procedure=True, residue=(), queried=True)
    path, _, query = path.partition("?")
    segments = [segment for segment in _SEPARATORS.split(path) if segment]
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
        area=reader.area if reader.area < len(nouns) else 0,
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
        self.area = 0
        self.dotted = False

    def read(self, before: str, segment: str, after: str) -> None:
        parameters, literal = _segment(segment)
        if not after:
            literal = self._without_procedure(literal, parameters)
        words = split(literal)
        if self._is_residue(before, literal, after):
            self.residue += words
            if not any(noun.parameters for noun in self.nouns):
                self.area = len(self.nouns)
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
    if size < 2 or shape.procedure or not any(singulars(run) == ones for run in runs):
        return shape
    return replace(shape, nouns=(*shape.nouns, Noun(shape.action, ())), action=())
