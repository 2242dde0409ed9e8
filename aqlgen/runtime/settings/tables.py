# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of an API that fails, of confirmations, the safety loop, the audit log and traces: a class a table.

Those of the loop concern its evaluation, its verification and single agents (specification, 8.7.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from . import parsers
from .parsers import Choice, Whole, from_json, parsed_table
from .policy import DANGER_LEVELS
from .setting import collected, setting

__all__ = [
    "AUDIT_SETTINGS",
    "CLIENT_SETTINGS",
    "CONFIRMATION_SETTINGS",
    "LOOP_SETTINGS",
    "TELEMETRY_SETTINGS",
    "AuditSettings",
    "ClientSettings",
    "ConfirmationSettings",
    "LoopSettings",
    "TelemetrySettings",
]


class ClientSettings(NamedTuple):
    """The table `[client]`."""

    retry_budget: int = setting(
        20,
        "client.retry_budget",
        "RETRY_BUDGET",
        Whole(0, 100),
        "Most further tries in per cent of the requests to a host, {allowed}, beside one in a second: when the API is "
        "down, they do not add to its load.",
    )
    circuit_failures: int = setting(
        10,
        "client.circuit_failures",
        "CIRCUIT_FAILURES",
        Whole(0, 1000),
        "Failures in a row (no connection, no answer in time, a status of 500 or more) after which nothing is sent for "
        "circuit_seconds, {allowed}; 0: never. They count for an operation and a caller, for a whole host only if no "
        "connection can be made.",
    )
    circuit_seconds: float = setting(
        15.0,
        "client.circuit_seconds",
        "CIRCUIT_SECONDS",
        parsers.seconds,
        "Seconds until one request tries again whether the API answers.",
    )


CLIENT_SETTINGS = collected(ClientSettings._fields, "client.")
"""The settings of `Config.client`."""


_WAIT = Whole(0, 300)


def _cooldown(value: Any) -> Mapping[str, int]:
    """Return the seconds of each level of danger that is named."""
    message = 'must be a table of levels of danger and seconds, such as {"dangerous": 5}'
    value = from_json(value, message) if value != "" else {}
    if not isinstance(value, Mapping):
        raise ValueError(message)  # noqa: TRY004 - what a parser raises
    return parsed_table(value, dict.fromkeys(DANGER_LEVELS[1:], _WAIT), "level of danger")


class ConfirmationSettings(NamedTuple):
    """The table `[confirmation]`."""

    approval: str = setting(
        "agent",
        "confirmation.approval",
        "APPROVAL",
        Choice(("agent", "person", "operator")),
        'Who confirms. "agent": the person behind the client where the client can ask one (MCP elicitation), otherwise '
        'the agent, by a second call with a token. "person": only a person, behind the client or an operator; where '
        'neither can be asked, what needs confirmation is refused. "operator": only an operator, at the command '
        "`operator` of the adapter or on its page, outside of everything that agents and clients reach; needs a "
        "state.url that is not memory, and a key of yours (MCP_AQL_STATE_KEY). With the last two there are no tokens.",
    )
    ttl: int = setting(
        300,
        "confirmation.ttl",
        "CONFIRMATION_TTL",
        Whole(10, 900),
        "Seconds that a confirmation token is good for, and a question waits for an operator, {allowed} (forbidden "
        "operations: 120 or fewer).",
    )
    skew: int = setting(
        30,
        "confirmation.skew",
        "CONFIRMATION_SKEW",
        Whole(0, 300),
        "Seconds of grace behind that, for clocks that differ, {allowed}.",
    )
    per_minute: int = setting(
        60,
        "confirmation.per_minute",
        "CONFIRMATION_RATE",
        Whole(1, 10_000),
        "Most tokens that one caller is given in a minute, most questions that it puts before operators, and most "
        "tokens that it revokes, {allowed}; one who is not known is a session.",
    )
    declined_per_hour: int = setting(
        10,
        "confirmation.declined_per_hour",
        "CONFIRMATION_DECLINED",
        Whole(1, 1000),
        "Most questions an hour that one caller may have put to the person behind the client without a yes, {allowed}: "
        "the person is asked no more then.",
    )
    cooldown: Mapping[str, int] = setting(
        {},
        "confirmation.cooldown",
        "CONFIRMATION_COOLDOWN",
        _cooldown,
        "Least seconds between the question and the call, by the operation's danger, each 0 to 300: a confirmation "
        "that comes sooner has to wait. `cooldown_seconds` in overrides.yaml sets those of one operation.",
        form="as JSON",
        example="cooldown = { dangerous = 5, forbidden = 30 }",
    )
    session_danger: str = setting(
        "destructive",
        "confirmation.session_danger",
        "CONFIRMATION_SESSION_DANGER",
        Choice(("none", "destructive", "dangerous")),
        "The gravest operations that a person or an operator may approve for the rest of a session, for further calls "
        'of the same shape: {allowed}; "none": every call is asked about.',
    )
    session_uses: int = setting(
        50,
        "confirmation.session_uses",
        "CONFIRMATION_SESSION_USES",
        Whole(1, 1000),
        "Calls that such an approval is good for, {allowed}.",
    )
    session_seconds: int = setting(
        1800,
        "confirmation.session_seconds",
        "CONFIRMATION_SESSION_SECONDS",
        Whole(60, 86_400),
        "Seconds that it is good for, {allowed}, and no longer than the session.",
    )


CONFIRMATION_SETTINGS = collected(ConfirmationSettings._fields, "confirmation.")
"""The settings of `Config.confirmation`."""


class LoopSettings(NamedTuple):
    """The settings under `[safety_loop]` that concern the risk of actions and the verification by a person."""

    deny: tuple[str, ...] = setting(
        (),
        "safety_loop.deny",
        "SAFETY_LOOP_DENY",
        parsers.patterns,
        "Actions that block the agent until a person has verified it with a code that an operator is shown "
        '(docs/safety-loop.md), such as ["drop_*", "delete_all*", "rm -rf*"]. They go before the other patterns.',
        form="divided by ';'",
    )
    risk_tolerance: str = setting(
        "moderate",
        "safety_loop.risk_tolerance",
        "SAFETY_LOOP_RISK_TOLERANCE",
        parsers.tolerance,
        'What an agent may risk without a person, from 0 to 100: "conservative": actions above 25 pause; "moderate": '
        'above 30; "aggressive": above 60. From 61 on a person verifies the agent, from 86 on it is blocked until '
        "then.",
    )
    challenge_ttl: int = setting(
        300,
        "safety_loop.challenge_ttl",
        "SAFETY_LOOP_CHALLENGE_TTL",
        Whole(30, 3600),
        "Seconds that a verification waits for a person's code, {allowed}.",
    )
    report_ttl: int = setting(
        600,
        "safety_loop.report_ttl",
        "SAFETY_LOOP_REPORT_TTL",
        Whole(10, 3600),
        "Seconds within which an operation that was reported, and may run, has to be called, {allowed}.",
    )
    agents: Mapping[str, Mapping[str, Any]] = setting(
        {},
        "safety_loop.agents",
        "SAFETY_LOOP_AGENTS",
        parsers.agents,
        "Steps, patterns and tolerance of one agent, by its element_name; what is left out is as above.",
        form="as JSON",
        example="[safety_loop.agents.researcher]\nmax_autonomous_steps = 50",
    )


LOOP_SETTINGS = collected(LoopSettings._fields, "loop.")
"""The settings of `Config.loop`."""


MIB = 1024 * 1024


class AuditSettings(NamedTuple):
    """The table `[audit]`."""

    path: str = setting(
        "",
        "audit.path",
        "AUDIT_PATH",
        parsers.audit_path,
        "File of the audit log: a JSON line for each decision about a call that is no plain read, and its "
        'end. Empty: audit.jsonl beside the state. "off", or empty with state in memory: records of the log, level '
        "notice.",
    )
    max_size: int = setting(
        100 * MIB,
        "audit.max_size",
        "AUDIT_MAX_SIZE",
        Whole(0, 1024 * MIB),
        "Bytes from which on the audit log is renamed, with the time in its name, and begun anew, {allowed}; 0: never.",
    )
    keep: int = setting(
        0, "audit.keep", "AUDIT_KEEP", Whole(0, 10_000), "Most renamed audit logs that stay, {allowed}; 0: all."
    )


AUDIT_SETTINGS = collected(AuditSettings._fields, "audit.")
"""The settings of `Config.audit`."""


class TelemetrySettings(NamedTuple):
    """The table `[telemetry]`."""

    otel: bool = setting(
        False,
        "telemetry.otel",
        "OTEL",
        parsers.switch,
        "Send traces by OpenTelemetry (extra `otel`): each tool call and each request to the API, without parameters, "
        "queries and headers. Its own variables say where, such as OTEL_EXPORTER_OTLP_ENDPOINT.",
    )
    propagate: bool = setting(
        False,
        "telemetry.propagate",
        "OTEL_PROPAGATE",
        parsers.switch,
        "Send `traceparent` to the API, so that its spans join the trace.",
    )


TELEMETRY_SETTINGS = collected(TelemetrySettings._fields, "telemetry.")
"""The settings of `Config.telemetry`."""
