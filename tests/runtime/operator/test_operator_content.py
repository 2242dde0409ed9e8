"""What the operator's page shows and does, over HTTP, on the stores that adapters use (R-OPS-1)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.operator import serve
from aqlgen.runtime.operator.guard import ROUTES
from aqlgen.runtime.operator.reading import home_source
from aqlgen.runtime.safety.audit import verify
from aqlgen.runtime.safety.loop.agents import Block, Board
from aqlgen.runtime.safety.questions import Question, QuestionStore
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.state import Counter, StoreAway
from aqlgen.runtime.state.custody import Custody
from aqlgen.runtime.state.redis import RedisStore
from tests.runtime.local import Answer, Asked, serving
from tests.runtime.operator_page import Served, challenge, desk_at, matter, page_at, run, source_at
from tests.runtime.redis_server import redis_server
from tests.runtime.tiny_zoo import ADAPTER, write_package
from tests.test_page import Page

ASSETS = Path(serve.__file__).with_name("assets")
VOID = frozenset("br col hr img input link meta".split())

KEY = "a-key-of-the-owner-with-forty-characters"


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Served]:
    served = page_at(tmp_path).start()
    served.enter()
    yield served
    served.stop()
    assert served.errors == []


def written(folder: Path, name: str = "zoo") -> list[dict[str, Any]]:
    path = folder / f"{name}-adapter" / "audit.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_a_question_is_shown_approved_once_and_audited(page: Served, tmp_path: Path) -> None:
    """R-OPS-1"""
    run(desk_at(tmp_path).ask(matter()))
    shown = page.state(until=lambda known: known.get("matters"))["matters"][0]
    assert (shown["title"], shown["danger"], shown["operations"]) == (
        "Delete animal 7?",
        "destructive",
        ["delete_animal"],
    )
    answer = page.act("approve", shown)
    assert (answer.status, answer.json) == (200, {"message": "Approved, once."})
    decided = run(desk_at(tmp_path).question("m1"))
    assert (decided.verdict, decided.by) == ("approved", "operator:anna")
    entry = written(tmp_path)[-1]
    assert (entry["event"], entry["operator"], entry["decision"], entry["item"]) == (
        "OPERATOR_DECISION",
        "operator:anna",
        "approved once",
        "m1",
    )
    assert not verify(tmp_path / "zoo-adapter" / "audit.jsonl").problem


def test_a_call_of_an_agent_waits_for_the_page_and_runs_once_it_is_approved(tmp_path: Path) -> None:
    """R-OPS-1, R-SAFE-4: the adapter's process and the page share the store alone."""
    calls: list[str] = []

    def answer(asked: Asked) -> Answer:
        calls.append(asked.method)
        return Answer({"id": 7})

    with serving(answer) as api:
        place = {"security": [], "servers": [{"url": api.url}]}
        package = write_package(tmp_path / "src" / "zoo_adapter", {**ADAPTER, **place})
        environ = {"XDG_STATE_HOME": str(tmp_path), "MCP_AQL_APPROVAL": "operator", "MCP_AQL_LOG_LEVEL": "error"}
        environ["MCP_AQL_STATE_KEY"] = KEY
        home = home_source(package, environ)
        served = Served(home).start()
        served.enter()

        async def session() -> list[str]:
            parts, agent = assemble(package, environ=environ), Session("session_1")

            async def call() -> str:
                request = {"operation": "delete_animal", "params": {"animal_id": 7}}
                envelope = await parts.dispatcher.handle("delete", request, agent)
                return "done" if envelope["success"] else str(envelope["error"]["code"])

            outcomes = [await call()]
            shown = (await asyncio.to_thread(served.state, until=lambda known: known.get("matters")))["matters"][0]
            assert (shown["title"], shown["session"]) == ("Delete animal 7? This cannot be undone.", "session_1")
            entries = (await asyncio.to_thread(served.state))["log"]["entries"]
            assert [(entry["event"], entry["result"]) for entry in entries] == [("CONFIRMATION_REQUIRED", "")]
            outcomes.append(await call())
            assert (await asyncio.to_thread(served.act, "approve", shown)).status == 200
            outcomes += [await call(), await call()]
            await parts.close()
            return outcomes

        try:
            outcomes = run(session())
        finally:
            served.stop()
    waits = "CONFIRMATION_REQUIRED"
    assert outcomes == [waits, waits, "done", waits]
    assert calls == ["DELETE"]
    assert [entry["event"] for entry in written(tmp_path)].count("OPERATOR_DECISION") == 1


