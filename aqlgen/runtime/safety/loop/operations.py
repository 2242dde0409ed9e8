"""The safety loop's operations, types and settings as introspection shows them (specification, 8.5.4 to 8.8)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...protocol_operations import ProtocolOperation, field
from ...settings.config import Config
from .evaluation import TIERS
from .executions import THRESHOLDS, profile_of

_AGENT = field("element_name", "string", True, "Name of the agent", minLength=1, maxLength=100)
_LIFECYCLE = {
    "states": ["running", "completed", "cancelled"],
    "supports_cancel": True,
    "supports_retry": False,
    "progress_reporting": True,
}
_STATE = {"name": "SafetyLoopExecution", "kind": "object", "description": "State of the execution"}

EXECUTE_AGENT = ProtocolOperation(
    "execute_agent",
    "execute",
    "Start the safety loop for an agent: from here on it reports every action with record_execution_step first",
    (
        _AGENT,
        field("goal", "string", False, "The agent's next action, for the person who approves", maxLength=2000),
    ),
    _STATE,
    (("Start an agent", {"element_name": "researcher", "goal": "Summarise the open issues"}),),
    _LIFECYCLE,
)
RECORD_STEP = ProtocolOperation(
    "record_execution_step",
    "create",
    "Report the action that an agent is about to take, and learn whether it may: only if `continue` is true. "
    "Reportable is every action with effects beyond reasoning, on any server, file, shell or network",
    (
        {**_AGENT, "description": "The agent reporting the step"},
        field("stepDescription", "string", False, "The action just completed", maxLength=4000),
        field("outcome", "string", False, "Result of the previous step", enum=["success", "failure", "skipped"]),
        field(
            "nextActionHint",
            "string",
            True,
            "The intended next action, with its target, such as 'calling write_file on project/config.json'",
            minLength=1,
            maxLength=4000,
        ),
        field("findings", "string", False, "Data or observations of the completed step"),
        field(
            "nextOperation",
            "string",
            False,
            "The next operation of this adapter; mode enforcing requires it for changes",
            minLength=1,
            maxLength=200,
        ),
        field("nextParams", "object", False, "Its params, exactly as in the call"),
    ),
    {"name": "AutonomyDirective", "kind": "object", "description": "Whether the agent may proceed"},
    (
        (
            "Report the next action",
            {
                "element_name": "researcher",
                "stepDescription": "listed the open issues",
                "outcome": "success",
                "nextActionHint": "reading issue 12 of the repository",
            },
        ),
        (
            "Report an operation of this adapter",
            {
                "element_name": "researcher",
                "nextActionHint": "closing issue 12, which is solved",
                "nextOperation": "<name of the operation>",
                "nextParams": {"number": 12},
            },
        ),
    ),
)
_RECORD_HINT = RECORD_STEP._replace(
    parameters=tuple(info for info in RECORD_STEP.parameters if info["name"] not in ("nextOperation", "nextParams")),
    examples=RECORD_STEP.examples[:1],
)
"""The same of an adapter without operations, where all that is reported happens elsewhere."""
VERIFY = ProtocolOperation(
    "verify_challenge",
    "create",
    "Unblock a paused or stopped agent: a person gives the challenge's code, which an operator sees. Without code "
    "the client asks the person, if it can. A code allows one try",
    (
        field("challenge_id", "string", True, "verificationId of the notification", minLength=1, maxLength=64),
        field("code", "string", False, "The code, from a person", minLength=1, maxLength=200),
    ),
    {"name": "SafetyLoopVerification", "kind": "object", "description": "The agent that may go on"},
    (("Let a person type the code", {"challenge_id": "<verificationId of the notification>"}),),
)
COMPLETE = ProtocolOperation(
    "complete_execution",
    "execute",
    "End an agent's execution: it is done",
    (_AGENT, field("summary", "string", False, "Result", maxLength=4000)),
    _STATE,
    (("Complete", {"element_name": "researcher", "summary": "Summarised 12 issues"}),),
    _LIFECYCLE,
)
ABORT = ProtocolOperation(
    "abort_execution",
    "execute",
    "End an agent's execution before it is done",
    (_AGENT, field("reason", "string", False, "Why it ends", maxLength=4000)),
    _STATE,
    (("Abort", {"element_name": "researcher", "reason": "Paused, and nobody confirms"}),),
    _LIFECYCLE,
)
TYPES: Mapping[str, Mapping[str, Any]] = {
    "AutonomyDirective": {
        "kind": "object",
        "description": "Whether an agent may take the action that it reported (specification, 8.7.1)",
        "fields": [
            field("continue", "boolean", True, "Whether the agent may proceed"),
            field("factors", "array", True, "Reasons of the decision", items={"type": "string"}),
            field("stopped", "boolean", False, "True if hard-blocked"),
            field("reason", "string", False, "Why it is paused or stopped"),
            field("stepsRemaining", "integer", False, "Steps before a mandatory pause"),
            field(
                "nextStepRisk",
                "string",
                False,
                "Tier of the action",
                enum=["advisory", "confirm", "verify", "danger_zone"],
            ),
            field("notifications", "array", False, "Pending challenge", items={"type": "AgentNotification"}),
            field(
                "granted",
                "object",
                False,
                "The reported call that may run now, once: operation, digest with params, expires_at",
            ),
        ],
    },
    "AgentNotification": {
        "kind": "object",
        "description": "An event that a person should know of (specification, 8.7.3)",
        "fields": [
            field(
                "type",
                "string",
                True,
                "Kind of event",
                enum=["permission_pending", "autonomy_pause", "danger_zone", "status", "error"],
            ),
            field("message", "string", True, "The event in words"),
            field("metadata", "object", False, "operation, reason, level, verificationId"),
            field("timestamp", "string", True, "When", format="date-time"),
        ],
    },
    "SafetyLoopExecution": {
        "kind": "object",
        "description": "State of an execution (specification, 8.4.3)",
        "fields": [
            field("execution_id", "string", True, "Its identifier"),
            field(
                "status", "string", True, "Its state", enum=["pending", "running", "completed", "failed", "cancelled"]
            ),
            field("started_at", "string", False, "When it started", format="date-time"),
            field("finished_at", "string", False, "When it ended", format="date-time"),
            field("progress", "object", False, "current: number of reported steps; message: next step"),
        ],
    },
    "SafetyLoopVerification": {
        "kind": "object",
        "description": "A challenge that a person has met",
        "fields": [
            field("challenge_id", "string", True, "The challenge"),
            field("element_name", "string", True, "The agent that may go on"),
            field("verified", "boolean", True, "true"),
            field("message", "string", True, "Next step"),
        ],
    },
}
"""Types of the loop. Their names are reserved: the generator renames an API's type of the same name."""


