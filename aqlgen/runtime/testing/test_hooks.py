# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Functions as `hooks.py` may hold them: they change, refuse and record calls (R-LOOP-6). Test your own like this."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import pytest

from ..hooks import Refuse
from .sessions import connect
from .table import Operation, sample


def _operation() -> Operation:
    samples = sample(1)
    if not samples:
        pytest.skip("no operation has an example")
    return samples[0]


async def test_each_hook_sees_a_call_in_turn_and_may_change_it() -> None:
    seen: list[str] = []

    def on_decision(decision: Any, call: Any) -> None:
        seen.append(f"{decision.outcome} {call.operation}")

    def before_call(call: Any) -> Any:
        seen.append("before_call")
        return dataclasses.replace(call, metadata={"mark": 1})

    async def before_send(request: Any, call: Any) -> Any:
        seen.append(f"before_send {call.metadata}")
        return dataclasses.replace(request, headers=(*request.headers, ("X-Request-Source", "agent")))

    def after_response(response: Any, call: Any) -> None:
        seen.append(f"after_response {response.status // 100}")

    functions = {function.__name__: function for function in (on_decision, before_call, before_send, after_response)}
    operation = _operation()
    async with connect(hooks=SimpleNamespace(**{"before_send": None, **functions})) as session:
        assert (await session.call(operation.family, operation.name, operation.params))["success"]
    assert seen == [f"allow {operation.name}", "before_call", "before_send {'mark': 1}", "after_response 2"]


async def test_a_decision_says_what_it_rests_on() -> None:
    seen: list[tuple[str, str, str]] = []

    def on_decision(decision: Any, _: Any) -> Any:
        seen.append((decision.rule, decision.danger, decision.trust))
        vouched = decision.trust in ("community_reviewed", "certified")
        return None if vouched else decision._replace(outcome="refuse", reasons=("nobody has reviewed this adapter",))

    operation = _operation()
    async with connect(hooks=SimpleNamespace(on_decision=on_decision)) as session:
        answer = await session.call(operation.family, operation.name, operation.params)
    ((rule, danger, trust),) = seen
    assert all((rule, danger, trust))
    if trust == "generated":
        assert answer["error"]["details"]["rule"] == "on_decision"
        assert "nobody has reviewed this adapter" in answer["error"]["message"]
        assert session.sent == 0


async def test_a_decision_can_be_tightened() -> None:
    def on_decision(decision: Any, _: Any) -> Any:
        return decision._replace(outcome="confirm", reasons=("because it is Monday",))

    operation = _operation()
    async with connect(hooks=SimpleNamespace(on_decision=on_decision)) as session:
        answer = await session.call(operation.family, operation.name, operation.params)
        assert answer["confirmation"]["reasons"] == ["because it is Monday"]
        assert session.sent == 0


async def test_a_step_of_the_safety_loop_can_be_tightened_by_its_risk() -> None:
    seen: list[tuple[str, int]] = []

    def on_step(verdict: Any, step: Any) -> Any:
        seen.append((step.action, verdict.risk))
        if "on Friday" in step.action:
            return verdict._replace(outcome="confirm", reason="not on a Friday")
        return None

    settings: dict[str, Any] = {"MCP_AQL_SAFETY_LOOP": "enforcing", "MCP_AQL_SAFETY_LOOP_APPROVAL": "client"}
    async with connect(hooks=SimpleNamespace(on_step=on_step), **settings) as session:
        agent = {"element_name": "tester"}
        await session.call("execute", "execute_agent", agent)
        for hint, goes_on in (("reading a note", True), ("reading a note on Friday", False)):
            answer = await session.call("create", "record_execution_step", {**agent, "nextActionHint": hint})
            assert answer["data"]["continue"] is goes_on
        assert answer["data"]["reason"] == "not on a Friday"
    assert seen == [("reading a note", 5), ("reading a note on Friday", 5)]


@pytest.mark.parametrize("name", ["on_decision", "before_call"])
async def test_a_hook_may_refuse_and_one_that_breaks_refuses_too(name: str) -> None:
    def refuse(*_: Any) -> None:
        raise Refuse("not today")

    def fail(*_: Any) -> None:
        raise ValueError("sesame")

    operation = _operation()
    for hook, code in ((refuse, "PERMISSION_DENIED"), (fail, "INTERNAL_ERROR")):
        async with connect(hooks=SimpleNamespace(**{name: hook})) as session:
            answer = await session.call(operation.family, operation.name, operation.params)
            assert answer["error"]["code"] == code
            assert "sesame" not in str(answer)
            assert session.sent == 0
