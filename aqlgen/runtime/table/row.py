"""A row of the operation table: one operation of the API, as agents call it and as it is sent (R-INT-7).

A workflow of the owner's Arazzo documents is another: an operation whose call is a plan of steps (`workflows.json`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NotRequired, TypedDict

from .codec import column
from .parts import (
    ADAPTER,
    AskedWhen,
    Body,
    Carried,
    DangerLevel,
    Deprecation,
    Idempotency,
    JsonSchema,
    LongRunning,
    Pagination,
    Parameter,
    Strategy,
    Update,
)

__all__ = ["Choice", "DangerLevel", "FormerName", "Kind", "Response", "ReturnType", "Row", "Server", "Workflow"]


class Response(TypedDict, total=False):
    """The answer with one status; empty for an answer without a body."""

    content_type: str
    """Requested media type."""
    schema: JsonSchema
    """JSON Schema of the data; absent for other content."""
    headers: Sequence[str]
    """Response headers shown to agents, in `_meta`."""


def first_success(responses: Mapping[str, Response]) -> Response:
    """Return the response with the lowest 2xx status, else the default one; an empty one if there is neither."""
    return responses.get(min((status for status in responses if status.startswith("2")), default="default"), {})


class ReturnType(TypedDict):
    """The result of an operation (MCP-AQL introspection, TypeInfo)."""

    name: str
    """The name of the type."""
    kind: str
    """Kind of the type: scalar, object, enum and so on."""
    description: NotRequired[str]
    """Description."""


class Server(TypedDict):
    """A server of the API (OpenAPI, Server Object)."""

    url: str
    """The URL, with `{name}` for variables."""
    description: NotRequired[str]
    """The server's description."""
    variables: NotRequired[Mapping[str, Any]]
    """Variables of the URL by name (OpenAPI, Server Variable Object)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerName:
    """An old name that still works, deprecated (R-WARN-2)."""

    name: str
    """The name."""
    until: date | None = None
    """Last day on which it works (UTC)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """An alternative of content: the row's differences with it."""

    name: str = column(outside=True)
    """The agent's name."""
    body: Body | None = None
    """Encoding of the request's body; default: the row's."""
    strategy: Strategy | None = None
    """Content of an update; default: the row's."""
    parameters: Mapping[str, Parameter] = column(factory=dict)
    """Body parameters that are additional or different."""
    without: tuple[str, ...] = ()
    """Parameters of the row that do not apply."""
    responses: Mapping[str, Response] = column(factory=dict)
    """Answers by status, if different from the row's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Alternatives of content for a request's body or for the answer."""

    name: str = column(outside=True)
    """The parameter that chooses."""
    default: str
    """The default alternative."""
    kinds: Mapping[str, Kind] = column(factory=dict, always=True)
    """Alternatives by name, the default first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One operation."""

    name: str = column(outside=True)
    """The agent's name."""
    family: str = column(outside=True)
    """The endpoint family: create, read, update, delete or execute."""
    summary: str
    """Summary, in one line."""
    description: str = column(like="summary")
    """Description; default: the summary."""
    method: str
    """The HTTP method, in capitals."""
    path: str
    """The path below the server's URL, with `{name}` for each path parameter."""
    operation_id: str | None = None
    """The operationId of the document."""
    api: str = ""
    """With several APIs: the API of the operation."""
    aliases: tuple[FormerName, ...] = ()
    """Old names that still work."""
    resource: str
    """The resource."""
    keys: tuple[str, ...] = ()
    """Names of identifier fields, in lower case without separators; aqlgen infers them from paths and lists."""
    tags: tuple[str, ...] = ()
    """The document's tags."""
    verb: str = column("", always=True)
    """The verb."""
    relative: str = ""
    """The canonical relative of a verb that is not canonical (R-NAME-2)."""
    rule: str = column("", always=True)
    """The rule that decided the category."""
    confidence: float = column(1.0, always=True)
    """Confidence of category and name, from 0 to 1."""
    danger: DangerLevel
    """Danger level."""
    danger_reason: str = column("", always=True)
    """The rule that decided the danger level, with its reason."""
    effects: tuple[str, ...] = ()
    """Effects beyond the API's data: money, access, people, ends, or unknown."""
    asked: AskedWhen = "never"
    """When to ask a person: at each call, at the first call of a session (unproven write), or never."""
    evidence: tuple[str, ...] = ()
    """Further evidence for or against the effects: structure, fields, sentences."""
    review: tuple[str, ...] = ()
    """Points for a reviewer."""
    accepted: Mapping[str, str] = column(factory=dict)
    """Concerns that the owner accepted, each with its entry of overrides.yaml."""
    deprecated: bool = False
    """True if a call gets a deprecation warning."""
    deprecation: Deprecation | None = None
    """Details of the deprecation."""
    pagination: Pagination | None = None
    """Paging of the list."""
    partial_by: tuple[str, ...] = ()
    """Paging parameters of the API for a list that the adapter does not page."""
    only_here: tuple[str, ...] = ()
    """Fields of a write's answer that no read returns."""
    update: Update | None = None
    """Form of the update request."""
    carries: Carried | None = None
    """Other operations inside a call."""
    idempotency: Idempotency | None = None
    """Idempotency key."""
    long_running: LongRunning | None = None
    """Long work after the answer."""
    etag: bool = False
    """True if an update needs this read's ETag."""
    confirmation: str = ""
    """The owner's confirmation question, with `{name}` for parameters."""
    security: tuple[tuple[str, ...], ...] | None = None
    """Alternatives of security schemes; default: the adapter's."""
    scopes: Mapping[str, Sequence[str]] = column(factory=dict)
    """Scopes of its own security schemes."""
    servers: tuple[Server, ...] = ()
    """Servers, if other than the adapter's."""
    headers: Mapping[str, str] = column(factory=dict)
    """Fixed headers."""
    query: Mapping[str, str] = column(factory=dict)
    """Fixed query parameters."""
    shown_parameters: Mapping[str, Parameter] = column(factory=dict, key="parameters", always=True)
    """Parameters for agents, by name."""
    fixed: Mapping[str, Parameter] = column(factory=dict)
    """Parameters with a `preset` in every request, invisible to agents."""
    body: Body | None = None
    """Encoding of the request's body."""
    responses: Mapping[str, Response] = column(factory=dict, always=True)
    """Answers by status, by range such as `2XX`, or by `default`."""
    returns: ReturnType
    """Description of the result."""
    choices: Mapping[str, Choice] = column(factory=dict)
    """Alternatives of content, by the parameter that selects one."""
    example: Mapping[str, Any] | None = None
    """Parameters of a valid example call."""
    kinds: tuple[str, ...] = column((), outside=True)
    """The kinds that a call has chosen, in the order of `choices`; none in the table."""

    parameters: Mapping[str, Parameter] = field(init=False, repr=False, compare=False)
    """Every parameter that is accepted: those that are shown, then those that the adapter pages with."""
    paging: Pagination | None = field(init=False, repr=False, compare=False)
    """`pagination`, where the adapter pages; None where agents page by the API's own parameters, if at all."""
    selector: str = field(init=False, repr=False, compare=False)
    """The parameter by which agents choose fields of the answer, "" for none; the API's own `fields` keeps its name."""
    default_fields: str = field(init=False, repr=False, compare=False)
    """The preset of a call that names no fields."""
    hidden_parameters: frozenset[str] = field(init=False, repr=False, compare=False)
    """The parameters that are accepted and not shown, since others stand for them."""
    adapter_parameters: frozenset[str] = field(init=False, repr=False, compare=False)
    """The parameters that the adapter acts on itself."""
    sent_parameters: Mapping[str, Parameter] = field(init=False, repr=False, compare=False)
    """Every parameter that a request is made of: those that are accepted, then those that are fixed."""
    presets: Mapping[str, Any] = field(init=False, repr=False, compare=False)
    """The values of accepted parameters that a call leaves out, by name."""
    fixed_values: Mapping[str, Any] = field(init=False, repr=False, compare=False)
    """The values of the fixed parameters, by name."""
    wire_names: Mapping[str, str] = field(init=False, repr=False, compare=False)
    """The parameters that are understood by the API's own names too, by those."""
    has_header_metadata: bool = field(init=False, repr=False, compare=False)
    """Whether agents are told headers of a response, in `_meta`."""
    rows_by_kinds: "dict[tuple[str, ...], Row]" = field(init=False, repr=False, compare=False)
    """The rows of calls, by the kinds that they chose, each made for the first such call."""
    cache_key: str = field(init=False, repr=False, compare=False)
    """The key for what is prepared of the row: its name, with the kinds that a call has chosen."""

    def __post_init__(self) -> None:
        """Derive what calls ask for."""
        paged_by = None if self.pagination is None else self.pagination.parameters
        updated_by = None if self.update is None else self.update.parameters
        behind = {**(paged_by or {}), **(updated_by or {})}
        parameters = {**self.shown_parameters, **behind} if behind else self.shown_parameters
        selector = _selector(parameters)
        for name, value in (
            ("parameters", parameters),
            ("sent_parameters", {**parameters, **self.fixed}),
            ("presets", {name: item.preset for name, item in parameters.items() if item.preset is not None}),
            ("fixed_values", {name: item.preset for name, item in self.fixed.items()}),
            ("paging", None if paged_by is None else self.pagination),
            ("hidden_parameters", frozenset(behind)),
            ("adapter_parameters", frozenset(name for name, item in parameters.items() if item.location == ADAPTER)),
            ("wire_names", _wire_names(parameters)),
            ("selector", selector),
            ("default_fields", parameters[selector].schema.get("default", "full") if selector else "full"),
            ("has_header_metadata", any("headers" in response for response in self.responses.values())),
            ("rows_by_kinds", {}),
            ("cache_key", " ".join((self.name, *self.kinds))),
        ):
            object.__setattr__(self, name, value)  # the way to set a field of a frozen object

    @property
    def category(self) -> str:
        """The semantic category: CREATE, READ, UPDATE, DELETE or EXECUTE."""
        return self.family.upper()

    @property
    def moves_money(self) -> bool:
        """True if a call moves money, or gives up a claim to it."""
        return "money" in self.effects

    @property
    def key(self) -> str:
        """The request that it sends: `METHOD /path`, with `NAME:` before it where the adapter has several APIs."""
        return f"{self.api}:{self.method} {self.path}" if self.api else f"{self.method} {self.path}"

    def api_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a call without those that the adapter acts on itself."""
        return {name: value for name, value in params.items() if name not in self.adapter_parameters}


def _wire_names(parameters: Mapping[str, Parameter]) -> dict[str, str]:
    """Return the names of parameters by the API's names, except those that leave it open which is meant."""
    names: dict[str, str | None] = {}
    for name, parameter in parameters.items():
        names[parameter.wire] = None if parameter.wire in names else name
    return {wire: name for wire, name in names.items() if name is not None and wire not in parameters}


def _selector(parameters: Mapping[str, Parameter]) -> str:
    """Return the parameter that selects fields, "" for none."""
    names = (name for name, item in parameters.items() if item.location == ADAPTER and item.wire == "fields")
    return next(names, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """One workflow. Its steps are those of `run_steps`; references that begin with `inputs` are to its inputs."""

    name: str = column(outside=True)
    """The agent's name."""
    workflow_id: str
    """The workflowId of the document."""
    family: str
    """The family of its writes; execute, if they are of several, and read, if there are none."""
    summary: str
    """Summary, in one line."""
    description: str = column(like="summary")
    """Description; default: the summary."""
    danger: DangerLevel
    """The highest danger of its operations."""
    danger_reason: str
    """The operation that has it."""
    inputs: Mapping[str, Parameter] = column(factory=dict)
    """The inputs by name."""
    steps: Sequence[Mapping[str, Any]]
    """The steps in order, as `run_steps` takes them."""
    outputs: Mapping[str, Any] | None = None
    """What comes back, as `return` of `run_steps`; every step's data where it is left out."""

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations of its steps, each named once."""
        return tuple(dict.fromkeys(step["operation"] for step in self.steps))
