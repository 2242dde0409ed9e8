"""The operations of every adapter beside `introspect`, as introspection shows them (specification, 8.5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..protocol_operations import ProtocolOperation, field, run_steps_operation
from ..settings.config import Config
from ..table import Adapter
from ..text import letters

_TOKEN = field(
    "confirmation_token", "string", False, "Token of a CONFIRMATION_REQUIRED answer", minLength=8, maxLength=80
)
_PAUSED = field("element_name", "string", False, "Agent with the paused action", minLength=1, maxLength=100)
_CONFIRMATION = {
    "name": "SafetyLoopConfirmation",
    "kind": "object",
    "description": "Confirmed call, and next step",
}
_BY_TOKEN = ("Confirm an operation", {"confirmation_token": "<confirmation_token of the answer>"})
_BY_AGENT = ("Confirm a paused action", {"element_name": "researcher"})
_TYPES: Mapping[str, Mapping[str, Any]] = {
    "SafetyLoopConfirmation": {
        "kind": "object",
        "description": "Confirmed: an operation by its token, or an agent's paused action",
        "fields": [
            field("operation", "string", False, "The operation that may be called again now"),
            field("element_name", "string", False, "The agent that may go on"),
            field("execution_id", "string", False, "Its execution"),
            field("nextActionHint", "string", False, "The action that was confirmed"),
            field("message", "string", False, "Next step"),
        ],
    },
}
"""Types whose names are reserved, as are those of the loop: the generator renames an API's type of the same name."""

SPECIFIED = ("record_execution_step", "execute_agent", "complete_execution", "abort_execution", "confirm_operation")
"""The operations that the specification reserves, of those that an adapter may offer."""
_RESERVED = {
    letters(name): name
    for name in (*SPECIFIED, "verify_challenge", "introspect", "run_steps", "get_execution_status", "cancel_execution")
}


def reserved(name: str) -> str | None:
    """Return the operation of adapters themselves that a name spells; None for any other name (8.5.4).

    No operation of an API answers to one of these, in whatever spelling.
    """
    return _RESERVED.get(letters(name))


def types_of(operations: Iterable[ProtocolOperation]) -> Mapping[str, Mapping[str, Any]]:
    """Return the types that these operations return, and the types within them."""
    names = {operation.returns["name"] for operation in operations}
    types = _TYPES
    if "SafetyLoopExecution" in names:
        from .loop.operations import TYPES

        types, names = {**TYPES, **_TYPES}, names | {"AgentNotification"}
    return {name: about for name, about in types.items() if name in names}


def inactive(name: str) -> str | None:
    """Return why a reserved operation is not offered; None for any other name."""
    if name == "confirm_operation":
        return "Unknown operation: 'confirm_operation'. Nothing here asks for a confirmation."
    if name == "verify_challenge":
        return "Unknown operation: 'verify_challenge'. Only a safety loop in mode enforcing verifies agents."
    if name in SPECIFIED:
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
    offers_calls = any(adapter.counts.values())
    operations: list[ProtocolOperation] = []
    if looping:
        from .loop.operations import loop_operations

        operations += loop_operations(config, offers_calls=offers_calls)
    if looping or asking:
        operations.append(_confirm_operation(looping=looping, asking=asking))
    if offers_calls:
        operations.append(run_steps_operation(adapter))
    if adapter.executions:
        operations += execution_operations()
    return tuple(operations)


def _confirm_operation(*, looping: bool, asking: bool) -> ProtocolOperation:
    """Declare confirm_operation with the parameters that apply; if both do, a call gives exactly one of them."""
    parameters = [{**_TOKEN, "required": not looping}] if asking else []
    parameters += [{**_PAUSED, "required": not asking}] if looping else []
    target = {
        (True, True): "a blocked operation, or an agent's paused action: give one of the parameters",
        (False, True): "a blocked operation; then repeat its call",
        (True, False): "the action in which an agent was paused",
    }[looping, asking]
    examples = ([_BY_TOKEN] if asking else []) + ([_BY_AGENT] if looping else [])
    return ProtocolOperation(
        "confirm_operation", "execute", f"Confirm {target}", tuple(parameters), _CONFIRMATION, tuple(examples)
    )


# The operations that follow executions; their names are those of the specification's examples (8.4)

STATUS = "get_execution_status"
CANCEL = "cancel_execution"
LONGEST_WAIT = 30
"""Seconds that a call waits at most: clients give up after 60, and a server that stops lets calls end for 35."""

_ID = field("execution_id", "string", True, "As the call that began the work returned it", minLength=8, maxLength=8000)
_WAIT = field(
    "wait_seconds",
    "integer",
    False,
    "Answer once it has ended, and after this time at the latest; 0 answers at once",
    minimum=0,
    maximum=LONGEST_WAIT,
)
_TOKEN_OF_CALL = field(
    "confirmation_token", "string", False, "Token of a CONFIRMATION_REQUIRED answer to this call", maxLength=4000
)
_EXECUTION = {
    "name": "object",
    "kind": "object",
    "description": "execution_id, status (pending, running, completed, failed or cancelled), started_at; progress, "
    "retry_after_seconds, finished_at, error and result, if any",
}
_HANDLE = "<execution_id of the answer>"


def execution_operations() -> tuple[ProtocolOperation, ...]:
    """Return the operations of an adapter that has some which begin work that goes on."""
    return (
        ProtocolOperation(
            STATUS,
            "read",
            "Get the progress of long work that a call started, and its result at the end",
            (_ID, _WAIT),
            _EXECUTION,
            (("Wait for half a minute at most", {"execution_id": _HANDLE, "wait_seconds": 30}),),
        ),
        ProtocolOperation(
            CANCEL,
            "execute",
            "Cancel long work that a call started, by the API's operation; fails if there is none",
            (_ID, _TOKEN_OF_CALL),
            _EXECUTION,
            (("Cancel", {"execution_id": _HANDLE}),),
        ),
    )