def test_a_question_is_denied(page: Served, tmp_path: Path) -> None:
    """R-OPS-1"""
    run(desk_at(tmp_path).ask(matter()))
    shown = page.state(until=lambda known: known.get("matters"))["matters"][0]
    assert page.act("deny", shown).json == {"message": "Denied."}
    assert run(desk_at(tmp_path).question("m1")).verdict == "denied"


def test_a_decision_reaches_every_open_page(page: Served, tmp_path: Path) -> None:
    run(desk_at(tmp_path).ask(matter()))
    shown = page.state(until=lambda known: known.get("matters"))["matters"][0]
    page.act("deny", shown)
    decided = page.state(until=lambda known: any(item["verdict"] for item in known.get("matters", ())))["matters"][0]
    assert (decided["verdict"], decided["by"], decided["digest"]) == ("denied", "operator:anna", shown["digest"])
    page.state(until=lambda known: [entry["by"] for entry in known.get("log", {}).get("entries", ())])


def test_what_was_decided_elsewhere_is_not_decided_again(page: Served, tmp_path: Path) -> None:
    run(desk_at(tmp_path).ask(matter()))
    shown = page.state(until=lambda known: known.get("matters"))["matters"][0]
    run(desk_at(tmp_path).decide("m1", "denied", "operator:bert"))
    answer = page.act("approve", shown)
    assert (answer.status, answer.json["error"]) == (409, "gone")
    assert run(desk_at(tmp_path).question("m1")).verdict == "denied"
    assert [entry["event"] for entry in written(tmp_path)] == ["OPERATOR_DECISION", "OPERATOR_DECISION_VOID"]


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Delete animal 8?"},
        {"question": "Delete all animals?"},
        {"operations": ("delete_zoo",)},
        {"danger": "dangerous"},
        {"reasons": ("it costs money",)},
        {"agent": "another"},
        {"caller": "another"},
        {"session": "session_2"},
        {"kind": "plan"},
    ],
)
def test_what_is_another_question_than_was_shown_is_not_approved(
    page: Served, tmp_path: Path, change: dict[str, Any]
) -> None:
    """R-OPS-1, R-SAFE-3"""
    desk = desk_at(tmp_path)
    run(desk.ask(matter()))
    shown = page.state(until=lambda known: known.get("matters"))["matters"][0]
    run(desk.withdraw("m1"))
    run(desk.ask(matter(**change)))
    answer = page.act("approve", shown)
    assert (answer.status, answer.json["error"]) == (409, "changed")
    assert run(desk.question("m1")).verdict == ""
    assert written(tmp_path) == []


def test_a_question_that_is_asked_again_is_the_one_that_was_shown(page: Served, tmp_path: Path) -> None:
    desk = desk_at(tmp_path)
    run(desk.ask(matter()))
    shown = page.state(until=lambda known: known.get("matters"))["matters"][0]
    run(desk.withdraw("m1"))
    run(desk.ask(matter(asked=shown["asked"], expires=time.time() + 600)))
    assert page.act("approve", shown).status == 200


def test_a_question_that_cannot_be_shown_whole_is_denied_alone(page: Served, tmp_path: Path) -> None:
    run(desk_at(tmp_path).ask(matter(question="x" * 50_000)))
    shown = page.state(until=lambda known: known.get("matters"))["matters"][0]
    assert shown["whole"] is False
    assert page.act("approve", shown).json["error"] == "too_long"
    assert page.act("deny", shown).status == 200


def test_texts_of_others_are_made_visible(page: Served, tmp_path: Path) -> None:
    run(desk_at(tmp_path).ask(matter(title="Rename\u202e\x1b[2J\u200b?", question="a\nb\u2066", agent="\ud800")))
    shown = page.state(until=lambda known: known.get("matters"))["matters"][0]
    assert shown["title"] == "Rename\\u202e\\x1b[2J\\u200b?"
    assert (shown["question"], shown["agent"]) == ("a\nb\\u2066", "\\ud800")


