"""Updates over PUT as agents make them: a change of one field changes that field only (R-UPD-2)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from aqlgen.diagnostics.errors import OptionError
from aqlgen.runtime.table import Update
from tests.cases import each
from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, parameter, replies
from tests.generator.commands import Tabulation, api, tabulate
from tests.generator.replaced_things import PAIRS, Pair, Things, within, written
from tests.in_process import dispatcher_of


class Agent:
    """Calls of the updates of all pairs."""

    def __init__(self, folder: Path, things: Things) -> None:
        self.things = things
        self.dispatcher = dispatcher_of(folder, things, policy="open")

    def update(self, pair: Pair, change: Mapping[str, Any]) -> Any:
        return asyncio.run(self.change(pair, change))

    async def change(self, pair: Pair, change: Mapping[str, Any]) -> Any:
        params = {"id": "7", "input": within(dict(change), pair.envelope.written)}
        return await self.dispatcher.handle("update", {"operation": f"update_p{pair.number}", "params": params})


@pytest.fixture(scope="module")
def tabulation(tmp_path_factory: pytest.TempPathFactory) -> Tabulation:
    paths = {path: item for pair in PAIRS for path, item in pair.paths().items()}
    return tabulate(tmp_path_factory.mktemp("document"), api(paths))


@pytest.fixture(scope="module")
def agent(tabulation: Tabulation, tmp_path_factory: pytest.TempPathFactory) -> Agent:
    return Agent(tabulation.write(tmp_path_factory.mktemp("package")), Things(tagged=False))


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
        assert things.sent == (["GET", "PUT", "GET"] if tagged else ["GET", "GET", "PUT", "GET"])
        assert "VALIDATION_FIELDS_CHANGED_WARNING" not in str(answer)


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


FIELDS = object_of("name", name=TEXT, note=TEXT, size=INTEGER)
MERGED = {"strategy": "put-merge", "read": "get_pool"}
LISTED = object_of(data=list_of(FIELDS))


def replacing(read: Any = None, schema: Any = FIELDS, method: str = "put", **more: Any) -> dict[str, Any]:
    """Return a document whose only update replaces, with what reads the same path."""
    body = body_of(schema)
    update = {"operationId": "updatePool", "requestBody": body, "responses": replies(status="204"), **more}
    reader = {} if read is None else {"GET /pools/{id}": {"operationId": "getPool", "responses": replies(read)}}
    return api({f"{method} /pools/{{id}}": update, **reader})


@pytest.mark.parametrize("read", [None, LISTED, TEXT, object_of(job=TEXT)])
def test_a_replacement_of_what_cannot_be_read_is_asked_about_at_its_first_use_and_reviewed(
    tmp_path: Path, read: Any
) -> None:
    """R-SAFE-1"""
    row = tabulate(tmp_path, replacing(read)).rows["update_pool"]
    assert row["update"]["strategy"] == "put"
    assert row["asked"] == "first"
    assert "note, size" in row["danger_reason"]
    assert any(reason.startswith("danger: replaces-whole") for reason in row["review"])


@pytest.mark.parametrize(
    "document",
    [
        replacing(FIELDS),
        replacing(object_of(result=FIELDS)),
        replacing(None, object_of(name=TEXT)),
        replacing(None, object_of("a", "b", a=TEXT, b=TEXT)),
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


def test_a_reader_that_is_not_served_leaves_a_replacement_that_is_asked_about(tmp_path: Path) -> None:
    """R-SAFE-1"""
    row = tabulate(tmp_path, replacing(FIELDS), exclude=("operation:getPool",)).rows["update_pool"]
    assert (row["update"]["strategy"], row["asked"]) == ("put", "first")


def test_the_owner_says_how_dangerous_a_replacement_is(tmp_path: Path) -> None:
    """R-SAFE-1"""
    overrides = "PUT /pools/{id}:\n  danger: reversible\n"
    assert tabulate(tmp_path, replacing(), overrides=overrides).rows["update_pool"]["danger"] == "reversible"
    rows = tabulate(tmp_path, replacing(FIELDS), overrides=overrides, exclude=("operation:getPool",)).rows
    assert rows["update_pool"]["danger"] == "reversible"


def test_a_reader_that_asks_for_more_than_the_update_has_reads_nothing(tmp_path: Path) -> None:
    """R-UPD-2"""
    document = replacing(FIELDS)
    document["paths"]["/pools/{id}"]["get"]["parameters"] = [parameter("region", required=True)]
    row = tabulate(tmp_path, document).rows["update_pool"]
    assert (row["update"]["strategy"], row["asked"]) == ("put", "first")


@pytest.mark.parametrize(
    "text",
    [
        "Only the fields provided will be updated; any unspecified fields will remain unchanged.",
        "If `size` is not present, it will be set to `null`. Any other fields not specified will be left untouched.",
        "Performs a partial update.",
    ],
)
def test_what_a_put_says_of_fields_that_it_lacks_spares_it_neither_the_reading_nor_the_question(
    tmp_path: Path, text: str
) -> None:
    """R-UPD-2"""
    row = tabulate(tmp_path, replacing(FIELDS, description=text)).rows["update_pool"]
    assert (row["update"]["strategy"], row["danger"]) == ("put-merge", "reversible")
    row = tabulate(tmp_path, replacing(None, description=text)).rows["update_pool"]
    assert (row["update"]["strategy"], row["asked"]) == ("put", "first")


@pytest.mark.parametrize(
    ("path", "beside", "creates"),
    [
        ("/rooms/{id}/limits", ("delete",), True),
        ("/rooms/{id}/limits", (), False),
        ("/rooms/{id}/limits", ("delete", "post"), False),
        ("/rooms/{id}", ("delete",), False),
    ],
)
def test_the_put_of_a_single_thing_creates_it_if_nothing_else_can_after_a_delete(
    tmp_path: Path, path: str, beside: tuple[str, ...], creates: bool
) -> None:
    """R-UPD-2"""
    document = identified(path, path)
    document["paths"][path] |= {method: {"responses": replies(status="204")} for method in beside}
    rows = tabulate(tmp_path, document).rows.values()
    (update,) = (row["update"] for row in rows if "update" in row)
    assert update.get("creates", False) is creates


def identified(path: str, other: str, read: Any = FIELDS, **schemas: Any) -> dict[str, Any]:
    """Return a document with a PUT at one path and a GET at another; parameters are texts but those of `schemas`."""
    update, reader = replacing()["paths"]["/pools/{id}"]["put"], {"operationId": "getPool", "responses": replies(read)}
    document = api({f"PUT {path}": update, f"GET {other}": reader})
    for item in document["paths"].values():
        for declared in item.get("parameters", ()):
            declared["schema"] = schemas.get(declared["name"], TEXT)
    return document


@pytest.mark.parametrize(
    ("document", "send", "expected", "danger"),
    [
        (replacing(FIELDS), "named", {"strategy": "patch", "read": "get_pool"}, "reversible"),
        (replacing(FIELDS), "whole", MERGED, "reversible"),
        (replacing(FIELDS), "upsert", MERGED | {"creates": True}, "reversible"),
        (replacing(None), "named", {"strategy": "patch"}, "reversible"),
        (identified("/pools/{uuid}", "/pools/{name}"), "whole", MERGED, "reversible"),
        (replacing(FIELDS, method="post"), "whole", MERGED, "reversible"),
        (replacing(FIELDS, method="patch"), "whole", MERGED, "reversible"),
        (replacing(object_of(job=TEXT)), "whole", MERGED | {"undeclared": True}, "reversible"),
    ],
)
def test_the_owner_says_what_an_update_sends(
    tmp_path: Path, document: Any, send: str, expected: dict[str, Any], danger: str
) -> None:
    """R-UPD-2, R-OWN-2"""
    table = tabulate(tmp_path, document, overrides=f"'* /pools/**': {{send: {send}}}\n")
    row = table.rows["update_pool"]
    assert (row["update"], row["danger"]) == (expected, danger)
    (reason,) = (
        trait.reason for each in table.prepared.decisions for trait in each.traits if isinstance(trait.value, Update)
    )
    assert (reason.rule, reason.note) == ("override", "`* /pools/**` in overrides.yaml")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (replacing(None), "cannot send the whole: nothing reads the resource"),
        (replacing(list_of(FIELDS)), "cannot send the whole: get_pool gives a list"),
        (api({"PUT /pools/{id}": {"responses": replies(status="204")}}), "is not an update with a body"),
    ],
)
def test_what_an_owner_says_of_what_an_update_sends_is_an_error_where_it_cannot_be(
    tmp_path: Path, document: Any, message: str
) -> None:
    """R-OWN-2"""
    with pytest.raises(OptionError) as caught:
        tabulate(tmp_path, document, overrides="PUT /pools/{id}: {send: whole}\n")
    assert message in str(caught.value)


UUID = {"type": "string", "format": "uuid"}
BOTH = object_of("name", **FIELDS["properties"], uuid=UUID, rack=UUID)


@pytest.mark.parametrize(
    ("document", "strategy"),
    [
        (identified("/pools/{poolId}", "/pools/{pool_id}"), "put-merge"),
        (identified("/pools/{poolId}", "/pools/{id}"), "put-merge"),
        (identified("/pools/{uuid}", "/pools/{key}", uuid=UUID, key=UUID), "put"),
        (identified("/pools/{uuid}", "/pools/{name}", uuid=UUID), "put"),
        (identified("/pools/{uuid}", "/pools/{name}"), "put"),
        (identified("/pools/{poolId}", "/pools/{id}", poolId=UUID, id=INTEGER), "put"),
        (identified("/pools/{uuid}", "/pools/{rack}", BOTH, uuid=UUID, rack=UUID), "put"),
        (identified("/pools/{iid}", "/pools/{number}", iid=INTEGER, number=INTEGER), "put"),
        (identified("/{a}/pools/{b}", "/{b}/pools/{a}"), "put"),
    ],
    ids=[
        "one name in two spellings",
        "a name with the noun of its collection",
        "two names in one form",
        "another form",
        "another name",
        "a name with the noun, of another type",
        "a field for each",
        "two numbers",
        "exchanged",
    ],
)
def test_what_reads_a_resource_identifies_it_as_the_update_does(tmp_path: Path, document: Any, strategy: str) -> None:
    """R-UPD-2, R-SAFE-1"""
    row = tabulate(tmp_path, document).rows["update_pool"]
    assert row["update"]["strategy"] == strategy
    assert row.get("asked", "never") == ("never" if strategy == "put-merge" else "first")
    assert strategy != "put" or "get_pool identifies it by another parameter" in row["danger_reason"]


def test_of_several_paths_that_look_alike_the_one_of_the_update_reads(tmp_path: Path) -> None:
    """R-UPD-2"""
    pools = identified("/{pool}/{id}", "/{pool}/{id}")["paths"]
    rack = identified("/racks", "/{rack}/{id}")["paths"]["/{rack}/{id}"]
    rack["get"]["operationId"] = "getRack"
    for paths in ({"/{rack}/{id}": rack, **pools}, {**pools, "/{rack}/{id}": rack}):
        assert tabulate(tmp_path, api(paths)).rows["update_pool"]["update"]["read"] == "get_pool"


def test_a_replacement_in_an_envelope_is_no_less_asked_about(tmp_path: Path) -> None:
    """R-SAFE-1"""
    row = tabulate(tmp_path, replacing(None, object_of("pool", pool=FIELDS))).rows["update_pool"]
    assert (row["update"], row["asked"]) == ({"strategy": "put", "write_at": "/pool"}, "first")
    assert "note, size" in row["danger_reason"]


def test_an_example_has_no_field_that_an_update_does_not_declare(tmp_path: Path) -> None:
    """R-INT-4: though nothing of the update is required, and though the document's example has such a field."""
    content = {"schema": object_of(size=INTEGER), "example": {"size": 3, "depth": 5}}
    body = {"required": False, "content": {"application/json": content}}
    operation = {"operationId": "updatePool", "requestBody": body, "responses": replies()}
    row = tabulate(tmp_path, api({"PATCH /pool": operation})).rows["update_pool"]
    assert row["example"] == {"input": {"size": 3}}


LABELS = list_of(object_of(text=TEXT, color=TEXT))


@each("at", ["", "card"])
def test_the_example_names_what_cannot_be_written_back_as_it_is_read(tmp_path: Path, at: str) -> None:
    """R-UPD-1, R-INT-4: else the adapter would refuse its own example."""

    def card(labels: object, **more: object) -> dict[str, Any]:
        schema = object_of(name=TEXT, note=TEXT, labels=labels, **more)
        return object_of(at, **{at: schema}) if at else schema

    get = {"responses": replies(card(LABELS))}
    put = get | {"requestBody": body_of(card(list_of(TEXT), owner=TEXT))}
    table = tabulate(tmp_path, api({"GET /cards/{id}": get, "PUT /cards/{id}": put})).table
    row = table.find("update_card", "update")
    assert row is not None
    assert row.update is not None
    assert row.update.reads_first
    assert row.example is not None
    named = row.example["input"][at] if at else row.example["input"]
    assert [type(label) for label in named["labels"]] == [str]
