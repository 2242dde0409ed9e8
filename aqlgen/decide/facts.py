"""The facts about one operation, read on demand from its path, its name, its summary and its responses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from aqlgen.decide.carried import Carrying, carrying
from aqlgen.decide.decision import Category
from aqlgen.decide.naming.noun import Noun, is_plural
from aqlgen.decide.naming.phrase import Phrase, phrase
from aqlgen.decide.naming.shape import Shape, action_as_noun, shape
from aqlgen.decide.naming.verbs import Verb, find_verb, leading_verb, without_third_person
from aqlgen.decide.payloads import answers_list, answers_nothing
from aqlgen.decide.schemas import Schemas
from aqlgen.ir import JsonSchema, Location, Operation
from aqlgen.words import split


@dataclass(frozen=True)
class Facts:
    """An operation with what can be read from it."""

    operation: Operation
    schemas: Schemas

    @cached_property
    def method(self) -> str:
        """The HTTP method in capitals."""
        return self.operation.method.upper()

    @cached_property
    def shape(self) -> Shape:
        """The path, read; an action that the operation's name speaks of as a thing is a noun, a constant is none."""
        path = self.operation.path
        for parameter in self.operation.parameters:
            if parameter.location is Location.PATH and (constant := _constant(parameter.schema)) is not None:
                path = path.replace(f"{{{parameter.name}}}", constant)
        path_shape = shape(self.method, path)
        verb = self.named_verb
        if len(path_shape.action) < 2 or self.phrase is None or verb is None or not verb.strong:
            return path_shape
        if verb.word in _REPEATING or verb.word in path_shape.action:
            return path_shape
        return action_as_noun(path_shape, self.phrase.object)

    @property
    def last_noun(self) -> Noun | None:
        """The last noun of the path, None where the path has none."""
        return self.shape.nouns[-1] if self.shape.nouns else None

    @cached_property
    def phrase(self) -> Phrase | None:
        """The operation's name as people wrote it, None where nobody named it."""
        return phrase(self.operation)

    @cached_property
    def action_verb(self) -> Verb | None:
        """The verb at the path's end."""
        match = leading_verb(self.shape.action)
        return match[0] if match else None

    @cached_property
    def named_verb(self) -> Verb | None:
        """The verb of the name that people gave the operation."""
        return self.phrase.verb if self.phrase else None

    @cached_property
    def summary_verb(self) -> Verb | None:
        """The strong verb at the head of the summary, or of the description where there is no summary."""
        words = split((self.operation.summary or self.operation.description)[:100])
        opening = next((each for each in _OPENINGS if words[: len(each)] == each and len(words) > len(each)), ())
        words = words[len(opening) :]
        if not words:
            return None
        if words[0] in _ANSWERS:
            words = ("get", *words[1:])
        match = _leading_inflected(words)
        if match is None and len(words) > 1 and words[0].endswith("ly"):
            match = _leading_inflected(words[1:])
        return match[0] if match and match[0].strong and match[0].word not in _VAGUE else None

    @cached_property
    def spoken_action(self) -> tuple[str, Category] | None:
        """The verb that is none of the known ones, with its category: the last path segment or the name's head.

        The summary begins with it, too, or the name does with the segment.
        """
        known = [verb for verb in (self.summary_verb, self.named_verb) if verb and verb.strong]
        if known or self.method not in ("POST", "PUT", "PATCH"):
            return None
        name, summary = self.phrase.words if self.phrase else (), split(self.operation.summary[:60])
        if len(name) > 1 and not find_verb(name[0]) and _begins_sentence(name[0], summary, ()):
            return name[0], Category.EXECUTE
        return self._spoken_segment(name, summary) if self.method == "POST" else None

    def _spoken_segment(self, name: tuple[str, ...], summary: tuple[str, ...]) -> tuple[str, Category] | None:
        segment = self.operation.path.rstrip("/").rsplit("/", 1)[-1]
        words = split(segment) if "{" not in segment else ()
        if len(words) != 1 or is_plural(words):
            return None
        verb = find_verb(words[0])
        spoken = (len(name) > 1 and name[:1] == words) or _begins_sentence(words[0], summary, name)
        if not spoken or (verb and verb.strong):
            return None
        return words[0], verb.category if verb else Category.EXECUTE

    @cached_property
    def carrying(self) -> Carrying | None:
        """The other operations that a call can carry, None if there are none."""
        last = self.last_noun
        of_one = self.shape.item or last is None or not is_plural(last.words)
        return carrying(self.operation, self.schemas, of_one=of_one)

    @cached_property
    def answers_list(self) -> bool | None:
        """True if a success answers with a list, None if the document does not say."""
        return answers_list(self.operation, self.last_noun.words if self.last_noun else (), self.schemas)

    @cached_property
    def answers_nothing(self) -> bool:
        """True if a success is declared and has no body."""
        return answers_nothing(self.operation)


_VERSION: Final = re.compile(r"v?\d[\w.-]*", re.IGNORECASE)


def _constant(schema: JsonSchema | None) -> str | None:
    """Return the version that a parameter of a path always is, "" for any other single value, None if it varies."""
    if not isinstance(schema, dict):
        return None
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    default = str(schema.get("default", ""))
    if not (isinstance(values, list) and len(values) == 1):
        return default if _VERSION.fullmatch(default) and schema.get("type") == "string" else None
    return str(values[0]) if _VERSION.fullmatch(str(values[0])) else ""


_REPEATING: Final = frozenset({"post", "put", "patch", "get", "set", "update"})
"""Verbs that may only repeat the method, before the real one (`post_clear_tasks`).

The object of any other verb is a thing, even if a verb names it (`createRemoveToken` of `…/remove-token`).
"""
_VAGUE: Final = frozenset({"manage"})
"""Verbs that summaries use for operations of every kind."""
_ANSWERS: Final = frozenset({"returns"})
_ARTICLES: Final = frozenset("a an the all this your one some multiple several".split())
_OPENINGS: Final = [
    tuple(opening.split())
    for opening in "allows you to,allows to,used to,use this endpoint to,use this method to,use this to,endpoint to,"
    "api to,deprecated,beta,experimental".split(",")
]
"""Openings of summaries before the verb."""


def _leading_inflected(words: tuple[str, ...]) -> tuple[Verb, int] | None:
    return leading_verb(words) or leading_verb((without_third_person(words[0]), *words[1:]))


def _begins_sentence(word: str, summary: tuple[str, ...], name: tuple[str, ...]) -> bool:
    """Return True if the summary is a sentence whose verb is `word` (`stage`: "Stages a release")."""
    head, *rest = summary or ("",)
    inflected = head != word and head.startswith(word[:-1]) and head.endswith("s")
    if not rest or rest[0] in ("of", "for") or not (head == word or inflected):
        return False
    return inflected or rest[0] in _ARTICLES or (word,) in (name[:1], name[-1:])
