"""Paging through a local API of each style, forward to the end and back (R-SEL-3)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from api.hand_made import make_package, operation

from aqlgen.runtime.dispatch.dispatcher import Parts
from aqlgen.runtime.envelope import Envelope
from aqlgen.runtime.state.custody import State, open_store
from aqlgen.runtime.table import FAMILIES
from aqlgen.runtime.wire import ApiRequest
from tests.cases import each
from tests.documents import FLAG, INTEGER, TEXT, list_of, object_of
from tests.in_process import StandIn, dispatcher_of, query_of

pytestmark = pytest.mark.anyio

MANY = 1000
ITEM = object_of(id=INTEGER, full_name={**TEXT, "x-name": "fullName"})
LIST = list_of({"$ref": "#/types/Thing"})


def things(count: int = MANY) -> list[dict[str, Any]]:
    return [{"id": number, "fullName": f"thing {number}"} for number in range(1, count + 1)]


class Listing(StandIn):
    """An API that lists; `answer` gives the body of one request, or the body and further headers."""

    def __init__(self, answer: Callable[[dict[str, str], ApiRequest], Any]) -> None:
        super().__init__(lambda request: self.answer(asked(request), request))
        self.answer = answer


def asked(request: ApiRequest) -> dict[str, Any]:
    """Return what a request says in its query and its body."""
    return query_of(request) | json.loads(request.content or b"{}")


class Client:
    """Calls `list_things` of an adapter for such an API."""

    def __init__(
        self,
        folder: Path,
        api: Listing,
        pagination: Mapping[str, Any],
        schema: Mapping[str, Any] = LIST,
        state: State | None = None,
        parameters: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        selection = {"$ref": "#/types/FieldSelection", "default": "standard"}
        listed = {
            "color": {"in": "query", "schema": TEXT},
            **(parameters or {}),
            "first": {"in": "adapter", "schema": FROM_1},
            "after": {"in": "adapter", "schema": TEXT},
            "fields": {"in": "adapter", "schema": selection},
        }
        if pagination["style"] == "offset" and "total" in pagination:
            listed |= {"last": listed["first"], "before": listed["after"]}
        more = {"parameters": listed, "pagination": {"items": "", **pagination}} | ({"body": body} if body else {})
        answers = {"200": {"content_type": "application/json", "schema": schema}}
        row = operation("POST" if body else "GET", "/things", resource="thing", verb="list", responses=answers, **more)
        counts = {"counts": dict.fromkeys(FAMILIES, 1)}
        make_package(folder, {"list_things": row, "list_others": row}, {"Thing": ITEM}, adapter=counts)
        self.api = api
        url, parts = "https://api.example/v1", Parts(state=state)
        self.dispatcher = dispatcher_of(folder, api, base_url=url, parts=parts, **settings)

    async def call(self, operation: str = "list_things", **params: Any) -> Envelope:
        return await self.dispatcher.handle("read", {"operation": operation, "params": params})

    async def page(self, **params: Any) -> dict[str, Any]:
        answer = await self.call(**params)
        assert answer["success"], answer
        data: dict[str, Any] = answer["data"]
        assert {"items", "pageInfo"} <= data.keys()
        return data

    async def walk(self, first: int = 37, **params: Any) -> list[int]:
        ids: list[int] = []
        more: dict[str, Any] = {}
        for number in range(2 * MANY):
            page = await self.page(first=first, **params, **more)
            assert len(page["items"]) <= first
            assert page["pageInfo"]["hasPreviousPage"] is (number > 0)
            ids += [item["id"] for item in page["items"]]
            if not page["pageInfo"]["hasNextPage"]:
                return ids
            more = {"after": page["pageInfo"]["endCursor"]}
        raise AssertionError("it goes on for ever")


FROM_1 = {"type": "integer", "minimum": 1}
PAGE = {"page": {"in": "query", "schema": INTEGER}, "per_page": {"in": "query", "schema": INTEGER}}
OFFSET = {"offset": {"in": "query", "schema": INTEGER}, "limit": {"in": "query", "schema": INTEGER}}
CURSOR = {"query_after": {"in": "query", "name": "after", "schema": TEXT}, "limit": OFFSET["limit"]}
TOKEN = {"page_token": {"in": "query", "name": "pageToken", "schema": TEXT}}


def enveloped(**more: Any) -> dict[str, Any]:
    return object_of(
        data=object_of(the_things={**LIST, "x-name": "theThings"}),
        next_page_token={**TEXT, "x-name": "nextPageToken"},
        total=INTEGER,
        **more,
    )


def cut(query: Mapping[str, str], start: int, size: str = "limit", most: int = 100) -> list[dict[str, Any]]:
    count = min(int(query.get(size, 30)), most)
    return things()[start : start + count]


def by_page(query: dict[str, str], _: ApiRequest) -> Any:
    count = int(query.get("per_page", 30))
    return things()[(int(query.get("page", 1)) - 1) * count :][:count]


def by_page_repeating_the_last(query: dict[str, str], _: ApiRequest) -> Any:
    count = int(query.get("per_page", 30))
    last = -(-MANY // count)
    return things()[(min(int(query.get("page", 1)), last) - 1) * count :][:count]


def by_page_with_link(query: dict[str, str], request: ApiRequest) -> Any:
    items, page = by_page(query, request), int(query.get("page", 1))
    more = page * int(query.get("per_page", 30)) < MANY
    link = f'<https://api.example/v1/things?page={page + 1}>; rel="next"' if more else ""
    return items, {"link": link}


def by_page_of_its_own_size(query: dict[str, str], _: ApiRequest) -> Any:
    return things()[(int(query.get("page", 1)) - 1) * 15 :][:15]


def by_offset(query: dict[str, str], _: ApiRequest) -> Any:
    return cut(query, int(query.get("offset", 0)))


def by_skip_from_1(query: dict[str, str], _: ApiRequest) -> Any:
    assert query.get("skip") != "0"
    return cut(query, int(query.get("skip", 0)))


def by_index_from_1(query: dict[str, str], _: ApiRequest) -> Any:
    assert query.get("startIndex") != "0"
    return cut(query, int(query.get("startIndex", 1)) - 1)


def by_offset_with_total(query: dict[str, str], _: ApiRequest) -> Any:
    return {"data": {"theThings": cut(query, int(query.get("offset", 0)))}, "total": MANY}


def by_offset_capped(query: dict[str, str], _: ApiRequest) -> Any:
    return cut(query, int(query.get("offset", 0)), most=10)


def by_token(query: dict[str, str], _: ApiRequest) -> Any:
    start = int(base64.b64decode(query.get("pageToken", "") or "MA=="))
    items = things()[start : start + 25]
    token = base64.b64encode(str(start + 25).encode()).decode() if start + 25 < MANY else ""
    return {"data": {"theThings": items}, "nextPageToken": token}


def by_token_ending_empty(query: dict[str, str], _: ApiRequest) -> Any:
    start = int(base64.b64decode(query.get("pageToken", "") or "MA=="))
    token = base64.b64encode(str(start + 25).encode()).decode() if start < MANY else None
    return {"data": {"theThings": things()[start : start + 25]}, "nextPageToken": token}


def by_token_for_ever(query: dict[str, str], _: ApiRequest) -> Any:
    """Begin anew after the end."""
    start = int(base64.b64decode(query.get("pageToken", "") or "MA=="))
    token = base64.b64encode(str((start + 25) % MANY).encode()).decode()
    return {"data": {"theThings": things()[start : start + 25]}, "nextPageToken": token}


def by_item(query: dict[str, str], _: ApiRequest) -> Any:
    items = cut(query, int(query.get("after", 0)))
    return {"data": items, "has_more": bool(items) and items[-1]["id"] < MANY}


def by_item_without_flag(query: dict[str, str], _: ApiRequest) -> Any:
    return cut(query, int(query.get("after", 0)))


def by_header(query: dict[str, str], _: ApiRequest) -> Any:
    start = int(query.get("after", 0))
    items = cut(query, start)
    return items, {"x-next-cursor": str(start + len(items)) if start + len(items) < MANY else ""}


def by_link(query: dict[str, str], _: ApiRequest) -> Any:
    start = int(query.get("from", 0))
    items = cut(query, start)
    following = f"/v1/things?from={start + len(items)}&limit={len(items)}"
    links = ['</v1/things?from=0>; title="first, and \\"best\\""; rel=first']
    links += [f'<{following}>; rel="last next"'] if start + len(items) < MANY else []
    return items, {"link": ", ".join(links)}


def by_next_url(query: dict[str, str], _: ApiRequest) -> Any:
    start = int(query.get("$skiptoken", 0))
    items = things()[start : start + 40]
    more = {"@odata.nextLink": f"http://api.example/v1/things?$skiptoken={start + 40}"} if start + 40 < MANY else {}
    return {"value": items, **more}


def by_body(query: dict[str, str], _: ApiRequest) -> Any:
    page = query.get("paging", {"offset": 0})
    assert isinstance(page, dict)
    return things()[page.get("offset", 0) :][: page.get("limit", 10)]


ITEMS = "/data/theThings"
VALUES = object_of(value=LIST, **{"@odata.nextLink": TEXT})
FLAGGED = object_of(data=LIST, has_more=FLAG)
PAGED = {"style": "page", "page_param": "page", "size_param": "per_page", "parameters": PAGE}
COUNTED = {"style": "offset", "offset_param": "offset", "size_param": "limit", "parameters": OFFSET}
SET = {"offset": {**OFFSET["offset"], "preset": 0}, "limit": {**OFFSET["limit"], "preset": 20}}
TOKENS = {"style": "token", "cursor_param": "pageToken", "next": "/nextPageToken", "items": ITEMS, "parameters": TOKEN}
CURSORS = {"style": "cursor", "cursor_param": "after", "size_param": "limit", "parameters": CURSOR}


def counted_by(name: str) -> dict[str, Any]:
    parameters = {name: {"in": "query", "schema": FROM_1}, "limit": OFFSET["limit"]}
    return {"style": "offset", "offset_param": name, "size_param": "limit", "parameters": parameters}


WHOLE = {"content_type": "application/json", "shape": "fields"}
STYLES: dict[str, tuple[Any, Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]] = {
    "page": (by_page, PAGED, LIST, {}),
    "items to skip, of which none are left out by 0": (by_skip_from_1, counted_by("skip"), LIST, {}),
    "an index from 1": (by_index_from_1, counted_by("startIndex"), LIST, {}),
    "page, the last one repeated": (by_page_repeating_the_last, PAGED, LIST, {}),
    "page, the end told by a Link header": (
        by_page_with_link, {**PAGED, "next": "Link", "next_in": "header"}, LIST, {},
    ),
    "page, of the API's own size": (
        by_page_of_its_own_size, {"style": "page", "page_param": "page", "parameters": {"page": PAGE["page"]}},
        LIST, {},
    ),
    "offset": (by_offset, COUNTED, LIST, {}),
    "offset with a total": (by_offset_with_total, {**COUNTED, "items": ITEMS, "total": "/total"}, enveloped(), {}),
    "offset, required and set to its defaults": (by_offset, {**COUNTED, "parameters": SET}, LIST, {}),
    "offset, fewer given than asked": (by_offset_capped, COUNTED, LIST, {}),
    "token": (by_token, TOKENS, enveloped(), {}),
    "token, the last page empty": (by_token_ending_empty, TOKENS, enveloped(), {}),
    "token, beginning anew at the end": (by_token_for_ever, TOKENS, enveloped(), {}),
    "cursor of the last item": (
        by_item, {**CURSORS, "items": "/data", "item_cursor": "/id", "has_more": "/has_more"}, FLAGGED, {},
    ),
    "cursor of the last item, no flag": (by_item_without_flag, {**CURSORS, "item_cursor": "/id"}, LIST, {}),
    "cursor in a header": (by_header, {**CURSORS, "next": "X-Next-Cursor", "next_in": "header"}, LIST, {}),
    "Link header": (
        by_link, {"style": "link", "next": "Link", "next_in": "header", "size_param": "limit",
         "parameters": {"limit": OFFSET["limit"]}},
        LIST, {},
    ),
    "next URL": (
        by_next_url,
        {"style": "next_url", "next": "/@odata.nextLink", "items": "/value", "parameters": {}}, VALUES, {},
    ),
    "offset in an object of the body": (
        by_body,
        {"style": "offset", "in": "body", "within": "/paging", "offset_param": "offset", "size_param": "limit",
         "parameters": {}},
        LIST,
        {"parameters": {"paging": {"in": "body", "schema": {"type": "object"}}}, "body": WHOLE},
    ),
}  # fmt: skip


@each("style", STYLES)
@each("first", [37, 100])
async def test_every_item_is_given_once(tmp_path: Path, style: str, first: int) -> None:
    answer, pagination, schema, more = STYLES[style]
    client = Client(tmp_path / "p", Listing(answer), pagination, schema, **more)
    assert await client.walk(first) == list(range(1, MANY + 1))


async def test_items_have_the_agents_names_and_the_envelope_goes(tmp_path: Path) -> None:
    client = Client(tmp_path / "p", Listing(by_offset_with_total), STYLES["offset with a total"][1], enveloped())
    data = await client.page(first=2)
    assert data["items"] == [{"id": 1, "full_name": "thing 1"}, {"id": 2, "full_name": "thing 2"}]
    info = data.pop("pageInfo")
    assert set(data) == {"items"}
    assert info.items() >= {"hasNextPage": True, "hasPreviousPage": False, "totalCount": MANY}.items()
    assert set(info) == {"hasNextPage", "hasPreviousPage", "totalCount", "startCursor", "endCursor"}


async def test_what_stands_beside_the_list_stays(tmp_path: Path) -> None:
    api = Listing(lambda *_: {"data": things(2), "has_more": False, "status": "fresh", "limit": 20})
    client = Client(tmp_path / "p", api, {**CURSORS, "items": "/data", "has_more": "/has_more"}, FLAGGED)
    data = await client.page()
    assert data["status"] == "fresh"
    assert "limit" not in data


async def test_a_page_is_the_apis_own_unless_told_otherwise_and_holds_100_at_most(tmp_path: Path) -> None:
    client = Client(tmp_path / "p", Listing(by_offset), COUNTED)
    assert len((await client.page())["items"]) == 30
    assert "limit" not in client.api.sent[0].url
    assert len((await client.page(first=500))["items"]) == 100
    less = Client(tmp_path / "q", Listing(by_offset), {**COUNTED, "size_max": 15})
    assert len((await less.page())["items"]) == 15
    assert len((await less.page(first=50))["items"]) == 15


async def test_pages_of_the_apis_own_size_lead_on_without_a_gap(tmp_path: Path) -> None:
    """R-SEL-3: a list begun without `first` is continued where it was left, by page and by offset."""
    for name, answer, pagination in (("p", by_page, PAGED), ("q", by_offset, COUNTED)):
        client = Client(tmp_path / name, Listing(answer), pagination)
        page, ids = await client.page(), []
        for size in ({"first": 50}, {"first": 7}, {}, {"first": 1}):
            ids += [item["id"] for item in page["items"]]
            page = await client.page(**size, after=page["pageInfo"]["endCursor"])
        assert ids == list(range(1, len(ids) + 1))
        assert len(ids) > 60


async def test_the_size_of_pages_may_change_on_the_way(tmp_path: Path) -> None:
    client = Client(tmp_path / "p", Listing(by_page), PAGED)
    ids, more, sizes = [], {}, [3, 50, 7, 100, 1]
    for number in range(3 * MANY):
        page = await client.page(first=sizes[number % 5], **more)
        ids += [item["id"] for item in page["items"]]
        if not page["pageInfo"]["hasNextPage"]:
            break
        more = {"after": page["pageInfo"]["endCursor"]}
    assert ids == list(range(1, MANY + 1))


@pytest.mark.parametrize("token", ["\u00b2", "9" * 5000, "b"])
async def test_a_token_that_is_not_the_declared_number_is_sent_as_it_is(tmp_path: Path, token: str) -> None:
    sent: list[str] = []

    def answer(query: dict[str, str], _: ApiRequest) -> Any:
        sent.append(query.get("pageToken", ""))
        return {"data": {"theThings": things()[:5]}, "nextPageToken": token}

    parameters = {"page_token": {**TOKEN["page_token"], "schema": INTEGER}}
    client = Client(tmp_path / "p", Listing(answer), {**TOKENS, "parameters": parameters}, enveloped())
    page = await client.page(first=5)
    await client.page(first=5, after=page["pageInfo"]["endCursor"])
    assert sent == ["", token]


async def test_an_empty_list_has_no_cursors(tmp_path: Path) -> None:
    client = Client(tmp_path / "p", Listing(lambda *_: []), PAGED)
    assert await client.page() == {"items": [], "pageInfo": {"hasNextPage": False, "hasPreviousPage": False}}


async def test_a_list_counted_by_offset_is_paged_backwards_too(tmp_path: Path) -> None:
    client = Client(tmp_path / "p", Listing(by_offset_with_total), STYLES["offset with a total"][1], enveloped())
    ids: list[int] = []
    more: dict[str, Any] = {}
    while True:
        page = await client.page(last=70, **more)
        assert page["pageInfo"]["hasNextPage"] is bool(more)
        ids = [item["id"] for item in page["items"]] + ids
        if not page["pageInfo"]["hasPreviousPage"]:
            break
        more = {"before": page["pageInfo"]["startCursor"]}
    assert ids == list(range(1, MANY + 1))


@each(("count", "total"), [(1, None), (2, None), (2, 2), (2, 0), (3, 3), (3, None), (MANY, None), (MANY, 2)])
async def test_the_last_items_are_those_of_the_whole_list_or_none(
    tmp_path: Path, count: int, total: int | None
) -> None:
    def answer(query: dict[str, str], _: ApiRequest) -> Any:
        start = int(query.get("offset", 0))
        return {"data": {"theThings": things(count)[start : start + int(query["limit"])]}, "total": total}

    client = Client(tmp_path / "p", Listing(answer), STYLES["offset with a total"][1], enveloped())
    if count > 2 and total != count:
        answered = await client.call(last=1)
        assert "Use 'first' and 'after'" in answered["error"]["message"]
    else:
        assert [item["id"] for item in (await client.page(last=1))["items"]] == [count]


@pytest.mark.parametrize(
    "params",
    [
        {"first": 5, "last": 5},
        {"before": "x"},
        {"first": 5, "before": "x"},
        {"last": 5, "after": "x"},
        {"first": 5, "offset": 20},
        {"first": 5, "limit": 20},
    ],
)
async def test_what_does_not_go_together_is_refused(tmp_path: Path, params: dict[str, Any]) -> None:
    client = Client(tmp_path / "p", Listing(by_offset_with_total), STYLES["offset with a total"][1], enveloped())
    answer = await client.call(**params)
    assert answer["error"]["code"] == "VALIDATION_INVALID_TYPE"
    assert answer["error"]["details"]["param_name"] == "pagination"
    assert not client.api.sent


async def test_a_cursor_is_url_safe_and_good_only_where_it_was_given(tmp_path: Path) -> None:
    client = Client(tmp_path / "p", Listing(by_offset), COUNTED)
    cursor = (await client.page(first=5, color="red"))["pageInfo"]["endCursor"]
    assert set(cursor) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    assert (await client.page(color="red", after=cursor))["items"][0]["id"] == 6
    sent = len(client.api.sent)
    forged = [cursor[:-1], cursor + "A", "x", "", "é", cursor[:20] + "AAAA" + cursor[24:]]
    calls = [{"color": "red", "after": forgery} for forgery in forged if forgery] + [{"after": cursor}]
    for params in calls:
        answer = await client.call(first=5, **params)
        assert answer["error"]["code"] == "VALIDATION_INVALID_VALUE", params
    other = await client.call("list_others", first=5, color="red", after=cursor)
    assert other["error"]["code"] == "VALIDATION_INVALID_VALUE"
    assert len(client.api.sent) == sent


async def test_a_cursor_outlives_the_process_where_state_is_kept(tmp_path: Path) -> None:
    def state() -> State:
        return State(open_store(f"sqlite:///{tmp_path}/state.db", "zoo", {}), "zoo")

    page = await Client(tmp_path / "p", Listing(by_offset), COUNTED, state=state()).page(first=5)
    cursor = page["pageInfo"]["endCursor"]
    again = Client(tmp_path / "p", Listing(by_offset), COUNTED, state=state())
    assert (await again.page(first=5, after=cursor))["items"][0]["id"] == 6
    foreign = Client(tmp_path / "p", Listing(by_offset), COUNTED)
    assert not (await foreign.call(first=5, after=cursor))["success"]


async def test_a_page_that_is_cut_goes_on_at_another_replica(tmp_path: Path) -> None:
    """R-SEL-3, R-OPS-3: in a batch, too, where the cut comes last."""

    def client(most: int) -> Client:
        state = State(open_store(f"sqlite:///{tmp_path}/state.db", "zoo", {}), "zoo")
        return Client(tmp_path / "p", Listing(by_offset), COUNTED, state=state, max_answer_tokens=most)

    async def rest(page: dict[str, Any]) -> int:
        cursor = page["pageInfo"]["endCursor"]
        return (await client(10_000).page(first=5, after=cursor))["items"][0]["id"] - len(page["items"])

    assert len((page := await client(500).page(first=100))["items"]) < 100
    assert await rest(page) == 1
    calls = [{"operation": "list_things", "params": {"first": 100, **more}} for more in ({}, {"color": "red"})]
    batch = await client(1500).dispatcher.handle("read", {"operations": calls})
    assert await rest(batch["results"][0]["result"]["data"]) == 1


async def test_the_apis_own_parameters_are_taken_still_but_not_shown(tmp_path: Path) -> None:
    client = Client(tmp_path / "p", Listing(by_page), PAGED)
    page = await client.page(page=3, per_page=10)
    assert [item["id"] for item in page["items"]] == list(range(21, 31))
    assert page["pageInfo"]["hasPreviousPage"]
    following = await client.page(first=10, after=page["pageInfo"]["endCursor"])
    assert following["items"][0]["id"] == 31
    question = {"operation": "introspect", "params": {"query": "operations", "name": "list_things"}}
    details = (await client.dispatcher.handle("read", question))["data"]["operation"]
    assert [parameter["name"] for parameter in details["parameters"]] == ["color", "first", "after", "fields"]


async def test_a_next_url_that_leads_away_is_not_followed_but_its_page_is_given(tmp_path: Path) -> None:
    for url in ("https://evil.example/steal", "/admin?x=1", "/v1/../admin"):
        api = Listing(lambda *_, url=url: {"value": things(2), "@odata.nextLink": url})
        client = Client(tmp_path / str(hash(url)), api, STYLES["next URL"][1], VALUES)
        page = await client.page()
        assert [item["id"] for item in page["items"]] == [1, 2]
        assert page["pageInfo"]["hasNextPage"]
        answer = await client.call(first=2, after=page["pageInfo"]["endCursor"])
        assert answer["error"]["code"] == "INTERNAL_ERROR", url
        assert len(api.sent) == 1


async def test_a_page_that_is_cut_to_its_bound_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    """R-SEL-3"""
    client = Client(tmp_path / "p", Listing(by_offset), COUNTED, max_answer_tokens=500)
    assert await client.walk(100) == list(range(1, MANY + 1))


async def test_a_cursor_that_the_api_asks_for_is_empty_on_the_first_page(tmp_path: Path) -> None:
    pagination, schema = STYLES["cursor in a header"][1:3]
    demanding = {**pagination, "demanded": ["query_after"]}
    client = Client(tmp_path / "p", Listing(by_header), demanding, schema)
    first = await client.page(first=10)
    assert "after=&" in f"{client.api.sent[0].url}&"
    assert (await client.page(first=10, after=first["pageInfo"]["endCursor"]))["items"][0]["id"] == 11


async def test_a_page_that_the_api_asks_for_is_told_on_the_first_one_too(tmp_path: Path) -> None:
    client = Client(tmp_path / "p", Listing(by_page), {**PAGED, "demanded": ["page", "per_page"]})
    assert (await client.page(first=10))["items"][0]["id"] == 1
    assert query_of(client.api.sent[0])["page"] == "1"
