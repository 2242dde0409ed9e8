"""A stand-in for the API's side of an adapter; imports nothing of pytest, so that a server can start with it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from aqlgen.runtime.errors import Code, Failure
from aqlgen.runtime.table import Row
from aqlgen.runtime.wire import ApiRequest, ApiResponse


class FakeApi:
    """Accepts what the row declares, and answers with what it was given. `sent` lists what went out."""

    def __init__(self) -> None:
        self.sent: list[ApiRequest] = []
        self.fails: Exception | None = None

    def validate(self, row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
        """Check names only."""
        named = {row.wire_names.get(name, name): value for name, value in params.items()}
        for name, parameter in row.parameters.items():
            if parameter.required and name not in named:
                raise Failure(Code.MISSING_PARAM, f"Missing required parameter '{name}'", {"param_name": name})
        for name in named:
            if name not in row.parameters:
                raise Failure(Code.UNKNOWN_PARAM, f"Unknown parameter(s) for operation '{row.name}': {name}")
        return named

    def build(self, row: Row, params: Mapping[str, Any]) -> ApiRequest:
        """Put the parameters into the content as they are."""
        return ApiRequest(row.method, f"https://zoo.example/v1{row.path}", (), json.dumps(dict(params)).encode())

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        """Echo, or fail."""
        if self.fails is not None:
            raise self.fails
        said = json.loads(request.content or b"{}")
        if "born_after" in said:  # a slow call: the zoo thinks for as many seconds as `limit` says, in tenths
            print("printed by a handler", flush=True)  # noqa: T201 - it must not get into the protocol
            await asyncio.sleep(said["limit"] / 10)
        self.sent.append(request)
        return ApiResponse(200, {}, request.content or b"{}")

    def decode(self, response: ApiResponse, row: Row, params: Mapping[str, Any]) -> Any:
        """Read the echo."""
        return json.loads(response.content)
