"""What an operator sees beside calls: events in the metrics and in the log, and what only degrades (R-OPS-4)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from local import Answer, Asked, Local, serving
from tiny_zoo import ADAPTER, write_package

from aqlgen.runtime.assembly import Assembly, assemble
from aqlgen.runtime.logs.observers import EVENTS
from aqlgen.runtime.server.monitoring import Health
from aqlgen.runtime.session import Session
from aqlgen.runtime.telemetry.metrics import Metrics
from tests.runtime.redis_server import redis_server

pytestmark = pytest.mark.anyio
SESSION = Session("session_1")
Start = Callable[..., tuple[Assembly, Metrics]]


class Api:
    """An API that answers with a status."""

    def __init__(self) -> None:
        self.status = 200

    def __call__(self, _: Asked) -> Answer:
        return Answer({"id": 7}, self.status)


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def local(api: Api) -> Iterator[Local]:
    with serving(api) as running:
        yield running


@pytest.fixture
def start(local: Local, tmp_path: Path) -> Start:
    def start(**variables: str) -> tuple[Assembly, Metrics]:
        folder = write_package(tmp_path / "zoo", {**ADAPTER, "security": [], "servers": [{"url": local.url}]})
        environ = {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:", "MCP_AQL_LOG_LEVEL": "notice"}
        environ |= {"MCP_AQL_AUDIT_PATH": os.devnull}
        parts = assemble(folder, environ={**environ, **variables})
        metrics = Metrics("zoo", "1")
        parts.observers.add(metrics)
        return parts, metrics

    return start


async def call(parts: Assembly, operation: str, **params: Any) -> Any:
    return await parts.dispatcher.handle(None, {"operation": operation, "params": params}, SESSION)


def events(metrics: Metrics) -> dict[str, float]:
    """Return the counted events by name and labels, without what they all begin with."""
    lines = [line.rpartition(" ") for line in metrics.text().splitlines() if "_events_total{" in line]
    return {name.removeprefix("mcp_aql_").replace("_events_total", ""): float(value) for name, _, value in lines}


async def test_quotas_and_confirmations_are_counted_and_recorded(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    """R-OPS-4"""
    parts, metrics = start(MCP_AQL_QUOTA_PER_DAY="4", MCP_AQL_QUOTA_WARN_PERCENT="50", MCP_AQL_QUOTA_PAUSE_PERCENT="75")
    for _ in range(3):
        assert (await call(parts, "list_animals"))["success"]
    paused = (await call(parts, "list_animals"))["error"]
    token = paused["details"]["confirmation_token"]
    assert (await call(parts, "list_animals", _quota_continue=token))["success"]
    assert (await call(parts, "list_animals"))["error"]["code"] == "RATE_LIMIT_QUOTA_EXHAUSTED"
    token = (await call(parts, "delete_animal", animal_id=7))["error"]["details"]["confirmation_token"]
    assert not (await call(parts, "delete_animal", animal_id=8, confirmation_token=token))["success"]
    await call(parts, "delete_animal", animal_id=7, confirmation_token=token)
    labels = 'metric="requests_per_day",scope=""}'
    assert events(metrics) == {
        f'quota{{outcome="reached_warn",{labels}': 1,
        f'quota{{outcome="reached_pause",{labels}': 1,
        f'quota{{outcome="paused",{labels}': 1,
        f'quota{{outcome="continued",{labels}': 1,
        f'quota{{outcome="exhausted",{labels}': 2,
        'confirmation{outcome="asked",by="token"}': 1,
        'confirmation{outcome="refused",by="token"}': 1,
        'confirmation{outcome="confirmed",by="token"}': 1,
    }
    levels = {record.getMessage(): record.levelname for record in caplog.records}
    assert levels["a quota nears its end"] == "NOTICE"
    assert levels["a quota is nearly used up"] == "WARNING"
    assert levels["a call is confirmed"] == "NOTICE"
    await parts.transport.aclose()


async def test_a_store_that_goes_away_degrades_and_one_that_never_answered_is_not_ready(
    start: Start, tmp_path: Path
) -> None:
    """R-OPS-3, R-OPS-4"""
    with redis_server(tmp_path) as server:
        parts, metrics = start(MCP_AQL_STATE_URL=server.url, MCP_AQL_STATE_KEY="k" * 40)
        health = Health(parts.adapter, parts.table, parts.config, {}, parts.store)
        health._clock = iter(range(0, 100, 10)).__next__
        server.stop()
        assert (await health.checked())["store"] == "failed"
        server.start()
        assert (await health.checked())["store"] == "ok"
        server.stop()
        assert (await health.checked())["store"] == "degraded"
        assert events(metrics) == {'store{outcome="away"}': 2, 'store{outcome="back"}': 1}
        await parts.store.close()


def test_every_event_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text()
    for name, (_, labels) in EVENTS.items():
        assert f"`mcp_aql_{name}_events_total`" in text
        assert labels[0] == "outcome"
