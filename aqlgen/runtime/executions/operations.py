# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operations that follow executions, and what introspection tells of those that begin some (specification, 8.4).

Their names are those of the specification's examples: reading a state is of READ, cancelling of EXECUTE.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..protocol_operations import ProtocolOperation

if TYPE_CHECKING:
    from ..table import LongRunning, Row

__all__ = ["CANCEL", "LONGEST_WAIT", "STATUS", "execution_operations", "lifecycle"]

STATUS = "get_execution_status"
CANCEL = "cancel_execution"
LONGEST_WAIT = 30
"""Seconds that a call waits at most: clients give up after 60, and a server that stops lets calls end for 35."""

_PLACES = frozenset({"location", "operation-location", "azure-asyncoperation"})
_ID: Mapping[str, Any] = {
    "name": "execution_id",
    "type": "string",
    "required": True,
    "description": "As the call that began the work returned it",
    "minLength": 8,
    "maxLength": 8000,
}
_RETURNS = {
    "name": "object",
    "kind": "object",
    "description": "execution_id, status (pending, running, completed, failed or cancelled), started_at; progress, "
    "retry_after_seconds, finished_at, error and result where there are any",
}
_EXAMPLE = "<execution_id of the answer>"


def execution_operations() -> tuple[ProtocolOperation, ...]:
    """Return the operations of an adapter that has some which begin work that goes on."""
    return (
        ProtocolOperation(
            STATUS,
            "read",
            "Get how far work is that a call began and that goes on after its answer; once it has ended, its result",
            (
                _ID,
                {
                    "name": "wait_seconds",
                    "type": "integer",
                    "required": False,
                    "description": "Answer once it has ended, and after this time at the latest; 0 answers at once",
                    "minimum": 0,
                    "maximum": LONGEST_WAIT,
                },
            ),
            _RETURNS,
            (("Wait for half a minute at most", {"execution_id": _EXAMPLE, "wait_seconds": 30}),),
        ),
        ProtocolOperation(
            CANCEL,
            "execute",
            "Cancel work that a call began, by the API's own operation for it; fails where the API has none",
            (
                _ID,
                {
                    "name": "confirmation_token",
                    "type": "string",
                    "required": False,
                    "description": "Token of a CONFIRMATION_REQUIRED answer to this call",
                    "maxLength": 4000,
                },
            ),
            _RETURNS,
            (("Cancel", {"execution_id": _EXAMPLE}),),
        ),
    )


def lifecycle(row: Row, work: LongRunning) -> dict[str, Any] | None:
    """Return the LifecycleInfo of an operation that begins work; None where that cannot be followed."""
    names = {header.lower() for response in row.responses.values() for header in response.get("headers", ())}
    if work.arguments is None and names.isdisjoint(_PLACES):
        return None
    from .states import CORE

    return {
        "states": list(CORE),
        "supports_cancel": work.cancel is not None,
        "supports_retry": False,
        "progress_reporting": True,
    }
