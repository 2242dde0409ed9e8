# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
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
    """What one status answers with; empty for an answer without a body."""

    content_type: str
    """The media type that the adapter asks for."""
    schema: JsonSchema
    """The JSON Schema of the data; absent for what is no data."""
    headers: Sequence[str]
    """The response headers that agents are told, in `_meta`."""


class ReturnType(TypedDict):
    """What an operation gives, in words (MCP-AQL introspection, TypeInfo)."""

    name: str
    """The name of the type."""
    kind: str
    """The kind of the type: scalar, object, enum and so on."""
    description: NotRequired[str]
    """What else there is to say of it."""


class Server(TypedDict):
    """Where the API is (OpenAPI, Server Object)."""

    url: str
    """The address; `{name}` stands for a variable."""
    description: NotRequired[str]
    """What the server is for."""
    variables: NotRequired[Mapping[str, Any]]
    """The variables of the address by name (OpenAPI, Server Variable Object)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormerName:
    """Another name that the operation answers to, deprecated (R-WARN-2)."""

    name: str
    """The name."""
    until: date | None = None
    """The last day on which it is answered (UTC)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of content that a call may choose: what of the row is otherwise with it."""

    name: str = column(outside=True)
    """What agents call it."""
    body: Body | None = None
    """How the body of the request is made; as the row says where it is left out."""
    strategy: Strategy | None = None
    """What an update sends; as the row says where it is left out."""
    parameters: Mapping[str, Parameter] = column(factory=dict)
    """The parameters of the body that the row does not have, or has otherwise."""
    without: tuple[str, ...] = ()
    """The parameters of the row that it does not have."""
    responses: Mapping[str, Response] = column(factory=dict)
    """What the operation answers, by status, where that is not as the row says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The kinds of content that a call chooses from, for the body of its request or for the answer."""

    name: str = column(outside=True)
    """The parameter that chooses."""
    default: str
    """The kind of a call that chooses none."""
    kinds: Mapping[str, Kind] = column(factory=dict, always=True)
    """The kinds by name, the default first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One operation."""

    name: str = column(outside=True)
    """What agents call it."""
    family: str = column(outside=True)
    """The endpoint family: create, read, update, delete or execute."""
    summary: str
    """What it does, in a line."""
    description: str = column(like="summary")
    """What it does; as the summary where it is left out."""
    method: str
    """The HTTP method, in capitals."""
    path: str
    """The path below the server's address, with `{name}` for each path parameter."""
    operation_id: str | None = None
    """The operationId of the document."""
    api: str = ""
    """The API that it belongs to, where the adapter has several."""
    aliases: tuple[FormerName, ...] = ()
    """Other names that it answers to."""
    resource: str
    """The thing that it is about."""
    tags: tuple[str, ...] = ()
    """The tags that the document gives it."""
    verb: str = column("", always=True)
    """What it does to the resource."""
    relative: str = ""
    """The canonical verb that the verb is a kind of, where it is not canonical itself (R-NAME-2)."""
    rule: str = column("", always=True)
    """The rule that decided the semantic category."""
    confidence: float = column(1.0, always=True)
    """How sure category and name are, from 0 to 1."""
    danger: DangerLevel
    """How much harm a call can do."""
    danger_reason: str = column("", always=True)
    """The rule that decided the danger level, and why."""
    effects: tuple[str, ...] = ()
    """What a call does beside changing the API's own data: money, access, people, ends, or unknown."""
    asked: AskedWhen = "never"
    """When a person is asked: at each call, at the first of a session since nothing proves it harmless, or never."""
    evidence: tuple[str, ...] = ()
    """What else speaks for the effects or against them, where a person is asked: structure, fields, sentences."""
    review: tuple[str, ...] = ()
    """What a reviewer should look at."""
    accepted: Mapping[str, str] = column(factory=dict)
    """The concerns that the adapter's owner has accepted, each with its entry of overrides.yaml."""
    deprecated: bool = False
    """Whether agents are warned of it."""
    deprecation: Deprecation | None = None
    """What the document tells of its end."""
    pagination: Pagination | None = None
    """How its list is paged through."""
    partial_by: tuple[str, ...] = ()
    """The parameters by which the API gives a part of its list, where the adapter does not page."""
    only_here: tuple[str, ...] = ()
    """The fields of a write's answer that no read of the resource gives."""
    update: Update | None = None
    """How the update reaches the API."""
    carries: Carried | None = None
    """Other operations that a call can carry."""
    idempotency: Idempotency | None = None
    """What makes a repeated call known as such."""
    long_running: LongRunning | None = None
    """That it answers before its work has ended."""
    etag: bool = False
    """Whether an update asks for the ETag of what it reads."""
    confirmation: str = ""
    """What the adapter's owner wants to be asked before the call, with `{name}` for parameters."""
    cooldown_seconds: int = 0
    """Least seconds between the question and the call; 0: as the settings say."""
    security: tuple[tuple[str, ...], ...] | None = None
    """The alternatives of security schemes; as the adapter's where they are left out."""
    scopes: Mapping[str, Sequence[str]] = column(factory=dict)
    """The scopes that it asks of its security schemes, where it names its own schemes."""
    servers: tuple[Server, ...] = ()
    """Where it is, if not where the adapter's other operations are."""
    headers: Mapping[str, str] = column(factory=dict)
    """Headers that are sent as they stand."""
    query: Mapping[str, str] = column(factory=dict)
    """Query parameters that are sent as they stand."""
    shown_parameters: Mapping[str, Parameter] = column(factory=dict, key="parameters", always=True)
    """The parameters that agents are shown, by name."""
    fixed: Mapping[str, Parameter] = column(factory=dict)
    """The parameters whose `preset` every request carries; agents neither see nor give them."""
    body: Body | None = None
    """How the body of the request is made."""
    responses: Mapping[str, Response] = column(factory=dict, always=True)
    """What it answers, by status, by range such as `2XX`, or by `default`."""
    returns: ReturnType
    """What it gives, in words."""
    choices: Mapping[str, Choice] = column(factory=dict)
    """The kinds of content that a call chooses from, by the parameter that chooses."""
    example: Mapping[str, Any] | None = None
    """The parameters of a call that is valid."""
    kinds: tuple[str, ...] = column((), outside=True)
    """The kinds that a call has chosen, in the order of `choices`; none in the table."""

    parameters: Mapping[str, Parameter] = field(init=False, repr=False, compare=False)
    """Every parameter that is accepted: those that are shown, then those that the adapter pages with."""
    paging: Pagination | None = field(init=False, repr=False, compare=False)
    """`pagination`, where the adapter pages; None where agents page by the API's own parameters, if at all."""
    selects: bool = field(init=False, repr=False, compare=False)
    """Whether the adapter takes `fields`, and cuts answers down to them."""
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
        behind = None if self.pagination is None else self.pagination.parameters
        paging = None if behind is None else self.pagination
        if self.update is not None and self.update.parameters:
            behind = {**(behind or {}), **self.update.parameters}
        parameters = {**self.shown_parameters, **behind} if behind else self.shown_parameters
        selection = _selection(parameters)
        for name, value in (
            ("parameters", parameters),
            ("sent_parameters", {**parameters, **self.fixed}),
            ("presets", {name: item.preset for name, item in parameters.items() if item.preset is not None}),
            ("fixed_values", {name: item.preset for name, item in self.fixed.items()}),
            ("paging", paging),
            ("hidden_parameters", frozenset(behind or ())),
            ("adapter_parameters", frozenset(name for name, item in parameters.items() if item.location == ADAPTER)),
            ("wire_names", _wire_names(parameters)),
            ("selects", selection is not None),
            ("default_fields", "full" if selection is None else selection.schema.get("default", "full")),
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


def _wire_names(parameters: Mapping[str, Parameter]) -> dict[str, str]:
    """Return the names of parameters by the API's names, except those that leave it open which is meant."""
    wires = [parameter.wire for parameter in parameters.values()]
    return {
        parameter.wire: name
        for name, parameter in parameters.items()
        if parameter.wire not in parameters and wires.count(parameter.wire) == 1
    }


def _selection(parameters: Mapping[str, Parameter]) -> Parameter | None:
    """Return the parameter that selects fields."""
    return next((item for item in parameters.values() if item.location == ADAPTER and item.wire == "fields"), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """One workflow. Its steps are those of `run_steps`; references that begin with `inputs` are to its inputs."""

    name: str = column(outside=True)
    """What agents call it."""
    workflow_id: str
    """The workflowId of the document."""
    family: str
    """The family of its writes; execute, if they are of several, and read, if there are none."""
    summary: str
    """What it does, in a line."""
    description: str = column(like="summary")
    """What it does; as the summary where it is left out."""
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