def test_a_code_goes_to_the_page_that_asked_and_nowhere_else(page: Served, tmp_path: Path) -> None:
    """R-OPS-1, R-LOOP-5"""
    desk = desk_at(tmp_path)
    run(desk.keep(challenge()))
    shown = page.state(until=lambda known: known.get("challenges"))["challenges"][0]
    assert shown["has_code"] is False
    code = page.act("reveal", shown).json["code"]
    everything = page.state(until=lambda known: known.get("challenges", [{}])[0].get("has_code") and "log" in known)
    files = b"".join(file.read_bytes() for file in (tmp_path / "zoo-adapter").iterdir() if file.is_file())
    for letters in (code, code.replace("-", "")):
        assert letters not in json.dumps(everything)
        assert letters.encode() not in files
    assert not {"digest", "salt"} & (everything["challenges"][0].keys() - {"digest"})
    assert run(desk.verify("c1", code))
    assert written(tmp_path)[-1]["event"] == "OPERATOR_CODE_SHOWN"


def test_a_blocked_agent_is_shown_and_unblocked_with_a_reason(page: Served, tmp_path: Path) -> None:
    """R-OPS-1, R-LOOP-4"""
    custody, now = source_at(tmp_path).custody, time.time()
    factors = ("matches drop*",)
    block = Block("b1", "deployer", "anna", "exec_1", "drop it", "drop_database", "danger", factors, 92, now, "c1", now)
    run(Board(custody).add(block))
    run(desk_at(tmp_path).keep(challenge()))
    shown = page.state(until=lambda known: known.get("blocks"))["blocks"][0]
    assert (shown["agent"], shown["operation"], shown["risk"]) == ("deployer", "drop_database", 92)
    for reason in ("", "  ", "ok", "\u200b\u200b\u200b\u200b"):
        assert page.act("unblock", shown, reason=reason).json["error"] == "reason_needed"
    assert page.act("unblock", shown, reason="it was me\x1b[2J").json == {"message": "Unblocked."}
    assert run(Board(custody).blocks()) == []
    assert run(desk_at(tmp_path).challenges()) == []
    entry = written(tmp_path)[-1]
    assert (entry["event"], entry["operator"], entry["reason"], entry["element_name"]) == (
        "OPERATOR_UNBLOCK",
        "operator:anna",
        "it was me",
        "deployer",
    )
    assert page.act("unblock", shown, reason="again").json["error"] == "gone"


def test_a_block_that_cannot_be_read_is_shown_and_can_be_lifted(page: Served, tmp_path: Path) -> None:
    """R-OPS-1, R-LOOP-4"""
    store = source_at(tmp_path).custody.store
    run(store.put("loop.block", "0" * 32, "sealed with a key that is gone"))
    shown = page.state(until=lambda known: known.get("blocks"))["blocks"][0]
    assert "the key of the state has changed" in shown["reason"]
    assert page.act("unblock", shown, reason="the key was changed").status == 200


def test_an_approval_for_a_session_is_shown_and_revoked(page: Served, tmp_path: Path) -> None:
    """R-OPS-1"""
    desk, now = desk_at(tmp_path), time.time()
    approval = Question(
        "a1", "session", "delete_animal", "", ("delete_animal",), "destructive", now, now + 300,
        verdict="approved", by="operator:bert", digest="0" * 64,
    )  # fmt: skip
    run(desk.keep(approval))
    shown = page.state(until=lambda known: known.get("approvals"))["approvals"][0]
    assert (shown["title"], shown["by"]) == ("delete_animal", "operator:bert")
    assert page.act("revoke", shown).json == {"message": "Revoked."}
    assert run(desk.approvals()) == []
    assert page.act("revoke", shown).json["error"] == "gone"
    entry = written(tmp_path)[-1]
    assert (entry["event"], entry["operation"]) == ("OPERATOR_REVOKE", "delete_animal")


