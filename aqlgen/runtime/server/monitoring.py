"""What those who run the adapter learn of it over HTTP: whether it can answer calls, and its metrics.

An orchestrator asks whether the process lives, and whether it can answer calls. Not ready is a process that could
answer no call. A store that is away for all replicas alike degrades them: if all of them left at once, nothing would be
answered at all.

`/healthz` and `/readyz` are answered under every host and without authentication, since those who ask have neither;
they say nothing but the names of what was checked. `/metrics` is for whom the endpoint is open to; where these show a
token, under every host, since Prometheus asks each process by its address.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

import anyio

from ..state import StoreAway
from ..state.custody import is_redis

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route
    from starlette.types import ASGIApp

    from ..settings.config import Config
    from ..state import WatchedStore
    from ..table import Adapter, Table
    from ..telemetry.metrics import Metrics

HEALTH, READY, METRICS = "/healthz", "/readyz", "/metrics"
_PATIENCE = 2.0
"""Seconds that a check may take."""

_FRESH = 1.0
"""Seconds that an answer is good for, so that nobody makes the adapter check all the time."""

OK, DEGRADED, FAILED = "ok", "degraded", "failed"
Check = Callable[[], Awaitable[str]]


class Health:
    """Whether the adapter can answer calls, as an orchestrator is told, and its `metrics`, if they are shown.

    What is checked is OK, DEGRADED or FAILED; `stopping` ends readiness.
    """

    def __init__(
        self, adapter: Adapter, table: Table, config: Config, environ: Mapping[str, str], store: WatchedStore
    ) -> None:
        self.stopping = False
        self.metrics: Metrics | None = None
        self._store = store
        self._clock = monotonic
        self._known: tuple[float, dict[str, str]] | None = None

        async def operations() -> str:
            return OK if next(iter(table.values("method")), None) is not None or not adapter.counts else FAILED

        async def credentials() -> str:
            return OK if not adapter.counts or _can_call(adapter, table, config, environ) else FAILED

        self._checks: dict[str, Check] = {"operations": operations, "credentials": credentials}
        if is_redis(config.state_url):
            self._checks["store"] = self._store_answers

    async def _store_answers(self) -> str:
        with suppress(StoreAway), anyio.move_on_after(_PATIENCE):
            await self._store.get("health", "ready")
            return OK
        return DEGRADED if self._store.answered else FAILED  # its URL may be wrong, with which no replica should start

    async def checked(self) -> dict[str, str]:
        """Return how each thing that is checked works, by its name."""
        now = self._clock()
        if self._known is None or now - self._known[0] > _FRESH:
            self._known = now, {name: await _outcome(check) for name, check in self._checks.items()}
        return self._known[1]

    def routes(self, protected: Callable[[ASGIApp], ASGIApp]) -> list[Route]:
        """Return the routes; `protected` puts authentication before an application."""
        from starlette.routing import Route, request_response

        routes = [Route(HEALTH, self._healthy), Route(READY, self._ready)]
        if self.metrics is not None:
            metrics = request_response(self._metrics)
            shown = protected(metrics)
            endpoint = self._metrics if shown is metrics else shown  # a route wraps a function by itself
            routes.append(Route(METRICS, endpoint=endpoint, methods=["GET"]))
        return routes

    async def _healthy(self, _: Request) -> Response:
        from starlette.responses import PlainTextResponse

        return PlainTextResponse("ok\n")

    async def _ready(self, _: Request) -> Response:
        from starlette.responses import JSONResponse

        checks = await self.checked()
        ready = FAILED not in checks.values() and not self.stopping
        degraded = DEGRADED in checks.values()
        status = "stopping" if self.stopping else "not ready" if not ready else DEGRADED if degraded else "ready"
        return JSONResponse({"status": status, "checks": checks}, 200 if ready else 503)

    async def _metrics(self, _: Request) -> Response:
        from starlette.responses import Response

        from ..telemetry.metrics import CONTENT_TYPE

        text = "" if self.metrics is None else self.metrics.text()
        return Response(text, headers={"content-type": CONTENT_TYPE, "cache-control": "no-store"})


async def _outcome(check: Check) -> str:
    try:
        return await check()
    except (OSError, ValueError, KeyError):
        return FAILED


def _can_call(adapter: Adapter, table: Table, config: Config, environ: Mapping[str, str]) -> bool:
    """Return True if the credentials that are set, or that callers bring, are enough for an operation."""
    from ..auth import alternative_in_use
    from ..auth.sources import report

    entries = report(adapter, environ, config)
    ready = {entry["scheme"] for entry in entries if entry["set"] or "per_user" in entry}
    parts = adapter.of_each_api()
    stated = (values for _, _, values in table.values("security", "api"))
    requirements = (parts[api].security if security is None else security for security, api in stated)
    return config.auth == "none" or any(
        alternative_in_use(alternatives, ready) is not None for alternatives in requirements
    )
