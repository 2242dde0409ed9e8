"""The parts of a row: what an agent gives and how it is sent, and how the operation behaves.

The first are the parameters and the body; the others paging, updating, keys of repeated calls, long work, deprecation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from .codec import column

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
    """The agent's name."""
    location: Location = column("body", key="in", always=True)  # noqa: RUF009 - a str
    """Location. `querystring` is the whole query, `body` a field of the body or the whole body, `body_rest` an object
    with further fields of the body; the adapter itself uses `adapter`."""
    wire: str = column(key="name", like="name")
    """Wire name, if different."""
    required: bool = False
    """True if every call needs it."""
    stated_style: str | None = column(None, key="style")
    """Style of lists and objects (OpenAPI, Parameter Object), if not the location's default."""
    stated_explode: bool | None = column(None, key="explode")
    """True if each item of a list or object is a separate pair, if not the style's default."""
    allow_reserved: bool = False
    """True if reserved characters are not encoded."""
    content_type: str | None = None
    """Media type of the value, if any."""
    headers: Mapping[str, str] = column(factory=dict)
    """Headers of the field's multipart part."""
    xml: Mapping[str, Any] | None = None
    """XML encoding of the field's multipart part."""
    fields: Mapping[str, "Parameter"] = column(factory=dict, brief=True)
    """Encoding of single fields, for a parameter that is a form, by wire name."""
    deprecated: bool = False
    """True if a call gets a deprecation warning."""
    sensitive: bool = False
    """True if values are masked in the audit log and in questions."""
    schema: Mapping[str, Any] = column(factory=dict, always=True)
    """JSON Schema of the value."""
    description: str = ""
    """Description for agents."""
    preset: Any = None
    """The owner's default value."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """The encoding of a request's body."""

    content_type: str
    """Media type."""
    shape: Literal["fields", "whole"]
    """`fields`: each body parameter is a field. `whole`: one parameter is the body."""
    required: bool = False
    """True if every request has a body."""
    parameter: str | None = None
    """Parameter that is the whole body."""
    validate: bool = False
    """True if a body of several fields is also validated as a whole."""
    schema: Mapping[str, Any] = column(factory=dict, always=lambda body: body.validate or body.shape == "whole")
    """JSON Schema of the whole body."""
    fields: Mapping[str, Parameter] = column(factory=dict, brief=True)
    """Encoding of single fields, for a form that is one parameter, by wire name."""
    xml: Mapping[str, Any] | None = None
    """XML encoding of the body."""

    @property
    def is_null(self) -> bool:
        """True if the body is always null."""
        return self.schema.get("type") == "null"


