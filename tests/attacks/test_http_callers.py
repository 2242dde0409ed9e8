"""Attacks of one caller on another's sessions, confirmations, executions and budgets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from forms import FORMS, unwrapped, wrapped

from aqlgen.runtime.logs import Record
from aqlgen.runtime.session import with_caller
from aqlgen.runtime.settings.tables import ConfirmationSettings
from tests.runtime.http_endpoint import TOKENS, WITH_TOKEN, A, B, endpoint


@pytest.mark.anyio
async def test_another_callers_session_does_not_exist(package: Path) -> None:
    async with endpoint(package, WITH_TOKEN, environ=TOKENS) as adapter:
        session = await adapter.open(token=A)
        named = [("mcp-session-id", session)]
        unknown = await adapter.rpc("ping", {}, headers=[("mcp-session-id", "0" * 32)], token=B)
        theirs = await adapter.rpc("ping", {}, headers=named, token=B)
        assert (theirs.status, theirs.body) == (unknown.status, unknown.body) == (404, unknown.body)
        for method in ("DELETE", "GET", "POST"):
            accept = [("accept", "application/json, text/event-stream")]
            assert (await adapter.send(method, headers=[*named, *accept], token=B)).status == 404
        assert await adapter.ping(session, token=A) == 200


@pytest.mark.anyio
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("with_sessions", [True, False])
async def test_a_confirmation_of_one_caller_confirms_nothing_of_another(
    package: Path, with_sessions: bool, form: str
) -> None:
    async with endpoint(package, WITH_TOKEN, environ=TOKENS) as adapter:
        sessions = {token: await adapter.open(token=token) if with_sessions else None for token in (A, B)}
        animal = {"animal_id": 7}

        async def delete(token: str, confirmation: str | None = None) -> Any:
            more = {} if confirmation is None else {"confirmation_token": confirmation}
            arguments = wrapped(form, {"operation": "delete_animal", "params": dict(animal)})
            if "operations" in arguments:
                arguments |= more
            else:
                arguments["params"] |= more
            tool = "execute" if arguments.get("operation") == "run_steps" else "delete"
            answer = unwrapped(await adapter.call(tool, arguments, session=sessions[token], token=token))
            return answer if confirmation is None else answer.get("error", {}).get("code")

        confirmation = (await delete(A))["confirmation"]["token"]
        assert await delete(B, confirmation) == "TOKEN_SCOPE_MISMATCH"
        confirming = {"confirmation_token": confirmation}
        answer = await adapter.tool("execute", "confirm_operation", confirming, session=sessions[B], token=B)
        assert answer["error"]["code"] == "TOKEN_SCOPE_MISMATCH"
        assert adapter.api.sent == []
        answer = await adapter.tool("execute", "confirm_operation", confirming, session=sessions[A], token=A)
        assert answer["success"]
        assert (await delete(B))["error"]["code"] == "CONFIRMATION_REQUIRED"
        assert adapter.api.sent == []
        assert await delete(A, confirmation) is None
        assert len(adapter.api.sent) == 1


@pytest.mark.anyio
async def test_a_session_of_another_kind_of_protocol_does_not_lead_to_its_confirmations(package: Path) -> None:
    async with endpoint(package, WITH_TOKEN, environ=TOKENS) as adapter:
        session = await adapter.open(token=A)
        asked = await adapter.tool("delete", "delete_animal", {"animal_id": 7}, session=session, token=A)
        more = {"confirmation_token": asked["confirmation"]["token"]}
        for token in (A, B):
            answer = await adapter.tool(
                "delete",
                "delete_animal",
                {"animal_id": 7},
                token=token,
                more=more,
                headers=[("mcp-session-id", session)],
            )
            assert answer["error"]["code"] == "TOKEN_SCOPE_MISMATCH"


@pytest.mark.anyio
@pytest.mark.parametrize(
    "operation", ["complete_execution", "abort_execution", "record_execution_step", "confirm_operation"]
)
async def test_an_execution_of_one_caller_is_not_there_for_another(package: Path, operation: str) -> None:
    async with endpoint(
        package, WITH_TOKEN, environ=TOKENS, safety_loop="enforcing", loop_approval="client"
    ) as adapter:
        anna = {"element_name": "anna"}
        started = await adapter.tool("execute", "execute_agent", anna, token=A)
        assert started["success"]
        step = {"stepDescription": "s", "outcome": "success"} if operation == "record_execution_step" else {}
        tool = "create" if operation == "record_execution_step" else "execute"
        theirs = await adapter.tool(tool, operation, {**anna, **step}, token=B)
        assert started["data"]["execution_id"] not in str(theirs)
        if operation != "record_execution_step":
            assert theirs["error"]["code"] == "NOT_FOUND_RESOURCE"
        assert (await adapter.tool("execute", "execute_agent", anna, token=B))["success"]
        assert (await adapter.tool("execute", "complete_execution", anna, token=A))["data"]["status"] == "completed"


@pytest.mark.anyio
async def test_a_paused_agent_of_one_caller_holds_nothing_of_another(package: Path) -> None:
    settings: dict[str, Any] = {"safety_loop": "enforcing", "requires_approval": ("*",), "loop_approval": "client"}
    async with endpoint(package, WITH_TOKEN, environ=TOKENS, **settings) as adapter:
        agent = {"element_name": "agent"}
        assert (await adapter.tool("execute", "execute_agent", agent, token=A))["success"]
        step = {**agent, "stepDescription": "s", "outcome": "success", "nextActionHint": "delete all"}
        directive = await adapter.tool("create", "record_execution_step", step, token=A)
        assert directive["data"]["continue"] is False
        new = {"name": "Leo", "species": "lion"}
        assert "paused" in (await adapter.tool("create", "create_animal", new, token=A))["error"]["message"]
        assert "paused" not in str(await adapter.tool("create", "create_animal", new, token=B))


@pytest.mark.anyio
async def test_a_blocked_caller_changes_nothing_in_any_session_or_under_any_name(package: Path) -> None:
    """R-LOOP-4: over HTTP, in both eras; another caller does, and cannot meet the challenge."""
    settings: dict[str, Any] = {"safety_loop": "enforcing", "loop_approval": "client", "policy": "open"}
    async with endpoint(package, WITH_TOKEN, environ=TOKENS, **settings) as adapter:
        new = {"name": "Leo", "species": "lion"}

        async def report(agent: str, hint: str, token: str, session: str | None = None, **more: Any) -> dict[str, Any]:
            step = {"element_name": agent, "nextActionHint": hint, **more}
            return dict(await adapter.tool("create", "record_execution_step", step, token=token, session=session))

        sessions: list[str | None] = [None, await adapter.open(token=A)]
        for session in sessions:
            started = await adapter.tool("execute", "execute_agent", {"element_name": "a"}, token=A, session=session)
            assert started["success"]
        stopped = (await report("a", "rm -rf /", A))["data"]
        assert stopped["stopped"]
        for session in [*sessions, await adapter.open(token=A)]:
            for name in ("a", "b"):
                agent = {"element_name": name}
                refused = await adapter.tool("execute", "execute_agent", agent, token=A, session=session)
                assert refused["error"]["code"] == "PERMISSION_DENIED"
                assert (await report(name, "reading", A, session))["data"]["stopped"]
            answer = await adapter.tool("create", "create_animal", new, token=A, session=session)
            assert "blocked" in answer["error"]["message"]
            assert (await adapter.tool("read", "list_keepers", {}, token=A, session=session))["success"]
        assert (await adapter.tool("execute", "execute_agent", {"element_name": "a"}, token=B))["success"]
        assert (await report("a", "adding", B, nextOperation="create_animal", nextParams=new))["data"]["granted"]
        assert (await adapter.tool("create", "create_animal", new, token=B))["success"]
        tried = {"challenge_id": stopped["notifications"][0]["metadata"]["verificationId"], "code": "AAAA"}
        assert (await adapter.tool("create", "verify_challenge", tried, token=B))["error"][
            "code"
        ] == "PERMISSION_DENIED"


@pytest.mark.anyio
async def test_one_caller_does_not_use_up_the_confirmations_of_another(package: Path) -> None:
    async with endpoint(
        package, WITH_TOKEN, environ=TOKENS, confirmation=ConfirmationSettings(per_minute=3)
    ) as adapter:

        async def ask(token: str, number: int, session: str | None = None) -> str:
            answer = await adapter.tool("delete", "delete_animal", {"animal_id": number}, token=token, session=session)
            return str(answer["error"]["code"])

        codes = [await ask(A, number) for number in range(1, 6)]
        assert codes == ["CONFIRMATION_REQUIRED"] * 3 + ["RATE_LIMIT_EXCEEDED"] * 2
        assert await ask(A, 9, await adapter.open(token=A)) == "RATE_LIMIT_EXCEEDED"  # a new session is no new budget
        assert await ask(B, 1) == "CONFIRMATION_REQUIRED"


@pytest.mark.anyio
async def test_callers_behind_one_token_are_told_apart_by_what_they_bring_for_the_api(package: Path) -> None:
    forward = (("X-Target-Authorization", ""),)
    async with endpoint(package, WITH_TOKEN, environ=TOKENS, forward_header=forward) as adapter:
        animal = {"animal_id": 7}
        mine, theirs = ([("x-target-authorization", value)] for value in ("key of anna", "key of bert"))
        asked = await adapter.tool("delete", "delete_animal", animal, token=A, headers=mine)
        more = {"confirmation_token": asked["confirmation"]["token"]}
        answer = await adapter.tool("delete", "delete_animal", animal, token=A, headers=theirs, more=more)
        assert answer["error"]["code"] == "TOKEN_SCOPE_MISMATCH"
        assert (await adapter.tool("delete", "delete_animal", animal, token=A, headers=mine, more=more))["success"]


@pytest.mark.anyio
@pytest.mark.parametrize("method", ["tools/list", "ping", "prompts/list", "resources/list"])
@pytest.mark.parametrize("theirs", [[("x-target-authorization", "key of bert")], []])
async def test_a_session_answers_nothing_of_another_caller_behind_one_token(
    package: Path, method: str, theirs: list[tuple[str, str]]
) -> None:
    """A caller is who brings other credentials for the API, too; without a token as well as with one."""
    forward = (("X-Target-Authorization", ""),)
    mine = [("x-target-authorization", "key of anna")]
    async with endpoint(package, WITH_TOKEN, environ=TOKENS, forward_header=forward) as adapter:
        session = [("mcp-session-id", await adapter.open(token=A, headers=mine))]
        assert (await adapter.rpc(method, {}, headers=[*session, *theirs], token=A)).status == 404
        assert (await adapter.rpc(method, {}, headers=[*session, *mine], token=A)).status == 200


def test_log_records_of_a_call_go_to_no_other_callers_session() -> None:
    with with_caller({}, "bert"):
        assert Record("error", "x", "m").audience == ""
    with with_caller({}, "bert", "session_b"):
        assert Record("error", "x", "m").audience == "session_b"
    assert Record("error", "x", "m").audience is None
    assert Record("error", "x", "m", session_id="session_a").audience == "session_a"
