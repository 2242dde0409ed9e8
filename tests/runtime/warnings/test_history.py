"""The warnings given so far, as `introspect` shows them to who was given them, and to nobody else (R-WARN-6)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from users_api import Agent, agent, answering, dispatcher

from aqlgen.runtime.envelope import CallWarning
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.warnings import MOST_ENTRIES, Histories, History
from tests.runtime.http_endpoint import TOKENS, WITH_TOKEN, A, B, endpoint

pytestmark = pytest.mark.anyio


async def history(client: Agent, **params: Any) -> dict[str, Any]:
    envelope = await client.call("introspect", query="warnings", **params)
    assert envelope["success"], envelope
    data: dict[str, Any] = envelope["data"]
    return data


async def operations(client: Agent, **params: Any) -> list[str]:
    return [entry["operation"] for entry in (await history(client, **params))["warnings"]]


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_newest_come_first_with_what_was_said_and_when(users: Path, era: str) -> None:
    """R-WARN-6"""
    async with agent(users, era=era) as client:
        assert (await history(client))["warnings"] == []
        for name in ("list_old", "list_users", "search_all", "list_old"):
            await client.call(name, **({"order": "asc"} if name == "search_all" else {}))
        data = await history(client)
    newest, other = data["warnings"]
    times = other.pop("time"), newest.pop("time")
    assert sorted(times) == list(times)
    assert all(time.endswith("Z") for time in times)
    assert newest == {
        "name": "3",
        "operation": "list_old",
        "code": "DEPRECATION_WARNING",
        "message": "Operation 'list_old' is deprecated",
        "details": {"type": "operation", "deprecated_item": "list_old", "occurrence_count": 2},
        "severity": "low",
    }
    assert other["details"] == {"type": "parameter", "deprecated_item": "order"}
    assert data["page"] == {"total": 2, "first": 250, "next": None}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("list_old", ["list_old"]),
        ("DEPRECATION_WARNING", ["list_soon", "list_old"]),
        ("DEPRECATION_", ["list_soon", "list_old"]),
        ("VALIDATION_TRUNCATED_WARNING", ["list_users"]),
        (["list_soon", "VALIDATION_"], ["list_users", "list_soon"]),
        ("list_later", []),
    ],
)
async def test_it_can_be_narrowed_to_operations_and_codes(
    users: Path, name: str | list[str], expected: list[str]
) -> None:
    """R-WARN-6"""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json=["x" * 1000] * 200 if request.url.path == "/v1/users" else [])

    async with agent(users, answer) as client:
        for operation in ("list_old", "list_soon", "list_users"):
            await client.call(operation)
        assert await operations(client, name=name) == expected


async def test_what_is_suppressed_is_not_kept(users: Path) -> None:
    """R-WARN-6"""
    async with agent(users, warn_suppress=("DEPRECATION_",)) as client:
        await client.call("list_old")
        assert await operations(client) == []


async def test_the_warnings_of_a_batch_stand_at_their_operations(users: Path) -> None:
    """R-WARN-6"""
    async with agent(users) as client:
        calls = [{"operation": "list_old"}, {"operation": "list_soon"}]
        await client.client.call_tool("mcp_aql_read", {"operations": calls})
        assert await operations(client) == ["list_soon", "list_old"]


async def test_it_is_paged_and_a_page_goes_on_though_an_entry_came_again(users: Path) -> None:
    """R-WARN-6"""
    async with agent(users) as client:
        for name in ("list_old", "list_soon", "list_later"):
            await client.call(name)
        first = await history(client, first=2)
        assert [entry["operation"] for entry in first["warnings"]] == ["list_later", "list_soon"]
        await client.call("list_soon")
        rest = await history(client, after=first["page"]["next"])
        assert [entry["operation"] for entry in rest["warnings"]] == ["list_old"]


@pytest.mark.parametrize("params", [{"after": "x"}, {"search": "old"}, {"category": "READ"}, {"resource": "user"}])
async def test_what_does_not_narrow_it_is_refused(users: Path, params: Mapping[str, Any]) -> None:
    """R-WARN-6"""
    async with agent(users) as client:
        envelope = await client.call("introspect", query="warnings", **params)
    assert envelope["error"]["code"] == "VALIDATION_INVALID_VALUE"


async def test_it_ends_with_its_session(users: Path) -> None:
    """R-WARN-6"""
    server = build_server(dispatcher(users, answering()))
    async with Client(server) as client:
        await Agent(client).call("list_old")
        assert await operations(Agent(client)) == ["list_old"]
    async with Client(server) as client:
        assert await operations(Agent(client)) == []


async def test_over_http_it_is_of_the_session_or_the_caller_and_of_nobody_else(package: Path) -> None:
    """R-WARN-6: protocol 2026-07-28 has no sessions over HTTP, so a history is of the caller."""
    async with endpoint(package, WITH_TOKEN, environ=TOKENS) as server:

        async def shown(**how: Any) -> list[str]:
            answer = await server.tool("read", "introspect", {"query": "warnings"}, **how)
            return [entry["operation"] for entry in answer["data"]["warnings"]]

        session = await server.open(token=A)
        for how in ({"token": A}, {"token": A, "session": session}):
            answer = await server.tool("read", "get_animal", {"animal_id": 7}, **how)
            assert answer["warnings"]
            assert await shown(**how) == ["get_animal"]
        assert await shown(token=B) == []
        assert await shown(token=A, session=await server.open(token=A)) == []


async def test_of_callers_whom_nobody_knows_none_is_kept_and_the_answer_says_so(package: Path) -> None:
    """R-WARN-6"""
    async with endpoint(package) as server:
        assert (await server.tool("read", "get_animal", {"animal_id": 7}))["warnings"]
        answer = await server.tool("read", "introspect", {"query": "warnings"})
    assert answer["data"]["warnings"] == []
    assert "does not know who calls" in answer["data"]["reason"]


def test_a_history_is_bounded_in_count_and_size() -> None:
    """R-WARN-6"""
    kept = History()
    for number in range(MOST_ENTRIES + 5):
        details = {"number": number, "long": "x" * 100_000}
        kept.add("list_users", [CallWarning("PERFORMANCE_X_WARNING", "y" * 100_000, "low", details)])
    entries = list(kept)
    assert [entry.number for entry in entries] == list(range(MOST_ENTRIES + 5, 5, -1))
    assert all(len(str(entry.as_json())) < 3000 for entry in entries)
    assert entries[0].as_json()["details"] == {"number": MOST_ENTRIES + 4}


def test_the_histories_of_callers_are_bounded_and_end_an_hour_after_the_last_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """R-WARN-6"""
    now = [0.0]
    monkeypatch.setattr("aqlgen.runtime.warnings.monotonic", lambda: now[0])
    histories = Histories()

    def of(caller: str) -> History:
        with with_caller({}, caller):
            known = histories.of(Session())
        assert known is not None
        return known

    first = of("anna")
    first.add("list_old", [CallWarning("A_B", "c")])
    now[0] = 3000.0
    assert of("anna") is first
    now[0] = 3700.0
    assert list(of("anna")) == []
    held = of("bert")
    for number in range(300):
        of(f"caller {number}")
    assert of("bert") is not held
