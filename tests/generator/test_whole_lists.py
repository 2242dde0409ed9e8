"""Lists are whole only on evidence: what an API shows of further items is said, or followed, whatever it is called."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.cases import each
from tests.documents import INTEGER, TEXT, list_of, object_of, parameter, replies
from tests.generator.commands import api, tabulate
from tests.in_process import StandIn, dispatcher_of, query_of

MANY, PAGE = 15, 5
THINGS = [{"id": number, "name": f"thing {number}"} for number in range(MANY)]
LIST = list_of(object_of(id=INTEGER, name=TEXT))
PARTIAL = "VALIDATION_PARTIAL_LIST_WARNING"
Answer = tuple[Any, Mapping[str, str]]


def held(**beside: Any) -> dict[str, Any]:
    return {"things": THINGS[:PAGE], **beside}


def envelope(**beside: Any) -> dict[str, Any]:
    kinds = {bool: "boolean", int: "integer", str: "string", dict: "object"}
    fields = {name: {"type": kinds[type(value)]} for name, value in beside.items()}
    return object_of(things=LIST, **fields)


def calls(
    folder: Path,
    give: Callable[[Mapping[str, str]], Answer],
    *,
    schema: Any = LIST,
    parameters: Any = (),
    headers: tuple[str, ...] = (),
    overrides: str = "",
) -> Callable[..., Any]:
    """Generate an adapter for `GET /things`, and return how its only operation is called."""
    operation = {"parameters": list(parameters), "responses": replies(schema, "200", *headers)}
    table = tabulate(folder, api({"GET /things": operation}), overrides=overrides)
    dispatcher = dispatcher_of(table.write(folder / "package"), StandIn(lambda request: give(query_of(request))))
    (name,) = table.rows

    def call(**params: Any) -> Any:
        return asyncio.run(dispatcher.handle("read", {"operation": name, "params": params}))

    return call


def query(name: str, kind: str = "integer", **more: Any) -> dict[str, Any]:
    return parameter(name, schema={"type": kind, **more})


NEXT = "/things?page=2"
OFFSET = [query("limit", default=10), query("offset")]


@each(
    "body, headers, parameters, sign",
    [
        (THINGS[:PAGE], {"next-page": "2"}, [], "next-page"),
        (THINGS[:PAGE], {"x-whatever": f"https://api.example.com{NEXT}"}, [], "x-whatever"),
        (THINGS[:PAGE], {"link": f'<{NEXT}>; rel="next"'}, [], "link next"),
        (THINGS[:PAGE], {"x-pagination": '{"TotalCount": 15, "Page": 1}'}, [], "x-pagination.TotalCount"),
        (THINGS[:PAGE], {"x-total": "15"}, [], "x-total"),
        (THINGS[:PAGE], {"content-range": "things 0-4/15"}, [], "content-range total"),
        (held(total=MANY), {}, [], "total"),
        (held(matching=MANY), {}, [], "matching"),
        (held(limit=PAGE), {}, [], "limit"),
        (held(token="b2Zmc2V0"), {}, [], "token"),
        (held(meta={"next": NEXT}), {}, [], "meta.next"),
        (held(has_more=True), {}, [], "has_more"),
        (THINGS[:PAGE], {}, [query("limit", default=PAGE)], "parameter limit"),
        (THINGS[:PAGE], {}, [query("page_size")], "parameter page_size"),
    ],
)
def test_a_list_with_a_sign_of_more_says_that_it_may_not_be_whole(
    tmp_path: Path, body: Any, headers: Mapping[str, str], parameters: Any, sign: str
) -> None:
    """R-SEL-3, R-SEL-4: nothing in the document says how the API pages."""
    beside = {name: value for name, value in body.items() if name != "things"} if isinstance(body, dict) else {}
    schema = envelope() if isinstance(body, dict) else LIST
    call = calls(tmp_path, lambda _: (body, headers), schema=schema, parameters=parameters)
    for params in ({}, {"where": {"id": {"gte": 0}}}, {"aggregate": {"count": True}}):
        answer = call(**params)
        warning = next(warning for warning in answer["warnings"] if warning["code"] == PARTIAL)
        assert sign in warning["details"]["signs"], beside
        assert warning["severity"] == ("high" if params else "medium")
        assert answer["_meta"]["complete"] == "unknown"


@each(
    "body, headers, parameters",
    [
        (THINGS, {}, []),
        (
            THINGS,
            {
                "content-length": "900",
                "x-ratelimit-limit": "5000",
                "x-request-id": "123456",
                "x-runtime": "35",
                "x-total-count": "15",
                "x-next-page": "",
                "link": '</things?page=1>; rel="first"',
                "prev-page": "/things?page=1",
                "x-nextjs-cache": "HIT",
                "x-csrf-token": "abc",
                "etag": '"33"',
                "age": "300",
                "x-total": "²",
                "x-count": "9" * 5000,
                "content-range": "things */" + "9" * 5000,
            },
            [],
        ),
        ({"things": THINGS, "total": MANY, "limit": MANY}, {}, []),
        ({"things": THINGS, "limit": 100, "next": None, "has_more": False, "token": ""}, {}, []),
        ({"things": THINGS, "code": 200, "took": 35, "page": 1, "pages": 1, "version": 77}, {}, []),
        ({"things": [], "total": 0, "page": 1}, {}, []),
        (THINGS, {}, [query("limit", default=100), query("color", "string")]),
    ],
)
def test_an_ordinary_list_says_nothing_more(
    tmp_path: Path, body: Any, headers: Mapping[str, str], parameters: Any
) -> None:
    """R-SEL-3"""
    schema = envelope() if isinstance(body, dict) else LIST
    call = calls(tmp_path, lambda _: (body, headers), schema=schema, parameters=parameters)
    for params in ({}, {"where": {"id": {"gte": 0}}}, {"aggregate": {"count": True}}):
        answer = call(**params)
        assert "warnings" not in answer, answer["warnings"]
        assert "_meta" not in answer


def test_a_page_that_is_the_last_by_counting_alone_is_doubted_where_the_api_counts_more(tmp_path: Path) -> None:
    """R-SEL-3: the API gives fewer items than were asked for, and its total stands in a header."""
    parameters = [query("page"), query("per_page", maximum=100)]
    call = calls(tmp_path, lambda _: (THINGS[:4], {"x-total": "15"}), parameters=parameters)
    answer = call(first=10)
    assert not answer["data"]["pageInfo"]["hasNextPage"]
    assert [warning["code"] for warning in answer["warnings"]] == [PARTIAL]
    counted = call(aggregate={"count": True})
    assert counted["_meta"]["complete"] == "unknown"


def by_number(asked: Mapping[str, str], header: str, value: Callable[[int], str]) -> Answer:
    """Answer a page, and name the next one in a header."""
    begin = int(asked.get("page", asked.get("cursor", "0").lstrip("c"))) * PAGE
    more = begin + PAGE < MANY
    return THINGS[begin : begin + PAGE], {header: value(begin // PAGE + 1)} if more else {}


WAYS: list[tuple[str, Any, Callable[[int], str]]] = [
    ("X-Next-Page", [query("page", default=0)], str),
    ("X-Vendor-NextToken", [query("cursor", "string")], "c{}".format),
    ("Next-Page", [], "/things?page={}".format),
    ("X-Next-Url", [], "https://api.example.com/things?page={}".format),
    ("Continuation", [query("cursor", "string"), query("limit")], "/things?page={}".format),
]


@each("header, parameters, value", WAYS)
def test_a_declared_header_that_names_the_next_page_is_followed(
    tmp_path: Path, header: str, parameters: Any, value: Callable[[int], str]
) -> None:
    """R-SEL-3: by number, token or address."""
    give = partial(by_number, header=header.lower(), value=value)
    call = calls(tmp_path, give, parameters=parameters, headers=(header,))
    assert call(aggregate={"count": True})["data"] == {"aggregations": {"result": MANY}}


@each(
    "pagination, parameters, value",
    [
        ("{style: next_url, items: '', next: X-Further, next_in: header}", [], "/things?page={}".format),
        (
            "{style: page, items: '', page_param: page, next: X-Further, next_in: header}",
            [query("page", default=0)],
            str,
        ),
        (
            "{style: cursor, items: '', cursor_param: cursor, next: X-Further, next_in: header}",
            [query("cursor", "string")],
            "c{}".format,
        ),
    ],
)
def test_the_owner_can_name_a_header_that_nothing_declares(
    tmp_path: Path, pagination: str, parameters: Any, value: Callable[[int], str]
) -> None:
    """R-SEL-3"""
    overrides = f"GET /things: {{pagination: {pagination}}}\n"
    give = partial(by_number, header="x-further", value=value)
    call = calls(tmp_path, give, parameters=parameters, overrides=overrides)
    answer = call(aggregate={"count": True})
    assert answer["data"] == {"aggregations": {"result": MANY}}
    assert "warnings" not in answer


def test_a_count_of_the_page_is_not_the_count_of_the_list(tmp_path: Path) -> None:
    """R-SEL-4: what leads on is better evidence than the name of a number."""

    def give(asked: Mapping[str, str]) -> Answer:
        begin = int(asked.get("cursor", "0"))
        end = begin + PAGE
        return {"things": THINGS[begin:end], "count": PAGE, "next_cursor": str(end) if end < MANY else None}, {}

    schema = envelope(count=1, next_cursor="")
    call = calls(tmp_path, give, schema=schema, parameters=[query("cursor", "string")])
    assert "totalCount" not in call()["data"]["pageInfo"]
    assert call(aggregate={"count": True})["data"] == {"aggregations": {"result": MANY}}


def test_a_table_in_columns_is_an_object_and_counted_by_nobody(tmp_path: Path) -> None:
    """R-SEL-3: one column would stand for the rows."""
    columns = {"ids": ["a", "b", "c"], "documents": None, "metadatas": [{"x": 1}, {"x": 2}, {"x": 3}]}
    metadata = list_of({"type": "object", "additionalProperties": True})
    schema = object_of(ids=list_of(TEXT), documents=list_of(TEXT), metadatas=metadata)
    call = calls(tmp_path, lambda _: (columns, {}), schema=schema, parameters=OFFSET)
    assert call()["data"] == columns
    assert not call(aggregate={"count": True})["success"]


def test_a_list_that_is_missing_where_others_are_is_not_counted_as_empty(tmp_path: Path) -> None:
    """R-SEL-3"""
    call = calls(tmp_path, lambda _: ({"objects": THINGS}, {}), schema=envelope(total=1), parameters=OFFSET)
    assert "objects" in str(call(aggregate={"count": True})["warnings"])


@each("body", [THINGS, {"things": THINGS}])
def test_a_whole_list_gives_its_first_items_in_order(tmp_path: Path, body: Any) -> None:
    """R-SEL-4: the API gives all of them, in an order of its own."""
    call = calls(tmp_path, lambda _: (body, {}), schema=envelope() if isinstance(body, dict) else LIST)
    answer = call(order_by="-id", first=2, where={"id": {"lt": 9}})
    items = answer["data"]["things"] if isinstance(body, dict) else answer["data"]
    assert [item["id"] for item in items] == [8, 7]
    assert (answer["_meta"]["complete"], answer["_meta"]["totalCount"]) == (False, 9)
    assert "_meta" not in call(first=len(THINGS))


def test_a_list_that_was_cut_says_so_in_a_batch_and_in_a_plan(tmp_path: Path) -> None:
    """R-SEL-4, R-BAT-1, R-STEP-1: each result has its own `_meta`; a plan, which has one, has a warning."""
    table = tabulate(tmp_path, api({"GET /things": {"responses": replies(LIST)}}))
    dispatcher = dispatcher_of(table.write(tmp_path / "package"), StandIn(lambda _: THINGS))
    (name,), choices = table.rows, ({"first": 2}, {}, {"first": 3, "where": {"id": {"lt": 9}}})
    calls = [{"operation": name, "params": params} for params in choices]
    batch = asyncio.run(dispatcher.handle(None, {"operations": calls}))
    notes = [entry["result"].get("_meta") for entry in batch["results"]]
    assert notes == [{"complete": False, "totalCount": len(THINGS)}, None, {"complete": False, "totalCount": 9}]
    assert batch["_meta"].keys() == {"request_id", "duration_ms"}
    plan = asyncio.run(dispatcher.handle(None, {"operation": "run_steps", "params": {"steps": calls[:1]}}))
    assert [warning["code"] for warning in plan["warnings"]] == ["VALIDATION_TRUNCATED_WARNING"]


def test_the_list_beside_what_its_items_refer_to_is_the_page_that_bears_its_name(tmp_path: Path) -> None:
    """R-SEL-4: side-loaded users are counted by nobody, and an aggregate over one of several lists names it."""
    topics, answers = [{"id": number, "title": "x", "user_id": 1} for number in range(7)], []
    topic = object_of(id=INTEGER, title=TEXT, user_id=INTEGER)
    page = object_of(per_page=INTEGER, tags=list_of(object_of(id=INTEGER)), topics=list_of(topic))
    for name in ("topic_list", "other"):
        (tmp_path / name).mkdir()
        body = {"users": [{"id": 1}], "groups": [], name: {"per_page": 30, "tags": [], "topics": topics}}
        schema = object_of(users=LIST, groups={"type": "array"}, **{name: page})
        call = calls(tmp_path / name, lambda _, body=body: (body, {}), schema=schema, parameters=[query("page")])
        answers.append(call(aggregate={"count": True}))
    assert answers[0]["data"] == {"aggregations": {"result": 7}}
    assert answers[0]["_meta"]["counted"] == "topic_list.topics"
    assert answers[1]["error"]["code"] == "VALIDATION_UNKNOWN_PARAM"
