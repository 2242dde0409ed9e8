"""Attacks by somebody who can write to the store and has no key: rows deleted, expired, forged, swapped and put back.

Absence is not permission: what may be done once stands in the store until it is done (R-OPS-3, R-SAFE-3).
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from guarded_shop import Shop, open_shop, write_shop
from looped_shop import AGENT, DELETE, Floor

from aqlgen.runtime.safety.loop.verification import Tries
from aqlgen.runtime.session import Session, with_caller
from aqlgen.runtime.settings.tables import LoopSettings
from aqlgen.runtime.state.custody import State, open_store
from tests.cases import each

pytestmark = pytest.mark.anyio
KEYS = ("a-key-of-the-owner-with-forty-characters",)
PAY = {"operation": "pay", "params": {"amount": 1, "recipient": "anna"}}
Row = tuple[str, str, str, float | None]


class Thief:
    """Somebody with the file of the store."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def run(self, statement: str, *values: Row) -> None:
        with sqlite3.connect(self.file) as connection:
            connection.executemany(statement, values or [()])

    def rows(self) -> list[Row]:
        with sqlite3.connect(self.file) as connection:
            return list(connection.execute("SELECT space, key, value, expires FROM kept"))

    def put(self, rows: Iterable[Row]) -> None:
        self.run("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", *rows)


class Till:
    """Processes of a shop over one store."""

    def __init__(self, folder: Path) -> None:
        self.package = write_shop(folder / "shop")
        self.folder = folder
        self.thief = Thief(folder / "state.sqlite3")
        self.states: list[State] = []
        self.shops: list[Shop] = []
        self.open()

    def open(self) -> None:
        store = open_store(f"sqlite:///{self.folder}/state.sqlite3", "shop", {})
        self.states.append(State(store, "shop", lambda: KEYS))
        self.shops.append(open_shop(self.package, self.folder / "audit.jsonl", state=self.states[-1]))

    @property
    def sent(self) -> int:
        return sum(len(shop.wire.sent) for shop in self.shops)

    async def call(self, caller: str = "anna", operation: str = "pay", **params: Any) -> Any:
        request = {"operation": operation, "params": {**(PAY["params"] if operation == "pay" else {}), **params}}  # type: ignore[dict-item]
        with with_caller({}, caller):
            return await self.shops[-1].dispatcher.handle(None, request, Session())

    async def token(self, caller: str = "anna") -> str:
        return str((await self.call(caller))["confirmation"]["token"])

    async def confirm(self, token: str) -> Any:
        return await self.call(operation="confirm_operation", confirmation_token=token)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Till]:
    till = Till(folder)
    yield till
    for state in till.states:
        await state.close()


def deleting(space: str) -> Callable[[Thief], None]:
    return lambda thief: thief.run(f"DELETE FROM kept WHERE space LIKE '{space}'")


def setting(field: str, value: str, space: str) -> Callable[[Thief], None]:
    return lambda thief: thief.run(f"UPDATE kept SET {field} = {value} WHERE space LIKE '{space}'")


SPACES = ("used", "unused", "question", "seal", "count", "%")
CHANGES: dict[str, Callable[[Thief], None]] = {
    **{f"delete {space}": deleting(space) for space in SPACES},
    **{f"expire {space}": setting("expires", "1", space) for space in SPACES},
    **{f"keep {space} for ever": setting("expires", "NULL", space) for space in SPACES},
    **{f"{space} to a number": setting("value", "'1'", space) for space in SPACES},
    **{f"{space} to a seal of zeros": setting("value", "'\"" + "A" * 120 + "\"'", space) for space in SPACES},
    "rename used": lambda thief: thief.run("UPDATE kept SET space = 'unused' WHERE space = 'used'"),
}


@each("process", ["the same process", "another process"])
@each("way", ["token", "confirmed"])
@each("change", CHANGES)
async def test_a_confirmation_that_was_used_is_used_whatever_is_done_to_the_store(
    tmp_path: Path, change: str, way: str, process: str
) -> None:
    async with opened(tmp_path) as till:
        token = await till.token()
        if way == "confirmed":
            assert (await till.confirm(token))["success"]
            assert (await till.call())["success"]
        else:
            assert (await till.call(confirmation_token=token))["success"]
        CHANGES[change](till.thief)
        if process == "another process":
            till.open()
        assert not (await till.call(confirmation_token=token))["success"]
        assert not (await till.confirm(token))["success"]
        assert not (await till.call())["success"]
        assert till.sent == 1


FORGED = ["1", "null", '"yes"', "[]", "{}", json.dumps("A" * 120), "TICKET", "COPIED", "OTHERS"]


@each("value", FORGED)
@each("space", ["question", "unused"])
async def test_no_row_of_somebody_without_a_key_confirms_or_renews_anything(
    tmp_path: Path, space: str, value: str
) -> None:
    async with opened(tmp_path) as till:
        used, others = await till.token(), await till.token("bert")
        rows = till.thief.rows()
        assert (await till.call(confirmation_token=used))["success"]
        (left,) = (row for row in till.thief.rows() if row[0] == "unused")
        forged = {
            "TICKET": json.dumps([left[1], 9_999_999_999, "conf_…", 0.0]),
            "COPIED": left[2],
            "OTHERS": next(row[2] for row in rows if row[0] == "question"),
        }.get(value, value)
        keys = [row[1] for row in rows] + ["0" * 32]
        till.thief.put([(space, key, forged, None) for key in keys])
        answers = [await till.call(), await till.call(confirmation_token=used), await till.confirm(used)]
        answers += [await till.call(confirmation_token=others)]
        assert not [answer for answer in answers if answer["success"]]
        assert till.sent == 1


