"""Changes of workflows: gone, new, with other inputs, steps or outputs."""

from __future__ import annotations

from typing import Final

from aqlgen.compare.grouping import Notes
from aqlgen.compare.model import Level
from aqlgen.compare.surface import Surface
from aqlgen.decide.decision import Danger
from aqlgen.runtime.table import Workflow

__all__ = ["compare_workflows"]

_GRAVE: Final = frozenset({Danger.DESTRUCTIVE, Danger.DANGEROUS, Danger.FORBIDDEN})


def compare_workflows(old: Surface, new: Surface, notes: Notes) -> None:
    """Note what changed of the workflows."""
    for name in old.workflows:
        if name not in new.workflows and name not in new.operations:
            notes.add("operation-removed", name)
    for name, workflow in new.workflows.items():
        before = old.workflows.get(name)
        if before is not None:
            _compare(before, workflow, notes)
        elif workflow.danger in _GRAVE:
            wording = f"new workflow[|s] in {workflow.family}, {workflow.danger}"
            notes.add("operation-added-grave", name, wording=wording)
        else:
            notes.add("operation-added", name, wording=f"new workflow[|s] in {workflow.family}")


def _compare(old: Workflow, new: Workflow, notes: Notes) -> None:
    if old.family != new.family:
        wording = f"called by the tool for {new.family} now, not for {old.family}"
        notes.add("category-changed", new.name, wording=wording)
    if old.steps != new.steps:
        notes.add("workflow-steps", new.name)
    if old.inputs != new.inputs:
        is_open = all(
            name in new.inputs and new.inputs[name].schema == item.schema for name, item in old.inputs.items()
        ) and all(
            not item.required or (name in old.inputs and old.inputs[name].required) for name, item in new.inputs.items()
        )
        notes.add("workflow-inputs", new.name, level=Level.COMPATIBLE if is_open else Level.BREAKING)
    before, after = old.outputs or {}, new.outputs or {}
    if before != after:
        is_kept = bool(old.outputs) is bool(new.outputs) and all(
            after.get(name) == item for name, item in before.items()
        )
        notes.add("workflow-outputs", new.name, level=Level.COMPATIBLE if is_kept else Level.BREAKING)
    for what in ("summary", "description"):
        texts = getattr(old, what), getattr(new, what)
        if texts[0] != texts[1]:
            notes.add("text-changed", new.name, *texts, wording=f"the {what} of the workflow is another")
