"""The input of a trait's rule: the operation, its schemas, and the other operations of the document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from aqlgen.decide.decision import Category
from aqlgen.decide.schemas import Schemas
from aqlgen.ir import Json, JsonSchema, Location, Operation, Response
from aqlgen.runtime.encode.urls import split_at_placeholders, without_names
from aqlgen.runtime.text import folded
from aqlgen.runtime.wire import JSON_PATCH, admits_json
from aqlgen.words import singular, split

T = TypeVar("T")


def template(path: str) -> str:
    """Return a path without the names of its parameters, so that equal paths compare equal."""
    return without_names(path.rstrip("/"))


@dataclass(frozen=True)
class Subject:
    """An operation with what was decided about it before.

    `content_type` is what an override chose for its body, `send` what it says that an update sends.
    """

    operation: Operation
    name: str
    category: Category
    verb: str = ""
    resource: str = ""
    content_type: str | None = None
    send: str | None = None

    @cached_property
    def method(self) -> str:
        """The method in capitals."""
        return self.operation.method.upper()

    @cached_property
    def success(self) -> Response | None:
        """The response of the lowest 2xx status, else the default one."""
        responses = sorted(self.operation.responses, key=lambda response: response.status)
        wanted = (response for response in responses if response.status.startswith("2") or response.status == "default")
        return next(wanted, None)

    @cached_property
    def answer(self) -> JsonSchema | None:
        """The JSON Schema of what a success gives back; None where the document has none."""
        media = self.success.media if self.success is not None else ()
        return next((media_type.schema for media_type in media if admits_json(media_type.content_type)), None)

    @cached_property
    def body(self) -> JsonSchema | None:
        """The schema of the body that is sent; None where there is none."""
        media = self.operation.body.media if self.operation.body is not None else ()
        chosen = self.sent
        return next((media_type.schema for media_type in media if media_type.content_type == chosen), None)

    @cached_property
    def sent(self) -> str | None:
        """The content type of the body: as overruled, else JSON that is not a patch script, else the first."""
        if self.content_type is not None:
            return self.content_type
        media = self.operation.body.media if self.operation.body is not None else ()
        offered = [media_type.content_type for media_type in media]
        for is_preferred in (lambda kind: admits_json(kind) and kind != JSON_PATCH, admits_json, lambda _: True):
            for content_type in offered:
                if is_preferred(content_type):
                    return content_type
        return None


class Around:
    """The document about an operation: its schemas, and the operations beside it, by what they are called and read."""

    def __init__(self, subjects: Iterable[Subject], schemas: Schemas, description: str = "") -> None:
        self._subjects = tuple(subjects)
        self.schemas = schemas
        self._made: dict[str, Any] = {}
        self.description = description
        """What the document says of the API as a whole."""

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """All operations."""
        return self._subjects

    def once(self, what: str, make: Callable[[], T]) -> T:
        """Return the result of `make`, computed once for the document."""
        if what not in self._made:
            self._made[what] = make()
        result: T = self._made[what]
        return result

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The agent's names by operationId and by `METHOD /path`."""
        ids = ((subject.operation.operation_id, subject.name) for subject in self._subjects)
        names = {operation_id: name for operation_id, name in ids if operation_id}
        return names | {subject.operation.key: subject.name for subject in self._subjects}

    @cached_property
    def readers(self) -> Mapping[str, Subject]:
        """The GET operations that read, by the template of their path."""
        return {
            template(subject.operation.path): subject
            for subject in self._subjects
            if subject.method == "GET" and subject.category is Category.READ
        }

    def reader(self, subject: Subject) -> Subject | None:
        """Return the operation that reads the same resource: a GET of its path, or of one that identifies it alike."""
        alike = self.lookalike(subject)
        return alike if alike is not None and self._identifies_alike(subject, alike) else None

    def lookalike(self, subject: Subject) -> Subject | None:
        """Return the GET of the same path, else of the likest that differs from it in the names of parameters alone."""
        candidates = [
            each
            for each in self.of_template(subject.operation.path)
            if each.method == "GET" and each.category is Category.READ and each is not subject
        ]
        same = [each for each in candidates if each.operation.path == subject.operation.path]
        alike = (each for each in candidates if self._identifies_alike(subject, each))
        return next(iter(same), None) or next(alike, None) or next(iter(candidates), None)

    def of_template(self, path: str) -> list[Subject]:
        """Return the operations with this path, whatever the names of its parameters."""

        def make() -> dict[str, list[Subject]]:
            subjects: dict[str, list[Subject]] = {}
            for subject in self._subjects:
                subjects.setdefault(template(subject.operation.path), []).append(subject)
            return subjects

        return self.once("subjects-by-template", make).get(template(path), [])

    def _identifies_alike(self, subject: Subject, other: Subject) -> bool:
        """Return True if the parameters of two paths of one template mean the same, each as the one at its place.

        They do by their names, `petId` in `/pets/{petId}` being `id`, unless the document gives them other forms.
        """
        pairs = zip(_identifiers(subject.operation), _identifiers(other.operation), strict=True)
        return all(first.name == second.name or self._alike(first, second) for first, second in pairs)

    def _alike(self, first: _Identifier, second: _Identifier) -> bool:
        if folded(first.name) == folded(second.name):
            return True
        return first.words == second.words and all(
            None in pair or pair[0] == pair[1] for pair in zip(self._form(first), self._form(second), strict=True)
        )

    def _form(self, identifier: _Identifier) -> tuple[Json, ...]:
        kinds = self.schemas.kinds(identifier.schema) or None
        return kinds, *(self.schemas.word(identifier.schema, key) for key in ("format", "pattern"))


@dataclass(frozen=True, slots=True)
class _Identifier:
    """A parameter of a path; `words` are those of its name without the noun of the collection before it."""

    name: str
    words: tuple[str, ...]
    schema: JsonSchema | None


def _identifiers(operation: Operation) -> list[_Identifier]:
    schemas = {each.name: each.schema for each in operation.parameters if each.location is Location.PATH}
    literals, names = split_at_placeholders(operation.path)
    identifiers = []
    for literal, name in zip(literals, names, strict=False):
        words = split(name)
        noun = tuple(singular(word) for word in split(literal.rstrip("/").rpartition("/")[2]))
        bare = words[len(noun) :] if words[: len(noun)] == noun and words != noun else words
        identifiers.append(_Identifier(name, bare, schemas.get(name)))
    return identifiers
