# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The adapter's settings: each is one field of `Config`, or of a part of it, which says everything about it.

The reading of the environment and of `adapter.toml`, the listing of `doctor`, the text of a new project's
`adapter.toml` and the page docs/settings.md follow from the fields. A value comes from the environment first, then from
`adapter.toml`, then from the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from . import parsers
from .http import HTTP_SETTINGS, HttpSettings
from .parsers import Choice, Whole
from .policy import MONEY_TEXT, POLICY_TEXT, RULES_EXAMPLE, RULES_TEXT
from .policy import policy_rules as parse_rules
from .quota import QUOTA_SETTINGS, QuotaSettings
from .setting import Setting, collected, setting
from .tables import (
    AUDIT_SETTINGS,
    CLIENT_SETTINGS,
    CONFIRMATION_SETTINGS,
    LOOP_SETTINGS,
    TELEMETRY_SETTINGS,
    AuditSettings,
    ClientSettings,
    ConfirmationSettings,
    LoopSettings,
    TelemetrySettings,
)
from .trust import TrustRecord

__all__ = ["SETTINGS", "Config", "Setting"]

KIB, MIB = 1024, 1024 * 1024


class Config(NamedTuple):
    """The settings in force. `sources` says, by attribute, where each came from: environment, a file or default."""

    base_url: str | None = setting(
        None,
        "base_url",
        "BASE_URL",
        parsers.base_url,
        "Address of the API; empty: the first server of the API's document.",
    )
    mode: str = setting(
        "semantic",
        "endpoint_mode",
        "ENDPOINT_MODE",
        parsers.mode,
        'Tools offered: "semantic" (create, read, update, delete, execute), "single" (one for everything), "all" '
        "(both).",
    )
    tool_prefix: str = setting(
        "",
        "tool_prefix",
        "TOOL_PREFIX",
        parsers.prefix,
        "Begins every tool name, such as \"github_\": 1 to 19 lower-case letters, digits or '_', then '_'.",
    )
    timeout: float = setting(30.0, "timeout", "TIMEOUT", parsers.seconds, "Seconds to wait for the API.")
    retries: int = setting(
        2,
        "retries",
        "RETRIES",
        Whole(0, 10),
        "Most further tries of a safe read (GET, HEAD, OPTIONS) whose connection broke or that the API put off "
        "(429, 502, 503, 504), {allowed}; all of them within timeout.",
    )
    concurrency: str = setting(
        "fully-concurrent",
        "concurrency",
        "CONCURRENCY",
        Choice(("fully-concurrent", "read-concurrent", "serialized", "resource-locked")),
        'Which calls run at the same time. "read-concurrent": only one that is no read; "serialized": only one of all; '
        '"resource-locked": only one of each path, down to its last parameter. The others wait, for timeout at most. '
        "With a state.url of a file or of Redis this holds for all processes that share it.",
    )
    log_level: str = setting(
        "warning",
        "log_level",
        "LOG_LEVEL",
        parsers.level,
        "Least severe record on standard error: {allowed}. In hooks.py you can add handlers of your own, such as those "
        "of Sentry or OpenTelemetry, to the root logger of Python's logging.",
    )
    read_only: bool = setting(
        False,
        "read_only",
        "READ_ONLY",
        parsers.switch,
        "Offer only safe reads by GET, HEAD or QUERY, and those by other methods to which overrides.yaml gives the "
        "category READ; refuse every other operation, however it is called.",
    )
    trust_level: str = setting(
        "generated",
        "trust_level",
        "TRUST_LEVEL",
        parsers.trust,
        "Who vouches for this adapter: {allowed}. It wins over trust.json, which `trust promote` writes.",
    )

    policy: str = setting("standard", "policy.name", "POLICY", parsers.policy, POLICY_TEXT)
    policy_money: str = setting(
        "default", "policy.money", "POLICY_MONEY", Choice(("default", "automation", "off")), MONEY_TEXT
    )
    policy_rules: tuple[Mapping[str, Any], ...] = setting(
        (), "policy.rules", "POLICY_RULES", parse_rules, RULES_TEXT, form="as JSON", example=RULES_EXAMPLE
    )

    max_request_size: int = setting(
        MIB, "limits.max_request_size", "MAX_REQUEST_SIZE", Whole(64 * KIB, 10 * MIB), "Bytes of a request, {allowed}."
    )
    max_response_size: int = setting(
        10 * MIB,
        "limits.max_response_size",
        "MAX_RESPONSE_SIZE",
        Whole(MIB, 100 * MIB),
        "Bytes of the API's response, {allowed}.",
    )
    max_answer_tokens: int = setting(
        10_000,
        "limits.max_answer_tokens",
        "MAX_ANSWER_TOKENS",
        Whole(500, 1_000_000),
        "Tokens of an answer's data, as estimated, {allowed}. What is longer is cut, and a warning says how to go on.",
    )
    max_string_length: int = setting(
        MIB,
        "limits.max_string_length",
        "MAX_STRING_LENGTH",
        Whole(64 * KIB, 10 * MIB),
        "Bytes of one string of a request, {allowed}.",
    )
    max_array_elements: int = setting(
        10_000,
        "limits.max_array_elements",
        "MAX_ARRAY_ELEMENTS",
        Whole(100, 100_000),
        "Elements of one array of a request, {allowed}.",
    )
    max_nesting_depth: int = setting(
        32,
        "limits.max_nesting_depth",
        "MAX_NESTING_DEPTH",
        Whole(8, 64),
        "Levels of objects and arrays of a request, {allowed}.",
    )

    server_variables: Mapping[str, str] = setting(
        {},
        "server.variables",
        "SERVER_VARIABLES",
        parsers.variables,
        "Values of the variables in the API's address, by their names; none: the document's own.",
        form="as NAME=VALUE, NAME=VALUE",
        example='variables = { region = "eu" }',
    )

    files_folder: str = setting(
        "",
        "files.folder",
        "FILES_FOLDER",
        parsers.path,
        "The folder that files of the API are saved in, instead of giving their bytes as base64, and that files to be "
        "sent may be taken from; empty: neither.",
    )
    files_max_size: int = setting(
        256 * MIB,
        "files.max_size",
        "FILES_MAX_SIZE",
        Whole(MIB, 100 * 1024 * MIB),
        "Bytes of a file that is saved, {allowed}.",
    )

    files_max_attached: int = setting(
        4 * MIB,
        "files.max_attached",
        "FILES_MAX_ATTACHED",
        Whole(0, 100 * MIB),
        "Bytes of the images and other files that the result of a call carries beside its answer, as blocks of MCP, "
        "{allowed}; 0: in base64 within the answer.",
    )

    failure_marks: tuple[str, ...] = setting(
        (),
        "answers.failures",
        "ANSWERS_FAILURES",
        parsers.marks,
        "What makes an answer of status 200 a failure where neither the API's document nor a known form of errors says "
        'so: keys and their value, such as ["success=false", "result.code=ERR"]; "off": nothing does.',
        form="divided by ';'",
    )

    stream_events: int = setting(
        1000,
        "streams.events",
        "STREAM_EVENTS",
        Whole(1, 100_000),
        "Most events that are taken from an answer that is a stream, {allowed}.",
    )
    stream_seconds: float = setting(
        20.0,
        "streams.seconds",
        "STREAM_SECONDS",
        parsers.seconds,
        "Seconds that a stream is listened to, as far as timeout allows.",
    )

    max_list: int = setting(
        250,
        "introspection.max_list",
        "MAX_LIST",
        Whole(10, 10_000),
        "Longest list that introspection gives at once, {allowed}, as far as max_answer_tokens has room; a longer one "
        "is given in pages, or whole where `all` is asked for.",
    )

    auth: str = setting(
        "document",
        "auth.credentials",
        "AUTH",
        parsers.credentials,
        'Credentials of the API that calls need. "document": those that its document requires. "none": none, and none '
        "is sent, for an API that wants none although its document declares one.",
    )
    auth_allow_http: bool = setting(
        False, "auth.allow_http", "AUTH_ALLOW_HTTP", parsers.switch, "Send credentials over plain http to others, too."
    )
    forward_header: tuple[tuple[str, str], ...] = setting(
        (),
        "auth.forward_header",
        "AUTH_FORWARD_HEADER",
        parsers.forwarded,
        "Over HTTP each caller may bring their own credential for the API. Then a call without one is refused: nobody "
        'acts with yours. Name the header that holds it, such as ["X-Target-Authorization"]; with several security '
        'schemes the scheme behind each, such as ["X-Their-Token=oauth", "X-Their-Key=key"].',
        form="divided by ';'",
    )
    exchange_url: str = setting(
        "",
        "auth.exchange_url",
        "AUTH_EXCHANGE_URL",
        parsers.endpoint,
        "Or exchange the token that a caller shows to the adapter for one of the API (RFC 8693); the shown one is "
        "never sent on. The client's id and secret come from MCP_AQL_AUTH_EXCHANGE_CLIENT_ID and "
        "MCP_AQL_AUTH_EXCHANGE_CLIENT_SECRET.",
    )
    exchange_scheme: str = setting(
        "",
        "auth.exchange_scheme",
        "AUTH_EXCHANGE_SCHEME",
        parsers.word,
        "The security scheme that is filled so; empty: the only one that takes a token.",
    )
    exchange_audience: str = setting(
        "", "auth.exchange_audience", "AUTH_EXCHANGE_AUDIENCE", parsers.word, "The audience to ask for."
    )
    exchange_scope: str = setting(
        "",
        "auth.exchange_scope",
        "AUTH_EXCHANGE_SCOPE",
        parsers.word,
        "The scopes to ask for; empty: those of the operation.",
    )

    state_url: str = setting(
        "",
        "state.url",
        "STATE_URL",
        parsers.state_url,
        'What must outlive the adapter\'s process: "sqlite:///relative.sqlite3", "sqlite:////absolute.sqlite3", '
        '"memory:", or what several replicas share, "redis://host:6379/0" ("rediss:" over TLS; Valkey too; extra '
        "`redis`); empty: a file of this adapter in the user's state folder, see `doctor`. Nothing is written before "
        "it is needed. What callers bring back is sealed with the first key, of 32 characters or more, of "
        "MCP_AQL_STATE_KEY, or of the file that MCP_AQL_STATE_KEY_FILE names, one a line, and all of them open it; "
        "without one, with a key that the store keeps.",
    )

    warn_slow_ms: int = setting(
        2000,
        "warnings.slow_ms",
        "WARN_SLOW_MS",
        Whole(1, 3_600_000),
        "Milliseconds that the API may take before a warning says so, {allowed}.",
    )
    warn_quota_percent: int = setting(
        80,
        "warnings.quota_percent",
        "WARN_QUOTA_PERCENT",
        Whole(1, 100),
        "Per cent of the API's own limit of calls that may be used up before a warning says so, {allowed}.",
    )
    warn_most: int = setting(
        10, "warnings.most", "WARN_MOST", Whole(1, 100), "Most warnings of one response, {allowed}."
    )
    warn_repeat_after: int = setting(
        300,
        "warnings.repeat_after",
        "WARN_REPEAT_AFTER",
        Whole(0, 86_400),
        "Seconds before a session is given the same warning again, {allowed}; 0: always.",
    )
    warn_suppress: tuple[str, ...] = setting(
        (),
        "warnings.suppress",
        "WARN_SUPPRESS",
        parsers.codes,
        "Codes of warnings not to give; one that ends with '_' stands for its whole category.",
    )

    safety_loop: str = setting(
        "disabled",
        "safety_loop.mode",
        "SAFETY_LOOP",
        Choice(("enforcing", "monitoring", "logging", "disabled")),
        '"enforcing": an operation that changes something runs only as an agent has reported it and may; "monitoring": '
        'reports are answered by advice; "logging": recorded, not evaluated; "disabled": not offered.',
    )
    loop_approval: str = setting(
        "person",
        "safety_loop.approval",
        "SAFETY_LOOP_APPROVAL",
        Choice(("person", "client")),
        'Who lets an agent start, and confirms what was paused, since an agent never may: "person": the client asks '
        'one (elicitation), or an operator decides; "client": you state that the client has a person approve each '
        "call of the execute tool.",
    )
    max_autonomous_steps: int = setting(
        10,
        "safety_loop.max_autonomous_steps",
        "SAFETY_LOOP_STEPS",
        parsers.STEPS,
        "Steps of an agent before it must pause, {allowed}.",
    )
    requires_approval: tuple[str, ...] = setting(
        (),
        "safety_loop.requires_approval",
        "SAFETY_LOOP_REQUIRES_APPROVAL",
        parsers.patterns,
        "Actions that always pause: patterns over what the agent says it will do, from any word of it on, each name in "
        'it and the operation, case ignored; such as ["delete_*", "*force*", "deploy_*", "git push*"].',
        form="divided by ';'",
    )
    auto_approve: tuple[str, ...] = setting(
        (),
        "safety_loop.auto_approve",
        "SAFETY_LOOP_AUTO_APPROVE",
        parsers.patterns,
        'Actions that go on although their risk is up to 60, such as ["read_*", "list_*"]; of an operation of this '
        "adapter its name has to match.",
        form="divided by ';'",
    )
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
    collected(Config._fields)
    + LOOP_SETTINGS
    + CONFIRMATION_SETTINGS
    + AUDIT_SETTINGS
    + CLIENT_SETTINGS
    + QUOTA_SETTINGS
    + TELEMETRY_SETTINGS
    + HTTP_SETTINGS
)
"""The settings, in the order of adapter.toml. The attribute of one of `Config.http` begins with "http.", and so on."""