async def test_a_row_that_is_put_back_is_good_for_nothing_where_it_was_taken(tmp_path: Path) -> None:
    async with opened(tmp_path) as till:
        token = await till.token()
        rows = till.thief.rows()
        assert (await till.call(confirmation_token=token))["success"]
        till.thief.put(rows)
        assert not (await till.call(confirmation_token=token))["success"]
        assert not (await till.confirm(token))["success"]
        assert till.sent == 1


async def blocked(folder: Path) -> Floor:
    """Return a shop whose agent is blocked, as an agent of a caller who is known."""
    floor = Floor(folder, keys=KEYS)
    floor.session, floor.caller = Session(), "bert"
    floor.open(loop=LoopSettings(deny=("drop_*",)), free=False)
    await floor.start()
    assert (await floor.step("drop_all"))["stopped"]
    return floor


TRYING: dict[str, Callable[[Thief, list[Row]], None]] = {
    "delete": lambda thief, _: thief.run("DELETE FROM kept WHERE space = 'loop.tries'"),
    "expire": lambda thief, _: thief.run("UPDATE kept SET expires = 1 WHERE space = 'loop.tries'"),
    "to no tries": lambda thief, _: thief.run("UPDATE kept SET value = '[]' WHERE space = 'loop.tries'"),
    "put an earlier one back": lambda thief, rows: thief.put(rows),
}


@each("change", TRYING)
async def test_no_row_that_is_gone_or_older_gives_another_try(tmp_path: Path, change: str) -> None:
    """R-LOOP-5: where the tries were made; a person's right code is what another process forgets them by, too."""
    store = open_store(f"sqlite:///{tmp_path}/state.sqlite3", "shop", {})
    custody, thief = State(store, "shop", lambda: KEYS).shared, Thief(tmp_path / "state.sqlite3")
    tries, rows = Tries(custody), list[Row]()
    for number in range(10):
        assert await tries.begin("agent") == 0
        rows = rows or thief.rows()
        if number == 5:
            TRYING[change](thief, rows)
    TRYING[change](thief, rows)
    assert await tries.locked("agent") > 50
    assert await tries.begin("agent") > 50
    await Tries(custody).succeeded("agent")  # a process that saw only what the store says now
    await tries.succeeded("agent")
    other = Tries(custody)
    for _ in range(3):
        assert await other.begin("agent") == 0
    await other.succeeded("agent")
    assert await tries.locked("agent") == 0
    assert await tries.begin("agent") == 0
    await store.close()


BLOCKS = ("loop.block", "loop.standing", "loop.bl%", "loop.st%", "loop.verified", "loop.challenge", "seal")
FREEING: dict[str, Callable[[Thief], None]] = {
    **{f"delete {space}": deleting(space) for space in BLOCKS},
    **{f"expire {space}": setting("expires", "1", space) for space in BLOCKS},
    **{f"{space} to a number": setting("value", "'1'", space) for space in BLOCKS},
    **{f"{space} to an empty list": setting("value", "'[]'", space) for space in BLOCKS},
    "delete both": lambda thief: thief.run("DELETE FROM kept WHERE space IN ('loop.block', 'loop.standing')"),
    "expire both": lambda thief: thief.run(
        "UPDATE kept SET expires = 1 WHERE space IN ('loop.block', 'loop.standing')"
    ),
    "another's seal": lambda thief: thief.run(
        "UPDATE kept SET value = (SELECT value FROM kept WHERE space = 'loop.agent') WHERE space = 'loop.standing'"
    ),
}


@each("process", ["the same process", "another process"])
@each("change", FREEING)
async def test_no_row_that_is_gone_or_forged_frees_an_agent(tmp_path: Path, change: str, process: str) -> None:
    """R-LOOP-4: an operator lifts what stands then."""
    floor = await blocked(tmp_path)
    FREEING[change](Thief(tmp_path / "state.sqlite3"))
    if process == "another process":
        floor.open(loop=LoopSettings(deny=("drop_*",)), free=False)
    await floor.do("abort_execution", element_name=AGENT)
    assert not (await floor.start())["success"]
    assert not (await floor.report(DELETE))["continue"]
    assert not (await floor.send(DELETE))["success"]
    assert floor.written == []
    for block in await floor.board.blocks():
        assert await floor.board.unblock(block.id) is not None
    assert await floor.board.blocks() == []
    assert (await floor.start("another"))["success"]
    await floor.close()


async def test_no_row_counts_long_after_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(f"sqlite:///{tmp_path}/state.sqlite3", "shop", {})
    thief, state = Thief(tmp_path / "state.sqlite3"), State(store, "shop", lambda: KEYS)
    await state.shared.keep("approval", "one", {"of": "anna"}, 60)
    thief.run("UPDATE kept SET expires = NULL")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3600)
    seen: list[Any] = []
    await state.shared.change("approval", "one", seen.append)
    seen += [await state.shared.kept("approval", "one"), *await state.shared.all_kept("approval")]
    assert [*seen, await state.shared.take("approval", "one")] == [None, None, None]
    await state.close()
