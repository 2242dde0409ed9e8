# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The parts of a row: what an agent gives and how it is sent, and how the operation behaves.

The first are the parameters and the body; the others paging, updating, keys of repeated calls, long work, deprecation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .codec import column

__all__ = [
    "ADAPTER",
    "AskedWhen",
    "Body",
    "Carried",
    "CarriedPlace",
    "DangerLevel",
    "Deprecation",
    "Idempotency",
    "JsonSchema",
    "Location",
    "LongRunning",
    "Pagination",
    "PagingStyle",
    "Parameter",
    "Strategy",
    "Update",
]

JsonSchema: TypeAlias = Mapping[str, Any]
Location: TypeAlias = Literal["path", "query", "querystring", "header", "cookie", "body", "body_rest", "adapter"]

DangerLevel: TypeAlias = Literal["safe", "reversible", "destructive", "dangerous", "forbidden"]
AskedWhen: TypeAlias = Literal["always", "first", "never"]

ADAPTER: Location = "adapter"
"""The location of parameters that the adapter itself acts on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of an operation, by the name that agents use."""

    name: str = column(outside=True)
    """What agents call it."""
    location: Location = column("body", key="in", always=True)  # noqa: RUF009 - a str
    """Where it is sent. `querystring` is the whole query, `body` a field of the body or the whole body, `body_rest` an
    object whose keys are further fields of the body, `adapter` nowhere: the adapter itself acts on it.
    """
    wire: str = column(key="name", like="name")
    """The API's own name, where that is another."""
    required: bool = False
    """Whether every call must give it."""
    stated_style: str | None = column(None, key="style")
    """How lists and objects are written (OpenAPI, Parameter Object), if not as is usual for the location."""
    stated_explode: bool | None = column(None, key="explode")
    """Whether each item of a list or object is a pair of its own, if not as is usual for the style."""
    allow_reserved: bool = False
    """Whether reserved characters are sent as they are."""
    content_type: str | None = None
    """The media type that the value is written in, where it has one."""
    headers: Mapping[str, str] = column(factory=dict)
    """Headers of the field's part in a multipart form."""
    xml: Mapping[str, Any] | None = None
    """How the field's part of a multipart form is written, where that is XML."""
    fields: Mapping[str, "Parameter"] = column(factory=dict, brief=True)
    """How single fields of a parameter are written that is a form itself, by the API's names."""
    deprecated: bool = False
    """Whether agents are warned of it."""
    sensitive: bool = False
    """Whether its values are masked in the audit log and in questions."""
    schema: Mapping[str, Any] = column(factory=dict, always=True)
    """The JSON Schema of its value."""
    description: str = ""
    """What agents are told of it."""
    preset: Any = None
    """The owner's value for a call that gives none."""

    @property
    def style(self) -> str:
        """The style of lists and objects."""
        if self.stated_style is not None:
            return self.stated_style
        return "form" if self.location in ("query", "cookie") else "simple"

    @property
    def explode(self) -> bool:
        """True if each item of a list or object is a pair of its own."""
        return self.style == "form" if self.stated_explode is None else self.stated_explode


