"""The input of a trait's rule: the operation, its schemas, and the other operations of the document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from aqlgen.decide.decision import Category
from aqlgen.document.resolve import Resolver
from aqlgen.ir import JsonSchema, Operation, Response
from aqlgen.runtime.encode.urls import without_names
from aqlgen.runtime.media import JSON_PATCH, admits_json

from .look import Schemas

__all__ = ["Around", "Subject", "template"]

T = TypeVar("T")


def template(path: str) -> str:
    """Return a path without the names of its parameters, so that equal paths compare equal."""
    return without_names(path.rstrip("/"))


@dataclass(frozen=True)
class Subject:
    """An operation with what was decided about it before. `content_type` is what an override chose for its body."""

    operation: Operation
    name: str
    category: Category
    verb: str = ""
    resource: str = ""
    content_type: str | None = None

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
        """The content type of the body: as overruled, else JSON that is no patch script, else the first."""
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

    def __init__(self, subjects: Iterable[Subject], resolver: Resolver | None, description: str = "") -> None:
        self._subjects = tuple(subjects)
        self.schemas = Schemas(resolver)
        self._made: dict[str, Any] = {}
        self.description = description
        """What the document says of the API as a whole."""

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """All operations."""
        return self._subjects

    def once(self, what: str, make: Callable[[], T]) -> T:
        """Return what `make` returns, computed once for the document."""
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
        """Return the operation that reads the same resource."""
        reader = self.readers.get(template(subject.operation.path))
        return reader if reader is not subject else None
