"""Updates over PUT as agents make them: a change of one field changes that field only (R-UPD-2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.client.api import Api
from aqlgen.runtime.dispatch.dispatcher import Dispatcher
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from tests.generator.commands import Tabulation, api, tabulate
from tests.generator.replaced_things import PAIRS, Pair, Things, within, written


class Agent:
    """Calls of the updates of all pairs."""

    def __init__(self, folder: Path, things: Things) -> None:
        adapter, table = Adapter.load(folder), Table(folder)
        self.things = things
        side = Api(adapter, table, things, base_url="https://api.example", environ={})
        self.dispatcher = Dispatcher(adapter, table, side, Config())

    def update(self, pair: Pair, change: Mapping[str, Any]) -> Any:
        return asyncio.run(self.change(pair, change))

    async def change(self, pair: Pair, change: Mapping[str, Any]) -> Any:
        params = {"id": "7", "input": within(dict(change), pair.envelope.written)}
        return await self.dispatcher.handle("update", {"operation": f"update_p{pair.number}", "params": params})


def write(table: Tabulation, folder: Path) -> Path:
    for path, text in table.texts.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def tabulation(tmp_path_factory: pytest.TempPathFactory) -> Tabulation:
    paths = {path: item for pair in PAIRS for path, item in pair.paths().items()}
    return tabulate(tmp_path_factory.mktemp("document"), api(paths))


@pytest.fixture(scope="module")
def agent(tabulation: Tabulation, tmp_path_factory: pytest.TempPathFactory) -> Agent:
    return Agent(write(tabulation, tmp_path_factory.mktemp("package")), Things(tagged=False))


def changed(thing: Any, change: Any, nullable: bool) -> Any:
    """Return a thing with a change; null stays where a field can be null."""
    if not isinstance(change, Mapping):
        return change
    whole = dict(thing) if isinstance(thing, Mapping) else {}
    for key, value in change.items():
        if value is None and not nullable:
            whole.pop(key, None)
        else:
            whole[key] = changed(whole.get(key), value, nullable)
    return whole


def with_digits(thing: Any) -> Any:
    """Return a thing with its numbers as they are written."""
    return json.loads(written(thing), parse_float=str, parse_int=str)


def is_nullable(pair: Pair) -> bool:
    return pair.title.startswith("nullable")


@pytest.mark.parametrize("tagged", [False, True], ids=["without ETags", "with ETags"])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.title)
def test_an_update_of_one_field_changes_that_field_only(agent: Agent, pair: Pair, tagged: bool) -> None:
    """R-UPD-2"""
    things = agent.things
    things.tagged = tagged
    for change in pair.kind.changes:
        things.hold(pair)
        answer = agent.update(pair, change)
        assert answer["success"], answer
        expected = changed(pair.kind.thing, change, is_nullable(pair))
        assert with_digits(things.thing) == with_digits(expected)
        assert things.sent == (["GET", "PUT"] if tagged else ["GET", "GET", "PUT"])


@pytest.mark.parametrize("tagged", [False, True], ids=["without ETags", "with ETags"])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.title)
def test_what_somebody_else_writes_in_between_is_a_conflict_and_stays(agent: Agent, pair: Pair, tagged: bool) -> None:
    """R-UPD-2"""
    things = agent.things
    things.tagged = tagged
    visible = [change for change in pair.kind.changes if not change.keys() & pair.kind.hidden]
    for change in visible:
        for other in (visible[0], visible[-1]):
            things.hold(pair)
            theirs = changed(pair.kind.thing, other, is_nullable(pair))
            things.between = lambda theirs=theirs: things.write(theirs)  # type: ignore[misc]
            answer = agent.update(pair, change)
            assert not answer["success"], (change, other)
            assert answer["error"]["code"] == "CONFLICT_VERSION_MISMATCH", answer
            assert len(answer["error"]["details"]["changed_fields"]) == 1
            assert with_digits(things.thing) == with_digits(theirs)
            assert "PUT" not in things.sent or tagged


def test_the_place_of_each_resource_is_known_from_the_document(tabulation: Tabulation) -> None:
    """R-UPD-2"""
    assert len(PAIRS) >= 30
    for pair in PAIRS:
        update = tabulation.rows[f"update_p{pair.number}"]["update"]
        assert update["strategy"] == "put-merge", pair.title
        assert not update.get("undeclared"), pair.title
        if pair.envelope.read != pair.envelope.written:
            assert update.get("read_at", "") == "".join(f"/{step}" for step in pair.envelope.read), pair.title
            assert update.get("write_at", "") == "".join(f"/{step}" for step in pair.envelope.written), pair.title


def test_two_updates_at_once_take_turns(agent: Agent) -> None:
    """R-UPD-2"""
    pair = next(pair for pair in PAIRS if pair.title == "scalars, result")
    things = agent.things
    things.tagged = False
    things.hold(pair)

    async def both() -> list[Any]:
        changes: list[dict[str, Any]] = [{"name": "b"}, {"weight": 9}, {"enabled": False}]
        return await asyncio.gather(*(agent.change(pair, change) for change in changes))

    assert all(answer["success"] for answer in asyncio.run(both()))
    assert things.thing == {"name": "b", "enabled": False, "weight": 9, "ratio": Decimal("0.5")}