def test_quotas_are_shown(tmp_path: Path) -> None:
    """R-OPS-1"""
    package = write_package(tmp_path / "src" / "zoo_adapter")
    quotas = {"MCP_AQL_QUOTA_PER_HOUR": "10", "MCP_AQL_QUOTA_OPERATIONS": '{"delete_*": {"per_day": 2}}'}
    home = home_source(package, {"XDG_STATE_HOME": str(tmp_path), **quotas})
    assert home.quotas is not None
    hourly = home.quotas.limits.all[0]
    run(home.custody.store.spend([Counter(hourly.key(""), hourly.window, 9)]))
    served = Served(home).start()
    served.enter()
    try:
        shown = served.state(until=lambda known: known.get("quotas"))["quotas"]
    finally:
        served.stop()
    assert [(item["metric"], item["scope"], item["used"], item["most"], item["status"]) for item in shown] == [
        ("requests_per_hour", "", 9, 10, "warn"),
        ("requests_per_day", "delete_*", 0, 2, "ok"),
    ]


def test_callers_that_a_quota_or_the_policy_refuses_are_shown(tmp_path: Path) -> None:
    """R-OPS-1, R-RATE-1: not the call that a person is asked about."""
    with serving(lambda _: Answer([])) as api:
        place = {"security": [], "servers": [{"url": api.url}]}
        package = write_package(tmp_path / "src" / "zoo_adapter", {**ADAPTER, **place})
        environ = {"XDG_STATE_HOME": str(tmp_path), "MCP_AQL_QUOTA_CALLERS": '{"per_hour": 1, "pause_percent": 100}'}
        environ |= {
            "MCP_AQL_LOG_LEVEL": "critical",
            "MCP_AQL_POLICY_RULES": '[{"id": "no", "operations": ["update_animal"], "action": "deny"}]',
        }
        served = Served(home_source(package, environ)).start()
        served.enter()

        async def session() -> dict[str, Any]:
            parts = assemble(package, environ=environ)
            animal = {"animal_id": 7}
            with with_caller({}, "token:ana"):
                for _ in range(4):
                    await parts.dispatcher.handle("read", {"operation": "list_animals"})
                await parts.dispatcher.handle("delete", {"operation": "delete_animal", "params": animal})
                update = {"operation": "update_animal", "params": {**animal, "input": {"name": "Bo"}}}
                await parts.dispatcher.handle("update", update)
            until = lambda known: known.get("refusals") and sum(item["count"] for item in known["refusals"]) == 4  # noqa: E731
            known = await asyncio.to_thread(served.state, until=until)
            await parts.close()
            return dict(known)

        try:
            shown = run(session())
        finally:
            served.stop()
    assert [(item["caller"], item["operation"], item["limit"], item["count"]) for item in shown["refusals"]] == [
        ("token:ana", "list_animals", "requests_per_hour caller", 3),
        ("token:ana", "update_animal", "", 1),
    ]
    assert [item["code"] for item in shown["refusals"]] == ["RATE_LIMIT_QUOTA_EXHAUSTED", "PERMISSION_DENIED"]
    assert 0 < shown["refusals"][0]["until"] - time.time() <= 3601


def test_a_refusal_by_the_api_is_not_one_by_the_policy(tmp_path: Path) -> None:
    """R-OPS-1: what the API answered, and a credential that is not set, are evidence of who refused."""
    answers = {"/v1/animals": 403, "/v1/animals/7": 401}
    with serving(lambda asked: Answer({"error": "no"}, answers[asked.path])) as api:
        package = write_package(tmp_path / "src" / "zoo_adapter", {**ADAPTER, "servers": [{"url": f"{api.url}/v1"}]})
        environ = {"XDG_STATE_HOME": str(tmp_path), "MCP_AQL_LOG_LEVEL": "critical"}
        environ |= {"MCP_AQL_POLICY_RULES": '[{"id": "no", "operations": ["update_animal"], "action": "deny"}]'}
        served = Served(home_source(package, environ)).start()
        served.enter()

        async def session() -> list[dict[str, Any]]:
            animal = {"animal_id": 7}
            calls = [
                ("read", "list_animals", {}),
                ("read", "get_animal", animal),
                ("update", "update_animal", {**animal, "input": {"name": "Bo"}}),
            ]
            known: dict[str, Any] = {}
            for key, wanted, count in ({}, calls[:1], 1), ({"ZOO_API_KEY": "k" * 20}, calls, 4):
                parts = assemble(package, environ=environ | key)
                for family, operation, params in wanted:
                    await parts.dispatcher.handle(family, {"operation": operation, "params": params})
                until = partial(lambda count, known: len(known.get("refusals", ())) == count, count)
                known = await asyncio.to_thread(served.state, until=until)
                await parts.close()
            return list(known["refusals"])

        try:
            shown = run(session())
        finally:
            served.stop()
    assert {(item["operation"], item["by"]) for item in shown} == {
        ("list_animals", "credential"),
        ("list_animals", "HTTP 403"),
        ("get_animal", "HTTP 401"),
        ("update_animal", ""),
    }


