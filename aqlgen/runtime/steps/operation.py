# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operation `run_steps` as introspection shows it (R-STEP-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..protocol_operations import ProtocolOperation

if TYPE_CHECKING:
    from ..table import Adapter

__all__ = ["MAX_CALLS", "MAX_STEPS", "RUN_STEPS", "run_steps_operation"]

RUN_STEPS = "run_steps"
MAX_STEPS = 20
MAX_CALLS = 100

_DESCRIPTION = "Run several operations in one call, each with values from the answers before it"
_STEPS = (
    f"What to do, in order: at most {MAX_STEPS} of {{id?, operation, params?, foreach?, where?, expect?, fields?}}, of "
    f"at most {MAX_CALLS} calls. Any value may be {{$ref: 'find.items[0].id'}}: a step's id or number (the first is "
    "1), then a path into its data, [*] for each item of a list. foreach: {$ref: 'find.items'} repeats the step with "
    "{$ref: 'item.id'} and {$ref: 'index'}. "
    "where keeps items, of foreach or else of the answer: {state: 'open'} or {size: {gt: 3}} with eq, ne, gt, gte, lt, "
    "lte, in, contains; the plan ends where an answer does not meet expect. fields are the paths that are "
    "shown. All of it is checked before anything is sent; it halts at a failure and where something must be confirmed"
)


def _field(name: str, type: str, description: str, **more: Any) -> Mapping[str, Any]:
    return {"name": name, "type": type, "required": False, "description": description, **more}


_PARAMETERS = (
    _field("steps", "array", _STEPS, items={"type": "object"}),
    _field("return", "object", "What comes back instead of every step's data: values and references"),
    _field("dry_run", "boolean", "Show the plan with its requests, as far as they are known, and send nothing"),
    _field("continue", "string", "Token of a halted plan, instead of steps: go on with it", maxLength=80),
    _field("unknown", "string", "Beside continue: what to do with a call of unknown outcome", enum=["repeat", "skip"]),
    _field("confirmation_token", "string", "Beside continue: token of a CONFIRMATION_REQUIRED answer", maxLength=80),
)
_RETURNS = {"name": "object", "kind": "object", "description": "steps with their data, or what return asks for"}


def run_steps_operation(adapter: Adapter) -> ProtocolOperation:
    """Return the operation: of the execute tool, or of the read tool where the adapter offers reads only."""
    writes = any(count for family, count in adapter.counts.items() if family != "read")
    name = adapter.quick_start.get("read") or next(iter(adapter.quick_start.values()), "list_items")
    example = {"steps": [{"id": "find", "operation": name}], "return": {"answer": {"$ref": "find"}}}
    return ProtocolOperation(
        RUN_STEPS,
        "execute" if writes else "read",
        _DESCRIPTION,
        _PARAMETERS,
        _RETURNS,
        (("Perform one step, and return a part of its answer", example),),
    )
