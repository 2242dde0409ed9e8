"""A shop whose adapter guards its calls: a real dispatcher and request builder, with the network left out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqlgen.runtime.client import Api
from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.hooks import Hooks
from aqlgen.runtime.safety.audit import Audit
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.state.custody import State
from aqlgen.runtime.table import FAMILIES, Adapter, Table
from tests.in_process import StandIn

STRING: dict[str, Any] = {"type": "string"}
ID: dict[str, Any] = {"in": "path", "name": "itemId", "required": True, "schema": STRING}
JSON_BODY: dict[str, Any] = {"content_type": "application/json", "required": True, "shape": "fields"}


def operation(method: str, path: str, danger: str, **more: Any) -> dict[str, Any]:
    return {
        "summary": "Do it",
        "method": method,
        "path": path,
        "resource": "item",
        "verb": "do",
        "danger": danger,
        "parameters": {},
        "returns": {"name": "object", "kind": "object"},
        "responses": {"200": {"content_type": "application/json", "schema": {}}},
        **more,
    }


PAYMENT: dict[str, Any] = {
    "amount": {"in": "body", "required": True, "schema": {"type": "integer"}},
    "recipient": {"in": "body", "required": True, "schema": STRING},
    "note": {"in": "body", "schema": STRING},
    "currency": {"in": "body", "schema": {"type": "string", "default": "EUR"}},
    "metadata": {"in": "body", "schema": {"type": "object", "additionalProperties": True}},
    "lines": {"in": "body", "schema": {"type": "array", "items": {"type": "object"}}},
    "zz_refund_all": {"in": "body", "schema": {"type": "boolean"}},
    "pin": {"in": "body", "sensitive": True, "schema": STRING},
}

OPERATIONS: dict[str, dict[str, Any]] = {
    "create": {"create_item": operation("POST", "/items", "reversible", body=JSON_BODY, operation_id="makeItem")},
    "read": {
        "get_item": operation("GET", "/items/{itemId}", "safe", parameters={"item_id": ID}),
        "list_items": operation("GET", "/items", "safe"),
        "search_items": operation("POST", "/items/search", "safe", review=["category: weak-verb"], rule="override"),
        "read_items": operation("POST", "/items/read", "safe", rule="named-verb"),
        "export_secrets": operation("GET", "/secrets", "dangerous", operation_id="dumpSecrets"),
    },
    "update": {
        "replace_item": operation(
            "PUT",
            "/items/{itemId}",
            "destructive",
            parameters={"item_id": ID, "name": {"in": "body", "schema": STRING}},
            body=JSON_BODY,
            update={"strategy": "put-merge", "read": "get_item"},
        )
    },
    "delete": {
        "delete_item": operation(
            "DELETE",
            "/items/{itemId}",
            "destructive",
            parameters={"item_id": ID, "force": {"in": "query", "schema": {"type": "boolean", "default": False}}},
            operation_id="removeItem",
            aliases=[{"name": "erase_item"}],
        ),
        "purge": operation("DELETE", "/items", "forbidden"),
    },
    "execute": {
        "pay": operation("POST", "/payments", "dangerous", parameters=PAYMENT, body=JSON_BODY, operation_id="doPay"),
        "send_file": operation(
            "POST",
            "/files",
            "destructive",
            parameters={
                "file": {"in": "body", "required": True, "schema": {"contentEncoding": "base64"}},
                "caption": {"in": "body", "schema": STRING},
            },
            body={**JSON_BODY, "content_type": "multipart/form-data"},
        ),
    },
}

ADAPTER: dict[str, Any] = {
    "format": 1,
    "name": "shop",
    "package": "shop_adapter",
    "title": "Shop",
    "description": "",
    "version": "1.0.0",
    "api_version": "1",
    "spec_version": "1.0.0-draft",
    "field_case": "snake",
    "servers": [{"url": "https://shop.example/v1"}],
    "security": [["key"]],
    "security_schemes": {"key": {"type": "apiKey", "in": "query", "name": "key", "variables": ["SHOP_KEY"]}},
    "counts": {family: len(OPERATIONS[family]) for family in FAMILIES},
    "quick_start": {family: next(iter(OPERATIONS[family])) for family in FAMILIES},
}
KEY = "k3y-0f-the-0wner"


def write_shop(folder: Path, operations: dict[str, dict[str, Any]] = OPERATIONS) -> Path:
    """Write the package's data files and return its folder."""
    (folder / "operations").mkdir(parents=True)
    (folder / "adapter.json").write_text(json.dumps(ADAPTER))
    for family in FAMILIES:
        (folder / "operations" / f"{family}.json").write_text(json.dumps(operations[family]))
    (folder / "types.json").write_text("{}")
    (folder / "mock.json").write_text("{}")
    return folder


@dataclass
class Human:
    """A person who gives one answer to every question; `during` runs while they read."""

    says: bool = True
    reachable: bool = True
    batched: bool = False
    asked: list[str] = field(default_factory=list)
    during: Any = None

    async def ask(self, question: str, _: str = "") -> bool:
        self.asked.append(question)
        if self.during is not None:
            self.during()
        return self.says


@dataclass
class Shop:
    """A guarded dispatcher with its wire and its audit log."""

    dispatcher: Dispatcher
    wire: StandIn
    audit: Path

    def events(self) -> list[dict[str, Any]]:
        """Return the entries of the audit log."""
        return [json.loads(line) for line in self.audit.read_text().splitlines()] if self.audit.exists() else []


def open_shop(
    folder: Path, audit: Path, hooks: Any = None, *, files: str = "", state: State | None = None, **settings: Any
) -> Shop:
    """Assemble a shop from the package in a folder."""
    adapter, table, config = Adapter.load(folder), Table(folder), Config(**settings)
    wire = StandIn(lambda _request: {"name": "old", "colour": "red"})
    api = Api(adapter, table, wire, Config(files_folder=files), environ={"SHOP_KEY": KEY})
    log = Audit(audit, secrets=lambda: [KEY])
    dispatcher = Dispatcher(adapter, table, api, config, Parts(Hooks.load(hooks), audit=log, state=state))
    return Shop(dispatcher, wire, audit)
