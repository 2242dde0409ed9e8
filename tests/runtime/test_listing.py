"""`where`, `order_by` and `aggregate` over the pages of a list, and over lists that the API gives whole (R-SEL-4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_paging import COUNTED, MANY, STYLES, Client, Listing, by_offset, things

from aqlgen.runtime.calls.aggregates import read_aggregate
from aqlgen.runtime.envelope import Envelope
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.exact_json import read_float, write_json
from aqlgen.runtime.paging.listing import read_query
from aqlgen.runtime.wire import ApiRequest
from tests.cases import each

pytestmark = pytest.mark.anyio

ASKED = {
    "where": {"in": "adapter", "schema": {"$ref": "#/types/WhereCondition"}},
    "order_by": {"in": "adapter", "schema": {"type": "string"}},
    "aggregate": {"in": "adapter", "schema": {"$ref": "#/types/AggregateRequest"}},
}


def client(folder: Path, style: str = "offset") -> Client:
    answer, pagination, schema, more = STYLES[style]
    parameters: dict[str, Any] = {**more.get("parameters", {}), **ASKED}
    return Client(folder / "p", Listing(answer), pagination, schema, **{**more, "parameters": parameters})


def codes(answer: Envelope) -> list[str]:
    return [warning["code"] for warning in answer.get("warnings", ())]


# Filters


@pytest.mark.parametrize(
    "style", ["page", "offset with a total", "token", "cursor of the last item", "Link header", "next URL"]
)
async def test_items_that_match_come_once_and_in_order(tmp_path: Path, style: str) -> None:
    where = {"full_name": {"contains": "9"}}
    ids = await client(tmp_path, style).walk(7, where=where)
    assert ids == [number for number in range(1, MANY + 1) if "9" in str(number)]


async def test_a_search_that_finds_little_stops_at_its_bound_and_leads_on(tmp_path: Path) -> None:
    listing = client(tmp_path, "offset, fewer given than asked")
    answer = await listing.call(where={"id": 950})
    assert answer["data"]["items"] == []
    assert answer["data"]["pageInfo"]["hasNextPage"]
    assert codes(answer) == ["VALIDATION_LIST_BOUND_WARNING"]
    assert len(listing.api.sent) == 10
    assert await listing.walk(5, where={"id": 950}) == [950]


async def test_a_search_that_reaches_the_end_has_no_warning(tmp_path: Path) -> None:
    answer = await client(tmp_path, "offset with a total").call(where={"id": {"gt": 998}})
    assert [item["id"] for item in answer["data"]["items"]] == [999, 1000]
    assert "warnings" not in answer
    assert not answer["data"]["pageInfo"]["hasNextPage"]


async def test_a_cut_page_of_matches_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    def answer(query: dict[str, str], request: ApiRequest) -> Any:
        return [{**item, "text": "word " * 50} for item in by_offset(query, request)]

    api = Listing(answer)
    listing = Client(tmp_path / "p", api, COUNTED, parameters=ASKED, max_answer_tokens=500)
    odd = {"id": {"in": list(range(1, 200, 2))}}
    assert await listing.walk(100, where=odd) == list(range(1, 200, 2))


async def test_a_field_that_no_item_has_is_named(tmp_path: Path) -> None:
    answer = await client(tmp_path).call(where={"state": "open"}, first=5)
    assert "VALIDATION_UNKNOWN_FIELD_WARNING" in codes(answer)
    for options in (
        {"where": {"fullNam": {"ne": "x"}}},
        {"aggregate": {"group_by": "fullNam"}},
        {"fields": ["fullNam"]},
    ):
        answer = await client(tmp_path / "r").call(first=5, **options)
        warning = next(warning for warning in answer["warnings"] if "UNKNOWN_FIELD" in warning["code"])
        assert "'fullNam' (did you mean 'full_name'?)" in warning["message"], options
    answer = await client(tmp_path / "q").call(aggregate={"sum": "amount"})
    assert "VALIDATION_UNKNOWN_FIELD_WARNING" in codes(answer)


async def test_the_apis_spelling_of_a_field_is_no_unknown_one(tmp_path: Path) -> None:
    answer = await client(tmp_path).call(first=5, fields=["fullName"])
    assert answer["data"]["items"][0].keys() == {"full_name"}
    assert "warnings" not in answer


@each(
    "name, value, kind",
    [("where", "state = open", "object"), ("aggregate", "count", "object"), ("fields", "full_name", "array")],
)
async def test_a_parameter_of_ours_in_another_form_is_named_with_its_form(
    tmp_path: Path, name: str, value: str, kind: str
) -> None:
    error = (await client(tmp_path).call(first=5, **{name: value}))["error"]
    assert error["message"].startswith(f"Parameter '{name}' expected '{kind}', got 'string'")
    assert "owner" not in error["details"]


@each(
    "step, done",
    [
        ({"where": {"full_name": None}}, True),
        ({"where": {"fullNam": None}}, False),
        ({"params": {"where": {"full_name": None}}}, True),
        ({"params": {"where": {"fullNam": {"ne": "x"}}}}, False),
        ({"params": {"aggregate": {"sum": "sze"}}}, False),
        ({"params": {"fields": ["fullNam", "id"]}}, True),
    ],
)
async def test_a_plan_halts_at_an_unknown_field_unless_the_document_declares_it(
    tmp_path: Path, step: Any, done: bool
) -> None:
    """R-STEP-1: an API may leave out what is null; what filters a list at the adapter is the same to a plan."""
    listing = client(tmp_path)
    listing.api.answer = lambda *_: [{"id": 1}, {"id": 2}]
    steps = [{"operation": "list_things", **step}]
    answer = await listing.dispatcher.handle(None, {"operation": "run_steps", "params": {"steps": steps}})
    assert answer["success"] is done, answer
    if not done:
        assert "No item has the field" in answer["error"]["message"]


@pytest.mark.parametrize(
    "params",
    [
        {"where": {"id": {"like": 5}}},
        {"where": {}},
        {"where": "id > 5"},
        {"aggregate": {}},
        {"aggregate": {"total": {"median": "id"}}},
        {"aggregate": {"count": False}},
        {"aggregate": {"total": {"sum": 5}}},
        {"last": 5, "where": {"id": 5}},
        {"where": {"id": {"startswith": 5}}},
        {"order_by": "-"},
        {"order_by": "a..b"},
        {"order_by": "id", "aggregate": {"count": True}},
        {"order_by": "id", "last": 5},
    ],
    ids=str,
)
async def test_what_cannot_be_read_is_refused_before_anything_is_sent(tmp_path: Path, params: Any) -> None:
    listing = client(tmp_path, "offset with a total")
    answer = await listing.call(**params)
    assert answer["error"]["code"].startswith("VALIDATION_")
    assert listing.api.sent == []


async def test_a_text_in_place_of_the_list_is_not_counted(tmp_path: Path) -> None:
    listing = client(tmp_path)
    listing.api.answer = lambda *_: "the service is down"
    for question in ({"where": {"id": 1}}, {"aggregate": {"count": True}}):
        answer = await listing.call(**question)
        assert "not a list" in answer["error"]["message"]


# Order


@pytest.mark.parametrize("style", ["page", "offset with a total", "Link header"])
async def test_the_first_of_an_order_are_those_of_all_pages(tmp_path: Path, style: str) -> None:
    """R-SEL-4: not those of the page that the API gives first."""
    listing = client(tmp_path, style)
    assert await listing.walk(7, order_by="-id", where={"id": {"lte": 40}}) == list(range(40, 0, -1))
    answer = await listing.call(first=3, order_by="full_name")
    assert [item["id"] for item in answer["data"]["items"]] == [1, 10, 100]


async def test_an_order_of_a_part_of_a_list_says_so(tmp_path: Path) -> None:
    listing = client(tmp_path, "offset, fewer given than asked")
    answer = await listing.call(first=1, order_by="-id")
    assert answer["data"]["items"][0]["id"] < MANY
    assert [(each["code"], each["severity"]) for each in answer["warnings"]] == [
        ("VALIDATION_LIST_BOUND_WARNING", "high")
    ]
    assert "totalCount" not in answer["data"]["pageInfo"]


async def test_the_cursor_of_a_question_belongs_to_that_question(tmp_path: Path) -> None:
    """Of matches, no cursor leads back: the page before them is one of the API's."""
    listing = client(tmp_path, "offset with a total")
    page = (await listing.call(first=2, where={"id": {"gt": 3}}))["data"]["pageInfo"]
    assert page.keys() == {"hasNextPage", "hasPreviousPage", "endCursor"}
    for other in ({}, {"where": {"id": {"gt": 4}}}, {"where": {"id": 3}, "aggregate": {"count": True}}):
        answer = await listing.call(first=2, after=page["endCursor"], **other)
        assert answer["error"]["details"]["param_name"] == "after", other
    page = (await listing.call(first=2, order_by="-id"))["data"]["pageInfo"]
    cursor = page["endCursor"]
    assert page["totalCount"] == MANY
    for other in ({}, {"order_by": "id"}, {"order_by": "-id", "where": {"id": 3}}):
        answer = await listing.call(first=2, after=cursor, **other)
        assert answer["error"]["details"]["param_name"] == "after", other