def test_a_plan_shows_how_many_of_its_calls_are_done(tmp_path: Path) -> None:
    """R-OPS-1, R-STEP-1"""
    shown: list[dict[str, Any]] = []

    def answer(asked: Asked) -> Answer:
        if asked.path.endswith("/3"):
            shown.extend(served.state(until=lambda known: known.get("work"))["work"])
        return Answer({"id": 1, "name": "Ada"})

    with serving(answer) as api:
        place = {"security": [], "servers": [{"url": api.url}]}
        package = write_package(tmp_path / "src" / "zoo_adapter", {**ADAPTER, **place})
        environ = {"XDG_STATE_HOME": str(tmp_path), "MCP_AQL_LOG_LEVEL": "error"}
        served = Served(home_source(package, environ)).start()
        served.enter()
        step = {"operation": "get_animal", "foreach": [1, 2, 3, 4], "params": {"animal_id": {"$ref": "item"}}}

        async def session() -> None:
            parts = assemble(package, environ=environ)
            plan = {"operation": "run_steps", "params": {"steps": [step]}}
            assert (await parts.dispatcher.handle("execute", plan))["success"]
            await asyncio.to_thread(served.state, until=lambda known: known.get("work") == [])
            await parts.close()

        try:
            run(session())
        finally:
            served.stop()
    assert [(item["operation"], item["status"], item["total"]) for item in shown] == [("get_animal", "step 1 of 1", 4)]


def test_the_page_finds_its_adapter_in_redis(tmp_path: Path) -> None:
    """R-OPS-1, R-OPS-3"""
    package = write_package(tmp_path / "src" / "zoo_adapter")
    with redis_server(tmp_path) as server:
        environ = {"XDG_STATE_HOME": str(tmp_path), "MCP_AQL_STATE_URL": server.url, "MCP_AQL_STATE_KEY": KEY}
        home = home_source(package, environ)
        desk = QuestionStore(Custody(RedisStore(server.url, "zoo"), "zoo", lambda: (KEY,)))
        run(desk.ask(matter()))
        served = Served(home).start()
        served.enter()
        try:
            shown = served.state(until=lambda known: known.get("matters"))["matters"][0]
            assert served.act("deny", shown).status == 200
        finally:
            served.stop()
        assert server.url not in json.dumps(shown)


def test_the_page_shows_its_own_adapter_alone(page: Served, tmp_path: Path) -> None:
    """R-OPS-1: the state of another adapter of this user lies beside it."""
    run(desk_at(tmp_path, "shop").ask(matter("m9", title="Refund payment 3?")))
    run(desk_at(tmp_path).ask(matter("m1")))
    page.feed.refresh()
    known = page.state(until=lambda known: known.get("matters"))
    assert known["adapter"]["name"] == "zoo"
    assert [item["id"] for item in known["matters"]] == ["m1"]


def test_an_audit_log_that_was_changed_is_said_to_be(page: Served, tmp_path: Path) -> None:
    """R-OPS-1, R-SAFE-5"""
    source = source_at(tmp_path)
    for number in range(3):
        source.audit.write("OPERATION_PERFORMED", operation=f"delete_{number}")
    path = tmp_path / "zoo-adapter" / "audit.jsonl"
    path.write_text(path.read_text().replace("delete_1", "delete_9"))
    log = page.state()["log"]
    assert log["state"] == "broken"
    assert "line 2" in log["note"]
    assert [entry["subject"] for entry in log["entries"]] == ["delete_2", "delete_9", "delete_0"]


