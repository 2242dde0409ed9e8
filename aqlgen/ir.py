"""The intermediate representation: what an API document says, in frozen data, with the origin of everything.

Built by `aqlgen.build` from a resolved document and read by every later stage. Names here are the API's own (wire
names); the names shown to agents are decided later and stand beside these, never instead of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias

from aqlgen.words import snake

Json: TypeAlias = Any
"""A JSON value: None, bool, int, float, str, list or dict."""

JsonSchema: TypeAlias = Mapping[str, Any] | bool
"""A JSON Schema as the document has it: its dialect, its references, its names."""


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


SIGNATURE: Final = "awsSigv4"
"""The kind of a security scheme that signs requests (AWS Signature Version 4), of which OpenAPI knows nothing."""

MISSING: Final[Any] = _Missing()
"""Stands where the document gives no value, since null is a value."""


class Location(StrEnum):
    """Where a parameter travels (OpenAPI 3.1.1, 4.8.12.1)."""

    PATH = "path"
    QUERY = "query"
    HEADER = "header"
    COOKIE = "cookie"
    QUERYSTRING = "querystring"
    """The whole query as one value of a media type (OpenAPI 3.2.0, 4.12.1)."""


@dataclass(frozen=True, slots=True)
class Origin:
    """A JSON pointer into a source document; `file` is empty for the root document."""

    pointer: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class Server:
    """A base URL, with the variables of its template (OpenAPI 3.1.1, 4.8.5)."""

    url: str
    description: str
    variables: Mapping[str, Mapping[str, Json]]


DEFAULT_SERVER: Final = Server("/", "", {})
"""The server of a document that names none: the one that the document is on (OpenAPI 3.1.1, 4.8.1)."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One path, query, header or cookie parameter (OpenAPI 3.1.1, 4.8.12)."""

    name: str
    location: Location
    required: bool
    schema: JsonSchema
    description: str = ""
    deprecated: bool = False
    style: str = "simple"
    explode: bool = False
    allow_reserved: bool = False
    content_type: str | None = None
    example: Json = MISSING
    origin: Origin = Origin("")
    fixed: str | None = None
    """The one value that it must have, where it is sent without being asked for: `X-Amz-Target`, Accept."""
    encoding: Mapping[str, Json] = field(default_factory=dict)
    """How its fields are written where it is a form, by the field's name (OpenAPI 3.1.1, 4.8.15)."""

    @property
    def key(self) -> tuple[Location, str]:
        """Location and name, which no other parameter of an operation has; names of headers have no case."""
        return self.location, self.name.lower() if self.location is Location.HEADER else self.name


@dataclass(frozen=True, slots=True)
class MediaType:
    """One representation of a body; `schema` is None when the document gives none."""

    content_type: str
    schema: JsonSchema | None
    example: Json
    origin: Origin
    encoding: Mapping[str, Json] = field(default_factory=dict)
    """How fields of a form are written, by the field's name, as the document has it (OpenAPI 3.1.1, 4.8.15)."""
    written: str = ""
    """The content type as the document has it, with its parameters."""

    @property
    def value_schema(self) -> Json:
        """The schema of the value; `True`, which admits anything, where the document gives none."""
        return True if self.schema is None else self.schema


@dataclass(frozen=True, slots=True)
class Body:
    """A request body, its representations in document order (OpenAPI 3.1.1, 4.8.13).

    `required` is None where the document does not say: formally no, in practice often an omission.
    """

    required: bool | None
    description: str
    media: tuple[MediaType, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Response:
    """A response; `status` is three digits, a range such as `2XX`, or `default` (OpenAPI 3.1.1, 4.8.16)."""

    status: str
    description: str
    media: tuple[MediaType, ...]
    headers: tuple[str, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path. `security` is None where the document's default applies.

    `scopes` are what the first alternative that names a scheme asks of it.
    """

    method: str
    path: str
    operation_id: str | None
    summary: str
    description: str
    tags: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    body: Body | None
    responses: tuple[Response, ...]
    security: tuple[tuple[str, ...], ...] | None
    servers: tuple[Server, ...]
    deprecated: bool
    extensions: Mapping[str, Json]
    origin: Origin
    scopes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    api: str = ""
    """The API that it belongs to, where an adapter has several."""

    @property
    def key(self) -> str:
        """The operation's identity in overrides and diagnostics: `METHOD /path`, or `NAME:METHOD /path`."""
        key = f"{self.method.upper()} {self.path}"
        return f"{self.api}:{key}" if self.api else key

    @property
    def id_as_name(self) -> str:
        """The operationId in the spelling of names; "" without one."""
        return snake(self.operation_id or "")

    @property
    def opening(self) -> str:
        """The summary with the beginning of the description."""
        return f"{self.summary} {self.description[:300]}"


@dataclass(frozen=True, slots=True)
class OAuthFlow:
    """A way to a token (OpenAPI 3.1.1, 4.8.29). `grant` is its key; URLs may be relative."""

    grant: str
    authorization_url: str = ""
    token_url: str = ""
    refresh_url: str = ""
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SecurityScheme:
    """A way to authenticate (OpenAPI 3.1.1, 4.8.27). `kind`: apiKey, http, oauth2, openIdConnect, mutualTLS,
    or SIGNATURE.

    `discovery_url` is where an authorization server describes itself: `openIdConnectUrl`, or 3.2's `oauth2MetadataUrl`.
    """

    name: str
    kind: str
    description: str
    location: str
    parameter: str
    http_scheme: str
    origin: Origin
    flows: tuple[OAuthFlow, ...] = ()
    discovery_url: str = ""
    format: str = ""
    """How a key is written in its header, with `{key}` for the key; "" for the key alone."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A group of operations, as the document names and describes it."""

    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Document:
    """Everything of a document that an adapter is made from; `openapi` is its version, `3.0`, `3.1` or `3.2`."""

    openapi: str
    title: str
    version: str
    description: str
    servers: tuple[Server, ...]
    security: tuple[tuple[str, ...], ...]
    schemes: tuple[SecurityScheme, ...]
    tags: tuple[Tag, ...]
    operations: tuple[Operation, ...]
    scopes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
