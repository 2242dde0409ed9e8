"""Replicas over Redis and an authorization server that minds: one refresh at a time (R-OPS-3)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from local import Answer, Asked, Running, adapter, hidden, serving
from redis import Redis
from test_oauth import CLIENT, Server, scheme

from tests.runtime.redis_server import RedisServer, redis_server

KEY = "the-key-of-all-replicas-0123456789"


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[RedisServer]:
    (tmp_path / "redis").mkdir()
    with redis_server(tmp_path / "redis") as server:
        yield server


class Strict(Server):
    """A server whose refresh tokens are good once, and that answers slowly."""

    def __init__(self) -> None:
        super().__init__()
        self.rotates = True
        self.reused = 0

    def __call__(self, asked: Asked) -> Answer:
        if asked.path == "/token":
            time.sleep(0.1)
            sent = asked.form.get("refresh_token", "")
            expected = f"rotated-{self.given}-refresh" if self.given else "first-refresh-token"
            if sent != expected:
                self.reused += 1
                return Answer({"error": "invalid_grant"}, 400)
        return super().__call__(asked)


def test_a_refresh_token_that_is_good_once_is_used_once_by_all_replicas(tmp_path: Path, shared: RedisServer) -> None:
    """R-OPS-3: also when the API refuses the access token that all of them have."""
    server = Strict()
    environ = {
        **CLIENT,
        "P_REFRESH_TOKEN": "first-refresh-token",
        "MCP_AQL_STATE_URL": shared.url,
        "MCP_AQL_STATE_KEY": KEY,
    }
    with serving(server) as local:
        folder = adapter(tmp_path / "package", f"{local.url}/v1", scheme("authorizationCode"), ["oauth"])
        replicas = [Running(folder, environ) for _ in range(3)]

        async def together() -> list[bool]:
            answers = await asyncio.gather(*(replica.call() for replica in replicas * 3))
            return [answer["success"] for answer in answers]

        async def run() -> None:
            try:
                assert await together() == [True] * 9
                assert server.given == 1
                server.good = "withdrawn"
                assert await together() == [True] * 9
                assert server.given == 2
            finally:
                for replica in replicas:
                    await replica.parts.close()

        asyncio.run(run())
        late = Running(folder, environ)
        assert late.run(late.call())["success"]
    assert (server.given, server.reused) == (2, 0)
    client = Redis.from_url(shared.url)
    stored = [str(client.get(key)) for key in client.keys("*")]
    assert len(stored) == 2
    hidden([server.good, "rotated-2-refresh"], *stored)
