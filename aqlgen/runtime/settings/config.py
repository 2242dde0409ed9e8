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
    ConfirmationSettings,
    HttpSettings,
    LoopSettings,
    QuotaSettings,
    Steps,
    TelemetrySettings,
)
from .trust import TrustLevel, TrustRecord
from .types import (
    BaseUrl,
    FilePath,
    ForwardedHeaders,
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
    """URL of the API. Empty: the first server in the API's document."""
    mode: Annotated[Mode, Names("ENDPOINT_MODE", "endpoint_mode")] = "semantic"
    """Tools for agents. "semantic": create, read, update, delete and execute. "single": one for all. "all": all six."""
    tool_prefix: Annotated[Prefix, Names("TOOL_PREFIX")] = ""
    """Prefix of every tool name, such as "github_": 1 to 19 lower-case letters, digits or underscores, then an
    underscore."""
    timeout: Annotated[Seconds, Names("TIMEOUT")] = 30.0
    """Seconds to wait for the API."""
    retries: Annotated[int, Whole(0, 10), Names("RETRIES")] = 2
    """Maximum retries of a request, {allowed}. The adapter retries after a broken connection, and after the statuses
    429, 502, 503 and 504. It retries only requests that change nothing (such as GET), and writes with an idempotency
    key. All retries must end within `timeout`."""
    concurrency: Annotated[
        Word[Literal["fully-concurrent", "read-concurrent", "serialized", "resource-locked"]], Names("CONCURRENCY")
    ] = "fully-concurrent"
    """Calls that can run at the same time. "fully-concurrent": all calls. "read-concurrent": all reads, and one write.
    "serialized": one call. "resource-locked": one call for each resource. For example, a call for /pets/7/toys waits
    for one for /pets/7. A call waits no longer than `timeout`. If `state.url` is a file or Redis, the setting applies
    to all processes together."""
    log_level: Annotated[Word[LogLevel], Names("LOG_LEVEL")] = "warning"
    """Minimum level of records on standard error: {allowed}. To send the records elsewhere, such as to Sentry, add
    handlers to the root logger of Python's logging in hooks.py."""
    read_only: Annotated[Switch, Names("READ_ONLY")] = False
    """Offer only plain reads, and refuse all other operations. A plain read has the category READ and the danger level
    safe. Also, its method is GET, HEAD or QUERY, or your overrides.yaml sets its category."""
    trust_level: Annotated[TrustLevel, Names("TRUST_LEVEL")] = "generated"
    """Trust level of this adapter (docs/policies.md#trust): {allowed}. Only policy strict uses it, and permits more at
    a higher level. This setting overrides the file trust.json, which `trust promote` writes."""

    policy: Annotated[Word[Literal["standard", "strict", "open"]], Names("POLICY", "policy.name")] = "standard"
    """The calls that need a confirmation (docs/policies.md#danger-levels). "standard": safe and reversible calls run.
    Destructive and dangerous calls need a confirmation. Forbidden calls are refused. If aqlgen doubts that a reversible
    write is harmless (docs/decisions.md#reversible), its first call in a session (docs/confirmations.md#sessions) needs
    a confirmation. "strict": the danger level and the trust level decide together. Operations on the review list
    (docs/review.md) need a confirmation. A call is refused if a question cannot show all of its values.

    "open": danger levels have no effect. Your rules, quotas, read_only and the value "automation" (below) still apply.
    Instead of the table [policy], you can write policy = "strict". `confirmation.approval` says who confirms."""
    policy_money: Annotated[ByEffect, Names("POLICY_MONEY", "policy.money")] = "default"
    """Operations that move money: {allowed}. "default": under the policies standard and strict, each call needs a
    confirmation, whatever the danger level. "automation", for agents without a person: each call is refused, unless an
    allow rule matches it. "off": only the danger level decides."""
    policy_access: Annotated[ByEffect, Names("POLICY_ACCESS", "policy.access")] = "off"
    """Operations that give or take rights, keys or access: {allowed}, as for `money`. With "off", the danger level
    decides. It is usually destructive, so each call needs a confirmation."""
    policy_people: Annotated[ByEffect, Names("POLICY_PEOPLE", "policy.people")] = "off"
    """Operations that reach people, such as by e-mail: {allowed}, as for `money`."""
    policy_rules: Annotated[PolicyRules, Names("POLICY_RULES", "policy.rules", form="as JSON")] = ()
    """Your rules, each with the action allow, confirm or deny (docs/policies.md#rules). If several rules match a call,
    deny wins over confirm, and confirm over allow. If only allow rules match, the call needs no confirmation. An allow
    rule that names an operation without * also removes a refusal by the policy. If a rule matches no operation or
    parameter, the adapter does not start."""

    max_request_size: Annotated[
        int, Whole(64 * KIB, 10 * MIB), Names("MAX_REQUEST_SIZE", "limits.max_request_size")
    ] = MIB
    """Maximum bytes of a request, {allowed}."""
    max_response_size: Annotated[int, Whole(MIB, 100 * MIB), Names("MAX_RESPONSE_SIZE", "limits.max_response_size")] = (
        10 * MIB
    )
    """Maximum bytes of the API's response, {allowed}."""
    max_answer_tokens: Annotated[int, Whole(500, 1_000_000), Names("MAX_ANSWER_TOKENS", "limits.max_answer_tokens")] = (
        10_000
    )
    """Maximum tokens (an estimate) of the data in an answer, {allowed}. The adapter cuts a longer answer, and adds a
    warning that says how to continue."""
    max_string_length: Annotated[
        int, Whole(64 * KIB, 10 * MIB), Names("MAX_STRING_LENGTH", "limits.max_string_length")
    ] = MIB
    """Maximum bytes of a string in a request, {allowed}."""
    max_array_elements: Annotated[
        int, Whole(100, 100_000), Names("MAX_ARRAY_ELEMENTS", "limits.max_array_elements")
    ] = 10_000
    """Maximum elements of an array in a request, {allowed}."""
    max_nesting_depth: Annotated[int, Whole(8, 64), Names("MAX_NESTING_DEPTH", "limits.max_nesting_depth")] = 32
    """Maximum levels of objects and arrays in a request, {allowed}."""

    server_variables: Annotated[
        Mapping[str, ServerVariable],
        BeforeValidator(named_values),
        Names(
            "SERVER_VARIABLES",
            "server.variables",
            form="as NAME=VALUE, NAME=VALUE",
        ),
    ] = {}
    """Values of the variables in the API's URL, by name. Empty: the defaults of the document."""

    files_folder: Annotated[FilePath, Names("FILES_FOLDER", "files.folder")] = ""
    """Folder for downloads, and for uploads by path. Empty: answers contain the downloads, calls the uploads."""
    files_max_size: Annotated[int, Whole(MIB, 100 * 1024 * MIB), Names("FILES_MAX_SIZE", "files.max_size")] = 256 * MIB
    """Maximum bytes of a saved file, {allowed}."""
    files_max_attached: Annotated[int, Whole(0, 100 * MIB), Names("FILES_MAX_ATTACHED", "files.max_attached")] = 4 * MIB
    """Maximum total bytes of the files in an answer, {allowed}. Each file is an MCP content block. If a file does not
    fit, the answer lacks it. 0: files are base64 in the answer instead."""

    stream_events: Annotated[int, Whole(1, 100_000), Names("STREAM_EVENTS", "streams.events")] = 1000
    """Maximum events to take from a stream, {allowed}."""
    stream_seconds: Annotated[Seconds, Names("STREAM_SECONDS", "streams.seconds")] = 20.0
    """Seconds to read a stream, within timeout."""

    max_list: Annotated[int, Whole(10, 10_000), Names("MAX_LIST", "introspection.max_list")] = 250
    """Maximum length of a list in an answer of `introspect`, {allowed}. A longer list has pages. A call can ask for
    more by `first` or `all`."""

    auth: Annotated[Word[Literal["document", "none"]], Names("AUTH", "auth.credentials")] = "document"
    """Credentials that the adapter sends to the API. "document": those that the document requires. "none": no
    credentials. Use "none" if the document declares a credential that the API does not need."""
    auth_allow_http: Annotated[Switch, Names("AUTH_ALLOW_HTTP", "auth.allow_http")] = False
    """Allow the adapter to send credentials over plain http to other machines."""
    forward_header: Annotated[
        ForwardedHeaders, Names("AUTH_FORWARD_HEADER", "auth.forward_header", form="separated by ';'")
    ] = ()
    """Headers in which each HTTP caller sends their own credential for the API. Then the adapter's own credential is
    not used, and a call without the header is refused. Give one header, such as ["X-Target-Authorization"]. Or give one
    for each security scheme: ["X-Their-Token=oauth", "X-Their-Key=key"]."""

    state_url: Annotated[StateUrl, Names("STATE_URL", "state.url")] = ""
    """The store for confirmations and counts (docs/state.md). A file: "sqlite:////absolute.sqlite3", or
    "sqlite:///relative.sqlite3", relative to the working directory. Memory: "memory:". Redis or Valkey, for several
    replicas: "redis://host:6379/0", or "rediss:" for TLS (`pip install '.[redis]'`). Empty: a file in your state
    folder, which `doctor` shows. The adapter encrypts and signs the store with your key (docs/state.md#the-key), in
    MCP_AQL_STATE_KEY or in the file MCP_AQL_STATE_KEY_FILE. Without your key, a file gets a random key. Redis requires
    yours."""

    warn_slow_ms: Annotated[int, Whole(1, 3_600_000), Names("WARN_SLOW_MS", "warnings.slow_ms")] = 2000
    """Warn if the API takes longer than this, in milliseconds, {allowed}."""
    warn_quota_percent: Annotated[int, Whole(1, 100), Names("WARN_QUOTA_PERCENT", "warnings.quota_percent")] = 80
    """Warn if more than this percentage of the API's rate limit is used, {allowed}."""
    warn_repeat_after: Annotated[int, Whole(0, 86_400), Names("WARN_REPEAT_AFTER", "warnings.repeat_after")] = 300
    """Seconds until a session can get the same warning again, {allowed}. 0: at once."""
    warn_suppress: Annotated[WarningCodes, Names("WARN_SUPPRESS", "warnings.suppress")] = ()
    """Codes of warnings that answers leave out. A value that ends with '_' stands for all codes that begin with it."""

    learn_notes: Annotated[Switch, Names("LEARN_NOTES", "learn.notes")] = False
    """Note where the API deviates from its document, for `aqlgen learn --from-notes`. The notes are in the store
    (`state.url`). They have names of operations and fields, types and counts, but no content."""

    safety_loop: Annotated[
        Word[Literal["enforcing", "monitoring", "logging", "disabled"]], Names("SAFETY_LOOP", "safety_loop.mode")
    ] = "disabled"
    """Mode of the safety loop, in which an agent reports each step in advance (docs/safety-loop.md). "enforcing": a
    write runs only if the agent reported it, and the answer permitted it. "monitoring": every call runs. Answers to
    reports are only advice. "logging": the adapter only records reports. "disabled": the loop is off."""
    loop_approval: Annotated[
        Word[Literal["person", "client"]], Names("SAFETY_LOOP_APPROVAL", "safety_loop.approval")
    ] = "person"
    """Who confirms that an agent starts, and that it continues after a pause. The agent itself cannot. "person": the
    client's user (MCP elicitation), or an operator. "client": the adapter asks nobody. Choose "client" only if a person
    approves each call of the execute tool in the client."""
    max_autonomous_steps: Annotated[Steps, Names("SAFETY_LOOP_STEPS", "safety_loop.max_autonomous_steps")] = 10
    """Number of steps after which an agent pauses until a person confirms, {allowed}."""
    requires_approval: Annotated[
        Patterns, Names("SAFETY_LOOP_REQUIRES_APPROVAL", "safety_loop.requires_approval", form="separated by ';'")
    ] = ()
    """Actions that always pause the agent, such as ["delete_*", "*force*", "deploy_*", "git push*"]. A pattern matches
    the operation in the report, or the words of the report (docs/safety-loop.md#evaluation)."""
    auto_approve: Annotated[
        Patterns, Names("SAFETY_LOOP_AUTO_APPROVE", "safety_loop.auto_approve", form="separated by ';'")
    ] = ()
    """Actions that pause the agent only if their risk is above 60 (docs/safety-loop.md#evaluation), such as ["read_*",
    "list_*"]. For an operation of this adapter, the pattern must match its name."""

    loop: LoopSettings = LoopSettings()
    audit: AuditSettings = AuditSettings()
    confirmation: ConfirmationSettings = ConfirmationSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    http: HttpSettings = HttpSettings()

    quota: QuotaSettings = QuotaSettings()
    trust: TrustRecord = TrustRecord()
    sources: Mapping[str, str] = {}

    def place(self, attribute: str, key: str) -> str:
        """Return where a setting was given: its variable, or its key in a file."""
        source = self.sources[attribute]
        return f"MCP_AQL_{key.replace('.', '_').upper()}" if source == "environment" else f"'{key}' in {source}"

    def limits(self) -> dict[str, int]:
        """Return the limits as `_protocol.limits` shows them (specification, 4.7.5)."""
        names = ("request_size", "response_size", "string_length", "array_elements", "nesting_depth")
        return {f"max_{name}": getattr(self, f"max_{name}") for name in names}


SETTINGS = (
    *settings_of(Config),
    *settings_of(LoopSettings, "loop", "safety_loop"),
    *settings_of(ConfirmationSettings, "confirmation", "confirmation"),
    *settings_of(AuditSettings, "audit", "audit"),
    *settings_of(QuotaSettings, "quota", "quota"),
    *settings_of(TelemetrySettings, "telemetry", "telemetry"),
    *settings_of(HttpSettings, "http", "http"),
)
"""The settings, in the order of adapter.toml. The attribute of one of `Config.http` begins with "http.", and so on."""
