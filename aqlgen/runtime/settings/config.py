# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The adapter's settings: each is one field of `Config`, or of a part of it, with all that is known about it.

The reading of the environment and of `adapter.toml`, the listing of `doctor`, the text of a new project's
`adapter.toml` and the page docs/settings.md follow from the fields; the text below a field is its documentation, in
which `{allowed}` stands for what its type allows. A value comes from the environment first, then from `adapter.toml`,
then from the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator

from . import Names, Setting, settings_of
from .tables import (
    AuditSettings,
    ClientSettings,
    ConfirmationSettings,
    HttpSettings,
    LoopSettings,
    QuotaSettings,
    Steps,
    TelemetrySettings,
)
from .trust import TrustLevel, TrustRecord
from .types import (
    RULES_EXAMPLE,
    BaseUrl,
    Endpoint,
    FilePath,
    ForwardedHeaders,
    Line,
    Marks,
    Patterns,
    PolicyRules,
    Prefix,
    Seconds,
    ServerVariable,
    StateUrl,
    Switch,
    WarningCodes,
    Whole,
    Word,
    named_values,
)

__all__ = ["SETTINGS", "Config", "Setting"]

KIB, MIB = 1024, 1024 * 1024
LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
ByEffect = Word[Literal["default", "automation", "off"]]
Mode = Annotated[
    Word[Literal["semantic", "single", "all"]],
    BeforeValidator(lambda value: "semantic" if str(value).strip().lower() == "crude" else value),
]
"""An endpoint mode; `crude` is another name of semantic."""


