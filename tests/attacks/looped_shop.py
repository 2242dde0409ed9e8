"""A shop under the enforcing loop: processes on one store, agents that call them in every form, and their operator."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from forms import unwrapped, wrapped
from guarded_shop import OPERATIONS, STRING, Shop, open_shop, write_shop

from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.tables import LoopSettings
from tests.runtime.one_store import OneStore

AGENT = "researcher"
DELETE: dict[str, Any] = {"operation": "delete_item", "params": {"item_id": "7"}}
PAY: dict[str, Any] = {
    "operation": "pay",
    "params": {
        "amount": 100,
        "recipient": "DE89",
        "note": "rent",
        "metadata": {"a": 1, "b": [1, 2]},
        "lines": [{"x": 1}, {"y": 2}],
    },
}
WORKFLOW: dict[str, Any] = {
    "clear_item": {
        "workflow_id": "clearItem",
        "family": "delete",
        "summary": "Delete an item",
        "danger": "destructive",
        "danger_reason": "delete_item is destructive",
        "inputs": {
            "item": {"in": "adapter", "required": True, "schema": STRING},
            "dry_run": {"in": "adapter", "schema": {"type": "boolean"}},
        },
        "steps": [
            {
                "operation": "delete_item",
                "params": {"item_id": {"$ref": "inputs.item"}, "force": {"$ref": "inputs.dry_run"}},
            }
        ],
    }
}
Envelope = dict[str, Any]


def relaxed(verdict: Any, _: Any) -> Any:
    """Let every step through: an owner's hook, so that only the report itself holds a call."""
    return verdict._replace(outcome="continue")


class Floor(OneStore):
    """Processes of one shop on one store. `sessions` are of one client; without any, callers are who they say."""

    def __init__(self, folder: Path, form: str = "alone", keys: tuple[str, ...] = ()) -> None:
        super().__init__(f"sqlite:///{folder}/state.sqlite3", "shop", keys)
        self.folder = folder
        self.form = form
        self.package = write_shop(folder / "shop", OPERATIONS)
        (self.package / "workflows.json").write_text(json.dumps(WORKFLOW))
        self.shops: list[Shop] = []
        self.session = Session.new()
        self.caller: str | None = None

    def open(self, *, free: bool = True, loop: LoopSettings | None = None, **settings: Any) -> Shop:
        """Start a process; with `free` the owner's hook lets every step through."""
        hooks = SimpleNamespace(on_step=relaxed) if free else None
        values = {"safety_loop": "enforcing", "loop_approval": "client", "policy": "open", **settings}
        shop = open_shop(
            self.package,
            self.folder / "audit.jsonl",
            hooks,
            files=str(self.folder),
            state=self.state(),
            loop=loop or LoopSettings(),
            **values,
        )
        self.shops.append(shop)
        return shop

    @property
    def shop(self) -> Shop:
        """The last process."""
        return self.shops[-1]

    @property
    def written(self) -> list[Any]:
        """The requests that were sent and are no reads."""
        return [request for shop in self.shops for request in shop.wire.sent if request.method != "GET"]

    async def send(
        self,
        call: Mapping[str, Any],
        *,
        form: str = "",
        shop: Shop | None = None,
        session: Session | None = None,
        caller: str | None = None,
        person: Any = None,
    ) -> Envelope:
        """Send a call in a form and return the envelope that it has alone."""
        with with_caller({}, caller or self.caller):
            handle = (shop or self.shop).dispatcher.handle
            return unwrapped(await handle(None, wrapped(form or self.form, call), session or self.session, person))

    async def do(self, operation: str, **params: Any) -> Envelope:
        """Call an operation alone."""
        return await self.send({"operation": operation, "params": params}, form="alone")

    async def start(self, agent: str = AGENT, **where: Any) -> Envelope:
        """Start an agent."""
        return await self.send({"operation": "execute_agent", "params": {"element_name": agent}}, form="alone", **where)

    async def step(self, hint: str = "working", agent: str = AGENT, **more: Any) -> dict[str, Any]:
        """Report a step and return the directive."""
        where = {name: more.pop(name) for name in ("shop", "session", "caller") if name in more}
        params = {"element_name": agent, "nextActionHint": hint, **more}
        envelope = await self.send({"operation": "record_execution_step", "params": params}, form="alone", **where)
        return envelope["data"] if envelope["success"] else {"continue": False, "error": envelope["error"]}

    async def report(self, call: Mapping[str, Any], hint: str = "working", **more: Any) -> dict[str, Any]:
        """Report a call as it stands."""
        return await self.step(hint, nextOperation=call["operation"], nextParams=call["params"], **more)

    async def granted(self, call: Mapping[str, Any], **more: Any) -> None:
        """Start and report a call, which is let through."""
        await self.start(more.get("agent", AGENT), **{k: v for k, v in more.items() if k != "agent"})
        assert (await self.report(call, **more))["granted"]


@asynccontextmanager
async def opened(folder: Path, form: str = "alone", keys: tuple[str, ...] = ()) -> AsyncIterator[Floor]:
    """Open a shop's store."""
    floor = Floor(folder, form, keys)
    yield floor
    await floor.close()
