# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The safety loop's operations and settings as introspection shows them (specification, 8.5.4 to 8.8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..protocol_operations import ProtocolOperation
from ..settings.config import Config
from ..steps.operation import run_steps_operation
from ..table import Adapter
from ..text import letters

if TYPE_CHECKING:
    from .loop.profiles import Profile

__all__ = ["active_operations", "can_ask", "inactive", "loop_settings", "reserved", "types_of"]


def _field(name: str, type: str, required: bool, description: str, **more: Any) -> dict[str, Any]:
    """Build a ParameterInfo."""
    return {"name": name, "type": type, "required": required, "description": description, **more}


_AGENT = _field("element_name", "string", True, "Name of the agent", minLength=1, maxLength=100)
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
        _field("goal", "string", False, "What the agent is about to do, for the person who approves", maxLength=2000),
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
        _field("stepDescription", "string", False, "The action just completed", maxLength=4000),
        _field("outcome", "string", False, "Result of the previous step", enum=["success", "failure", "skipped"]),
        _field(
            "nextActionHint",
            "string",
            True,
            "The intended next action, with its target, such as 'calling write_file on project/config.json'",
            minLength=1,
            maxLength=4000,
        ),
        _field("findings", "string", False, "Data or observations of the completed step"),
        _field(
            "nextOperation",
            "string",
            False,
            "The operation of this adapter that is called next; in mode enforcing what changes something runs only so",
            minLength=1,
            maxLength=200,
        ),
        _field("nextParams", "object", False, "Its params, exactly as it is then called: once"),
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
    "Unblock an agent that was paused or stopped: a person gives the code that an operator is shown for the challenge. "
    "Without code the client asks the person for it, if it can. A code is good for one try",
    (
        _field("challenge_id", "string", True, "verificationId of the notification", minLength=1, maxLength=64),
        _field("code", "string", False, "The code, from a person", minLength=1, maxLength=200),
    ),
    {"name": "SafetyLoopVerification", "kind": "object", "description": "The agent that may go on"},
    (("Let a person type the code", {"challenge_id": "<verificationId of the notification>"}),),
)
COMPLETE = ProtocolOperation(
    "complete_execution",
    "execute",
    "End an agent's execution: it is done",
    (_AGENT, _field("summary", "string", False, "What was reached", maxLength=4000)),
    _STATE,
    (("Complete", {"element_name": "researcher", "summary": "Summarised 12 issues"}),),
    _LIFECYCLE,
)
ABORT = ProtocolOperation(
    "abort_execution",
    "execute",
    "End an agent's execution before it is done",
    (_AGENT, _field("reason", "string", False, "Why it ends", maxLength=4000)),
    _STATE,
    (("Abort", {"element_name": "researcher", "reason": "Paused, and nobody confirms"}),),
    _LIFECYCLE,
)
_TOKEN = _field(
    "confirmation_token", "string", False, "Token of a CONFIRMATION_REQUIRED answer", minLength=8, maxLength=80
)
_PAUSED = {**_AGENT, "required": False, "description": "The agent whose paused action is confirmed"}
_CONFIRMATION = {
    "name": "SafetyLoopConfirmation",
    "kind": "object",
    "description": "What was confirmed, and what to do next",
}
_BY_TOKEN = ("Confirm an operation", {"confirmation_token": "<confirmation_token of the answer>"})
_BY_AGENT = ("Confirm a paused action", {"element_name": "researcher"})

TYPES: Mapping[str, Mapping[str, Any]] = {
    "AutonomyDirective": {
        "kind": "object",
        "description": "Whether an agent may take the action that it reported (specification, 8.7.1)",
        "fields": [
            _field("continue", "boolean", True, "Whether the agent may proceed"),
            _field("factors", "array", True, "What the decision rests on", items={"type": "string"}),
            _field("stopped", "boolean", False, "True if hard-blocked"),
            _field("reason", "string", False, "Why it is paused or stopped"),
            _field("stepsRemaining", "integer", False, "Steps before a mandatory pause"),
            _field(
                "nextStepRisk",
                "string",
                False,
                "Tier of the action",
                enum=["advisory", "confirm", "verify", "danger_zone"],
            ),
            _field("notifications", "array", False, "What waits for a person", items={"type": "AgentNotification"}),
            _field(
                "granted",
                "object",
                False,
                "What was reported and may be called now, once: operation, digest of it with its params, expires_at",
            ),
        ],
    },
    "AgentNotification": {
        "kind": "object",
        "description": "An event that a person should know of (specification, 8.7.3)",
        "fields": [
            _field(
                "type",
                "string",
                True,
                "Kind of event",
                enum=["permission_pending", "autonomy_pause", "danger_zone", "status", "error"],
            ),
            _field("message", "string", True, "The event in words"),
            _field("metadata", "object", False, "operation, reason, level, verificationId"),
            _field("timestamp", "string", True, "When", format="date-time"),
        ],
    },
    "SafetyLoopExecution": {
        "kind": "object",
        "description": "State of an execution (specification, 8.4.3)",
        "fields": [
            _field("execution_id", "string", True, "Its identifier"),
            _field(
                "status", "string", True, "Its state", enum=["pending", "running", "completed", "failed", "cancelled"]
            ),
            _field("started_at", "string", False, "When it started", format="date-time"),
            _field("finished_at", "string", False, "When it ended", format="date-time"),
            _field("progress", "object", False, "current: the steps reported; message: what to do next"),
        ],
    },
    "SafetyLoopConfirmation": {
        "kind": "object",
        "description": "What was confirmed: an operation by its token, or the paused action of an agent",
        "fields": [
            _field("operation", "string", False, "The operation that may be called again now"),
            _field("element_name", "string", False, "The agent that may go on"),
            _field("execution_id", "string", False, "Its execution"),
            _field("nextActionHint", "string", False, "The action that was confirmed"),
            _field("message", "string", False, "What to do next"),
        ],
    },
    "SafetyLoopVerification": {
        "kind": "object",
        "description": "A challenge that a person has met",
        "fields": [
            _field("challenge_id", "string", True, "The challenge"),
            _field("element_name", "string", True, "The agent that may go on"),
            _field("verified", "boolean", True, "true"),
            _field("message", "string", True, "What to do next"),
        ],
    },
}
"""Types of the loop. Their names are reserved: the generator renames an API's type of the same name."""


