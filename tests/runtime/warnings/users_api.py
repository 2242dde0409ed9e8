"""An API of users, played by a function, and a client that is given the warnings of its adapter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from api.hand_made import operation
from mcp import Client
from tiny_zoo import ADAPTER, OPERATIONS, TYPES, write_package

from aqlgen.runtime.client import Api
from aqlgen.runtime.client.transport import HttpTransport
from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.hooks import Hooks
from aqlgen.runtime.server.mcp import build_server
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table

QUERY = {"in": "query", "schema": {"type": "string"}}
SOON = (datetime.now(UTC) + timedelta(days=10)).date()
LATER = (datetime.now(UTC) + timedelta(days=200)).date()


def row(path: str, method: str = "GET", **more: Any) -> dict[str, Any]:
    return operation(method, path, **{"resource": "user", "verb": "list", **more})


FOUND = {"type": "array", "items": {"type": "object", "properties": {"q": {"type": "string"}}}}
READS: dict[str, Any] = {
    "list_users": row("/users"),
    "list_users_v1": row(
        "/v1/users", deprecated=True, deprecation={"replacement": "list_users", "removal_date": "2027-01-01"}
    ),
    "list_old": row("/old", deprecated=True),
    "list_soon": row("/soon", deprecated=True, deprecation={"removal_date": SOON.isoformat()}),
    "list_later": row("/later", deprecated=True, deprecation={"removal_date": LATER.isoformat()}),
    "search_all": row("/search", parameters={"q": QUERY, "limit": QUERY, "order": {**QUERY, "deprecated": True}}),
    "search_pages": row(
        "/pages",
        parameters={"q": QUERY, "limit": QUERY, "home": {"in": "query", "schema": {"$ref": "#/types/Home"}}},
        responses={"200": {"content_type": "application/json", "schema": FOUND}},
        pagination={"style": "page", "page_param": "page", "size_param": "limit", "items": "", "parameters": {}},
    ),
    "get_text": row("/text", responses={"200": {"content_type": "text/plain", "schema": {"type": "string"}}}),
}
CREATES: dict[str, Any] = {
    "create_user": row(
        "/users",
        "POST",
        verb="create",
        parameters={
            "name": {"in": "body", "required": True, "schema": {"type": "string"}},
            "homes": {"in": "body", "schema": {"type": "array", "items": {"$ref": "#/types/Home"}}},
        },
        body={"content_type": "application/json", "required": True, "shape": "fields", "schema": {"type": "object"}},
    )
}
HOME = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "fax": {"type": "string", "deprecated": True}},
    "required": ["street"],
}

Answer = Callable[[httpx2.Request], httpx2.Response]


def write_users(folder: Path) -> Path:
    """Write the data files of the adapter and return their folder."""
    operations = {**OPERATIONS, "read": READS, "create": CREATES, "update": {}, "delete": {}}
    counts = {family: len(rows) for family, rows in operations.items()}
    adapter = {**ADAPTER, "counts": counts, "quick_start": {"read": "list_users", "create": "create_user"}}
    return write_package(folder, adapter, operations, {**TYPES, "Home": HOME})


def answering(body: Any = None, headers: Mapping[str, str] | None = None) -> Answer:
    return lambda _: httpx2.Response(200, json=[] if body is None else body, headers=dict(headers or {}))


def dispatcher(package: Path, answer: Answer, hooks: Hooks | None = None, **settings: Any) -> Dispatcher:
    config, adapter, table = Config(**settings), Adapter.load(package), Table(package)
    transport = HttpTransport(config._replace(timeout=5), transport=httpx2.MockTransport(answer))
    api = Api(
        adapter, table, transport, config._replace(base_url="https://zoo.example/v1"), environ={"ZOO_API_KEY": "sesame"}
    )
    return Dispatcher(adapter, table, api, config, Parts(hooks))


class Agent:
    """A client that calls by the tool that has the operation."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, operation: str, **params: Any) -> dict[str, Any]:
        tool = "mcp_aql_create" if operation.startswith("create") else "mcp_aql_read"
        result = await self.client.call_tool(tool, {"operation": operation, "params": params})
        assert result.structured_content is not None
        return result.structured_content

    async def warned(self, operation: str, **params: Any) -> list[dict[str, Any]]:
        envelope = await self.call(operation, **params)
        assert envelope["success"], envelope
        assert envelope.get("warnings") != []
        warnings: list[dict[str, Any]] = envelope.get("warnings", [])
        return warnings


@asynccontextmanager
async def agent(
    package: Path, answer: Answer | None = None, hooks: Hooks | None = None, era: str = "auto", **settings: Any
) -> AsyncIterator[Agent]:
    server = build_server(dispatcher(package, answer or answering(), hooks, **settings))
    async with Client(server, mode=era) as client:
        yield Agent(client)
