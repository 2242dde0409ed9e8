"""The key that seals what callers bring back, the log of an outage, and what doctor says of the store (R-OPS-3)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tiny_zoo import ADAPTER, write_package

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.cli.doctor import doctor, render_doctor
from aqlgen.runtime.operator.reading import home_source
from aqlgen.runtime.safety.questions import QuestionStore
from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.load import ConfigError, StateKeys, Variables
from tests.runtime.redis_server import redis_server

KEY, NEW = "a-key-that-has-thirty-two-characters", "another-that-has-thirty-two-characters"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_package(tmp_path / "src" / "zoo_adapter", {**ADAPTER, "security": []})


def environ(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"MCP_AQL_STATE_URL": f"sqlite:///{tmp_path}/s.sqlite3", "MCP_AQL_LOG_LEVEL": "warning", **more}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("short", "the key in MCP_AQL_STATE_KEY is too short"),
        (f"{KEY}\nshort", "key 2 of 2 in MCP_AQL_STATE_KEY is too short"),
        ("\n \n", "must hold keys"),
        ("\n".join([KEY] * 21), "20 at most"),
    ],
)
def test_a_key_that_can_be_guessed_is_refused_and_not_shown(
    folder: Path, tmp_path: Path, text: str, problem: str
) -> None:
    """R-OPS-3, R-TRUST-5"""
    for start in (assemble, doctor):
        with pytest.raises(ConfigError, match=problem) as refused:
            start(folder, environ=environ(tmp_path, MCP_AQL_STATE_KEY=text))
        assert "short" not in str(refused.value).replace("too short", "")
    with pytest.raises(ConfigError, match="MCP_AQL_STATE_KEY_FILE names a file that cannot be read"):
        assemble(folder, environ=environ(tmp_path, MCP_AQL_STATE_KEY_FILE=str(tmp_path / "missing")))


def test_a_store_in_the_network_and_an_operator_need_a_key_of_the_owners(folder: Path, tmp_path: Path) -> None:
    """R-OPS-3: a key that is in the store seals nothing from whoever can write there."""
    demanding = {
        "a store in the network": {"MCP_AQL_STATE_URL": "redis://127.0.0.1:1/0"},
        "a store in the network (": {"MCP_AQL_STATE_URL": "rediss://user:word@127.0.0.1:1/0"},
        "confirmation.approval = 'operator'": {"MCP_AQL_APPROVAL": "operator"},
    }
    for start in (assemble, doctor, home_source):
        for named, variables in demanding.items():
            values = environ(tmp_path) | variables
            with pytest.raises(ConfigError, match="needs a key of yours in MCP_AQL_STATE_KEY") as refused:
                start(folder, environ=values)
            assert str(refused.value).startswith(named)
        start(folder, environ=environ(tmp_path, MCP_AQL_APPROVAL="operator", MCP_AQL_STATE_KEY=KEY))
    assemble(folder, environ={"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_APPROVAL": "operator"})
    assemble(folder, environ=environ(tmp_path, MCP_AQL_APPROVAL="operator"), mock=True)


def test_an_empty_variable_is_none_and_an_empty_file_is_refused(folder: Path, tmp_path: Path) -> None:
    """R-OPS-3: a manifest names the variable before it is filled."""
    empty = tmp_path / "empty"
    empty.write_text("\n")
    assert doctor(folder, environ(tmp_path, MCP_AQL_STATE_KEY=""))["safety"]["state"]["key"] == "the store"
    with pytest.raises(ConfigError, match="must hold keys"):
        assemble(folder, environ=environ(tmp_path, MCP_AQL_STATE_KEY_FILE=str(empty)))


def test_a_file_of_keys_is_read_again_when_it_changes(tmp_path: Path) -> None:
    """R-OPS-3: rotation without a new start; what is not a key does not replace one that is."""
    file = tmp_path / "keys"
    file.write_text(f"{KEY}\n")
    keys = StateKeys(Variables({"MCP_AQL_STATE_KEY_FILE": str(file)}))
    assert (keys(), keys.source) == ((KEY,), "MCP_AQL_STATE_KEY_FILE")
    file.write_text(f"{NEW}\n\n{KEY}\n")
    assert keys() == (NEW, KEY)
    file.write_text("oops\n")
    assert keys() == (NEW, KEY)


def test_doctor_says_which_store_it_is_if_it_answers_and_where_the_key_is_from(folder: Path, tmp_path: Path) -> None:
    """R-OPS-3"""
    variables = environ(tmp_path, MCP_AQL_STATE_KEY=KEY)
    report = doctor(folder, variables)
    state = report["safety"]["state"]
    assert (state["store"], state["answers"], state["key"]) == ("sqlite", None, "MCP_AQL_STATE_KEY")
    memory = doctor(folder, {"MCP_AQL_STATE_URL": "memory:"})["safety"]["state"]
    assert (memory["store"], memory["answers"], memory["key"]) == ("memory", True, "this process")
    with redis_server(tmp_path) as server:
        variables["MCP_AQL_STATE_URL"] = server.url.replace("//", "//user:hunter2-hunter2@", 1)
        away = doctor(folder, variables)  # it knows no such user
        variables["MCP_AQL_STATE_URL"] = server.url
        there = doctor(folder, variables)
    assert (away["safety"]["state"]["answers"], there["safety"]["state"]["answers"]) == (False, True)
    assert "redis, sealed with a key of MCP_AQL_STATE_KEY  does not answer" in render_doctor(away)
    assert "redis, sealed with a key of MCP_AQL_STATE_KEY\n" in render_doctor(there)
    gone = doctor(folder, variables)
    assert gone["safety"]["state"]["problem"] == "the store does not answer: ConnectionError"
    shown = json.dumps([report, away, there, gone]) + render_doctor(report) + render_doctor(away)
    assert KEY not in shown
    assert "hunter2" not in shown


@pytest.mark.anyio
async def test_an_outage_is_logged_once_and_so_is_its_end(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """R-OPS-3, R-OPS-4"""
    delete = {"operation": "delete_animal", "params": {"animal_id": 7}}
    with redis_server(tmp_path) as server:
        parts = assemble(folder, environ=environ(tmp_path, MCP_AQL_STATE_URL=server.url, MCP_AQL_STATE_KEY=KEY))

        async def code() -> str:
            return str((await parts.dispatcher.handle(None, delete, Session()))["error"]["code"])

        assert await code() == "CONFIRMATION_REQUIRED"
        server.stop()
        assert [await code() for _ in range(5)] == ["INTERNAL_ERROR"] * 5
        server.start()
        assert [await code() for _ in range(2)] == ["CONFIRMATION_REQUIRED"] * 2
        await parts.close()
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]
    records = [(line["level"], line["message"].partition(":")[0]) for line in lines if line["logger"] == "zoo_adapter"]
    assert records == [("error", "the store is down"), ("warning", "the store is back")]
    assert KEY not in json.dumps(lines)


@pytest.mark.anyio
async def test_what_is_written_for_a_confirmation_is_sealed_and_ends_with_its_session(
    folder: Path, tmp_path: Path
) -> None:
    """R-OPS-2, R-OPS-3: operators see that it waits; its token, and what that is good for, stay in the process."""
    parts = assemble(folder, environ=environ(tmp_path))
    session = Session.new()
    delete = {"operation": "delete_animal", "params": {"animal_id": 7}}
    answer = await parts.dispatcher.handle(None, delete, session)
    assert answer["error"]["code"] == "CONFIRMATION_REQUIRED"
    token = answer["error"]["details"]["confirmation_token"]
    written = b"".join(file.read_bytes() for file in tmp_path.glob("s.sqlite3*"))
    assert written
    assert not any(text in written for text in (token.encode(), b"delete_animal", b"/animals/7"))
    session.close()
    await parts.close()
    again = assemble(folder, environ=environ(tmp_path))
    assert await QuestionStore(again.dispatcher.state.shared).questions() == []
    await again.close()