def test_what_cannot_be_audited_is_not_decided(page: Served, tmp_path: Path) -> None:
    """R-OPS-1, R-SAFE-5"""
    run(desk_at(tmp_path).ask(matter()))
    shown = page.state(until=lambda known: known.get("matters"))["matters"][0]
    (tmp_path / "zoo-adapter" / "audit.jsonl").mkdir()
    answer = page.act("approve", shown)
    assert (answer.status, answer.json["error"]) == (500, "audit_failed")
    assert run(desk_at(tmp_path).question("m1")).verdict == ""


def test_a_store_that_is_away_is_said_to_be_and_what_was_shown_stays(page: Served, tmp_path: Path) -> None:
    run(desk_at(tmp_path).ask(matter()))
    page.state(until=lambda known: known.get("matters"))

    async def away(_: str) -> list[Any]:
        raise StoreAway("the disk is gone\x1b")

    page.source.custody.store.items = away  # type: ignore[method-assign]
    known = page.state(until=lambda known: known.get("adapter", {}).get("problem"))
    problem = "Its store cannot be reached: the disk is gone\\x1b. The page shows the earlier state."
    assert known["adapter"]["problem"] == problem
    assert [item["id"] for item in known["matters"]] == ["m1"]
    answer = page.send("POST", "/api/act", {"do": "deny", "id": "m1", "digest": "0"})
    assert (answer.status, answer.json["error"]) == (503, "store_away")


def test_nobody_looks_at_the_stores_while_no_page_is_open(page: Served) -> None:
    page.state()
    deadline = time.monotonic() + 5
    while page.feed.followers and time.monotonic() < deadline:
        time.sleep(0.02)
    assert page.feed.followers == 0
    time.sleep(0.2)
    looks: list[int] = []
    page.source.custody.store.items = lambda _: looks.append(1)  # type: ignore[method-assign, assignment]
    time.sleep(0.2)  # four times as long as it would take to look again
    assert looks == []


def test_only_what_changed_is_sent_again(page: Served, tmp_path: Path) -> None:
    with page.connection() as connection:
        connection.sendall(page.request("GET", "/api/events"))
        data = b""
        while b'"log"' not in data:
            data += connection.recv(65536)
        run(desk_at(tmp_path).ask(matter()))
        data = b""
        while b"Delete animal" not in data:
            data += connection.recv(65536)
    event = next(part for part in data.split(b"\n\n") if b"Delete animal" in part)
    assert json.loads(event[event.find(b"data: ") + 6 :])["sections"].keys() == {"matters"}


def test_the_page_is_well_formed_and_loads_its_own_files_alone() -> None:
    page = Page(ASSETS / "operator.html")
    assert not page.wrong
    attributes = [pair for _, element in page.elements for pair in element.items()]
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    assert {value for name, value in attributes if name in ("src", "href")} == {
        "/operator.css",
        "/operator.js",
        "/icon.svg",
        "#queue",
    }
    assert not [name for name, _ in attributes if name.startswith("on") or name == "style"]
    assert {value for name, value in attributes if name in ("aria-labelledby", "for")} <= set(ids)
    script = (ASSETS / "operator.js").read_text(encoding="utf-8")
    for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser"):
        assert sink not in script
    assert "://" not in script.replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in (ASSETS / "operator.css").read_text(encoding="utf-8")
    assert {part.partition('"')[0] for part in script.split('$("')[1:]} <= set(ids)


def test_every_file_is_served_as_what_it_is(page: Served) -> None:
    kinds = {
        path: page.send("GET", path, sec_fetch_dest=route.purpose).header("content-type")
        for path, route in ROUTES.items()
        if "GET" in route.methods and not path.startswith("/api")
    }
    assert kinds == {
        "/": "text/html; charset=utf-8",
        "/operator.css": "text/css; charset=utf-8",
        "/operator.js": "text/javascript; charset=utf-8",
        "/icon.svg": "image/svg+xml",
    }
