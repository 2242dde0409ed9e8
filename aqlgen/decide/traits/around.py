"""What a trait's rule may look at: the operation, its schemas, and the other operations of the document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from aqlgen.decide.decision import Category
from aqlgen.document.resolve import Resolver
from aqlgen.ir import JsonSchema, Operation, Response
from aqlgen.runtime.encode.urls import without_names
from aqlgen.runtime.media import JSON_PATCH, admits_json

from .look import Schemas

__all__ = ["Around", "Subject", "template"]


def template(path: str) -> str:
    """Give a path without the names of its parameters, by which two paths are the same."""
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
        good = sorted(
            (one for one in self.operation.responses if one.status.startswith("2")), key=lambda one: one.status
        )
        return good[0] if good else next((one for one in self.operation.responses if one.status == "default"), None)

    @cached_property
    def answer(self) -> JsonSchema | None:
        """The JSON Schema of what a success gives back; None where the document has none."""
        media = self.success.media if self.success is not None else ()
        return next((one.schema for one in media if admits_json(one.content_type)), None)

    @cached_property
    def body(self) -> JsonSchema | None:
        """The schema of the body that is sent; None where there is none."""
        media = self.operation.body.media if self.operation.body is not None else ()
        chosen = self.sent
        return next((one.schema for one in media if one.content_type == chosen), None)

    @cached_property
    def sent(self) -> str | None:
        """The content type of the body: as overruled, else JSON that is no patch script, else the first."""
        if self.content_type is not None:
            return self.content_type
        offered = [one.content_type for one in self.operation.body.media] if self.operation.body is not None else []
        for wanted in (lambda one: admits_json(one) and one != JSON_PATCH, admits_json, lambda _: True):
            for one in offered:
                if wanted(one):
                    return one
        return None


class Around:
    """The document about an operation: its schemas, and the operations beside it, by what they are called and read."""

    def __init__(self, subjects: Iterable[Subject], resolver: Resolver | None) -> None:
        self._subjects = tuple(subjects)
        self.schemas = Schemas(resolver)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The agent's names by operationId and by `METHOD /path`."""
        found = {one.operation.operation_id: one.name for one in self._subjects if one.operation.operation_id}
        return found | {one.operation.key: one.name for one in self._subjects}

    @cached_property
    def readers(self) -> Mapping[str, Subject]:
        """The GET operations that read, by the template of their path."""
        return {
            template(one.operation.path): one
            for one in self._subjects
            if one.method == "GET" and one.category is Category.READ
        }

    def reader(self, subject: Subject) -> Subject | None:
        """Give the operation that reads the very resource that this one is about."""
        found = self.readers.get(template(subject.operation.path))
        return found if found is not subject else None
