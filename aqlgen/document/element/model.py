"""An adapter element in one form, whichever of the protocol's documents it was written by.

The pointers are JSON pointers into the element, for positions; `path` is the same as the protocol's documents write it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from aqlgen.ir import Json
from aqlgen.runtime.table import Pagination
from aqlgen.runtime.wire import JSON

__all__ = ["Auth", "Element", "ElementOperation", "ElementParameter", "Place", "Request", "Stated", "Word"]


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a parameter in a request: the location, and the API's name of it.

    `whole` is a parameter that is the body, `rest` one whose keys are further fields of it, `adapter` one that the
    adapter adds itself.
    """

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
    style: Mapping[str, Json] = field(default_factory=dict)
    """The form of lists and objects: `style` and `explode` of OpenAPI's Parameter Object."""


@dataclass(frozen=True, slots=True)
class Request:
    """The parts of a request beside its parameters, and the parameters that go elsewhere than usual.

    `path` has the names of parameters in braces, and values of the query that are fixed.
    """

    method: str
    path: str
    places: Mapping[str, Place] = field(default_factory=dict)
    styles: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers that are sent as they stand."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Query parameters that are sent as they stand."""
    content_types: tuple[str, ...] = (JSON,)
    """The content types of the body that a call can choose from, the usual one first."""
    accept: tuple[str, ...] = (JSON,)
    """The content types of the answer."""
    items: str | None = None
    """JSON pointer to the list in the answer, whose items are what is returned; None if it is not a list."""
    input: tuple[str, ...] = ()
    """The query parameters that the parameter `input` holds, by the API's names."""
    pagination: Pagination | None = None
    security: tuple[tuple[str, ...], ...] | None = None


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
    """The security schemes as OpenAPI has them, what operations need of them, and the variables of each scheme."""

    schemes: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    security: tuple[tuple[str, ...], ...] = ()
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
    types: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)


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
