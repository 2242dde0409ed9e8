"""An agent before an adapter that was generated for a test: each call reaches the API or is held back before."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqlgen.runtime.client import Api
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.settings.tables import ConfirmationSettings
from aqlgen.runtime.table import Adapter, Row, Table
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.generator.commands import Tabulation, api, tabulate

_PATIENT = ConfirmationSettings(per_minute=100_000)
OK: dict[str, Any] = {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}}
ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}


def operation(called: str = "", body: Any = None, media: str = "application/json", **more: Any) -> dict[str, Any]:
    sent = {} if body is None else {"requestBody": {"required": True, "content": {media: {"schema": body}}}}
    return {**({"operationId": called} if called else {}), "responses": OK, **sent, **more}


@dataclass
class Server:
    """An API that takes everything, remembers it, and answers with one thing."""

    thing: bytes = b"{}"
    arrived: list[ApiRequest] = field(default_factory=list)

    async def send(self, request: ApiRequest, _: Row) -> ApiResponse:
        self.arrived.append(request)
        return ApiResponse(200, {"content-type": "application/json"}, self.thing)

    async def aclose(self) -> None:
        """Do nothing."""


@dataclass
class Agent:
    """Calls of a generated adapter."""

    table: Tabulation
    server: Server
    dispatcher: Dispatcher

    def call(self, name: str, /, **params: Any) -> str:
        """Call an operation; return what became of it: its code if nothing is sent, "sent" or "not sent"."""
        before = len(self.server.arrived)
        outcome = self.outcome(name, **params)
        sent = len(self.server.arrived) > before
        if not outcome:
            return "sent" if sent else "not sent"
        assert not sent
        return outcome

    def outcome(self, name: str, /, **params: Any) -> str:
        """Call an operation; return the code of its error, "" for none."""
        envelope = asyncio.run(self.dispatcher.handle(None, {"operation": name, "params": params}))
        return "" if envelope["success"] else str(envelope["error"]["code"])

    def danger(self, name: str) -> str:
        return str(self.table.rows[name]["danger"])


def adapter(tmp_path: Path, paths: Mapping[str, Any], *, overrides: str = "", **settings: Any) -> Agent:
    """Generate an adapter and start it beside its API."""
    tmp_path.mkdir(exist_ok=True)
    document = api(dict(paths), servers=[{"url": "https://api.example/v1"}])
    table = tabulate(tmp_path, document, overrides=overrides or None)
    folder = table.write(tmp_path / "package")
    loaded, rows, server = Adapter.load(folder), Table(folder), Server()
    side = Api(loaded, rows, server, Config(), environ={})
    return Agent(table, server, Dispatcher(loaded, rows, side, Config(confirmation=_PATIENT, **settings)))