async def test_an_order_by_a_field_that_no_item_has_names_the_nearest(tmp_path: Path) -> None:
    answer = await client(tmp_path).call(order_by="-fullNam", first=1)
    assert "'fullNam' (did you mean 'full_name'?)" in str(answer["warnings"])


def ordered(order_by: str, items: list[Any], **more: Any) -> list[Any]:
    return [item["id"] for item in read_query({"order_by": order_by, **more}).over(items)]


def test_what_has_no_value_comes_last_and_equals_stay_in_their_order() -> None:
    items = [{"id": 1}, {"id": 2, "n": "10"}, {"id": 3, "n": 9}, {"id": 4, "n": None}, {"id": 5, "n": 10}]
    assert ordered("n", items) == [3, 2, 5, 1, 4]
    assert ordered("-n", items) == [2, 5, 3, 1, 4]
    times = [{"id": 1, "at": "2026-01-01T10:00:00+02:00"}, {"id": 2, "at": "2026-01-01T09:00:00Z"}]
    assert ordered("-at", times, first=1) == [2]


# Aggregates


async def test_numbers_come_instead_of_items(tmp_path: Path) -> None:
    numbers = {"total": {"count": True}, "ids": {"sum": "id", "avg": "id", "min": "id", "max": "id"}}
    answer = await client(tmp_path).call(aggregate=numbers)
    assert answer["data"] == {
        "aggregations": {"total": 1000, "ids": {"sum": 500_500, "avg": 500.5, "min": 1, "max": 1000}}
    }


