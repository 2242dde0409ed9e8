"""Ways of paging as real documents describe them, generated and paged through to the end: every item once (R-SEL-3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aqlgen.runtime.table import Table
from tests.documents import FLAG, INTEGER, TEXT, list_of, object_of, parameter, replies
from tests.generator.commands import api, tabulate
from tests.in_process import StandIn, dispatcher_of, query_of

MANY = 1000
EITHER = {"anyOf": [INTEGER, {"type": "string", "format": "uuid"}]}


def query(name: str, schema: Any = INTEGER) -> dict[str, Any]:
    return parameter(name, schema=schema)


def items(*names: str) -> dict[str, Any]:
    return list_of(object_of(**dict.fromkeys(names, TEXT)))


Given = Mapping[str, str]


class Style(NamedTuple):
    """An API's list: its path, its parameters, the schema of its answer, and what it answers."""

    path: str
    parameters: list[Any]
    schema: dict[str, Any]
    give: Callable[[Given], Any]
    """Returns the body for the query's parameters, or the body and the response headers."""


def after(cursor: Given, name: str, size: str, key: str, usual: int = 20) -> tuple[list[Any], bool]:
    """Return the items after the one that the cursor names, and whether there are more."""
    begin = int(cursor.get(name, "x0")[1:]) + 1 if name in cursor else 0
    end = min(MANY, begin + int(cursor.get(size, usual)))
    return [{key: f"x{number}", "name": "n"} for number in range(begin, end)], end < MANY


def counted(cursor: Given, name: str, size: str, start: int = 0, by: int = 1) -> tuple[list[Any], int]:
    """Return the items from an index on, and the index after them."""
    begin = (int(cursor.get(name, start)) - start) * by
    end = min(MANY, begin + int(cursor.get(size, 20)))
    return [{"id": f"x{number}"} for number in range(begin, end)], end


def by_token_of_item(cursor: Given) -> Any:
    items, more = after(cursor, "starting_after", "page_size", "token")
    return {"data": items, "has_more": more}


def by_offset_of_either_kind(cursor: Given) -> Any:
    items, more = after(cursor, "offset", "limit", "id")
    return {"result": {"points": items, "next_page_offset": f"x{int(items[-1]['id'][1:])}" if more else None}}


def by_offset_that_jumps(cursor: Given) -> Any:
    """Offsets are of a table with two rows for each item."""
    begin = int(cursor.get("offset", 0)) // 2
    end = min(MANY, begin + int(cursor.get("limit", 20)))
    items = [{"id": f"x{number}"} for number in range(begin, end)]
    return {"data": items, "next_offset": 2 * end if end < MANY else None}


def by_undeclared_link(cursor: Given) -> Any:
    begin = int(cursor.get("cursor", "0:0").split(":")[1])
    end = min(MANY, begin + int(cursor.get("per_page", 20)))
    more = str(end < MANY).lower()
    link = (
        f'<https://api.example.com/groups?cursor=0:{end}&per_page=20>; rel="next"; results="{more}"; cursor="0:{end}"'
    )
    return [{"id": f"x{number}"} for number in range(begin, end)], {"link": link}


def by_messages(cursor: Given) -> Any:
    items, end = counted(cursor, "PageToken", "PageSize")
    uri = f"/Messages.json?PageSize={cursor.get('PageSize', 20)}&PageToken={end}"
    return {"messages": items, "next_page_uri": uri if end < MANY else None}


def by_token_with_empty_pages(cursor: Given) -> Any:
    """Every other page holds nothing, since the API filters what it has read."""
    turn = int(cursor.get("pageToken", 0))
    begin = turn // 2 * 20
    items = [] if turn % 2 else [{"id": f"x{number}"} for number in range(begin, min(MANY, begin + 20))]
    return {"tags": items, "nextPageToken": str(turn + 1) if begin + 20 < MANY or not turn % 2 else ""}


STYLES: dict[str, Style] = {
    "the token of the last item": Style(
        "/accounts",
        [query("starting_after", TEXT), query("ending_before", TEXT), query("page_size")],
        object_of(data=items("token", "name"), has_more=FLAG),
        by_token_of_item,
    ),
    "an offset that may be a text": Style(
        "/points",
        [query("limit"), query("offset", EITHER)],
        object_of(result=object_of(points=items("id"), next_page_offset=EITHER)),
        by_offset_of_either_kind,
    ),
    "an offset that the answer tells": Style(
        "/rows",
        [query("limit"), query("offset")],
        object_of(data=items("id"), next_offset=INTEGER),
        by_offset_that_jumps,
    ),
    "a Link header that is not declared": Style(
        "/groups",
        [query("cursor", TEXT), query("per_page")],
        items("id"),
        by_undeclared_link,
    ),
    "a list that is called as others beside a list are": Style(
        "/Messages.json",
        [query("PageSize"), query("PageToken", TEXT)],
        object_of(messages=items("id"), next_page_uri=TEXT),
        by_messages,
    ),
    "pages of nothing": Style(
        "/tags",
        [query("pageSize"), query("pageToken", TEXT)],
        object_of(tags=items("id"), nextPageToken=TEXT),
        by_token_with_empty_pages,
    ),
}


def pages(package: Path, give: Callable[[Given], Any]) -> Iterator[dict[str, Any]]:
    """Page through the adapter's only operation."""
    (name,) = Table(package).raw("read")
    dispatcher = dispatcher_of(package, StandIn(lambda request: give(query_of(request))))
    params: dict[str, Any] = {"fields": "full"}
    while True:
        envelope: Any = asyncio.run(dispatcher.handle("read", {"operation": name, "params": params}))
        assert envelope["success"], envelope
        assert "pageInfo" in envelope["data"], "it is not paged"
        yield envelope["data"]
        info = envelope["data"]["pageInfo"]
        if not info["hasNextPage"]:
            return
        params = {"fields": "full", "first": 20, "after": info["endCursor"]}


@pytest.mark.parametrize("style", STYLES)
def test_every_item_comes_once_whatever_the_way_of_paging_is_called(tmp_path: Path, style: str) -> None:
    path, parameters, schema, give = STYLES[style]
    table = tabulate(tmp_path, api({f"GET {path}": {"parameters": parameters, "responses": replies(schema)}}))
    package = table.write(tmp_path / "package")
    items = [next(iter(item.values())) for page in pages(package, give) for item in page["items"]]
    assert items == [f"x{number}" for number in range(MANY)]
