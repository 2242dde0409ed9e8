"""The stand-in for the API, and the sample of operations that are called."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from aqlgen.check.listing import NUMBER, PagedList
from aqlgen.check.opaque import Names
from aqlgen.check.operations import Operation, operations_of, sampled
from aqlgen.check.stand_in import Arrived, Reply, StandIn, serve
from aqlgen.runtime.table import Row
from tests.generator.commands import api as document
from tests.generator.commands import generate


def asked(method: str, path: str, body: Any = None, query: str = "", **headers: str) -> Arrived:
    pairs = tuple(tuple(pair.split("=", 1)) for pair in query.split("&") if pair)
    content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    return Arrived(method, path, pairs, {name.replace("_", "-"): value for name, value in headers.items()}, content)  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def api(project: Path) -> StandIn:
    return StandIn(project / "src" / "workshop_adapter")


@pytest.fixture
def operations(api: StandIn) -> Mapping[str, Operation]:
    api.forget()
    return {operation.name: operation for operation in operations_of(api.table)}


def test_paths_that_a_fragment_tells_apart_are_those_of_the_operation_at_work(tmp_path: Path) -> None:
    update = {"requestBody": {"content": {"application/json": {"schema": {"properties": {"name": {}}}}}}}
    paths = {f"/files/{{id}}{end}": {"put": {"operationId": name, **update}} for name, end in
             (("openFile", "#open"), ("lockFile", "#lock"))}  # fmt: skip
    folder = generate(tmp_path, document(paths)).folder
    api = StandIn(next((folder / "src").iterdir()))
    for name in ("open_file", "lock_file"):
        assert api.row_of("PUT", "/files/7", wanted=(name,)).name == name  # type: ignore[union-attr]


def row(operations: Mapping[str, Operation], name: str) -> Row:
    return operations[name].row


def test_it_answers_by_the_document(api: StandIn) -> None:
    assert json.loads(api.answer(asked("GET", "/bikes/7")).body)["frameNumber"] == "F-1"


def test_it_takes_the_most_literal_path_and_has_nothing_elsewhere(api: StandIn) -> None:
    assert api.row_of("GET", "/bikes").name == "list_bikes"  # type: ignore[union-attr]
    assert api.row_of("GET", "/bikes/7").name == "get_bike"  # type: ignore[union-attr]
    assert api.answer(asked("GET", "/bikes/7/wheels")).status == 404


def test_it_misbehaves_for_as_long_as_it_is_told_to(api: StandIn) -> None:
    with api.behaving(Reply.of(503, {})):
        assert api.answer(asked("GET", "/bikes/7")).status == 503
    with api.behaving(lambda request: Reply.of(418, {}) if request.method == "PUT" else None):
        assert api.answer(asked("GET", "/bikes/7")).status == 200
    assert api.answer(asked("PUT", "/bikes/7", {})).status == 200


def test_it_serves_below_a_prefix_and_records_what_arrives(api: StandIn) -> None:
    api.forget()
    with serve(api, "/v2") as base:
        connection = http.client.HTTPConnection(urlsplit(base).netloc)
        connection.request("GET", "/v2/bikes/7?a=1&a=2", headers={"X-Trace": "t"})
        response = connection.getresponse()
        assert response.status == 200
        assert json.loads(response.read())["id"] == 7
        connection.close()
    (request,) = api.arrived
    assert (request.method, request.path, request.query) == ("GET", "/bikes/7", (("a", "1"), ("a", "2")))
    assert request.headers["x-trace"] == "t"


@pytest.mark.parametrize(
    ("name", "path", "parameter"), [("list_bikes", "/bikes", "page"), ("list_parts", "/parts", "cursor")]
)
def test_a_list_is_paged_as_its_operation_says(
    api: StandIn, operations: Mapping[str, Operation], name: str, path: str, parameter: str
) -> None:
    listed = row(operations, name)
    assert listed.paging is not None
    pages = PagedList(listed, listed.paging, api.data_of(listed), [{}] * 7)
    items = (listed.paging.items or "").strip("/")
    first = json.loads(pages.reply(asked("GET", path)).body)
    following = first["nextCursor"] if parameter == "cursor" else 2
    second = json.loads(pages.reply(asked("GET", path, query=f"{parameter}={following}")).body)
    assert [item[NUMBER] for item in first[items] + second[items]] == [*range(7)]
    if parameter == "cursor":
        assert second["nextCursor"] is None
    else:
        assert first["total"] == 7


def test_a_sample_is_spread_over_the_families(operations: Mapping[str, Operation]) -> None:
    chosen = sampled(list(operations.values()), 12)
    families = {operation.family for operation in operations.values()}
    assert {operation.family for operation in chosen} == families
    assert len(chosen) < len(operations)
    assert sampled(list(operations.values()), 0) == list(operations.values())


def test_sessions_that_are_recorded_on_a_day_pass_on_later_days() -> None:
    tomorrow = f"{datetime.now(UTC) + timedelta(days=1):%Y-%m-%dT00:00:00Z}"
    for is_moving, name in ((False, "<tomorrow>"), (True, "0")):
        assert Names(is_moving).named({"next_reset": tomorrow}) == {"next_reset": name}
    assert Names(is_moving=False).named(["2020-01-01T00:00:00Z"]) == ["2020-01-01T00:00:00Z"]
