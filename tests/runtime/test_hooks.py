from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from stand_in import FakeApi

from aqlgen.runtime import errors, hooks, wire
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.hooks import Call, GateDecision, HookError, Hooks, Refuse
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.table import Parameter
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.cases import each, without_ids

pytestmark = pytest.mark.anyio
Make = Callable[..., Dispatcher]
GET = {"operation": "get_animal", "params": {"animal_id": 7, "_who": "me"}}


def hooked(make: Make, **functions: Any) -> Dispatcher:
    return make(Hooks.load(SimpleNamespace(**functions)))


async def test_hooks_see_and_change_call_request_and_response(make: Make, api: FakeApi) -> None:
    """R-LOOP-6"""
    received: list[Any] = []

    def before_call(call: Call) -> Call:
        received.append(call)
        return dataclasses.replace(call, params={"animal_id": 8})

    async def before_send(request: ApiRequest, call: Call) -> ApiRequest:
        received.append(call.params)
        return dataclasses.replace(request, headers=(("X-Mine", "1"),))

    async def after_response(response: ApiResponse, call: Call) -> ApiResponse:
        return ApiResponse(200, {}, b'{"from": "the hook"}')

    dispatcher = hooked(make, before_call=before_call, before_send=before_send, after_response=after_response)
    envelope = await dispatcher.handle("read", GET, Session("session_1"))
    assert envelope["data"] == {"from": "the hook"}
    call = received[0]
    assert (call.operation, call.params, call.family, call.session_id) == (
        "get_animal",
        {"animal_id": 7},
        "read",
        "session_1",
    )
    assert call.metadata == {"_who": "me"}
    assert received[1] == {"animal_id": 8}
    assert json.loads(api.sent[0].content or b"") == {"animal_id": 8}
    assert api.sent[0].headers == (("X-Mine", "1"),)


async def test_a_hook_knows_who_calls_so_callers_can_have_different_rights(make: Make, api: FakeApi) -> None:
    def on_decision(decision: GateDecision, call: Call) -> GateDecision | None:
        return decision._replace(outcome="refuse") if call.caller != "oauth:anna:1" else None

    dispatcher = hooked(make, on_decision=on_decision)
    for caller, runs in (("oauth:anna:1", True), ("oauth:ben:2", False), (None, False)):
        with with_caller({}, caller):
            assert (await dispatcher.handle("read", GET))["success"] is runs


async def test_none_leaves_everything_as_it_is(make: Make, api: FakeApi) -> None:
    dispatcher = hooked(make, before_call=lambda call: None, before_send=lambda request, call: None)
    assert (await dispatcher.handle("read", GET))["data"] == {"animal_id": 7}


async def test_a_hook_may_refuse_and_the_agent_reads_why(make: Make, api: FakeApi) -> None:
    def refuse(call: Call) -> None:
        raise Refuse("animals are asleep")

    def conflict(request: ApiRequest, call: Call) -> None:
        raise Failure(Code.ALREADY_EXISTS, "There is one already")

    envelope = await hooked(make, before_call=refuse).handle("read", GET)
    denied = {"code": "PERMISSION_DENIED", "message": "Permission denied: animals are asleep"}
    assert without_ids(envelope["error"]) == denied
    envelope = await hooked(make, before_send=conflict).handle("read", GET)
    assert envelope["error"]["code"] == "CONFLICT_ALREADY_EXISTS"
    assert api.sent == []