def _shows_schema(body: "Body") -> bool:
    return body.validate or body.shape == "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """How the body of a request is made."""

    content_type: str
    """The media type to send."""
    shape: Literal["fields", "whole"]
    """`fields`: of every parameter in the body. `whole`: of the value of one parameter."""
    required: bool = False
    """Whether there is always a body."""
    parameter: str | None = None
    """The parameter that is the whole body."""
    validate: bool = False
    """Whether the body of several fields is validated as a whole, too."""
    schema: Mapping[str, Any] = column(factory=dict, always=_shows_schema)
    """The JSON Schema of the whole."""
    fields: Mapping[str, Parameter] = column(factory=dict, brief=True)
    """How single fields of a form are written that is one parameter's value, by the API's names."""
    xml: Mapping[str, Any] | None = None
    """How the body is written, where it is XML."""

    @property
    def is_null(self) -> bool:
        """True if the body is always null."""
        return self.schema.get("type") == "null"


PagingStyle: TypeAlias = Literal["page", "offset", "cursor", "token", "link", "next_url"]
Strategy: TypeAlias = Literal["patch", "merge-patch", "json-patch", "post", "put", "put-merge", "query"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pagination:
    """How a list is paged through, by wire names of parameters and JSON pointers (RFC 6901)."""

    style: PagingStyle
    """What asks for the next page: its number, the count of items before it, a cursor or token, or an address."""
    page_param: str | None = None
    """The parameter that takes the number of a page."""
    offset_param: str | None = None
    """The parameter that takes the number of items to skip."""
    cursor_param: str | None = None
    """The parameter that takes a cursor or token."""
    before_param: str | None = None
    """The parameter that takes the cursor to page backwards from."""
    next: str | None = None
    """Pointer to the next cursor, address or page in the answer; with `next_in` the name of a header."""
    next_in: Literal["header"] | None = None
    """Where `next` stands, if not in the body of the answer."""
    item_cursor: str | None = None
    """Pointer to the cursor within the last item, where the answer has no other."""
    location: Literal["body"] | None = column(None, key="in")
    """Where the parameters are sent, if not in the query."""
    within: str | None = None
    """Pointer to the object of the body that holds the parameters."""
    size_param: str | None = None
    """The parameter that takes the number of items of a page."""
    size_max: int | None = None
    """The most items of a page, where the document says it."""
    items: str | None = None
    """Pointer to the list in the answer; "" for the answer itself."""
    has_more: str | None = None
    """Pointer to the flag that tells whether there is a next page."""
    total: str | None = None
    """Pointer to the count of all items."""
    demanded: tuple[str, ...] = ()
    """Those of `parameters` that the API requires, by the agent's names."""
    parameters: Mapping[str, Parameter] | None = None
    """The API's own parameters that the adapter pages with, accepted and not shown; absent where it does not page."""

    @property
    def roles(self) -> Iterator[tuple[str, str]]:
        """The parameters that page, each behind the name of its role."""
        for role in ("page_param", "offset_param", "cursor_param", "before_param", "size_param"):
            wire = getattr(self, role)
            if wire is not None:
                yield role, wire

    @property
    def lead_param(self) -> str | None:
        """The parameter that asks for the next page; None where its address does."""
        if self.style in ("page", "offset"):
            return self.page_param if self.style == "page" else self.offset_param
        return self.cursor_param


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """How an update reaches the API (R-UPD-2)."""

    strategy: Strategy
    """What is sent: a change of some kind, or the whole, `put-merge` what was read with the change merged into it;
    with `query` there is no body, and the fields are sent in the query.
    """
    read: str | None = None
    """The operation that reads the same resource."""
    etag: bool = False
    """Whether the API can notice that the resource changed in between."""
    read_at: str = ""
    """Pointer to the resource in what is read; "" where the answer is the resource."""
    write_at: str = ""
    """Pointer to the resource in the body of the update; "" where the body is the resource."""
    undeclared: bool = False
    """Whether the document does not declare the fields: the resource is the object with the most fields in common."""
    creates: bool = False
    """Whether the update makes what is not there yet."""
    fills: bool = False
    """Whether required fields that a patch lacks are read and sent along."""
    parameters: Mapping[str, Parameter] | None = None
    """The query parameters that `input` holds where there is no body, accepted beside it and not shown."""

    @property
    def replaces(self) -> bool:
        """True if what is sent replaces the whole resource."""
        return self.strategy in ("put", "put-merge")

    @property
    def reads_first(self) -> bool:
        """True if the resource is read before it is written."""
        return self.strategy == "put-merge" or (self.strategy == "json-patch" and self.read is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedPlace:
    """A place of a request where a call says what is done besides the operation that its row names."""

    location: Literal["body", "query"] = column("body", key="in")
    """Where it is sent."""
    at: str = ""
    """Pointer to the object in the body that has the field; `*` stands for every item."""
    field: str
    """The field or parameter, by the API's name."""
    address: str | None = None
    """The field beside it that takes a path; the field takes the HTTP method of the request to that path then."""
    holds: bool = False
    """Whether the field holds what is destroyed; otherwise its value says what is done."""
    harmless: tuple[str, ...] = ()
    """The values that destroy nothing."""
    optional: bool = False
    """Whether a call that leaves the field out destroys nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """Other operations that a request can carry: those of a batch, or an action that the call chooses.

    The danger of the row is the worst that they can do. A call is decided about by what it says; where that cannot be
    told, it counts as the worst.
    """

    danger: DangerLevel
    """The danger of a call that carries nothing which destroys."""
    places: tuple[CarriedPlace, ...] = ()
    """Where a call says it; none where the document does not tell, and no call can be looked into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """What carries the key by which the API knows a call that is made twice: a header, or a parameter."""

    header: str | None = None
    """The header that carries it."""
    parameter: str | None = None
    """The parameter or field that carries it, by the API's name."""
    location: Literal["query", "body"] | None = column(None, key="in")
    """Where the parameter is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongRunning:
    """An operation that answers before its work has ended (R-LOOP-1)."""

    status: str = column("202", always=True)
    """The status of the answer that says so."""
    monitor: str | None = None
    """The operation that tells how far the work is."""
    arguments: Mapping[str, str] | None = None
    """What the monitor is asked with, beside what it shares with the operation: pointers into the answer by the API's
    names of the monitor's parameters. Left out where nothing says how to ask it.
    """
    state: str | None = None
    """Pointer to the state in the answer."""
    monitor_state: str | None = None
    """Pointer to the state, or to the flag that it is done, in what the monitor answers."""
    cancel: str | None = None
    """The operation that cancels the work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecation:
    """What the document tells of a deprecated operation."""

    replacement: str | None = None
    """The operation to use instead."""
    removal_date: str | None = None
    """The day from which on it may be gone (ISO 8601)."""
    migration_guide: str | None = None
    """The address of what to do."""
