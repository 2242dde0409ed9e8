"""The tables of adapter.toml, a class each: confirmations, the loop, the audit log, traces, HTTP.

Those of the loop concern its evaluation and its verification (specification, 8.7.4). The owner's quotas
say how many requests the adapter sends (R-RATE-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field
from typing_extensions import TypedDict

from . import Names
from .types import (
    AuditPath,
    Host,
    HttpsUrl,
    HttpUrl,
    Line,
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
)

MIB = 1024 * 1024


class ConfirmationSettings(NamedTuple):
    """The table `[confirmation]`."""

    approval: Annotated[Word[Literal["agent", "person", "operator"]], Names("APPROVAL")] = "agent"
    """Who confirms (docs/confirmations.md#who-confirms). "agent": the client's user, if the client can ask (MCP
    elicitation). If it cannot, the agent confirms by a second call with a token. "person": the client's user. If the
    client cannot ask, an operator. Without both, the call is refused. "operator": only an operator, on a page
    (docs/operator.md) that no MCP call can open. It needs a `state.url` other than memory, and your own
    MCP_AQL_STATE_KEY."""
    ttl: Annotated[int, Whole(10, 900), Names("CONFIRMATION_TTL")] = 300
    """Seconds that a confirmation token is valid, and that a question waits for an operator, {allowed}. For a forbidden
    operation, at most 120. (Only policy strict at trust level certified lets anybody confirm such an operation.)"""
    skew: Annotated[int, Whole(0, 300), Names("CONFIRMATION_SKEW")] = 30
    """Seconds of tolerance for clock differences, {allowed}."""
    per_minute: Annotated[int, Whole(1, 10_000), Names("CONFIRMATION_RATE")] = 60
    """Maximum confirmation tokens of a caller in a minute, {allowed}. Without authentication, each session counts as a
    caller. Questions to operators have the same limit, counted separately. So do calls of `revoke_token`."""
    declined_per_hour: Annotated[int, Whole(1, 1000), Names("CONFIRMATION_DECLINED")] = 10
    """Maximum questions in an hour that a caller's user declines or ignores, {allowed}. Above it, the adapter refuses
    calls that need a question."""


Steps = Annotated[int, Whole(1, 10_000)]
Tolerance = Word[Literal["conservative", "moderate", "aggressive"]]


class LoopSettings(NamedTuple):
    """The settings under `[safety_loop]` that concern the risk of actions and the verification by a person."""

    deny: Annotated[Patterns, Names("SAFETY_LOOP_DENY", form="separated by ';'")] = ()
    """Actions that block the agent, such as ["drop_*", "delete_all*", "rm -rf*"]. The block lasts until a person gives
    a code, or an operator lifts it (docs/safety-loop.md#evaluation). These patterns win over the others."""
    risk_tolerance: Annotated[Tolerance, Names("SAFETY_LOOP_RISK_TOLERANCE")] = "moderate"
    """Risk of an action (docs/safety-loop.md#evaluation) above which an agent pauses until a person confirms.
    "conservative": 25. "moderate": 30. "aggressive": no pause. With every value, a risk above 60 needs a code from a
    person. A risk above 85 blocks the agent, also in later sessions, until a person gives a code or an operator lifts
    the block."""
    challenge_ttl: Annotated[int, Whole(30, 3600), Names("SAFETY_LOOP_CHALLENGE_TTL")] = 300
    """Seconds in which a person must give the code for an action with a risk above 60, {allowed}."""
    report_ttl: Annotated[int, Whole(10, 3600), Names("SAFETY_LOOP_REPORT_TTL")] = 600
    """Seconds within which a reported operation must run, {allowed}."""


class AuditSettings(NamedTuple):
    """The table `[audit]`."""

    path: Annotated[AuditPath, Names("AUDIT_PATH")] = ""
    """File of the audit log, which has two lines for each call, except plain reads (docs/monitoring.md#the-audit-log).
    Empty: audit.jsonl in the folder of the state. "off": no file. The entries then become log records, which log_level
    = "notice" shows. Empty with state.url = "memory:" means "off"."""
    max_size: Annotated[int, Whole(0, 1024 * MIB), Names("AUDIT_MAX_SIZE")] = 100 * MIB
    """Maximum bytes of the audit log, {allowed}. Then, a new file begins, and the old one gets a new name. 0: never."""


class TelemetrySettings(NamedTuple):
    """The table `[telemetry]`."""

    otel: Annotated[Switch, Names("OTEL")] = False
    """Send OpenTelemetry traces of each tool call and each request to the API. They contain no parameters, queries and
    headers. This needs the extra `otel`. Standard variables such as OTEL_EXPORTER_OTLP_ENDPOINT set the target."""
    propagate: Annotated[Switch, Names("OTEL_PROPAGATE")] = False
    """Send `traceparent` to the API, so that its spans join the trace."""


class HttpSettings(NamedTuple):
    """The table `[http]`. Tokens are secrets and no settings: MCP_AQL_HTTP_TOKEN or MCP_AQL_HTTP_TOKEN_FILE."""

    auth: Annotated[Word[Literal["", "token", "oauth", "none"]], Names("HTTP_AUTH")] = ""
    """Authentication of callers over HTTP. "token": a token from MCP_AQL_HTTP_TOKEN or from the file
    MCP_AQL_HTTP_TOKEN_FILE. Each line is a token of at least 16 characters. The adapter reads the file again when it
    changes. "oauth": an access token of oauth_issuer. "none": no authentication. Everyone who reaches the adapter can
    then call it. Empty: "token" or "oauth", if one is configured. Otherwise, only this machine can call, without
    authentication. Then the adapter refuses requests with a proxy's header such as X-Forwarded-For. It does not start
    with a public `url`, or with a `--host` beyond loopback."""
    url: Annotated[HttpUrl, Names("HTTP_URL")] = ""
    """Public URL of the adapter, such as https://mcp.example.com/mcp. The adapter accepts its host and origin, and
    OAuth clients use it. Empty: the address on which the adapter listens."""
    allowed_hosts: Annotated[
        Annotated[tuple[Host, ...], divided(",")], Names("ALLOWED_HOSTS", form="separated by ','")
    ] = ()
    """Allowed Host headers, against DNS rebinding: host or host:port. Empty: localhost, the address on which the
    adapter listens, and the host of `url`."""
    allowed_origins: Annotated[
        Annotated[tuple[Origin, ...], divided(",")], Names("ALLOWED_ORIGINS", form="separated by ','")
    ] = ()
    """Web origins (Origin header) whose pages may call the adapter, such as https://app.example.com. The port * means
    any port. Browsers let them read the answers (CORS). Empty: the origin of `url`. If the adapter listens on loopback,
    also pages of this machine, which browsers let read nothing."""
    oauth_issuer: Annotated[HttpsUrl, Names("OAUTH_ISSUER")] = ""
    """Authorization server whose access tokens (signed JWTs) the adapter accepts, exactly as in the claim `iss`. The
    adapter finds the server's keys by its metadata (RFC 8414, OpenID Connect Discovery)."""
    oauth_audience: Annotated[Line, Names("OAUTH_AUDIENCE")] = ""
    """Required audience of a token (claim `aud`). Empty: the setting `url`."""
    oauth_scopes: Annotated[Scopes, Names("OAUTH_SCOPES", form="separated by spaces")] = ()
    """Required scopes of a token."""
    max_sessions: Annotated[int, Whole(1, 100_000), Names("MAX_SESSIONS")] = 1000
    """Maximum MCP sessions, {allowed}. Confirmations have other sessions (docs/confirmations.md#sessions)."""
    sessions_per_caller: Annotated[int, Whole(1, 100_000), Names("SESSIONS_PER_CALLER")] = 100
    """Maximum MCP sessions of a caller, {allowed}. Without authentication, each client address counts as a caller. A
    new session above the limit ends the oldest idle one."""
    session_idle: Annotated[int, Whole(1, 86_400), Names("SESSION_IDLE")] = 1800
    """Seconds without a request after which a session ends, {allowed}."""
    max_connections: Annotated[int, Whole(1, 100_000), Names("MAX_CONNECTIONS")] = 512
    """Maximum connections, {allowed}. The adapter closes further ones at once."""
    head_timeout: Annotated[Seconds, Names("HEAD_TIMEOUT")] = 10.0
    """Seconds to receive the head of a request."""
    body_timeout: Annotated[Seconds, Names("BODY_TIMEOUT")] = 30.0
    """Seconds to receive the body of a request."""
    stop_timeout: Annotated[Seconds, Names("STOP_TIMEOUT")] = 35.0
    """Seconds that running calls have to finish on shutdown. Set it a little above `timeout`."""
    stateless: Annotated[Switch, Names("HTTP_STATELESS")] = False
    """Turn off the sessions of MCP versions before 2026-07-28, so that any replica can answer."""
    metrics: Annotated[Switch, Names("HTTP_METRICS")] = False
    """Serve Prometheus metrics at /metrics, to callers with access to the endpoint."""


Requests = Annotated[int, Whole(1, 1_000_000_000)]
Percent = Annotated[int, Whole(1, 100)]
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
    warn_percent: Percent
    pause_percent: Percent


LimitTable = Annotated[LimitSettings, known_keys(LimitSettings)]


class QuotaSettings(NamedTuple):
    """The table `[quota]`. What is not set is not limited."""

    per_minute: Annotated[Requests | None, Names("QUOTA_PER_MINUTE")] = None
    """Maximum requests to the API in a minute, {allowed}, of all callers together. Above it, the adapter sends no more.
    Retries, pages, and the requests of batches, plans and updates count too. Minutes, hours and days are in UTC. The
    counts are in the store (`state.url`)."""
    per_hour: Annotated[Requests | None, Names("QUOTA_PER_HOUR")] = None
    """The same for an hour."""
    per_day: Annotated[Requests | None, Names("QUOTA_PER_DAY")] = None
    """The same for a day."""
    warn_percent: Annotated[Percent, Names("QUOTA_WARN_PERCENT")] = 80
    """Percentage of a limit from which answers have a warning, {allowed}."""
    pause_percent: Annotated[Percent, Names("QUOTA_PAUSE_PERCENT")] = 95
    """Percentage of a limit from which the client's user must agree to each call, {allowed}. The agent agrees if the
    client cannot ask and `confirmation.approval` is "agent". At least warn_percent. 100: nobody must agree."""
    when_away: Annotated[Word[Literal["closed", "open"]], Names("QUOTA_WHEN_AWAY")] = "closed"
    """The handling of requests with a quota while the store is down. "closed": the adapter does not send them, so no
    limit is exceeded. "open": it sends them without counting, and warns."""
    operations: Annotated[
        Mapping[OperationPattern, LimitTable],
        _json,
        _some,
        Names("QUOTA_OPERATIONS", form="as JSON"),
    ] = {}
    """Limits for some operations, with the same keys. A pattern selects the operations, which share its limits. It is a
    name, or a method and a path. * stands for any part. If a pattern matches nothing, the adapter does not start."""
    callers: Annotated[
        LimitTable,
        BeforeValidator(from_json),
        Names("QUOTA_CALLERS", form="as JSON"),
    ] = LimitSettings()
    """Limits for each authenticated caller, with the same keys. All callers without authentication share one limit."""


def quota_problem(settings: QuotaSettings) -> str:
    """Return the problem of settings of which each is valid by itself, "" without one."""
    for where, limits in _tables(settings):
        warn = limits.get("warn_percent", settings.warn_percent)
        pause = limits.get("pause_percent", settings.pause_percent)
        if pause < warn:
            return f"'{where}' has a pause_percent of {pause}, which is less than its warn_percent of {warn}"
    return ""


def _tables(settings: QuotaSettings) -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield "quota", settings._asdict()
    yield "quota.callers", settings.callers
    for pattern, limits in settings.operations.items():
        yield f'quota.operations."{pattern}"', limits
