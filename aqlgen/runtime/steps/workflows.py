# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The plan that a call of a workflow stands for: its steps with the values of its inputs (R-STEP-3).

Inputs are values, whatever they look like: one that has the form of a reference is refused. What an input that is not
given stands for is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..errors import Code, Failure
from ..table.workflows import Workflow
from .references import is_reference, pick, read_reference

__all__ = ["INPUTS", "written_plan"]

INPUTS: Final = "inputs"
"""What a reference to an input begins with, in the steps of a workflow."""
_ABSENT: Final = object()


def written_plan(workflow: Workflow, params: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any] | None]:
    """Return the steps of a call, and what it returns, as `run_steps` takes them. Raises Failure for an odd input."""
    for name, value in params.items():
        if _has_reference(value):
            raise Failure(
                Code.INVALID_VALUE,
                f"Parameter '{name}' is a value of a workflow: an object {{$ref: …}} is not taken",
                {"param_name": name},
            )
    inputs = {name: item.schema["default"] for name, item in workflow.inputs.items() if "default" in item.schema}
    inputs |= params
    steps = [_filled(step, inputs) for step in workflow.steps]
    outputs = workflow.outputs
    if outputs is None:
        return steps, None
    values = {name: _filled(value, inputs) for name, value in outputs.items()}
    return steps, {name: None if value is _ABSENT else value for name, value in values.items()}


def _filled(value: Any, inputs: Mapping[str, Any]) -> Any:
    """Return a part of a plan with the values of inputs; _ABSENT for one that has none."""
    if is_reference(value):
        reference = read_reference(value)
        if reference.root != INPUTS:
            return value
        try:
            return pick(inputs, reference)
        except Failure:
            return _ABSENT
    if isinstance(value, Mapping):
        filled = {key: _filled(inner, inputs) for key, inner in value.items()}
        return {key: inner for key, inner in filled.items() if inner is not _ABSENT}
    if isinstance(value, list):
        return [inner for inner in (_filled(item, inputs) for item in value) if inner is not _ABSENT]
    return value


def _has_reference(value: Any) -> bool:
    if isinstance(value, Mapping):
        return is_reference(value) or any(map(_has_reference, value.values()))
    return isinstance(value, list) and any(map(_has_reference, value))
