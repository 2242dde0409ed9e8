# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A workflow of the owner's Arazzo documents: an operation whose call is a plan of steps (`workflows.json`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .codec import column
from .parameters import Parameter
from .row import DangerLevel

__all__ = ["WORKFLOWS", "Workflow"]

WORKFLOWS = "workflows.json"
"""The file of the workflows, by name; there is none where there are no workflows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """One workflow. Its steps are those of `run_steps`; references that begin with `inputs` are to its inputs."""

    name: str = column(outside=True)
    """What agents call it."""
    workflow_id: str
    """The workflowId of the document."""
    family: str
    """The family of its writes; execute, if they are of several, and read, if there are none."""
    summary: str
    """What it does, in a line."""
    description: str = column(like="summary")
    """What it does; as the summary where it is left out."""
    danger: DangerLevel
    """The highest danger of its operations."""
    danger_reason: str
    """The operation that has it."""
    inputs: Mapping[str, Parameter] = column(factory=dict)
    """The inputs by name."""
    steps: Sequence[Mapping[str, Any]]
    """The steps in order, as `run_steps` takes them."""
    outputs: Mapping[str, Any] | None = None
    """What comes back, as `return` of `run_steps`; every step's data where it is left out."""

    @property
    def operations(self) -> tuple[str, ...]:
        """The operations of its steps, each named once."""
        return tuple(dict.fromkeys(step["operation"] for step in self.steps))
