"""Replicas over Redis and an authorization server that minds: one refresh at a time, one login for all (R-OPS-3)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import test_login
from local import Answer, Asked, Running, adapter, hidden, serving
from test_oauth import CLIENT, Server, scheme

from aqlgen.runtime.auth.login import LoginOptions
from aqlgen.runtime.cli.doctor import doctor
from aqlgen.runtime.cli.login import forget, log_in
from aqlgen.runtime.errors import CommandError
from aqlgen.runtime.state.redis import RedisState
from tests.runtime.redis_server import RedisServer, redis_server

KEY = "the-key-of-all-replicas-0123456789"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
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


def test_a_refresh_token_that_is_good_once_is_used_once_by_all_replicas(tmp_path: Path, redis: RedisServer) -> None:
    """R-OPS-3: also when the API refuses the access token that all of them have."""
    server = Strict()
    environ = {
        **CLIENT,
        "P_REFRESH_TOKEN": "first-refresh-token",
        "MCP_AQL_STATE_URL": redis.url,
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
    state = RedisState(redis.url, "x")
    stored = [str(state._asked("get", key)) for key in state._asked("keys", "*")]
    assert len(stored) == 2
    hidden([server.good, "rotated-2-refresh"], *stored)


def test_a_login_at_one_replica_is_one_for_all(tmp_path: Path, redis: RedisServer) -> None:
    """R-OPS-3: its refresh token is replaced for all, and `doctor` of another one sees it."""
    server = test_login.Server()
    environ = {**test_login.environ(tmp_path), "MCP_AQL_STATE_URL": redis.url, "MCP_AQL_STATE_KEY": KEY}
    with serving(server) as local:
        folder = adapter(tmp_path / "p", f"{local.url}/v1", scheme("authorizationCode"), ["oauth"])
        log_in(folder, None, LoginOptions(), environ, test_login.around(server.browser()))
        assert doctor(folder, environ)["credentials"][0]["grant"] == "login"
        assert Running(folder, environ).calls()[0]["success"]
        assert Running(folder, environ).calls()[0]["success"]
        assert forget(folder, None, environ) == "Forgot the login for 'oauth'."
        assert not Running(folder, environ).calls()[0]["success"]
        redis.stop()
        with pytest.raises(CommandError, match="the store does not answer"):
            forget(folder, None, environ)
    assert not list(tmp_path.glob("**/*.sqlite3"))
