"""An adapter in this process, before a stand-in for its API."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from aqlgen.runtime.client import Api
from aqlgen.runtime.dispatch.dispatcher import Dispatcher, Parts
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Row, Table
from aqlgen.runtime.wire import ApiRequest, ApiResponse

MOST = 3_000


class StandIn:
    """An API that answers each request with what `give` returns, and keeps the requests in `sent`.

    That is the body, as bytes or as data for JSON; or the body and further headers; or a whole response.
    """

    def __init__(self, give: Callable[[ApiRequest], Any]) -> None:
        self.give = give
        self.sent: list[ApiRequest] = []

    async def send(self, request: ApiRequest, row: Row) -> ApiResponse:
        self.sent.append(request)
        assert len(self.sent) < MOST, "it goes on for ever"
        answer = self.give(request)
        if isinstance(answer, ApiResponse):
            return answer
        body, headers = answer if isinstance(answer, tuple) else (answer, {})
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return ApiResponse(200, {"content-type": "application/json", **headers}, content)

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""


def query_of(request: ApiRequest) -> dict[str, str]:
    """Return the parameters in the query of a request."""
    return {key: values[0] for key, values in parse_qs(urlsplit(request.url).query).items()}


def dispatcher_of(
    package: Path,
    api: Any,
    *,
    base_url: str | None = "https://api.example.com",
    environ: Mapping[str, str] | None = None,
    parts: Parts | None = None,
    **settings: Any,
) -> Dispatcher:
    """Return the dispatcher of a package whose requests go to a stand-in."""
    adapter, table = Adapter.load(package), Table(package)
    side = Api(adapter, table, api, Config(base_url=base_url), environ=environ or {})
    return Dispatcher(adapter, table, side, Config(**settings), parts or Parts())