@pytest.mark.parametrize("answer", [ValueError("sesame"), "a string", 0])
async def test_a_broken_hook_is_an_internal_error_and_nothing_is_sent(
    make: Make, api: FakeApi, answer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def before_send(request: ApiRequest, call: Call) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    envelope = await hooked(make, before_send=before_send).handle("read", GET)
    assert envelope["error"]["code"] == "INTERNAL_ERROR"
    assert "sesame" not in json.dumps(envelope)
    assert "before_send" in capsys.readouterr().err
    assert api.sent == []


async def test_changed_parameters_are_validated_again(make: Make, api: FakeApi) -> None:
    """R-REQ-4: nothing reaches the API unless all checks hold."""
    dispatcher = hooked(make, before_call=lambda call: dataclasses.replace(call, params={"colour": "red"}))
    assert (await dispatcher.handle("read", GET))["error"]["code"] == "VALIDATION_MISSING_PARAM"
    assert api.sent == []


async def test_a_hook_that_is_no_function_is_found_when_loading() -> None:
    with pytest.raises(HookError, match="before_call"):
        Hooks.load(SimpleNamespace(before_call=1))
    assert not Hooks.load(None)
    assert not Hooks.load(SimpleNamespace())


@each(
    ("source", "message"),
    [
        (
            "def before_cal(call): ...",
            "before_cal in hooks.py is not a hook and is never called. Did you mean 'before_call'?",
        ),
        ("async def beforeSend(request, call): ...", "Did you mean 'before_send'?"),
        ("class OnDecision: ...", "Did you mean 'on_decision'?"),
        ("from functools import partial\nafter_respnse = partial(print)", "Did you mean 'after_response'?"),
        ("def on_failure(call): ...", "Hooks are before_call, before_send, after_response, on_decision, on_step."),
    ],
)
def test_a_function_that_looks_like_a_hook_and_is_none_stops_the_start(source: str, message: str) -> None:
    """R-LOOP-6: a misspelt guard would never be asked."""
    with pytest.raises(HookError) as caught:
        Hooks.load(owners(source))
    assert message in str(caught.value)


def test_helpers_and_imported_names_are_no_hooks() -> None:
    source = """
from os import path as on_path, getcwd as before_cwd
from dataclasses import replace
from aqlgen.runtime.hooks import Call, Refuse
AFTER_HOURS = 18
def _on_weekend(day): ...
def sign(request): ...
def step(verdict): ...
def before_call(call): ...
"""
    loaded = Hooks.load(owners(source))
    assert loaded.before_call is not None
    assert loaded.on_step is None


def owners(source: str) -> ModuleType:
    """Return a hooks.py of the owner's."""
    module = ModuleType("shop_adapter.hooks")
    exec(source, vars(module))
    return module


async def test_what_hooks_need_is_in_one_module_and_where_it_used_to_be() -> None:
    assert (hooks.ApiRequest, hooks.ApiResponse) == (wire.ApiRequest, wire.ApiResponse)
    assert (hooks.Code, hooks.Failure) == (errors.Code, errors.Failure)
    assert {"ApiRequest", "ApiResponse", "Call", "Code", "Failure", "GateDecision", "Refuse"} <= set(hooks.__all__)


DRY_RUN = Parameter(name="dry_run", wire="dry_run", location="adapter", schema={"type": "boolean"})


async def dry(dispatcher: Dispatcher) -> Any:
    """Return what a dry run of create_animal shows."""
    row = dispatcher.table.find("create_animal")
    assert row is not None
    with_dry_run = dataclasses.replace(row, shown_parameters={**row.shown_parameters, "dry_run": DRY_RUN})
    dispatcher.table._rows["create_animal"] = with_dry_run
    params = {"name": "Ada", "species": "lion", "dry_run": True}
    return await dispatcher.handle("create", {"operation": "create_animal", "params": params})


async def test_a_dry_run_shows_what_hooks_make_of_the_request_and_what_is_decided(make: Make, api: FakeApi) -> None:
    """R-LOOP-6, R-SEL-5"""
    received: list[Call] = []

    def before_call(call: Call) -> Call:
        received.append(call)
        return dataclasses.replace(call, params={**call.params, "name": "Bea"})

    def before_send(request: ApiRequest, call: Call) -> ApiRequest:
        return dataclasses.replace(request, headers=(*request.headers, ("X-Mine", "1")))

    def on_decision(decision: Any, call: Call) -> Any:
        return decision._replace(outcome="confirm", reasons=("because",))

    dispatcher = hooked(make, before_call=before_call, before_send=before_send, on_decision=on_decision)
    data = (await dry(dispatcher))["data"]
    assert data["headers"] == {"X-Mine": "1"}
    assert json.loads(base64.b64decode(data["body"]["content"]))["name"] == "Bea"
    assert data["decision"] == {"outcome": "confirm", "rule": "on_decision", "reasons": ["because"]}
    assert received[0].dry_run
    assert not api.sent


async def test_a_dry_run_that_a_hook_refuses_is_refused_in_its_words(make: Make, api: FakeApi) -> None:
    def before_call(call: Call) -> None:
        raise Refuse("not for agents")

    dispatcher = hooked(make, before_call=before_call)
    answer = await dry(dispatcher)
    assert answer["error"]["message"] == "Permission denied: not for agents"
    assert not api.sent


@each("fault", [ZeroDivisionError(), Refuse("not for you")])
async def test_a_write_whose_answer_a_hook_does_not_pass_on_may_have_been_carried_out(
    make: Make, api: FakeApi, fault: Exception
) -> None:
    """R-LOOP-6, R-ERR-2: an agent that makes it again would do it twice."""

    def after_response(response: ApiResponse, call: Call) -> None:
        raise fault

    dispatcher = hooked(make, after_response=after_response)
    write = {"operation": "create_animal", "params": {"name": "Rex", "species": "cat"}}
    error = (await dispatcher.handle("create", write))["error"]
    assert api.sent
    assert error["details"]["outcome"] == "unknown"
    assert "may have been carried out" in error["message"]
    error = (await dispatcher.handle("read", GET))["error"]
    assert "outcome" not in error.get("details", {})


async def test_parameters_that_a_hook_changes_in_place_are_validated_again(make: Make, api: FakeApi) -> None:
    """R-LOOP-6, R-REQ-4: they are a changed call as one that is returned; `on_decision` changes none."""

    def in_place(*arguments: Any) -> None:
        arguments[-1].params["colour"] = "red"

    error = (await hooked(make, before_call=in_place).handle("read", GET))["error"]
    assert error["code"] == "VALIDATION_UNKNOWN_PARAM"
    assert api.sent == []
    assert (await hooked(make, on_decision=in_place).handle("read", GET))["data"] == {"animal_id": 7}
