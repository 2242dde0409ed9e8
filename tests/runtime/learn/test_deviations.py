"""Answers of the real API beside their types (R-LEARN-1)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from aqlgen.runtime.learn.access import of_carriers
from aqlgen.runtime.learn.answers import observe_answers, observe_readers
from aqlgen.runtime.learn.model import Fact, Observation
from aqlgen.runtime.learn.reads import Known, Read, read_json
from aqlgen.runtime.learn.things import Named
from aqlgen.runtime.schema.deviations import deviations
from aqlgen.runtime.table import Adapter, Row, Table
from aqlgen.runtime.wire import ApiRequest, ApiResponse
from tests.cases import each
from tests.documents import INTEGER, JSON, TEXT, body_of, list_of, object_of, parameter, replies
from tests.generator.commands import api, generate, tabulate

BOARD = object_of(
    "id",
    "title",
    id={**TEXT, "format": "uuid"},
    title=TEXT,
    content=TEXT,
    size=INTEGER,
    tags=list_of(object_of(dueAt=TEXT)),
    owner={"anyOf": [TEXT, INTEGER]},
)
ID = "6f1b2c1e-3f5e-4c8a-9b60-0c2f5d7c9a11"


def answering(schema: Any, **more: Any) -> dict[str, Any]:
    """Return an operation that answers with a schema."""
    return {"responses": replies(schema), **more}


DOCUMENT = api(
    {
        "GET /boards": answering(list_of(BOARD)),
        "GET /boards/{id}": answering(BOARD),
        "PUT /boards/{id}": answering(BOARD, requestBody={"content": {JSON: {"schema": BOARD}}}),
    },
    servers=[{"url": "https://boards.example"}],
)
DOCUMENT["paths"]["/boards/{id}"]["parameters"] = [parameter("id", "path", BOARD["properties"]["id"])]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    return tabulate(tmp_path_factory.mktemp("document"), DOCUMENT).table


def row(table: Table, name: str) -> Row:
    known = table.find(name)
    assert known is not None
    return known


def response(data: Any, status: int = 200, **headers: str) -> ApiResponse:
    return ApiResponse(status, {"content-type": "application/json", **headers}, json.dumps(data).encode())


def read(table: Table, name: str, data: Any, status: int = 200, **headers: str) -> Read:
    answer = response(data, status, **headers)
    params = {"board_id": ID} if name == "get_board" else {}
    return Read(row(table, name), params, answer, read_json(answer) if status < 300 else None)


@each(
    ("data", "counts", "extra"),
    [
        ({"id": ID, "title": "a", "size": 2.0, "owner": 1, "content": ""}, {}, 0),
        ({"id": ID}, {("title", "missing"): 1}, 0),
        ({"id": ID, "title": None, "size": "2"}, {("title", "null"): 1, ("size", "string"): 1}, 0),
        ({"id": "7", "title": "a", "owner": []}, {("id", "not uuid"): 1, ("owner", "array"): 1}, 0),
        ({"id": ID, "title": "a", "tags": [{"dueAt": 1}, {"dueAt": 2}, {}]}, {("tags[].dueAt", "integer"): 2}, 0),
        ({"id": ID, "title": "a", "<ignore all>": 1, "b": 2}, {}, 2),
        ([], {("", "array"): 1}, 0),
    ],
)
def test_an_answer_is_compared_with_its_type(
    data: Any, counts: Mapping[tuple[str, str], int], extra: int, table: Table
) -> None:
    """R-LEARN-1"""
    seen = deviations(data, row(table, "get_board").responses["200"]["schema"], table)
    assert (dict(seen.counts), seen.extra) == (counts, extra)


def test_what_differs_is_told_without_its_content_and_the_types_of_an_update_follow_it(table: Table) -> None:
    """R-LEARN-1"""
    board = {"id": ID, "title": "secret", "content": {"cells": ["hidden"]}, "size": None, "sneaky": "ignore all"}
    reads = [read(table, "get_board", board, etag="xyz"), read(table, "get_board", {}, 404)]
    seen = list(observe_answers(table, reads))
    assert [(each.key, each.fact, dict(each.override)) for each in seen] == [
        ("GET /boards/{id}", Fact.TYPES, {}),
        (
            "PUT /boards/{id}",
            Fact.TYPES,
            {"parameters": {"content": {"type": ["object", "string"]}, "size": {"type": ["integer", "null"]}}},
        ),
        ("", Fact.HEADERS, {}),
    ]
    texts = " ".join(each.says for each in seen)
    assert "etag in 1 of 2 answers" in texts
    assert not any(word in texts for word in ("secret", "cells", "hidden", "sneaky", "ignore", "xyz", ID))


def test_a_hostile_answer_is_looked_at_within_bounds(table: Table) -> None:
    """R-LEARN-1"""
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    board = {"id": 1, "tags": [{"dueAt": deep}] * 2_000, **{f"x{number}": 1 for number in range(20_000)}}
    hostile = Read(row(table, "list_boards"), {}, response(1), [board] * 1000)
    begin = perf_counter()
    seen = list(observe_answers(table, [hostile]))
    assert perf_counter() - begin < 5
    assert sum(len(each.says) for each in seen) < 1000


def test_a_resource_that_the_owner_names_is_read(table: Table) -> None:
    """R-LEARN-1"""
    rows = [row(table, "get_board")]
    assert Known(rows).params(rows[0]) is None
    assert Known(rows, [Named("/boards/{board}", (ID,))]).params(rows[0]) == {"board_id": ID}


class Boards:
    """Requests to an API that finds boards by their titles alone."""

    def __init__(self, table: Table) -> None:
        self.table, self.urls = table, list[str]()

    async def send(
        self,
        row: Row,
        params: Mapping[str, Any],
        *,
        carries: bool = True,
        change: Callable[[ApiRequest], ApiRequest] | None = None,
    ) -> ApiResponse:
        request = ApiRequest(row.method, f"https://boards.example/boards/{params['board_id']}?v=1")
        request = request if change is None else change(request)
        self.urls.append(request.url)
        is_found = request.url.endswith("/boards/a%2F..%2Fb?v=1")
        return response({"id": ID, "title": "a/../b"} if is_found else {}, 200 if is_found else 404)


def test_a_get_that_takes_another_identifier_than_its_update_is_found(table: Table) -> None:
    """R-LEARN-1"""
    boards: Any = Boards(table)
    listed = read(table, "list_boards", [{"id": ID, "title": "a/../b", "content": ".."}])

    async def seen_in(*reads: Read) -> list[Observation]:
        return [each async for each in observe_readers(boards, reads)]

    seen = asyncio.run(seen_in(listed, read(table, "get_board", {}, 404)))
    assert [(each.key, each.override, each.certain) for each in seen] == [
        ("PUT /boards/{id}", {"send": "named"}, False)
    ]
    assert boards.urls == ["https://boards.example/boards/a%2F..%2Fb?v=1"]
    assert asyncio.run(seen_in(listed, read(table, "get_board", {"id": ID}))) == []


@each(("public", "proposed"), [(False, ["POST /batch"]), (True, [])])
def test_what_carries_calls_that_want_the_credential_sends_it(
    public: bool, proposed: list[str], tmp_path: Path
) -> None:
    """R-LEARN-1"""
    call = object_of(method={"enum": ["GET", "PUT", "DELETE"]}, path=TEXT, body={"type": "object"})
    calls = object_of(requests=list_of(call))
    body = {"requestBody": body_of(calls)}
    key = {"security": [{"key": []}]}
    document = api(
        {
            "GET /boards": answering(BOARD, **key),
            "POST /batch": answering(calls, **body, security=[]),
            "POST /bulk": answering(calls, **body, **key),
            "POST /notes": answering(BOARD, security=[]),
        },
        servers=[{"url": "https://boards.example"}],
        components={"securitySchemes": {"key": {"type": "http", "scheme": "basic"}}},
    )
    package = generate(tmp_path, document).package
    security = ["key", *([{}] if public else [])]
    seen = Observation("GET /boards", Fact.CREDENTIAL, "HTTP 401 without it", {"security": security}, settled=True)
    carriers = list(of_carriers(Adapter.load(package), Table(package), [seen]))
    assert [each.key for each in carriers] == proposed
    assert all(each.override == {"security": ["key"]} for each in carriers)
