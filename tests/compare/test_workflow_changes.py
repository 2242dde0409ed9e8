"""What an agent notices of workflows between two adapters (R-STEP-3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from aqlgen.compare import Level, Surface, compare
from aqlgen.runtime.table import ADAPTER, Adapter, Parameter, Workflow
from tests.cases import each
from tests.runtime.tiny_zoo import ADAPTER as ZOO

NUMBER = Parameter(name="number", location=ADAPTER, wire="number", required=True, schema={"type": "integer"})
OURS = Workflow(
    name="ours",
    workflow_id="ours",
    family="read",
    summary="Look",
    description="Look",
    danger="safe",
    danger_reason="get_animal is safe",
    inputs={"number": NUMBER},
    steps=[{"operation": "get_animal", "params": {"animal_id": {"$ref": "inputs.number"}}}],
    outputs={"name": {"$ref": "1.name"}},
)
MORE = replace(NUMBER, name="more", wire="more")


def surface(*workflows: Workflow) -> Surface:
    return Surface({}, {}, Adapter.of(ZOO), {item.name: item for item in workflows})


def changes(old: Surface, new: Surface) -> Mapping[str, Level]:
    return {change.rule: change.level for change in compare(old, new).changes}


@each(
    ("change", "rules"),
    [
        ({}, {}),
        ({"inputs": {}}, {"workflow-inputs": Level.BREAKING}),
        ({"inputs": {"number": NUMBER, "more": MORE}}, {"workflow-inputs": Level.BREAKING}),
        ({"inputs": {"number": replace(NUMBER, schema={})}}, {"workflow-inputs": Level.BREAKING}),
        (
            {"inputs": {"number": NUMBER, "more": replace(MORE, required=False)}},
            {"workflow-inputs": Level.COMPATIBLE},
        ),
        ({"inputs": {"number": replace(NUMBER, required=False)}}, {"workflow-inputs": Level.COMPATIBLE}),
        ({"outputs": {}}, {"workflow-outputs": Level.BREAKING}),
        ({"outputs": {**(OURS.outputs or {}), "id": {"$ref": "1.id"}}}, {"workflow-outputs": Level.COMPATIBLE}),
        ({"steps": []}, {"workflow-steps": Level.ATTENTION}),
        ({"summary": "See"}, {"text-changed": Level.TEXTS}),
        ({"family": "update"}, {"category-changed": Level.BREAKING}),
    ],
)
def test_a_change_of_a_workflow_is_told(change: dict[str, Any], rules: dict[str, Level]) -> None:
    """R-STEP-3"""
    assert changes(surface(OURS), surface(replace(OURS, **change))) == rules


def test_a_workflow_that_comes_or_goes_is_told() -> None:
    grave = replace(OURS, danger="destructive", family="delete")
    assert changes(surface(), surface(OURS)) == {"operation-added": Level.COMPATIBLE}
    assert changes(surface(), surface(grave)) == {"operation-added-grave": Level.ATTENTION}
    assert changes(surface(OURS), surface()) == {"operation-removed": Level.BREAKING}
