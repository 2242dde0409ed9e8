"""Adapters of a local web server, for the tests of credentials."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from api.hand_made import make_package, operation

from aqlgen.runtime.assembly import assemble
from tests.web import Answer, Asked, Local, Server, serving

__all__ = ["Answer", "Asked", "Local", "Running", "Server", "adapter", "serving"]

T = TypeVar("T")


def adapter(folder: Path, url: str, schemes: Mapping[str, Any], *security: list[str], **more: Any) -> Path:
    """Write the package of an adapter whose only operations, `op` (a GET) and `change` (a POST), need these schemes."""
    body = {"in": "body", "schema": {"type": "string"}}
    rows = {
        "op": operation(**more.pop("row", {})),
        "change": operation(
            "POST", parameters={"note": body}, body={"content_type": "application/json", "shape": "fields"}
        ),
    }
    adapter_data = {"servers": [{"url": url}], "security_schemes": dict(schemes), "security": list(security), **more}
    make_package(folder, rows, adapter=adapter_data)
    return folder


class Running:
    """An adapter assembled as for its owner, with these environment variables alone. It logs everything."""

    def __init__(self, folder: Path, environ: Mapping[str, str], clock: Callable[[], float] | None = None) -> None:
        isolated = {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_LOG_LEVEL": "debug"}
        self.parts = assemble(folder, environ=isolated | {"MCP_AQL_POLICY": "open"} | dict(environ))
        self.api: Any = self.parts.dispatcher.api
        if clock is not None:
            self.api._clock = clock

    async def call(self, name: str = "op", **params: Any) -> dict[str, Any]:
        return await self.parts.dispatcher.handle(None, {"operation": name, "params": params})

    def calls(self, *names: str) -> list[dict[str, Any]]:
        """Call operations one after the other, and close everything."""

        async def run() -> list[dict[str, Any]]:
            return [await self.call(name) for name in names or ("op",)]

        return self.run(run())

    def together(self, count: int) -> list[dict[str, Any]]:
        """Call `op` that many times concurrently."""

        async def run() -> list[dict[str, Any]]:
            return list(await asyncio.gather(*(self.call() for _ in range(count))))

        return self.run(run())

    def run(self, job: Coroutine[Any, Any, T]) -> T:
        async def closing() -> T:
            try:
                return await job
            finally:
                await self.parts.transport.aclose()

        return asyncio.run(closing())


def hidden(secrets: Iterable[str], *outputs: object) -> None:
    """Assert that no form of the secrets is in the outputs."""
    text = " ".join(output if isinstance(output, str) else json.dumps(output, default=str) for output in outputs)
    for secret in secrets:
        for form in (secret, base64.b64encode(secret.encode()).decode().rstrip("="), quote(secret, safe="")):
            assert form not in text, form
