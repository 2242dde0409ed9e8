"""A call that was understood: what the agent, the gatekeeper, the audit log, the hooks and the API see of it."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.client.mock import MockTransport
from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.hooks import Call, Hooks
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Parameter, Row, Table
from aqlgen.runtime.wire import ApiRequest, ApiResponse

pytestmark = pytest.mark.anyio

SETTINGS = {
    "MCP_AQL_STATE_URL": "memory:",
    "MCP_AQL_LOG_LEVEL": "error",
    "MCP_AQL_WARN_SUPPRESS": "DEPRECATION_",
}
READ = {"operation": "get_animal", "params": {"animal_id": "7"}}
UNDERSTOOD = 'animal_id: "7" was read as 7'


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the paths of the requests that are sent."""
    send, paths = MockTransport.send, []

    async def sending(transport: MockTransport, request: ApiRequest, row: Row) -> ApiResponse:
        paths.append(f"{request.method} {request.url.rpartition('mock.invalid')[2]}")
        return await send(transport, request, row)

    monkeypatch.setattr(MockTransport, "send", sending)
    return paths


@pytest.fixture
def make_zoo(package: Path, tmp_path: Path) -> Callable[..., Dispatcher]:
    def build(**settings: str) -> Dispatcher:
        environ = {**SETTINGS, "MCP_AQL_AUDIT_PATH": str(tmp_path / "audit.jsonl"), **settings}
        environ["ZOO_API_KEY"] = "k"
        parts = assemble(package, environ=environ)  # with `mock` nothing would be written, the audit log included
        api: Any = parts.dispatcher.api
        api._transport = MockTransport(parts.table, package)
        return parts.dispatcher

    return build


async def test_the_answer_says_what_was_understood_and_sent(
    make_zoo: Callable[..., Dispatcher], sent: list[str]
) -> None:
    """R-REQ-4, R-WARN-1"""
    envelope = await make_zoo().handle("read", READ)
    assert sent == ["GET https://zoo.example/v1/animals/7"]
    assert envelope["warnings"] == [
        {
            "code": "VALIDATION_UNDERSTOOD_WARNING",
            "message": f"Understood: {UNDERSTOOD}",
            "details": {"understood": [UNDERSTOOD], "count": 1},
            "severity": "low",
        }
    ]


async def test_a_valid_call_has_no_such_warning(make_zoo: Callable[..., Dispatcher]) -> None:
    zoo = make_zoo()
    assert "warnings" not in await zoo.handle("read", {"operation": "get_animal", "params": {"animal_id": 7}})
    assert "warnings" in await zoo.handle("read", READ)
    assert "warnings" in await zoo.handle("read", READ)  # each answer is of another call


async def test_in_a_batch_the_warning_stands_beside_its_own_call(make_zoo: Callable[..., Dispatcher]) -> None:
    good = {"operation": "get_animal", "params": {"animal_id": 7}}
    envelope = await make_zoo().handle("read", {"operations": [good, READ]})
    first, second = (item["result"] for item in envelope["results"])
    assert "warnings" not in first
    assert second["warnings"][0]["details"]["understood"] == [UNDERSTOOD]


async def test_a_confirmation_is_of_the_understood_values(
    make_zoo: Callable[..., Dispatcher], sent: list[str], tmp_path: Path
) -> None:
    """R-REQ-4: the gatekeeper, the token and the audit log know the values that are sent, and no others."""
    zoo = make_zoo(MCP_AQL_APPROVAL="agent")
    call = {"operation": "delete_animal", "params": {"animal_id": "7"}}
    held = await zoo.handle("delete", call)
    assert held["error"]["code"] == "CONFIRMATION_REQUIRED"
    assert held["error"]["details"]["understood"] == [UNDERSTOOD]
    assert "DELETE https://zoo.example/v1/animals/7" in held["confirmation"]["message"]
    token = held["confirmation"]["token"]
    other = {**call, "params": {"animal_id": "8", "confirmation_token": token}}
    assert (await zoo.handle("delete", other))["error"]["code"] == "TOKEN_SCOPE_MISMATCH"
    assert sent == []
    done = await zoo.handle("delete", {**call, "params": {"animal_id": 7, "confirmation_token": token}})
    assert done["success"] is True
    assert sent == ["DELETE https://zoo.example/v1/animals/7"]
    lines = [json.loads(text) for text in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert {line["params"]["animal_id"] for line in lines if "params" in line} == {7, 8}


async def test_a_dry_run_shows_the_request_of_the_understood_values(
    make_zoo: Callable[..., Dispatcher], sent: list[str]
) -> None:
    zoo = make_zoo()
    row = zoo.table.find("get_animal")
    assert row is not None
    dry_run = Parameter(name="dry_run", wire="dry_run", location="adapter", schema={"type": "boolean"})
    parameters = {**row.shown_parameters, "dry_run": dry_run}
    zoo.table._rows["get_animal"] = dataclasses.replace(row, shown_parameters=parameters)
    call = {"operation": "get_animal", "params": {"params": {"animal_id": "7", "dry_run": "true"}}}
    envelope = await zoo.handle("read", call)
    assert envelope["data"]["url"].endswith("/animals/7")
    assert sent == []
    assert 'dry_run was given as params.dry_run, and "true" was read as true' in str(envelope["warnings"])


async def test_hooks_see_the_understood_values_and_their_own_are_not_understood(
    make: Callable[..., Dispatcher], package: Path
) -> None:
    seen: list[Any] = []

    def before_call(call: Call) -> Call:
        seen.append(dict(call.params))
        return dataclasses.replace(call, params={"animal_id": "8"})

    environ = {**SETTINGS, "MCP_AQL_AUDIT_PATH": os.devnull}
    api: Any = assemble(package, environ=environ, mock=True).dispatcher.api
    zoo = Dispatcher(Adapter.load(package), Table(package), api, Config(), Parts(Hooks(before_call=before_call)))
    error = (await zoo.handle("read", READ))["error"]
    assert seen == [{"animal_id": 7}]
    assert error["code"] == "VALIDATION_INVALID_TYPE"


async def test_what_came_as_text_is_bounded_as_all_else_is(make_zoo: Callable[..., Dispatcher]) -> None:
    """R-REQ-9"""
    notes = '{"a":' * 40 + "1" + "}" * 40
    call: dict[str, Any] = {"operation": "create_animal", "params": {"name": "Ada", "species": "lion", "notes": notes}}
    error = (await make_zoo().handle("create", call))["error"]
    assert error["details"]["limit_type"] == "nesting_depth"


async def test_a_failure_says_what_was_understood(make: Callable[..., Dispatcher], package: Path) -> None:
    class Broken(MockTransport):
        async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
            return ApiResponse(404, {"content-type": "application/json"}, b"{}")

    parts = assemble(package, environ={**SETTINGS, "MCP_AQL_AUDIT_PATH": os.devnull}, mock=True)
    transport = Broken(parts.table, package)
    parts.dispatcher.api._transport = transport  # type: ignore[attr-defined]
    error = (await parts.dispatcher.handle("read", READ))["error"]
    assert error["code"] == "NOT_FOUND_RESOURCE"
    assert error["details"]["understood"] == [UNDERSTOOD]
