"""What the audit log holds, and what it never holds (R-SAFE-5)."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from stand_in import FakeApi
from tiny_zoo import ADAPTER, OPERATIONS, write_package

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.safety.audit import Audit
from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.tables import AuditSettings
from aqlgen.runtime.table import Adapter, Table
from tests.cases import setting

pytestmark = pytest.mark.anyio


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def deleting(animal: int, **more: Any) -> dict[str, Any]:
    return {"operation": "delete_animal", "params": {"animal_id": animal, **more}}


@pytest.fixture
def dispatcher(package: Path, api: FakeApi, tmp_path: Path) -> Dispatcher:
    audit = Audit(tmp_path / "new" / "audit.jsonl", adapter="zoo", secrets=lambda: ["sesame"])
    config = Config(sources={"trust_level": "environment"})
    return Dispatcher(Adapter.load(package), Table(package), api, config, Parts(audit=audit))


async def test_every_decision_and_every_end_is_written(dispatcher: Dispatcher, api: FakeApi, tmp_path: Path) -> None:
    """R-SAFE-3, R-SAFE-5"""
    session = Session("session_1")
    await dispatcher.handle("read", {"operation": "list_keepers"}, session)
    assert not (tmp_path / "new").exists()
    token = (await dispatcher.handle("delete", deleting(7), session))["confirmation"]["token"]
    await dispatcher.handle("delete", deleting(8, _confirmation=token), session)
    await dispatcher.handle("delete", deleting(7, _confirmation=token), session)
    left = (await dispatcher.handle("delete", deleting(9), session))["confirmation"]["token"]
    api.fails = Failure(Code.NOT_FOUND_RESOURCE, "Resource 'animal' not found")
    await dispatcher.handle("delete", deleting(9, _confirmation=left), session)
    await dispatcher.handle("delete", deleting(10), session)
    session.close()
    path = tmp_path / "new" / "audit.jsonl"
    written = entries(path)
    assert [(entry["event"], entry.get("result")) for entry in written] == [
        ("TOKEN_ISSUED", "denied"),
        ("TOKEN_REJECTED", "denied"),
        ("TOKEN_VALIDATED", "confirmed"),
        ("OPERATION_PERFORMED", None),
        ("TOKEN_ISSUED", "denied"),
        ("TOKEN_VALIDATED", "confirmed"),
        ("OPERATION_FAILED", None),
        ("TOKEN_ISSUED", "denied"),
        ("TOKEN_REVOKED", None),
    ]
    assert written[1]["reason"] == "TOKEN_SCOPE_MISMATCH"
    assert written[6]["error"] == "NOT_FOUND_RESOURCE"
    assert {entry["trust_source"] for entry in written[:-1]} == {"environment"}
    assert written[1]["previous"] == written[0]["hash"]
    assert written[0] | dict.fromkeys(("timestamp", "request_id", "token_id", "hash"), "") == {
        "previous": "0" * 64,
        "hash": "",
        "timestamp": "",
        "event": "TOKEN_ISSUED",
        "adapter_name": "zoo",
        "operation": "delete_animal",
        "endpoint": "delete",
        "danger_level": "destructive",
        "adapter_trust": "generated",
        "trust_source": "environment",
        "rule": "danger-level",
        "result": "denied",
        "session_id": "session_1",
        "request_id": "",
        "params": {"animal_id": 7},
        "token_id": "",
        "reason": "CONFIRMATION_REQUIRED",
    }
    assert token not in path.read_text()
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


async def test_secrets_never_stand_in_it(tmp_path: Path, api: FakeApi) -> None:
    """R-SAFE-5"""
    operations = json.loads(json.dumps(OPERATIONS))
    operations["create"]["create_animal"]["danger"] = "destructive"
    folder = write_package(tmp_path / "zoo", ADAPTER, operations)
    path = tmp_path / "audit.jsonl"
    audit = Audit(path, secrets=lambda: ['s"same'])
    dispatcher = Dispatcher(Adapter.load(folder), Table(folder), api, Config(), Parts(audit=audit))
    params = {
        "name": 'with s"same within',
        "species": "lion",
        "secret_word": "hunter2",
        "notes": {"password": "hunter3", "inner": [{"api_key": "hunter4", "size": 1}] * 80, "long": "x" * 5000},
    }
    asked = await dispatcher.handle("create", {"operation": "create_animal", "params": params})
    text = path.read_text()
    assert "hunter" not in text
    assert 's\\"same' not in text
    assert "hunter" not in asked["confirmation"]["message"]
    assert len(text) < 3000
    kept = entries(path)[0]["params"]["notes"]
    assert kept["inner"] == [*[{"api_key": "***", "size": 1}] * 50, "… (80 in all)"]
    assert kept["long"].endswith("x… (5000 characters)")


async def test_it_stands_beside_the_state_unless_told_otherwise(package: Path, tmp_path: Path) -> None:
    """R-SAFE-5, R-OPS-3"""
    from aqlgen.runtime.assembly import audit_file

    adapter = Adapter.load(package)
    home = {"XDG_STATE_HOME": str(tmp_path)}
    assert audit_file(Config(), adapter, home) == tmp_path / "zoo-adapter" / "audit.jsonl"
    assert audit_file(Config(state_url="sqlite:////var/x/y.db"), adapter, {}) == Path("/var/x/audit.jsonl")
    assert audit_file(Config(state_url="memory:"), adapter, {}) is None
    assert audit_file(Config(audit=AuditSettings(path="/else")), adapter, {}) == Path("/else")
    assert [setting("audit.path", word) for word in ("off", " None ", "FALSE", "0", False)] == ["off"] * 5
    assert [setting("audit.path", word) for word in ("./off", "")] == ["./off", ""]
    assert audit_file(Config(audit=AuditSettings(path="off")), adapter, home) is None
    nowhere = {**home, "MCP_AQL_POLICY": "open", "MCP_AQL_BASE_URL": "http://127.0.0.1:9", "MCP_AQL_RETRIES": "0"}
    parts = assemble(package, environ=nowhere)
    await parts.dispatcher.handle("read", {"operation": "list_keepers"})
    assert list(tmp_path.glob("zoo-adapter")) == [], "nothing is written before it is needed"
    await parts.dispatcher.handle("delete", deleting(7))
    assert entries(tmp_path / "zoo-adapter" / "audit.jsonl")[0]["event"] == "OPERATION_ALLOWED"
    assert not (tmp_path / "zoo-adapter" / "state.sqlite3").exists()
    await parts.transport.aclose()


async def test_the_played_api_writes_nowhere(package: Path, tmp_path: Path) -> None:
    """Whatever the owner's settings name: neither an audit log nor state nor files."""
    environ = {
        "MCP_AQL_POLICY": "open",
        "MCP_AQL_STATE_URL": f"sqlite:///{tmp_path}/s.sqlite3",
        "MCP_AQL_AUDIT_PATH": f"{tmp_path}/audit.jsonl",
        "MCP_AQL_FILES_FOLDER": f"{tmp_path}/files",
    }
    parts = assemble(package, environ=environ, mock=True)
    assert (await parts.dispatcher.handle("delete", deleting(7)))["success"] is True
    await parts.store.put("a", "b", 1)
    assert [path.name for path in tmp_path.iterdir()] == ["src"]


async def test_the_end_of_a_call_is_written_with_the_codes_of_its_warnings(tmp_path: Path, api: FakeApi) -> None:
    """R-SAFE-5, R-WARN-6: warnings document, 6.3."""
    operations = copy.deepcopy(OPERATIONS)
    operations["delete"]["delete_animal"]["deprecated"] = True
    folder = write_package(tmp_path / "zoo", ADAPTER, operations)
    audit = Audit(tmp_path / "audit.jsonl", adapter="zoo")
    dispatcher = Dispatcher(Adapter.load(folder), Table(folder), api, Config(policy="open"), Parts(audit=audit))
    await dispatcher.handle("delete", deleting(7))
    api.fails = Failure(Code.NOT_FOUND_RESOURCE, "Resource 'animal' not found")
    await dispatcher.handle("delete", deleting(7))
    ends = [entry for entry in entries(tmp_path / "audit.jsonl") if entry["event"] != "OPERATION_ALLOWED"]
    assert [(entry["event"], entry.get("warnings")) for entry in ends] == [
        ("OPERATION_PERFORMED", ["DEPRECATION_WARNING"]),
        ("OPERATION_FAILED", None),
    ]
