"""Agents under the safety loop for tests: a real client against the real server, and an operator on the same store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.types import ElicitResult
from stand_in import FakeApi

from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.hooks import Hooks
from aqlgen.runtime.safety.audit import Audit
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.tables import LoopSettings
from aqlgen.runtime.table import Adapter, Table
from tests.runtime.one_store import OneStore

AGENT = "researcher"
FAMILIES = {
    "execute_agent": "execute",
    "complete_execution": "execute",
    "abort_execution": "execute",
    "confirm_operation": "execute",
    "run_steps": "execute",
    "record_execution_step": "create",
    "verify_challenge": "create",
    "introspect": "read",
    "list_animals": "read",
    "get_animal": "read",
    "create_animal": "create",
    "update_animal": "update",
    "delete_animal": "delete",
}
ADA = {"name": "Ada", "species": "lion"}
BY_CLIENT = {"safety_loop": "enforcing", "loop_approval": "client", "policy": "open"}


class House(OneStore):
    """Adapters on one store, each as a process of its own would be, and what an operator does there."""

    def __init__(self, package: Path, folder: Path, url: str = "") -> None:
        super().__init__(url or f"sqlite:///{folder}/loop.sqlite3", "zoo")
        self.package = package
        self.audit = folder / "audit.jsonl"
        self.api = FakeApi()

    def adapter(self, hooks: Hooks | None = None, *, loop: LoopSettings | None = None, **settings: Any) -> Dispatcher:
        """Start an adapter; settings as keyword arguments."""
        config = Config(**{**BY_CLIENT, "loop": loop or LoopSettings(), **settings})
        adapter, table = Adapter.load(self.package), Table(self.package)
        audit = Audit(self.audit, adapter="zoo")
        return Dispatcher(adapter, table, self.api, config, Parts(hooks, state=self.state(), audit=audit))

    async def code(self, challenge: str) -> str:
        """Return the code that the operator is shown."""
        code = await self.desk.reveal(challenge)
        assert code is not None
        return code


class Human:
    """A person behind the client: `says` answers questions, `types` fills in forms; `asked` are the questions."""

    def __init__(self, *, says: bool = True, types: str = "") -> None:
        self.says = says
        self.types = types
        self.asked: list[str] = []

    async def answer(self, _: Any, params: Any) -> ElicitResult:
        """Answer a form."""
        self.asked.append(params.message)
        if not self.says:
            return ElicitResult(action="decline")
        fields = (params.requested_schema or {}).get("properties") or {}
        return ElicitResult(action="accept", content=dict.fromkeys(fields, self.types) or {"confirm": True})


class Agent:
    """An agent that calls operations through a client. `seen` is all that it was answered."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.seen: list[str] = []

    async def call(self, operation: str, **params: Any) -> dict[str, Any]:
        """Call an operation and return its envelope."""
        return await self.send(FAMILIES[operation], {"operation": operation, "params": params})

    async def send(self, family: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Send the arguments of a tool and return the envelope."""
        result = await self.client.call_tool(f"mcp_aql_{family}", arguments)
        self.seen.append(result.model_dump_json())
        assert result.structured_content is not None
        return result.structured_content

    async def data(self, operation: str, **params: Any) -> dict[str, Any]:
        """Return the data of a call that succeeds."""
        envelope = await self.call(operation, **params)
        assert envelope["success"], envelope
        data: dict[str, Any] = envelope["data"]
        return data

    async def error(self, operation: str, **params: Any) -> dict[str, Any]:
        """Return the error of a call that is refused."""
        envelope = await self.call(operation, **params)
        assert not envelope["success"], envelope
        error: dict[str, Any] = envelope["error"]
        return error

    async def start(self, by: str = AGENT) -> dict[str, Any]:
        """Start an execution."""
        return await self.data("execute_agent", element_name=by)

    async def step(self, hint: str = "working", by: str = AGENT, **more: Any) -> dict[str, Any]:
        """Report a step and return the directive."""
        return await self.data("record_execution_step", element_name=by, nextActionHint=hint, **more)

    async def report(self, operation: str, hint: str = "", by: str = AGENT, **params: Any) -> dict[str, Any]:
        """Report an operation and return the directive."""
        return await self.step(hint or "working", by, nextOperation=operation, nextParams=params)


@asynccontextmanager
async def connected(dispatcher: Dispatcher, era: str = "auto", human: Human | None = None) -> AsyncIterator[Agent]:
    """Connect an agent."""
    more = {} if human is None else {"elicitation_callback": human.answer}
    async with Client(build_server(dispatcher), mode=era, **more) as client:  # type: ignore[arg-type]
        yield Agent(client)
