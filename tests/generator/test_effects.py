"""Effects as an agent meets them: a document becomes an adapter, a call reaches the API or is held back before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqlgen.runtime.client.api import Api
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Row, Table
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.generator.commands import Tabulation, api, tabulate

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
        """Call an operation; return what became of it: its code, "sent" or "not sent"."""
        before = len(self.server.arrived)
        envelope = asyncio.run(self.dispatcher.handle(None, {"operation": name, "params": params}))
        sent = len(self.server.arrived) > before
        if envelope["success"]:
            return "sent" if sent else "not sent"
        assert not sent
        return str(envelope["error"]["code"])

    def danger(self, name: str) -> str:
        return str(self.table.rows[name]["danger"])


def adapter(tmp_path: Path, paths: Mapping[str, Any], *, overrides: str = "", **settings: Any) -> Agent:
    """Generate an adapter and start it beside its API."""
    document = api(dict(paths), servers=[{"url": "https://api.example/v1"}])
    table = tabulate(tmp_path, document, overrides=overrides or None)
    folder = tmp_path / "package"
    for path, text in table.texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    loaded, rows, server = Adapter.load(folder), Table(folder), Server()
    side = Api(loaded, rows, server, base_url=None, environ={})
    return Agent(table, server, Dispatcher(loaded, rows, side, Config(**settings)))


def test_money_in_a_form_is_asked_about(tmp_path: Path) -> None:
    """R-SAFE-1"""
    amount = {"type": "object", "properties": {"amount": {"type": "integer"}, "currency": {"type": "string"}}}
    form = operation("PostTransfers", amount, "application/x-www-form-urlencoded")
    agent = adapter(tmp_path, {"/transfers": {"post": form}})
    (name,) = agent.table.rows
    assert agent.call(name, amount=100, currency="eur") == "CONFIRMATION_REQUIRED"


def test_a_read_only_adapter_serves_what_method_or_owner_makes_a_read(tmp_path: Path) -> None:
    """R-TRUST-6"""
    paths = {
        "/events/{id}/read": {"parameters": [ID], "post": operation("readEvent", summary="Read an event")},
        "/items/search": {"post": operation("searchItems", summary="Search items")},
        "/items/query": {"post": operation("queryItems", summary="Query items")},
        "/items": {"get": operation("listItems")},
        "/server/gc": {"get": operation("getServerGc", summary="Trigger garbage collection")},
        "/counter": {"get": operation("counter", description="Resets the counter of the server.")},
        "/library/scan": {"get": operation(description="This endpoint also sends a report to the owner.")},
    }
    overrides = "POST /items/search: {category: READ}\n"
    agent = adapter(tmp_path, paths, overrides=overrides, read_only=True)
    called = {f"{row['method']} {row['path']}": agent.call(name, id="7") if "{id}" in row["path"] else agent.call(name)
              for name, row in agent.table.rows.items()}  # fmt: skip
    assert {key for key, outcome in called.items() if outcome == "sent"} == {"GET /items", "POST /items/search"}
    assert set(called.values()) == {"sent", "PERMISSION_DENIED"}


def test_what_saves_is_no_create_and_keeps_what_is_there(tmp_path: Path) -> None:
    """R-NAME-1, R-UPD-2: an upsert is merged; what there is one of and cannot be read is asked about."""
    thing = {"type": "object", "properties": {"text": {"type": "string"}, "owner": {"type": "string"}}}
    answer = {"200": {"description": "ok", "content": {"application/json": {"schema": thing}}}}
    paths = {
        "/files/{id}": {
            "parameters": [ID],
            "get": operation("getFile") | {"responses": answer},
            "put": operation("saveFile", thing) | {"responses": answer},
        },
        "/users/{id}/avatar": {"parameters": [ID], "put": operation("uploadAvatar", thing)},
    }
    agent = adapter(tmp_path, paths)
    agent.server.thing = b'{"text": "old", "owner": "ann"}'
    upload = next(name for name, row in agent.table.rows.items() if row["path"].endswith("avatar"))
    assert agent.call(upload, id="7", text="x") == "CONFIRMATION_REQUIRED"
    assert agent.call("save_file", id="7", input={"text": "new"}) == "sent"
    assert json.loads(agent.server.arrived[-1].content or b"") == {"text": "new", "owner": "ann"}
    families = dict(Table(tmp_path / "package").names())
    assert families == {"save_file": "update", "get_file": "read", upload: "create"}
