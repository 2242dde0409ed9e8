# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The settings of an API that fails, of confirmations, the safety loop, the audit log and traces: a class a table.

Those of the loop concern its evaluation, its verification and single agents (specification, 8.7.4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator
from typing_extensions import TypedDict

from .setting import Names
from .types import AuditPath, Patterns, Seconds, Switch, Whole, Word, from_json, known_keys, matching

__all__ = ["AuditSettings", "ClientSettings", "ConfirmationSettings", "LoopSettings", "Steps", "TelemetrySettings"]

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