class Config(NamedTuple):
    """The settings in force. `sources` says, by attribute, where each came from: environment, a file or default."""

    base_url: Annotated[BaseUrl | None, Names("BASE_URL")] = None
    """Address of the API; empty: the first server of the API's document."""
    mode: Annotated[Mode, Names("ENDPOINT_MODE", "endpoint_mode")] = "semantic"
    """Tools offered: "semantic" (create, read, update, delete, execute), "single" (one for everything), "all" (both).
    """
    tool_prefix: Annotated[Prefix, Names("TOOL_PREFIX")] = ""
    """Begins every tool name, such as "github_": 1 to 19 lower-case letters, digits or '_', then '_'."""
    timeout: Annotated[Seconds, Names("TIMEOUT")] = 30.0
    """Seconds to wait for the API."""
    retries: Annotated[int, Whole(0, 10), Names("RETRIES")] = 2
    """Most further tries of a safe read (GET, HEAD, OPTIONS) whose connection broke or that the API put off (429, 502,
    503, 504), {allowed}; all of them within timeout."""
    concurrency: Annotated[
        Word[Literal["fully-concurrent", "read-concurrent", "serialized", "resource-locked"]], Names("CONCURRENCY")
    ] = "fully-concurrent"
    """Which calls run at the same time. "read-concurrent": only one that is no read; "serialized": only one of all;
    "resource-locked": only one of each path, down to its last parameter. The others wait, for timeout at most. With a
    state.url of a file or of Redis this holds for all processes that share it."""
    log_level: Annotated[Word[LogLevel], Names("LOG_LEVEL")] = "warning"
    """Least severe record on standard error: {allowed}. In hooks.py you can add handlers of your own, such as those of
    Sentry or OpenTelemetry, to the root logger of Python's logging."""
    read_only: Annotated[Switch, Names("READ_ONLY")] = False
    """Offer only safe reads by GET, HEAD or QUERY, and those by other methods to which overrides.yaml gives the
    category READ; refuse every other operation, however it is called."""
    trust_level: Annotated[TrustLevel, Names("TRUST_LEVEL")] = "generated"
    """Who vouches for this adapter: {allowed}. It wins over trust.json, which `trust promote` writes."""

    policy: Annotated[Word[Literal["standard", "strict", "open"]], Names("POLICY", "policy.name")] = "standard"
    """What is asked about. "standard": destructive and dangerous operations run once they are confirmed, forbidden ones
    are refused. "strict": by trust_level and danger, as docs/policies.md shows; operations under review are confirmed,
    too, and a call that cannot be shown in full is refused. "open": nothing is asked or refused. policy = "strict",
    outside of tables, says the same. OPERATIONS.md shows each operation's danger, overrides.yaml changes it and settles
    a review. `confirmation.approval` says who confirms."""
    policy_money: Annotated[ByEffect, Names("POLICY_MONEY", "policy.money")] = "default"
    """Operations that move money: {allowed}. "default": confirmed under policy standard and strict, whatever their
    danger. "automation": refused unless a rule allows them, with its limits. "off": by their danger alone. In all, they
    are in the audit log."""
    policy_access: Annotated[ByEffect, Names("POLICY_ACCESS", "policy.access")] = "off"
    """Operations that give or take rights, keys and ways in: {allowed}, as for `money`. "off": the danger alone, which
    is at least destructive unless overrides.yaml says otherwise."""
    policy_people: Annotated[ByEffect, Names("POLICY_PEOPLE", "policy.people")] = "off"
    """Operations that reach people outside: {allowed}, as for `money`."""
    policy_rules: Annotated[
        PolicyRules, Names("POLICY_RULES", "policy.rules", form="as JSON", example=RULES_EXAMPLE)
    ] = ()
    """Rules about operations, of which each says allow, confirm or deny; of those that apply, and the policy, the most
    restrictive wins (docs/policies.md). One that fits no operation, or no parameter, stops the start."""

    max_request_size: Annotated[
        int, Whole(64 * KIB, 10 * MIB), Names("MAX_REQUEST_SIZE", "limits.max_request_size")
    ] = MIB
    """Bytes of a request, {allowed}."""
    max_response_size: Annotated[int, Whole(MIB, 100 * MIB), Names("MAX_RESPONSE_SIZE", "limits.max_response_size")] = (
        10 * MIB
    )
    """Bytes of the API's response, {allowed}."""
    max_answer_tokens: Annotated[int, Whole(500, 1_000_000), Names("MAX_ANSWER_TOKENS", "limits.max_answer_tokens")] = (
        10_000
    )
    """Tokens of an answer's data, as estimated, {allowed}. What is longer is cut, and a warning says how to go on."""
    max_string_length: Annotated[
        int, Whole(64 * KIB, 10 * MIB), Names("MAX_STRING_LENGTH", "limits.max_string_length")
    ] = MIB
    """Bytes of one string of a request, {allowed}."""
    max_array_elements: Annotated[
        int, Whole(100, 100_000), Names("MAX_ARRAY_ELEMENTS", "limits.max_array_elements")
    ] = 10_000
    """Elements of one array of a request, {allowed}."""
    max_nesting_depth: Annotated[int, Whole(8, 64), Names("MAX_NESTING_DEPTH", "limits.max_nesting_depth")] = 32
    """Levels of objects and arrays of a request, {allowed}."""

    server_variables: Annotated[
        Mapping[str, ServerVariable],
        BeforeValidator(named_values),
        Names(
            "SERVER_VARIABLES",
            "server.variables",
            form="as NAME=VALUE, NAME=VALUE",
            example='variables = { region = "eu" }',
        ),
    ] = {}
    """Values of the variables in the API's address, by their names; none: the document's own."""

    files_folder: Annotated[FilePath, Names("FILES_FOLDER", "files.folder")] = ""
    """The folder that files of the API are saved in, instead of giving their bytes as base64, and that files to be sent
    may be taken from; empty: neither."""
    files_max_size: Annotated[int, Whole(MIB, 100 * 1024 * MIB), Names("FILES_MAX_SIZE", "files.max_size")] = 256 * MIB
    """Bytes of a file that is saved, {allowed}."""
    files_max_attached: Annotated[int, Whole(0, 100 * MIB), Names("FILES_MAX_ATTACHED", "files.max_attached")] = 4 * MIB
    """Bytes of the images and other files that the result of a call carries beside its answer, as blocks of MCP,
    {allowed}; 0: in base64 within the answer."""

    failure_marks: Annotated[Marks, Names("ANSWERS_FAILURES", "answers.failures", form="divided by ';'")] = ()
    """What makes an answer of status 200 a failure where neither the API's document nor a known form of errors says so:
    keys and their value, such as ["success=false", "result.code=ERR"]; "off": nothing does."""

    stream_events: Annotated[int, Whole(1, 100_000), Names("STREAM_EVENTS", "streams.events")] = 1000
    """Most events that are taken from an answer that is a stream, {allowed}."""
    stream_seconds: Annotated[Seconds, Names("STREAM_SECONDS", "streams.seconds")] = 20.0
    """Seconds that a stream is listened to, as far as timeout allows."""

    max_list: Annotated[int, Whole(10, 10_000), Names("MAX_LIST", "introspection.max_list")] = 250
    """Longest list that introspection gives at once, {allowed}, as far as max_answer_tokens has room; a longer one is
    given in pages, or as many as `first` asks for, or whole where `all` is asked for."""

    auth: Annotated[Word[Literal["document", "none"]], Names("AUTH", "auth.credentials")] = "document"
    """Credentials of the API that calls need. "document": those that its document requires. "none": none, and none is
    sent, for an API that wants none although its document declares one."""
    auth_allow_http: Annotated[Switch, Names("AUTH_ALLOW_HTTP", "auth.allow_http")] = False
    """Send credentials over plain http to others, too."""
    forward_header: Annotated[
        ForwardedHeaders, Names("AUTH_FORWARD_HEADER", "auth.forward_header", form="divided by ';'")
    ] = ()
    """Over HTTP each caller may bring their own credential for the API. Then a call without one is refused: nobody acts
    with yours. Name the header that holds it, such as ["X-Target-Authorization"]; with several security schemes the
    scheme behind each, such as ["X-Their-Token=oauth", "X-Their-Key=key"]."""
    exchange_url: Annotated[Endpoint, Names("AUTH_EXCHANGE_URL", "auth.exchange_url")] = ""
    """Or exchange the token that a caller shows to the adapter for one of the API (RFC 8693); the shown one is never
    sent on. The client's id and secret come from MCP_AQL_AUTH_EXCHANGE_CLIENT_ID and
    MCP_AQL_AUTH_EXCHANGE_CLIENT_SECRET."""
    exchange_scheme: Annotated[Line, Names("AUTH_EXCHANGE_SCHEME", "auth.exchange_scheme")] = ""
    """The security scheme that is filled so; empty: the only one that takes a token."""
    exchange_audience: Annotated[Line, Names("AUTH_EXCHANGE_AUDIENCE", "auth.exchange_audience")] = ""
    """The audience to ask for."""
    exchange_scope: Annotated[Line, Names("AUTH_EXCHANGE_SCOPE", "auth.exchange_scope")] = ""
    """The scopes to ask for; empty: those of the operation."""

    state_url: Annotated[StateUrl, Names("STATE_URL", "state.url")] = ""
    """What must outlive the adapter's process: "sqlite:///relative.sqlite3", "sqlite:////absolute.sqlite3", "memory:",
    or what several replicas share, "redis://host:6379/0" ("rediss:" over TLS; Valkey too; extra `redis`); empty: a file
    of this adapter in the user's state folder, see `doctor`. Nothing is written before it is needed. What callers bring
    back is sealed with the first key, of 32 characters or more, of MCP_AQL_STATE_KEY, or of the file that
    MCP_AQL_STATE_KEY_FILE names, one a line, and all of them open it; without one, with a key that the store keeps."""

    warn_slow_ms: Annotated[int, Whole(1, 3_600_000), Names("WARN_SLOW_MS", "warnings.slow_ms")] = 2000
    """Milliseconds that the API may take before a warning says so, {allowed}."""
    warn_quota_percent: Annotated[int, Whole(1, 100), Names("WARN_QUOTA_PERCENT", "warnings.quota_percent")] = 80
    """Per cent of the API's own limit of calls that may be used up before a warning says so, {allowed}."""
    warn_most: Annotated[int, Whole(1, 100), Names("WARN_MOST", "warnings.most")] = 10
    """Most warnings of one response, {allowed}."""
    warn_repeat_after: Annotated[int, Whole(0, 86_400), Names("WARN_REPEAT_AFTER", "warnings.repeat_after")] = 300
    """Seconds before a session is given the same warning again, {allowed}; 0: always."""
    warn_suppress: Annotated[WarningCodes, Names("WARN_SUPPRESS", "warnings.suppress")] = ()
    """Codes of warnings not to give; one that ends with '_' stands for its whole category."""

    learn_notes: Annotated[Switch, Names("LEARN_NOTES", "learn.notes")] = False
    """Keep notes in `state.url` of what the API does otherwise than its document or `learn` says, for
    `aqlgen learn --from-notes`: operations, names of fields, types and counts, nothing of an answer's content."""

    safety_loop: Annotated[
        Word[Literal["enforcing", "monitoring", "logging", "disabled"]], Names("SAFETY_LOOP", "safety_loop.mode")
    ] = "disabled"
    """ "enforcing": an operation that changes something runs only as an agent has reported it and may; "monitoring":
    reports are answered by advice; "logging": recorded, not evaluated; "disabled": not offered."""
    loop_approval: Annotated[
        Word[Literal["person", "client"]], Names("SAFETY_LOOP_APPROVAL", "safety_loop.approval")
    ] = "person"
    """Who lets an agent start, and confirms what was paused, since an agent never may: "person": the client asks one
    (elicitation), or an operator decides; "client": you state that the client has a person approve each call of the
    execute tool."""
    max_autonomous_steps: Annotated[Steps, Names("SAFETY_LOOP_STEPS", "safety_loop.max_autonomous_steps")] = 10
    """Steps of an agent before it must pause, {allowed}."""
    requires_approval: Annotated[
        Patterns, Names("SAFETY_LOOP_REQUIRES_APPROVAL", "safety_loop.requires_approval", form="divided by ';'")
    ] = ()
    """Actions that always pause: patterns over what the agent says it will do, from any word of it on, each name in it
    and the operation, case ignored; such as ["delete_*", "*force*", "deploy_*", "git push*"]."""
    auto_approve: Annotated[
        Patterns, Names("SAFETY_LOOP_AUTO_APPROVE", "safety_loop.auto_approve", form="divided by ';'")
    ] = ()
    """Actions that go on although their risk is up to 60, such as ["read_*", "list_*"]; of an operation of this adapter
    its name has to match."""

    loop: LoopSettings = LoopSettings()
    audit: AuditSettings = AuditSettings()
    confirmation: ConfirmationSettings = ConfirmationSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    http: HttpSettings = HttpSettings()
    client: ClientSettings = ClientSettings()
    quota: QuotaSettings = QuotaSettings()
    trust: TrustRecord = TrustRecord()
    sources: Mapping[str, str] = {}

    def limits(self) -> dict[str, int]:
        """Return the limits as `_protocol.limits` shows them (specification, 4.7.5)."""
        names = ("request_size", "response_size", "string_length", "array_elements", "nesting_depth")
        return {f"max_{name}": getattr(self, f"max_{name}") for name in names}


SETTINGS = (
    *settings_of(Config),
    *settings_of(LoopSettings, "loop", "safety_loop"),
    *settings_of(ConfirmationSettings, "confirmation", "confirmation"),
    *settings_of(AuditSettings, "audit", "audit"),
    *settings_of(ClientSettings, "client", "client"),
    *settings_of(QuotaSettings, "quota", "quota"),
    *settings_of(TelemetrySettings, "telemetry", "telemetry"),
    *settings_of(HttpSettings, "http", "http"),
)
"""The settings, in the order of adapter.toml. The attribute of one of `Config.http` begins with "http.", and so on."""
