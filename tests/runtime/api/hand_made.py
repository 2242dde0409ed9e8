"""Small package folders built by hand, in the form of the operation table."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.client import Api
from aqlgen.runtime.client.mock import MockTransport
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import FAMILIES, Adapter, Row, Table
from aqlgen.runtime.validation.repair import Repaired
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.runtime.tiny_zoo import mocks_of

STRING: dict[str, Any] = {"type": "string"}


def operation(method: str = "GET", path: str = "/pets", **more: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "summary": "Do it",
        "method": method,
        "path": path,
        "resource": "pet",
        "verb": "get",
        "danger": "safe",
        "rule": "test",
        "confidence": "high",
        "parameters": {},
        "responses": {"200": {"content_type": "application/json", "schema": {}}},
        "returns": {"name": "JSON", "kind": "scalar"},
    }
    return row | more


@dataclass
class Recorder:
    """A transport that keeps the requests and always gives the same answer."""

    answer: ApiResponse = field(default_factory=lambda: ApiResponse(200, {"content-type": "application/json"}, b"{}"))
    sent: list[ApiRequest] = field(default_factory=list)

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        self.sent.append(request)
        return self.answer

    async def aclose(self) -> None:
        pass


@dataclass
class Package:
    """An adapter's API side, with every row at hand."""

    adapter: Adapter
    table: Table
    api: Api
    transport: Any

    def row(self, name: str = "op") -> Row:
        row = self.table.find(name)
        assert row is not None
        return row

    def validate(self, params: Mapping[str, Any], name: str = "op") -> dict[str, Any]:
        return self.api.validate(self.row(name), params)

    def understand(self, params: Mapping[str, Any], name: str = "op") -> tuple[dict[str, Any], list[str]]:
        """Return the parameters as they are understood, and what is said of that."""
        understood: list[Repaired] = []
        validated = self.api.validate(self.row(name), params, understood)
        return validated, [item.message for item in understood]

    def misunderstood(self, params: Mapping[str, Any], name: str = "op") -> Failure:
        """Return the refusal of parameters that cannot be understood."""
        with pytest.raises(Failure) as caught:
            self.understand(params, name)
        return caught.value

    def build(self, params: Mapping[str, Any], name: str = "op") -> ApiRequest:
        row = self.row(name)
        return self.api.build(row, self.api.validate(row, params))

    def decode(self, response: ApiResponse, params: Mapping[str, Any] | None = None, name: str = "op") -> Any:
        return self.api.decode(response, self.row(name), params or {})

    def refused(self, params: Mapping[str, Any], name: str = "op") -> Failure:
        with pytest.raises(Failure) as caught:
            self.build(params, name)
        return caught.value


Make = Callable[..., Package]


def make_package(
    folder: Path,
    rows: Mapping[str, Mapping[str, Any]],
    types: Mapping[str, Any] | None = None,
    *,
    family: str = "read",
    adapter: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    base_url: str | None = None,
    transport: Any = None,
    examples: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Package:
    (folder / "operations").mkdir(parents=True, exist_ok=True)
    for family_name in FAMILIES:
        (folder / "operations" / f"{family_name}.json").write_text(json.dumps(rows if family_name == family else {}))
    (folder / "types.json").write_text(json.dumps(types or {}))
    if transport == "mock":
        (folder / "mock.json").write_text(json.dumps(examples or mocks_of({family: rows}, types or {})))
    about = {
        "format": 1,
        "name": "petstore",
        "package": "petstore_adapter",
        "title": "Petstore",
        "description": "",
        "version": "1.2.3",
        "api_version": "1",
        "spec_version": "1.0.0-draft",
        "generator": "aqlgen 0",
        "field_case": "snake",
        "servers": [{"url": "https://api.example.com/v1"}],
        "security": [],
        "security_schemes": {},
        "counts": dict.fromkeys(FAMILIES, 0),
        "quick_start": {},
    }
    (folder / "adapter.json").write_text(json.dumps(about | dict(adapter or {})))
    loaded, table = Adapter.load(folder), Table(folder)
    if transport is None:
        transport = Recorder()
    elif transport == "mock":
        transport = MockTransport(table, folder)
    api = Api(loaded, table, transport, Config(base_url=base_url, **settings), environ=environ or {})
    return Package(loaded, table, api, transport)


def json_answer(body: Any, status: int = 200, **headers: str) -> ApiResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ApiResponse(status, {"content-type": "application/json"} | named, json.dumps(body).encode())
