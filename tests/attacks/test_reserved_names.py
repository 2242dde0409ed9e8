"""No operation of an API answers to a name of the protocol (specification, 8.5.4)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aqlgen.decide.naming.spelling import RESERVED
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.safety.operations import active_operations, reserved
from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.tables import QuotaSettings
from aqlgen.runtime.table import Adapter, Table
from tests.documents import replies
from tests.generator.commands import api, tabulate
from tests.runtime.stand_in import FakeApi

pytestmark = pytest.mark.anyio
IDS = {
    "introspect": "introspect",
    "execute_agent": "executeAgent",
    "record_execution_step": "recordExecutionStep",
    "complete_execution": "CompleteExecution",
    "abort_execution": "abort-execution",
    "confirm_operation": "confirm_operation",
    "verify_challenge": "verifyChallenge",
    "run_steps": "runSteps",
    "get_execution_status": "getExecutionStatus",
    "cancel_execution": "cancelExecution",
}
DOCUMENT = api(
    {
        f"POST /{name.replace('_', '-')}": {"operationId": spelled, "responses": replies()}
        for name, spelled in IDS.items()
    },
    servers=[{"url": "https://things.example"}],
)


@pytest.fixture
def place(tmp_path: Path) -> Any:
    """Make a dispatcher for the document, in a mode of the loop."""
    tabulation = tabulate(tmp_path, DOCUMENT)
    folder = tabulation.write(tmp_path / "things")

    def make(mode: str, api: FakeApi) -> Dispatcher:
        config = Config(safety_loop=mode, loop_approval="client", policy="open", state_url="memory:")
        return Dispatcher(Adapter.load(folder), Table(folder), api, config)

    return make


def spellings(name: str) -> list[str]:
    """Return ways to write a name that operations are found by."""
    words = name.split("_")
    camel = words[0] + "".join(word.title() for word in words[1:])
    return [name, IDS[name], camel, name.upper(), name.replace("_", "-"), f" {name} ", name.replace("_", "")]


@pytest.mark.parametrize("mode", ["disabled", "logging", "monitoring", "enforcing"])
async def test_a_reserved_name_never_reaches_the_api(place: Any, mode: str) -> None:
    """R-REQ-8, R-LOOP-4: neither by the name itself nor in another spelling, alone, in a batch or in a plan."""
    api = FakeApi()
    dispatcher = place(mode, api)
    for name in IDS:
        for spelled in spellings(name):
            call = {"operation": spelled, "params": {}}
            await dispatcher.handle(None, call, Session("s"))
            await dispatcher.handle(None, {"operations": [call]}, Session("s"))
            await dispatcher.handle(None, {"operation": "run_steps", "params": {"steps": [call]}}, Session("s"))
    assert api.sent == []


@pytest.mark.parametrize("mode", ["disabled", "logging", "monitoring", "enforcing"])
def test_every_operation_of_an_adapter_itself_has_a_reserved_name(place: Any, mode: str) -> None:
    """R-REQ-8: what an extension adds is in the lists of the generator and of the runtime, and among these attacks."""
    adapter = replace(place(mode, FakeApi()).adapter, executions=True)
    config = Config(safety_loop=mode, loop_approval="client", quota=QuotaSettings(per_minute=9))
    names = {operation.name for operation in active_operations(adapter, config)}
    assert names <= IDS.keys()
    assert IDS.keys() == RESERVED
    assert all(reserved(spelled) == name for name, spelled in IDS.items())


async def test_the_operation_has_a_name_of_its_own_and_runs_under_that(place: Any) -> None:
    """R-REQ-8"""
    api = FakeApi()
    dispatcher = place("disabled", api)
    assert not {name for name, _ in dispatcher.table.names()} & IDS.keys()
    for name, _ in dispatcher.table.names():
        assert (await dispatcher.handle(None, {"operation": name, "params": {}}, Session("s")))["success"]
    assert len(api.sent) == len(IDS)


async def test_the_answer_names_what_was_meant(place: Any) -> None:
    """R-REQ-8"""
    dispatcher = place("enforcing", FakeApi())
    error = (await dispatcher.handle(None, {"operation": "executeAgent", "params": {}}, Session("s")))["error"]
    assert (error["code"], error["details"]["available"]) == ("NOT_FOUND_OPERATION", ["execute_agent"])
    error = (await place("disabled", FakeApi()).handle(None, {"operation": "executeAgent"}, Session("s")))["error"]
    assert "safety loop is disabled" in error["message"]


async def test_an_old_name_that_is_reserved_leads_nowhere(place: Any, tmp_path: Path) -> None:
    """R-REQ-8: the table is data, and what it calls an alias decides nothing."""
    import json

    dispatcher = place("disabled", FakeApi())
    file = tmp_path / "things" / "operations" / "execute.json"
    rows = json.loads(file.read_text())
    for row in rows.values():
        row["aliases"] = [{"name": "execute_agent"}]
        break
    file.write_text(json.dumps(rows))
    api = FakeApi()
    dispatcher = place("disabled", api)
    assert not (await dispatcher.handle(None, {"operation": "execute_agent", "params": {}}, Session("s")))["success"]
    assert api.sent == []