def loop_operations(config: Config, *, offers_calls: bool) -> list[ProtocolOperation]:
    """Return the operations of the loop; an adapter of no API has none that could be reported."""
    operations = [RECORD_STEP if offers_calls else _RECORD_HINT, EXECUTE_AGENT, COMPLETE, ABORT]
    return [*operations, VERIFY] if config.safety_loop == "enforcing" else operations


def loop_settings(config: Config) -> dict[str, Any]:
    """Return the mode, the defaults and the options as introspection shows them, under the specification's names."""
    profile = profile_of(config)
    return {
        "mode": config.safety_loop,
        "confirmed_by": config.loop_approval,
        "stages": ["step limit", "previous outcome", "patterns", "safety tier", "risk tolerance"],
        "tiers": {tier: highest for highest, tier in TIERS},
        "tolerances": dict(THRESHOLDS),
        "challenge_seconds": config.loop.challenge_ttl,
        "report_seconds": config.loop.report_ttl,
        "defaults": {
            "maxAutonomousSteps": profile.max_autonomous_steps,
            "riskTolerance": profile.risk_tolerance,
            "deny": list(profile.deny),
            "requiresApproval": list(profile.requires_approval),
            "autoApprove": list(profile.auto_approve),
        },
        "options": ["maxAutonomousSteps", "riskTolerance", "deny", "requiresApproval", "autoApprove"],
    }
