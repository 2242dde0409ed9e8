# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Workflows as introspection shows them: operations with their inputs and outputs, and what they run (R-STEP-3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..protocol_operations import ProtocolOperation
from ..table import Table
from ..table.workflows import Workflow
from ..text import brief, listed
from .fields import parameter_info, with_notes

__all__ = ["DRY_RUN", "workflow_operations"]

DRY_RUN = "dry_run"
_DRY_RUN: Mapping[str, Any] = {
    "name": DRY_RUN,
    "type": "boolean",
    "required": False,
    "description": "Show the requests, as far as they are known, and send nothing",
}
_LONGEST = 600
_MOST_NAMED = 20


def workflow_operations(table: Table) -> Iterator[ProtocolOperation]:
    """Yield the workflows of a table as operations."""
    for workflow in table.workflows.values():
        yield _operation(workflow)


def _operation(workflow: Workflow) -> ProtocolOperation:
    infos = [parameter_info(parameter, {}) for parameter in workflow.inputs.values()]
    schemas = {name: parameter.schema for name, parameter in workflow.inputs.items()}
    if DRY_RUN not in schemas:
        infos.append(dict(_DRY_RUN))
    returned = listed(list(workflow.outputs), _MOST_NAMED) if workflow.outputs else "every step with its data"
    return ProtocolOperation(
        workflow.name,
        workflow.family,
        with_notes(brief(workflow.description, _LONGEST), [f"Runs {listed(workflow.operations, _MOST_NAMED)}."]),
        tuple(infos),
        {"name": "object", "kind": "object", "description": returned},
        (),
        schemas=schemas,
    )
