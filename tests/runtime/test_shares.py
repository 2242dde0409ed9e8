"""An operation that hangs, or whoever calls it, leaves connections to all others (R-RATE-2)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import anyio
import pytest
from local import Answer, Asked, Local, serving
from tiny_zoo import ADAPTER, write_package

from aqlgen.runtime.assembly import Assembly, assemble
from aqlgen.runtime.client.isolation import Shares
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.session import Session, with_caller

pytestmark = pytest.mark.anyio


@pytest.fixture
def api() -> Iterator[tuple[Local, Event]]:
    """Serve an API whose /animals are not answered until the event is set."""
    free = Event()

    def answer(asked: Asked) -> Answer:
        if asked.path.startswith("/animals"):
            free.wait(20)
        return Answer([])

    with serving(answer) as local:
        yield local, free
        free.set()


async def call(parts: Assembly, operation: str, caller: str) -> Any:
    with with_caller({}, caller):
        return await parts.dispatcher.handle(None, {"operation": operation, "params": {}}, Session())


async def test_calls_that_hang_hold_up_neither_another_operation_nor_another_caller(
    tmp_path: Path, api: tuple[Local, Event]
) -> None:
    """R-RATE-2: at a real server; those that got no connection in time were not sent."""
    local, free = api
    folder = write_package(tmp_path / "zoo", {**ADAPTER, "security": [], "servers": [{"url": local.url}]})
    variables = {"TIMEOUT": "5", "STATE_URL": "memory:", "AUDIT_PATH": os.devnull, "CONFIG": ""}
    parts = assemble(folder, environ={f"MCP_AQL_{name}": value for name, value in variables.items()})
    answers: list[Any] = []

    async def hang() -> None:
        answers.append(await call(parts, "list_animals", "mallory"))

    async with anyio.create_task_group() as group:
        for _ in range(120):
            group.start_soon(hang)
        with anyio.fail_after(4):
            while len(local.at("/animals")) < 50:
                await anyio.sleep(0.01)
            await anyio.sleep(0.2)
            assert len(local.at("/animals")) == 50
            assert (await call(parts, "list_keepers", "mallory"))["success"]
            group.start_soon(call, parts, "list_animals", "ann")
            while len(local.at("/animals")) < 51:
                await anyio.sleep(0.01)
    assert not [answer for answer in answers if answer["success"]]
    free.set()
    await parts.close()


async def test_no_pair_holds_more_than_is_free_and_all_that_is_given_back_is_passed_on() -> None:
    shares, running, most = Shares(12), dict[str, int](), 0

    async def use(operation: str, seconds: float = 0.01) -> None:
        nonlocal most
        async with shares.of(operation, 60, changes=False):
            running[operation] = running.get(operation, 0) + 1
            most = max(most, sum(running.values()))
            assert running[operation] <= 6
            await anyio.sleep(seconds)
            running[operation] -= 1

    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            for number in range(300):
                group.start_soon(use, f"operation {number % 7}")
        assert (most, set(running.values())) == (11, {0})  # one is left for whoever comes next
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(use, "hangs", 60)
            await anyio.sleep(0.01)
            with pytest.raises(Failure, match="has not answered 6 of them") as refused:
                async with shares.of("hangs", 0.3, changes=True):
                    pytest.fail("there are no more")
            assert refused.value.details == {"retry_after_seconds": 1, "sent": False, "outcome": "not_performed"}
            with anyio.move_on_after(0.05):
                await use("hangs")
            group.cancel_scope.cancel()
        running.clear()
        async with anyio.create_task_group() as group:
            for _ in range(12):
                group.start_soon(use, "hangs")
