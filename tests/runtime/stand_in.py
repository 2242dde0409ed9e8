"""A stand-in for the API's side of an adapter. It imports nothing of pytest, so that a server can start with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.exact_json import write_json
from aqlgen.runtime.table import Row, Table
from aqlgen.runtime.wire import ApiRequest, ApiResponse


class FakeApi:
    """An API that accepts what the row declares and echoes the parameters. `sent` lists its requests."""

    def __init__(self) -> None:
        self.sent: list[ApiRequest] = []
        self.fails: Exception | None = None
        self.table: Table | None = None

    def validate(
        self, row: Row, params: Mapping[str, Any], understood: object = None, *, explain: bool = True
    ) -> dict[str, Any]:
        """Check names only."""
        named_params = {row.wire_names.get(name, name): value for name, value in params.items()}
        for name, parameter in row.parameters.items():
            if parameter.required and name not in named_params:
                raise Failure(Code.MISSING_PARAM, f"Missing required parameter '{name}'", {"param_name": name})
        for name in named_params:
            if name not in row.parameters:
                raise Failure(Code.UNKNOWN_PARAM, f"Unknown parameter(s) for operation '{row.name}': {name}")
        return named_params

    def secrets(self) -> frozenset[str]:
        """Return no credential."""
        return frozenset()

    def of(self, _: Row) -> FakeApi:
        return self

    def build(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Build a request whose content is the parameters as they are."""
        return ApiRequest(row.method, f"https://zoo.example/v1{row.path}", (), write_json(params, json.dumps).encode())

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Return the content of the request, or raise the failure that is set."""
        if self.fails is not None:
            raise self.fails
        params = json.loads(request.content or b"{}")
        if "born_after" in params:  # a slow call: it takes `limit` tenths of a second
            print("printed by a handler", flush=True)  # noqa: T201 - it must not get into the protocol
            await asyncio.sleep(params["limit"] / 10)
        self.sent.append(request)
        return ApiResponse(200, {}, request.content or b"{}")

    def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any]) -> Any:
        """Return the content as data."""
        return json.loads(response.content)

    def told_headers(self, response: ApiResponse, row: Row, data: Any) -> dict[str, str]:
        """Return no header."""
        return {}
