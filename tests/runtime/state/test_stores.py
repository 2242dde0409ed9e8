"""The stores keep one promise each, whether in memory, in a file or in Redis (R-OPS-3)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from aqlgen.runtime.state import Counter, Store, StoreAway
from aqlgen.runtime.state.custody import open_store
from aqlgen.runtime.state.locks import Lease
from aqlgen.runtime.state.redis import RedisStore
from aqlgen.runtime.state.sqlite import SqliteState, SqliteStore
from tests.cases import each
from tests.runtime.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "sqlite", "redis"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "redis":
        return str(request.getfixturevalue("server").url)
    return "memory:" if request.param == "memory" else f"sqlite:///{tmp_path}/s.sqlite3"


@pytest.fixture
async def store(url: str, request: pytest.FixtureRequest) -> Store:
    return open_store(url, request.node.name, {})


async def test_values_are_kept_taken_and_dropped(store: Store) -> None:
    """R-OPS-3"""
    await store.put("a", "two*", 2)
    await store.put("a", "one", [1, {"b": None}])
    await store.put("ab", "one", "other")
    assert await store.items("a") == [("one", [1, {"b": None}]), ("two*", 2)]
    await store.put("a", "two*", "again")
    assert await store.get("a", "two*") == "again"
    assert (await store.take("a", "two*"), await store.take("a", "two*")) == ("again", None)
    await store.drop("a", "one")
    assert (await store.items("a"), await store.get("a", "one")) == ([], None)


async def test_what_expired_is_gone(store: Store) -> None:
    await store.put("a", "short", 1, seconds=0.05)
    await store.put("a", "long", 1, seconds=60)
    assert await store.add("a", "once", 1, seconds=0.05)
    assert not await store.add("a", "once", 2, seconds=0.05)
    await anyio.sleep(0.1)
    assert (await store.get("a", "short"), await store.take("a", "short")) == (None, None)
    assert await store.items("a") == [("long", 1)]
    assert await store.add("a", "once", 3)


async def test_the_first_of_many_adds_and_the_first_of_many_takes(store: Store) -> None:
    """R-OPS-3"""
    added, taken = [], []

    async def both(number: int) -> None:
        if await store.add("a", "key", number):
            added.append(number)
        value = await store.take("b", "key")
        if value is not None:
            taken.append(value)

    await store.put("b", "key", "token")
    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(both, number)
    assert (len(added), taken) == (1, ["token"])


async def test_a_value_is_swapped_only_for_the_one_that_is_known(store: Store) -> None:
    assert not await store.swap("a", "key", {"step": 1}, {"step": 2})
    assert await store.swap("a", "key", None, {"step": 1, "of": "x"})
    assert not await store.swap("a", "key", None, {"step": 3})
    assert await store.swap("a", "key", {"of": "x", "step": 1}, {"step": 2}, seconds=60)
    assert await store.get("a", "key") == {"step": 2}
    assert await store.swap("a", "key", {"step": 2}, None)
    assert await store.get("a", "key") is None


async def test_all_amounts_are_counted_or_none(store: Store) -> None:
    """R-OPS-3"""
    minute, day = Counter("calls", 60, 1, 3), Counter("cost", 86_400, 40, 100)
    first = await store.spend([minute, day])
    assert (first.admitted, [count.used for count in first.counts]) == (True, [1, 40])
    assert [count.ends % window for count, window in zip(first.counts, (60, 86_400), strict=True)] == [0, 0]
    assert all(0 < count.ends - time.time() <= window for count, window in zip(first.counts, (61, 86_401), strict=True))
    assert (await store.spend([minute, day])).admitted
    refused = await store.spend([minute, day])
    assert (refused.admitted, [count.used for count in refused.counts]) == (False, [2, 80])
    assert (await store.spend([minute])).counts[0].used == 3
    assert not (await store.spend([minute])).admitted
    read = await store.spend([minute._replace(amount=0), day._replace(amount=0, limit=1), Counter("other", 60, 5)])
    assert (read.admitted, [count.used for count in read.counts]) == (True, [3, 80, 5])


async def test_of_many_that_spend_exactly_the_limit_is_admitted(store: Store) -> None:
    """R-OPS-3"""
    admitted = []

    async def spend() -> None:
        spent = await store.spend([Counter("k", 86_400, 1, 25), Counter("free", 3600, 1)])
        admitted.append(spent.admitted)

    async with anyio.create_task_group() as group:
        for _ in range(60):
            group.start_soon(spend)
    assert sum(admitted) == 25


async def test_a_window_begins_anew(server: RedisServer, tmp_path: Path) -> None:
    stores = [open_store(url, "window", {}) for url in ("memory:", f"sqlite:///{tmp_path}/s.sqlite3", server.url)]
    ends = [await _fill_a_window(store) for store in stores]
    await anyio.sleep(max(ends) - time.time() + 0.01)
    assert [(await store.spend([Counter("k", 1, 1, 1)])).admitted for store in stores] == [True] * 3
    for store in stores:
        await store.close()


async def _fill_a_window(store: Store) -> float:
    """Spend twice within one window of a second, and return its end."""
    while True:
        first, second = [await store.spend([Counter("k", 1, 1, 1)]) for _ in range(2)]
        if first.counts[0].ends == second.counts[0].ends:
            assert (first.admitted, second.admitted) == (True, False)
            return second.counts[0].ends
        await anyio.sleep(second.counts[0].ends - time.time() + 0.01)


async def test_a_store_that_is_away_says_so_and_works_again_when_it_is_back(server: RedisServer) -> None:
    store = open_store(server.url, "away", {})
    await store.put("a", "key", 1)
    server.stop()
    try:
        for step in (store.get("a", "key"), store.add("a", "b", 1), store.spend([Counter("k", 60, 1)])):
            with pytest.raises(StoreAway, match="the store does not answer"):
                await step
    finally:
        server.start()
    assert await store.get("a", "key") == 1
    await store.close()


@each("loss", ["stopped", "killed", "hung up on"])
async def test_the_first_step_after_the_store_is_back_is_done(tmp_path: Path, loss: str) -> None:
    """R-OPS-3: nobody asked while it was away, and every connection is one that the server has closed."""
    with redis_server(tmp_path) as server:
        store = open_store(server.url, "back", {})
        await store.put("a", "key", 1)
        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(store.get, "a", "key")
        if loss == "hung up on":
            assert server.ask(b"CLIENT KILL TYPE normal\r\n").startswith(b":")
        else:
            (server.stop if loss == "stopped" else server.kill)()
            server.start()
        await anyio.sleep(0.05)
        for number in range(8):
            assert (await store.spend([Counter("key", 86_400, 1)])).counts[0].used == number + 1
        assert await store.get("a", "key") == 1
        await store.close()


async def test_a_file_that_is_no_state_is_a_store_that_is_away(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("no database " * 100)
    with pytest.raises(StoreAway, match="does not work"):
        await open_store(f"sqlite:///{tmp_path}/s", "zoo", {}).get("a", "b")


async def test_a_row_that_is_no_json_is_a_store_that_is_away(server: RedisServer, tmp_path: Path) -> None:
    for url in (server.url, f"sqlite:///{tmp_path}/s"):
        store = open_store(url, "odd", {})
        await store.put("a", "key", 1)
        if url == server.url:
            assert server.ask(b"SET mcp-aql:{odd}:a:key nonsense\r\n").startswith(b"+OK")
        else:
            with sqlite3.connect(tmp_path / "s") as other:
                other.execute("UPDATE kept SET value = ?", ["[" * 100_000])
        for step in (store.get("a", "key"), store.items("a")):
            with pytest.raises(StoreAway):
                await step
        await store.close()


async def test_adapters_share_a_store_without_meeting(url: str) -> None:
    """A login, a note or a block of one is none of the other's."""
    first, second = open_store(url, "one", {}), open_store(url, "two", {})
    await first.put("a", "key", 1)
    await first.spend([Counter("calls", 86_400, 3)])
    await second.drop("a", "key")
    assert await first.get("a", "key") == 1
    assert await second.get("a", "key") is await second.take("a", "key") is None
    assert await second.items("a") == []
    assert (await second.spend([Counter("calls", 86_400, 0)])).counts[0].used == 0


async def test_a_row_that_a_scan_of_redis_gives_twice_is_listed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """SCAN may give an element several times, as while the server grows its table."""

    class Client:
        async def get(self, _: bytes) -> bytes:
            return b"1"

        async def scan_iter(self, match: str, count: int) -> AsyncIterator[bytes]:
            for name in (b"a", b"b", b"a"):
                yield match.replace("\\", "").removesuffix("*").encode() + name

    store = RedisStore("redis://127.0.0.1:1/0", "zoo")
    monkeypatch.setattr(store, "_client", Client())
    assert await store.items("space") == [("a", 1), ("b", 1)]


async def test_a_lease_is_free_if_who_takes_it_is_cancelled_on_the_way() -> None:
    """R-OPS-5"""

    class Slow(SqliteStore):
        """A store that answers a moment after it has stored."""

        async def _do(self, step: str, *arguments: Any) -> Any:
            done = await super()._do(step, *arguments)
            await anyio.sleep(0.05)
            return done

    store = Slow(SqliteState(None))
    with anyio.move_on_after(0.01):
        await Lease(store, "all", 30).take()
    assert await Lease(store, "all", 30).take()