async def test_numbers_are_of_the_items_that_match(tmp_path: Path) -> None:
    answer = await client(tmp_path, "token").call(where={"id": {"lte": 100}}, aggregate={"count": True})
    assert answer["data"] == {"aggregations": {"result": 100}}
    assert codes(answer) == ["VALIDATION_LIST_BOUND_WARNING"]
    assert "first 250 items" in answer["warnings"][0]["message"]


async def test_a_stated_total_needs_one_page(tmp_path: Path) -> None:
    listing = client(tmp_path, "offset with a total")
    answer = await listing.call(aggregate={"all": {"count": True}})
    assert answer["data"] == {"aggregations": {"all": MANY}}
    assert len(listing.api.sent) == 1
    assert "warnings" not in answer


@pytest.mark.parametrize(("name", "value"), [("where", {"id": 1}), ("order_by", "id"), ("aggregate", {"count": True})])
async def test_a_question_about_a_list_does_not_go_with_the_pages_of_the_api(
    tmp_path: Path, name: str, value: Any
) -> None:
    listing = client(tmp_path, "offset with a total")
    error = (await listing.call(**{name: value}, offset=5))["error"]
    assert error["message"].startswith(f"Cannot use '{name}' and 'offset' together.")
    assert error["details"]["provided"] == [name, "offset"]


def results(request: Any, items: list[Any]) -> Any:
    aggregates = read_aggregate(request)
    aggregates.add(items)
    return aggregates.results()


SALES = [
    {"state": "paid", "amount": "10.10", "tags": ["a", "b"], "at": "2026-01-02"},
    {"state": "paid", "amount": 20.2, "tags": ["b"], "at": "2026-03-02"},
    {"state": "open", "amount": None, "tags": [], "at": "2026-02-02"},
    {"amount": 5, "buyer": {"age": 7}},
]


@each(
    ("request_", "wanted"),
    [
        ({"count": True}, {"result": 4}),
        ({"group_by": "state"}, {"result": {"paid": 2, "open": 1, "null": 1}}),
        ({"by": {"group_by": "tags", "count": True}}, {"by": {"b": 2, "null": 2, "a": 1}}),
        ({"by": {"group_by": "state", "sum": "amount"}}, {"by": {"paid": 30.3, "open": None, "null": 5}}),
        (
            {"by": {"group_by": "state", "count": True, "max": "at"}},
            {
                "by": {
                    "paid": {"count": 2, "max": "2026-03-02"},
                    "open": {"count": 1, "max": "2026-02-02"},
                    "null": {"count": 1, "max": None},
                }
            },
        ),
        ({"sum": "buyer.age", "avg": "amount"}, {"result": {"sum": 7, "avg": pytest.approx(35.3 / 3)}}),
        ({"count": {"count": True}, "n": "count"}, {"count": 4, "n": 4}),
    ],
    ids=str,
)
def test_aggregates_are_computed(request_: Any, wanted: Any) -> None:
    assert results(request_, SALES) == wanted


@each(
    ("values", "total"),
    [
        (["1e400", 2], "2"),
        (["9e999999", "9e999999"], "null"),
        ([1e308, 1e308], "2E+308"),
        ([read_float("1e400")], "null"),
    ],
    ids=str,
)
def test_a_sum_is_a_number_of_json(values: list[Any], total: str) -> None:
    assert write_json(results({"sum": "x"}, [{"x": value} for value in values])) == f'{{"result":{total}}}'


def test_groups_are_bounded_and_those_beyond_are_together() -> None:
    groups = results({"group_by": "id"}, things(1000))["result"]
    assert len(groups) == 201
    assert groups["(other)"] == 800


def test_a_request_of_very_many_results_is_refused() -> None:
    with pytest.raises(Failure):
        read_aggregate({f"r{number}": {"count": True} for number in range(21)})
