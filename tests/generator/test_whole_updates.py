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
from tests.cases import each
from tests.generator.commands import Tabulation, api, tabulate
from tests.generator.replaced_things import PAIRS, TEXT, Pair, Things, ok, within, written


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


@each("tagged", [False, True], ids=["without ETags", "with ETags"])
@each("pair", PAIRS, ids=lambda pair: pair.title)
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


@each("tagged", [False, True], ids=["without ETags", "with ETags"])
@each("pair", PAIRS, ids=lambda pair: pair.title)
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


FIELDS = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": TEXT, "note": TEXT, "size": {"type": "integer"}},
}
LISTED = {"type": "object", "properties": {"data": {"type": "array", "items": FIELDS}}}


def replacing(read: Any = None, schema: Any = FIELDS, method: str = "put", **more: Any) -> dict[str, Any]:
    """Return a document whose only update replaces, with what reads the same path."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    item: dict[str, Any] = {
        "parameters": [{"name": "id", "in": "path", "required": True, "schema": TEXT}],
        method: {"operationId": "updatePool", "requestBody": body, "responses": {"204": {"description": "ok"}}, **more},
    }
    if read is not None:
        item["get"] = {"operationId": "getPool", "responses": ok(read)}
    return api({"/pools/{id}": item})


@pytest.mark.parametrize("read", [None, LISTED, {"type": "string"}, {"type": "object", "properties": {"job": TEXT}}])
def test_a_replacement_of_what_cannot_be_read_is_destructive_and_reviewed(tmp_path: Path, read: Any) -> None:
    """R-SAFE-1"""
    row = tabulate(tmp_path, replacing(read)).rows["update_pool"]
    assert row["update"]["strategy"] == "put"
    assert row["danger"] == "destructive"
    assert "note, size" in row["danger_reason"]
    assert any(reason.startswith("danger: replaces-whole") for reason in row["review"])


@pytest.mark.parametrize(
    "document",
    [
        replacing(FIELDS),
        replacing({"type": "object", "properties": {"result": FIELDS}}),
        replacing(None, {"type": "object", "properties": {"name": TEXT}}),
        replacing(None, {"type": "object", "required": ["a", "b"], "properties": {"a": TEXT, "b": TEXT}}),
        replacing(None, method="patch"),
        replacing(None, method="post", description="Changes the fields that are sent."),
    ],
    ids=["read", "read in an envelope", "one field", "all required", "a patch", "a post"],
)
def test_an_update_that_loses_nothing_is_not(tmp_path: Path, document: Any) -> None:
    """R-SAFE-1"""
    row = tabulate(tmp_path, document).rows["update_pool"]
    assert row["danger"] == "reversible"
    assert not any("replaces-whole" in reason for reason in row.get("review", ()))


def test_a_reader_that_is_not_served_leaves_a_destructive_replacement(tmp_path: Path) -> None:
    """R-SAFE-1"""
    row = tabulate(tmp_path, replacing(FIELDS), exclude=("operation:getPool",)).rows["update_pool"]
    assert (row["update"]["strategy"], row["danger"]) == ("put", "destructive")


def test_the_owner_says_how_dangerous_a_replacement_is(tmp_path: Path) -> None:
    """R-SAFE-1"""
    overrides = "PUT /pools/{id}:\n  danger: reversible\n"
    assert tabulate(tmp_path, replacing(), overrides=overrides).rows["update_pool"]["danger"] == "reversible"
    rows = tabulate(tmp_path, replacing(FIELDS), overrides=overrides, exclude=("operation:getPool",)).rows
    assert rows["update_pool"]["danger"] == "reversible"


def test_a_post_that_the_document_says_replaces_is_merged_as_a_put_is(tmp_path: Path) -> None:
    """R-UPD-2"""
    text = "Replaces the entire pool with the given one."
    row = tabulate(tmp_path, replacing(FIELDS, method="post", description=text)).rows["update_pool"]
    assert (row["update"]["strategy"], row["update"]["read"]) == ("put-merge", "get_pool")


def test_a_reader_that_asks_for_more_than_the_update_has_reads_nothing(tmp_path: Path) -> None:
    """R-UPD-2"""
    document = replacing(FIELDS)
    document["paths"]["/pools/{id}"]["get"]["parameters"] = [
        {"name": "region", "in": "query", "required": True, "schema": TEXT}
    ]
    row = tabulate(tmp_path, document).rows["update_pool"]
    assert (row["update"]["strategy"], row["danger"]) == ("put", "destructive")


def test_a_put_that_says_that_it_leaves_what_it_lacks_is_sent_as_it_is_and_no_less_dangerous(tmp_path: Path) -> None:
    """R-UPD-2"""
    text = "Only the fields provided will be updated; any unspecified fields will remain unchanged."
    row = tabulate(tmp_path, replacing(FIELDS, description=text)).rows["update_pool"]
    assert (row["update"]["strategy"], row["danger"]) == ("patch", "reversible")
    row = tabulate(tmp_path, replacing(None, description=text)).rows["update_pool"]
    assert (row["update"]["strategy"], row["danger"]) == ("patch", "destructive")


def test_an_example_has_no_field_that_an_update_does_not_declare(tmp_path: Path) -> None:
    """R-INT-4: though nothing of the update is required, and though the document's example has such a field."""
    content = {
        "schema": {"type": "object", "properties": {"size": {"type": "integer"}}},
        "example": {"size": 3, "depth": 5},
    }
    operation = {
        "operationId": "updatePool",
        "requestBody": {"required": False, "content": {"application/json": content}},
        "responses": {"200": {"description": "OK"}},
    }
    row = tabulate(tmp_path, api({"/pool": {"patch": operation}})).rows["update_pool"]
    assert row["example"] == {"input": {"size": 3}}
