# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The tables of adapter.toml, a class each: an API that fails, confirmations, the loop, the audit log, traces, HTTP.

Those of the loop concern its evaluation, its verification and single agents (specification, 8.7.4). The owner's quotas
say how many requests the adapter sends, and what they may cost (R-RATE-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, StringConstraints
from typing_extensions import TypedDict

from . import Names
from .types import (
    AuditPath,
    Host,
    HttpsUrl,
    HttpUrl,
    Line,
    Number,
    Origin,
    Patterns,
    Scopes,
    Seconds,
    Stripped,
    Switch,
    Whole,
    Word,
    divided,
    from_json,
    known_keys,
    matching,
    requiring,
)

__all__ = [
    "MILLIONTHS",
    "AuditSettings",
    "ClientSettings",
    "ConfirmationSettings",
    "HttpSettings",
    "LoopSettings",
    "QuotaSettings",
    "Steps",
    "TelemetrySettings",
    "quota_problem",
]

MIB = 1024 * 1024


class ClientSettings(NamedTuple):
    """The table `[client]`."""

    retry_budget: Annotated[int, Whole(0, 100), Names("RETRY_BUDGET")] = 20
    """Most further tries in per cent of the requests to a host, {allowed}, beside one in a second: when the API is
    down, they do not add to its load."""
    circuit_failures: Annotated[int, Whole(0, 1000), Names("CIRCUIT_FAILURES")] = 10
    """Failures in a row (no connection, no answer in time, a status of 500 or more) after which nothing is sent for
    circuit_seconds, {allowed}; 0: never. They count for an operation and a caller, for a whole host only if no
    connection can be made."""
    circuit_seconds: Annotated[Seconds, Names("CIRCUIT_SECONDS")] = 15.0
    """Seconds until one request tries again whether the API answers."""


Wait = Annotated[int, Whole(0, 300)]
Level = Annotated[
    str,
    matching("reversible|destructive|dangerous|forbidden", "must be reversible, destructive, dangerous or forbidden"),
]


class ConfirmationSettings(NamedTuple):
    """The table `[confirmation]`."""

    approval: Annotated[Word[Literal["agent", "person", "operator"]], Names("APPROVAL")] = "agent"
    """Who confirms. "agent": the person behind the client where the client can ask one (MCP elicitation), otherwise the
    agent, by a second call with a token. "person": only a person, behind the client or an operator; where neither can
    be asked, what needs confirmation is refused. "operator": only an operator, at the command `operator` of the adapter
    or on its page, outside of everything that agents and clients reach; needs a state.url that is not memory, and a key
    of yours (MCP_AQL_STATE_KEY). With the last two there are no tokens."""
    ttl: Annotated[int, Whole(10, 900), Names("CONFIRMATION_TTL")] = 300
    """Seconds that a confirmation token is good for, and a question waits for an operator, {allowed} (forbidden
    operations: 120 or fewer)."""
    skew: Annotated[int, Whole(0, 300), Names("CONFIRMATION_SKEW")] = 30
    """Seconds of grace behind that, for clocks that differ, {allowed}."""
    per_minute: Annotated[int, Whole(1, 10_000), Names("CONFIRMATION_RATE")] = 60
    """Most tokens that one caller is given in a minute, most questions that it puts before operators, and most tokens
    that it revokes, {allowed}; one who is not known is a session."""
    declined_per_hour: Annotated[int, Whole(1, 1000), Names("CONFIRMATION_DECLINED")] = 10
    """Most questions an hour that one caller may have put to the person behind the client without a yes, {allowed}: the
    person is asked no more then."""
    cooldown: Annotated[
        Mapping[Level, Wait],
        BeforeValidator(from_json),
        Names("CONFIRMATION_COOLDOWN", form="as JSON", example="cooldown = { dangerous = 5, forbidden = 30 }"),
    ] = {}
    """Least seconds between the question and the call, by the operation's danger, each 0 to 300: a confirmation that
    comes sooner has to wait. `cooldown_seconds` in overrides.yaml sets those of one operation."""
    session_danger: Annotated[
        Word[Literal["none", "destructive", "dangerous"]], Names("CONFIRMATION_SESSION_DANGER")
    ] = "destructive"
    """The gravest operations that a person or an operator may approve for the rest of a session, for further calls of
    the same shape: {allowed}; "none": every call is asked about."""
    session_uses: Annotated[int, Whole(1, 1000), Names("CONFIRMATION_SESSION_USES")] = 50
    """Calls that such an approval is good for, {allowed}."""
    session_seconds: Annotated[int, Whole(60, 86_400), Names("CONFIRMATION_SESSION_SECONDS")] = 1800
    """Seconds that it is good for, {allowed}, and no longer than the session."""


Steps = Annotated[int, Whole(1, 10_000)]
Tolerance = Word[Literal["conservative", "moderate", "aggressive"]]


class AgentSettings(TypedDict, total=False):
    """The settings of one agent."""

    max_autonomous_steps: Steps
    requires_approval: Patterns
    auto_approve: Patterns
    deny: Patterns
    risk_tolerance: Tolerance


Agent = Annotated[AgentSettings, known_keys(AgentSettings)]


class LoopSettings(NamedTuple):
    """The settings under `[safety_loop]` that concern the risk of actions and the verification by a person."""

    deny: Annotated[Patterns, Names("SAFETY_LOOP_DENY", form="divided by ';'")] = ()
    """Actions that block the agent until a person has verified it with a code that an operator is shown
    (docs/safety-loop.md), such as ["drop_*", "delete_all*", "rm -rf*"]. They go before the other patterns."""
    risk_tolerance: Annotated[Tolerance, Names("SAFETY_LOOP_RISK_TOLERANCE")] = "moderate"
    """What an agent may risk without a person, from 0 to 100: "conservative": actions above 25 pause; "moderate": above
    30; "aggressive": above 60. From 61 on a person verifies the agent, from 86 on it is blocked until then."""
    challenge_ttl: Annotated[int, Whole(30, 3600), Names("SAFETY_LOOP_CHALLENGE_TTL")] = 300
    """Seconds that a verification waits for a person's code, {allowed}."""
    report_ttl: Annotated[int, Whole(10, 3600), Names("SAFETY_LOOP_REPORT_TTL")] = 600
    """Seconds within which an operation that was reported, and may run, has to be called, {allowed}."""
    agents: Annotated[
        Mapping[str, Agent],
        BeforeValidator(from_json),
        Names(
            "SAFETY_LOOP_AGENTS", form="as JSON", example="[safety_loop.agents.researcher]\nmax_autonomous_steps = 50"
        ),
    ] = {}
    """Steps, patterns and tolerance of one agent, by its element_name; what is left out is as above."""


class AuditSettings(NamedTuple):
    """The table `[audit]`."""

    path: Annotated[AuditPath, Names("AUDIT_PATH")] = ""
    """File of the audit log: a JSON line for each decision about a call that is no plain read, and its end. Empty:
    audit.jsonl beside the state. "off", or empty with state in memory: records of the log, level notice."""
    max_size: Annotated[int, Whole(0, 1024 * MIB), Names("AUDIT_MAX_SIZE")] = 100 * MIB
    """Bytes from which on the audit log is renamed, with the time in its name, and begun anew, {allowed}; 0: never."""
    keep: Annotated[int, Whole(0, 10_000), Names("AUDIT_KEEP")] = 0
    """Most renamed audit logs that stay, {allowed}; 0: all."""


class TelemetrySettings(NamedTuple):
    """The table `[telemetry]`."""

    otel: Annotated[Switch, Names("OTEL")] = False
    """Send traces by OpenTelemetry (extra `otel`): each tool call and each request to the API, without parameters,
    queries and headers. Its own variables say where, such as OTEL_EXPORTER_OTLP_ENDPOINT."""
    propagate: Annotated[Switch, Names("OTEL_PROPAGATE")] = False
    """Send `traceparent` to the API, so that its spans join the trace."""


class HttpSettings(NamedTuple):
    """The table `[http]`. Tokens are secrets and no settings: MCP_AQL_HTTP_TOKEN or MCP_AQL_HTTP_TOKEN_FILE."""

    auth: Annotated[Word[Literal["", "token", "oauth", "none"]], Names("HTTP_AUTH")] = ""
    """Who may use the adapter over HTTP. "token": whoever shows a token, of 16 characters or more, that stands in
    MCP_AQL_HTTP_TOKEN, or on a line of the file that MCP_AQL_HTTP_TOKEN_FILE names, which is read again when it
    changes. "oauth": whoever shows an access token of oauth_issuer. "none": everyone who reaches it. Empty: the one of
    token and oauth that is set up, otherwise everyone on this machine, but not through a proxy, and the adapter does
    not start on any other address or url."""
    url: Annotated[HttpUrl, Names("HTTP_URL")] = ""
    """The address at which clients reach the adapter, such as https://mcp.example.com/mcp: its host and origin are
    allowed, and OAuth clients are told of it. Empty: the address that it listens on."""
    allowed_hosts: Annotated[
        Annotated[tuple[Host, ...], divided(",")], Names("ALLOWED_HOSTS", form="divided by ','")
    ] = ()
    """Names under which requests may call the adapter (the Host header; against DNS rebinding): hosts, or host:port.
    Empty: localhost, the address that it listens on, and the host of url."""
    allowed_origins: Annotated[
        Annotated[tuple[Origin, ...], divided(",")], Names("ALLOWED_ORIGINS", form="divided by ','")
    ] = ()
    """Web origins whose pages may call the adapter (the Origin header), such as https://app.example.com; port * is any.
    Empty: that of url, and pages of this machine if the adapter listens on a loopback address."""
    oauth_issuer: Annotated[HttpsUrl, Names("OAUTH_ISSUER")] = ""
    """The authorization server whose access tokens (signed JWTs) are accepted, exactly as they name it in `iss`."""
    oauth_audience: Annotated[Line, Names("OAUTH_AUDIENCE")] = ""
    """The audience that a token must be for (`aud`); empty: url."""
    oauth_scopes: Annotated[Scopes, Names("OAUTH_SCOPES", form="divided by blanks")] = ()
    """Scopes that a token must have, all of them."""
    oauth_jwks_url: Annotated[HttpsUrl, Names("OAUTH_JWKS_URL")] = ""
    """Where the issuer's keys are; empty: where its metadata says (RFC 8414, OpenID Connect Discovery)."""
    max_sessions: Annotated[int, Whole(1, 100_000), Names("MAX_SESSIONS")] = 1000
    """Most sessions at a time, {allowed}; only protocols before 2026-07-28 have any."""
    sessions_per_caller: Annotated[int, Whole(1, 100_000), Names("SESSIONS_PER_CALLER")] = 100
    """Most sessions of one caller, {allowed}; for one more the caller's oldest idle session ends. Without
    authentication a caller is an address."""
    session_idle: Annotated[int, Whole(1, 86_400), Names("SESSION_IDLE")] = 1800
    """Seconds without a request after which a session ends, {allowed}."""
    max_connections: Annotated[int, Whole(1, 100_000), Names("MAX_CONNECTIONS")] = 512
    """Most connections at a time, {allowed}; one more is closed at once."""
    head_timeout: Annotated[Seconds, Names("HEAD_TIMEOUT")] = 10.0
    """Seconds in which the head of a request must arrive."""
    body_timeout: Annotated[Seconds, Names("BODY_TIMEOUT")] = 30.0
    """Seconds in which the body of a request must arrive."""
    stop_timeout: Annotated[Seconds, Names("STOP_TIMEOUT")] = 35.0
    """Seconds that calls which are being answered have when the adapter is stopped; a little more than timeout."""
    stateless: Annotated[Switch, Names("HTTP_STATELESS")] = False
    """Have no sessions with protocols before 2026-07-28 either, so that any process or replica can answer."""
    processes: Annotated[int, Whole(1, 64), Names("HTTP_PROCESSES")] = 1
    """Processes that share the address, {allowed}; more than one needs stateless, and a state that they share."""
    metrics: Annotated[Switch, Names("HTTP_METRICS")] = False
    """Offer metrics for Prometheus at /metrics, to whom the endpoint itself is open."""


MILLIONTHS = 1_000_000
"""Costs are counted in millionths of the currency, so that sums are exact."""

Requests = Annotated[int, Whole(1, 1_000_000_000)]
Percent = Annotated[int, Whole(1, 100)]
Money = Annotated[
    float,
    Number,
    Field(gt=0, le=1_000_000_000),
    requiring(lambda amount: round(amount, 6) == amount, "must be an amount of six decimals or fewer"),
]
Currency = Annotated[
    str,
    StringConstraints(strip_whitespace=True, to_upper=True),
    matching(r"[A-Z]{3}", "must be the three letters of a currency, such as USD"),
]
OperationPattern = Annotated[
    Stripped,
    matching(
        r"[!-~]([ -~]{0,198}[!-~])?", "a pattern is the name of an operation or a method and a path, * for any part"
    ),
]
_json = BeforeValidator(from_json)
_some = Field(max_length=200)


class LimitSettings(TypedDict, total=False):
    """The limits of some requests."""

    per_minute: Requests
    per_hour: Requests
    per_day: Requests
    cost_per_hour: Money
    cost_per_day: Money
    warn_percent: Percent
    pause_percent: Percent


LimitTable = Annotated[LimitSettings, known_keys(LimitSettings)]


class QuotaSettings(NamedTuple):
    """The table `[quota]`. What is not set is not limited."""

    per_minute: Annotated[Requests | None, Names("QUOTA_PER_MINUTE", example="per_minute = 300")] = None
    """Most requests to the API in a minute, of all callers together, {allowed}; repeated ones, pages and the parts of
    batches, plans and updates count. One more is refused before it is sent. Minutes, hours and days are those of UTC;
    the counts stand in `state.url`."""
    per_hour: Annotated[Requests | None, Names("QUOTA_PER_HOUR", example="per_hour = 5000")] = None
    """The same in an hour."""
    per_day: Annotated[Requests | None, Names("QUOTA_PER_DAY", example="per_day = 50000")] = None
    """The same in a day."""
    cost_per_hour: Annotated[Money | None, Names("QUOTA_COST_PER_HOUR", example="cost_per_hour = 5.00")] = None
    """What the requests of an hour may cost by `quota.prices`."""
    cost_per_day: Annotated[Money | None, Names("QUOTA_COST_PER_DAY", example="cost_per_day = 50.00")] = None
    """The same in a day."""
    warn_percent: Annotated[Percent, Names("QUOTA_WARN_PERCENT")] = 80
    """Per cent of a limit from which on answers warn of it, {allowed}."""
    pause_percent: Annotated[Percent, Names("QUOTA_PAUSE_PERCENT")] = 95
    """Per cent of a limit from which on each call must be confirmed (`confirmation.approval` says by whom), {allowed};
    not less than warn_percent; 100: never."""
    currency: Annotated[Currency, Names("QUOTA_CURRENCY")] = "USD"
    """The currency of prices and costs, for display."""
    when_away: Annotated[Word[Literal["closed", "open"]], Names("QUOTA_WHEN_AWAY")] = "closed"
    """What happens to requests under a quota while the store of the counts is away. "closed": none is sent, so that no
    limit is exceeded. "open": they are sent, not counted, and the answers warn of it."""
    operations: Annotated[
        Mapping[OperationPattern, LimitTable],
        _json,
        _some,
        Names("QUOTA_OPERATIONS", form="as JSON", example='[quota.operations."delete_*"]\nper_hour = 20'),
    ] = {}
    """Further limits, with the same keys, that the operations of a pattern share: a name or a method and a path, * for
    any part. A pattern that fits no operation stops the start."""
    callers: Annotated[
        LimitTable,
        BeforeValidator(from_json),
        Names("QUOTA_CALLERS", form="as JSON", example="[quota.callers]\nper_minute = 60"),
    ] = LimitSettings()
    """Further limits, with the same keys, that count for each authenticated caller alone; all others together are one.
    """
    prices: Annotated[
        Mapping[OperationPattern, Money],
        _json,
        _some,
        Names("QUOTA_PRICES", form="as JSON", example='[quota.prices]\n"*" = 0.001\n"create_*" = 0.01'),
    ] = {}
    """The price of a request by the same patterns, of which the longest that fits counts; what none fits is free."""


def quota_problem(settings: QuotaSettings) -> str:
    """Return what is wrong with settings of which each is valid by itself, "" if nothing is."""
    for where, limits in _tables(settings):
        warn = limits.get("warn_percent", settings.warn_percent)
        pause = limits.get("pause_percent", settings.pause_percent)
        if pause < warn:
            return f"'{where}' has a pause_percent of {pause}, which is less than its warn_percent of {warn}"
        costs = [key for key in ("cost_per_hour", "cost_per_day") if limits.get(key) is not None]
        if costs and not settings.prices:
            return f"'{where}.{costs[0]}' needs prices: set quota.prices (MCP_AQL_QUOTA_PRICES)"
    return ""


def _tables(settings: QuotaSettings) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "quota", settings._asdict()
    yield "quota.callers", settings.callers
    for pattern, limits in settings.operations.items():
        yield f'quota.operations."{pattern}"', limits
