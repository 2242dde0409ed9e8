"""An adapter element as it was read.

The pointers are JSON pointers into the element, for positions; `path` is the same as the protocol's documents write it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aqlgen.ir import Json
from aqlgen.runtime.table import Pagination
from aqlgen.runtime.wire import JSON


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a parameter in a request: path, query or body, and the API's name of it."""

    location: str
    wire: str


@dataclass(frozen=True, slots=True)
class ElementParameter:
    """A parameter by the name that agents use; `schema` is its JSON Schema."""

    name: str
    place: Place
    required: bool
    description: str
    schema: Mapping[str, Json]
    pointer: str


@dataclass(frozen=True, slots=True)
class Request:
    """The parts of a request beside its parameters, and the places that the query of its address gives to some.

    `path` has the names of parameters in braces, and values of the query that are fixed.
    """

    method: str
    path: str
    places: Mapping[str, Place] = field(default_factory=dict)
    content_type: str = JSON
    pagination: Pagination | None = None


@dataclass(frozen=True, slots=True)
class ElementOperation:
    """An operation; `written` is its path in the element, such as `operations.read[0]`."""

    name: str
    family: str
    request: Request
    description: str
    parameters: tuple[ElementParameter, ...]
    returns: Mapping[str, Json] | None
    """The JSON Schema of the answer; None for an answer without a body."""
    danger: str | None
    """The stated level, at least destructive where the element asks for a confirmation."""
    pointer: str
    written: str


@dataclass(frozen=True, slots=True)
class Auth:
    """The security scheme as OpenAPI has it, by its name, and the variables of it; nothing where none is sent."""

    schemes: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    variables: Mapping[str, str | Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Element:
    """The whole; `name` is what to call the adapter."""

    name: str
    title: str
    version: str
    description: str
    base_url: str
    auth: Auth
    operations: tuple[ElementOperation, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """The owner's word on one operation, which stands in the element.

    `parameters` are the names that agents use, by the API's name behind its place: `query:page`.
    """

    written: str
    name: str
    category: str
    danger: str | None
    parameters: Mapping[str, str]
    pagination: Pagination | None


@dataclass(frozen=True, slots=True)
class Stated:
    """The owner's word on the whole adapter: its name, its operations by `METHOD /path`, the variables of schemes."""

    file: str
    name: str
    operations: Mapping[str, Word]
    variables: Mapping[str, str | Mapping[str, str]]