PagingStyle: TypeAlias = Literal["page", "offset", "cursor", "token", "link", "next_url"]
Strategy: TypeAlias = Literal["patch", "merge-patch", "json-patch", "post", "put", "put-merge", "query"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pagination:
    """Paging of a list, with wire names of parameters and JSON pointers (RFC 6901)."""

    style: PagingStyle
    """How to request the next page: by number, offset, cursor, token, or URL."""
    page_param: str | None = None
    """Parameter for the page number."""
    offset_param: str | None = None
    """Parameter for the number of items to skip."""
    cursor_param: str | None = None
    """Parameter for a cursor or token."""
    before_param: str | None = None
    """Parameter for the cursor of backward paging."""
    next: str | None = None
    """Pointer to the next cursor, URL or page in the answer; with `next_in`, the name of a header."""
    next_in: Literal["header"] | None = None
    """Location of `next`, if other than the answer's body."""
    item_cursor: str | None = None
    """Pointer to the cursor in the last item, if the answer has no other."""
    location: Literal["body"] | None = column(None, key="in")
    """Location of the parameters, if other than the query."""
    within: str | None = None
    """Pointer to the object with the parameters in the body."""
    size_param: str | None = None
    """Parameter for the page size."""
    size_max: int | None = None
    """Maximum page size, if documented."""
    items: str | None = None
    """Pointer to the list in the answer; "" for the answer itself."""
    has_more: str | None = None
    """Pointer to the flag for a next page."""
    total: str | None = None
    """Pointer to the total count."""
    demanded: tuple[str, ...] = ()
    """Required `parameters`, by the agent's names."""
    parameters: Mapping[str, Parameter] | None = None
    """The API's paging parameters, accepted but not shown; absent if the adapter does not page."""

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
    """The form of an update request (R-UPD-2)."""

    strategy: Strategy
    """Content: a patch of some kind or the whole resource; `put-merge` merges the change into the read resource;
    `query` sends the fields in the query, without a body."""
    read: str | None = None
    """The operation that reads the same resource."""
    etag: bool = False
    """True if the API has ETags for the resource."""
    read_at: str = ""
    """Pointer to the resource in the read's answer; "" for the whole answer."""
    write_at: str = ""
    """Pointer to the resource in the update's body; "" for the whole body."""
    undeclared: bool = False
    """True if the document does not declare the fields: the resource is the object with most fields in common."""
    creates: bool = False
    """True if the update creates a missing resource."""
    fills: bool = False
    """True if a patch reads and adds missing required fields."""
    parameters: Mapping[str, Parameter] | None = None
    """Query parameters inside `input` for an update without a body; accepted beside it but not shown."""

    @property
    def replaces(self) -> bool:
        """True if what is sent replaces the whole resource."""
        return self.strategy in ("put", "put-merge")

    @property
    def is_partial(self) -> bool:
        """True if `input` may lack what is required of the whole (R-UPD-2)."""
        return self.strategy in ("merge-patch", "json-patch", "patch", "put-merge")

    @property
    def reads_first(self) -> bool:
        """True if the resource is read before it is written."""
        return self.strategy == "put-merge" or (self.strategy == "json-patch" and self.read is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedPlace:
    """A place in a request that names a further action."""

    location: Literal["body", "query"] = column("body", key="in")
    """Location."""
    at: str = ""
    """Pointer to the object with the field in the body; `*` for every item."""
    field: str
    """Field or parameter, by wire name."""
    address: str | None = None
    """Neighbouring field with a path; the field then has the HTTP method for it."""
    holds: bool = False
    """True if the field contains the destroyed items; otherwise its value is the action."""
    harmless: tuple[str, ...] = ()
    """Values that destroy nothing."""
    optional: bool = False
    """True if a call without the field destroys nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """Operations inside a request: those of a batch, or an action that the call selects.

    The row has their highest danger. A call is judged by its content, and by the highest danger if that is unclear.
    """

    danger: DangerLevel
    """Danger of a call without destructive content."""
    places: tuple[CarriedPlace, ...] = ()
    """Places of the carried actions in a call; empty if undocumented."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """Location of the idempotency key: a header or a parameter."""

    header: str | None = None
    """Header with the key."""
    parameter: str | None = None
    """Parameter or field with the key, by wire name."""
    location: Literal["query", "body"] | None = column(None, key="in")
    """Location of the parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongRunning:
    """An operation that answers before its work ends (R-LOOP-1)."""

    status: str = column("202", always=True)
    """Status of that answer."""
    monitor: str | None = None
    """Operation that reports progress."""
    arguments: Mapping[str, str] | None = None
    """The monitor's parameters beyond those shared with the operation: pointers into the answer, by wire name. Absent
    if unknown."""
    state: str | None = None
    """Pointer to the state in the answer."""
    monitor_state: str | None = None
    """Pointer to the state or the completion flag in the monitor's answer."""
    cancel: str | None = None
    """Operation that cancels the work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deprecation:
    """The document's details of a deprecation."""

    replacement: str | None = None
    """Replacement operation."""
    removal_date: str | None = None
    """Earliest day of its removal (ISO 8601)."""
    migration_guide: str | None = None
    """URL of a migration guide."""