_NAMES = ("record_execution_step", "execute_agent", "complete_execution", "abort_execution", "confirm_operation")
_RESERVED = {
    letters(name): name
    for name in (*_NAMES, "verify_challenge", "introspect", "run_steps", "get_execution_status", "cancel_execution")
}


def reserved(name: str) -> str | None:
    """Return the operation of adapters themselves that a name spells; None for any other name (8.5.4).

    No operation of an API answers to one of these, in whatever spelling.
    """
    return _RESERVED.get(letters(name))


def types_of(operations: Iterable[ProtocolOperation]) -> Mapping[str, Mapping[str, Any]]:
    """Return the types that these operations return, and the types within them."""
    names = {operation.returns["name"] for operation in operations}
    if "AutonomyDirective" in names:
        names.add("AgentNotification")
    return {name: about for name, about in TYPES.items() if name in names}


def inactive(name: str) -> str | None:
    """Return why a reserved operation is not offered; None for any other name."""
    if name == "confirm_operation":
        return "Unknown operation: 'confirm_operation'. Nothing here asks for a confirmation."
    if name == "verify_challenge":
        return "Unknown operation: 'verify_challenge'. Only a safety loop in mode enforcing verifies agents."
    if name in _NAMES:
        return f"Unknown operation: '{name}'. The adapter's safety loop is disabled; call operations without it."
    return None


def can_ask(adapter: Adapter, config: Config) -> bool:
    """Return True if the policy can answer CONFIRMATION_REQUIRED with a token for an operation of the adapter."""
    if config.confirmation.approval != "agent":
        return False
    asking = any(rule["action"] == "confirm" for rule in config.policy_rules)
    if config.policy == "open" and not asking:
        return False
    strict = config.policy == "strict" or asking
    return any(count for family, count in adapter.counts.items() if family != "read" or strict)


def active_operations(adapter: Adapter, config: Config) -> tuple[ProtocolOperation, ...]:
    """Return the offered operations: the loop's unless it is disabled; confirm_operation if anything can ask.

    Last of them are run_steps, if the adapter offers anything, and those that follow executions, if any can begin.
    """
    looping, asking = config.safety_loop != "disabled", can_ask(adapter, config)
    record = RECORD_STEP if any(adapter.counts.values()) else _RECORD_HINT
    operations = [record, EXECUTE_AGENT, COMPLETE, ABORT] if looping else []
    if config.safety_loop == "enforcing":
        operations.append(VERIFY)
    if looping or asking:
        operations.append(_confirm_operation(looping=looping, asking=asking))
    if any(adapter.counts.values()):
        operations.append(run_steps_operation(adapter))
    if adapter.executions:
        from ..executions.operations import execution_operations

        operations += execution_operations()
    return tuple(operations)


def _confirm_operation(*, looping: bool, asking: bool) -> ProtocolOperation:
    """Declare confirm_operation with the parameters that apply; if both do, a call gives exactly one of them."""
    parameters = [{**_TOKEN, "required": not looping}] if asking else []
    parameters += [{**_PAUSED, "required": not asking}] if looping else []
    target = {
        (True, True): "a blocked operation, or the action in which an agent was paused: give one of the parameters",
        (False, True): "a blocked operation; then call the operation again as it was called",
        (True, False): "the action in which an agent was paused",
    }[looping, asking]
    examples = ([_BY_TOKEN] if asking else []) + ([_BY_AGENT] if looping else [])
    return ProtocolOperation(
        "confirm_operation", "execute", f"Confirm {target}", tuple(parameters), _CONFIRMATION, tuple(examples)
    )


def loop_settings(config: Config) -> dict[str, Any]:
    """Return the mode, the defaults and the options as introspection shows them, under the specification's names."""
    from .loop.profiles import THRESHOLDS, profile_of

    return {
        "mode": config.safety_loop,
        "confirmed_by": config.loop_approval,
        "stages": ["step limit", "previous outcome", "patterns", "safety tier", "risk tolerance"],
        "tiers": {"advisory": 30, "confirm": 60, "verify": 85, "danger_zone": 100},
        "tolerances": dict(THRESHOLDS),
        "challenge_seconds": config.loop.challenge_ttl,
        "report_seconds": config.loop.report_ttl,
        "defaults": _profile_as_json(profile_of(config)),
        "agents": {name: _profile_as_json(profile_of(config, name)) for name in config.loop.agents},
        "options": ["maxAutonomousSteps", "riskTolerance", "deny", "requiresApproval", "autoApprove"],
    }


def _profile_as_json(profile: Profile) -> dict[str, Any]:
    return {
        "maxAutonomousSteps": profile.max_autonomous_steps,
        "riskTolerance": profile.risk_tolerance,
        "deny": list(profile.deny),
        "requiresApproval": list(profile.requires_approval),
        "autoApprove": list(profile.auto_approve),
    }
