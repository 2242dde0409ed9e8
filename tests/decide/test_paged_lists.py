"""Which list of an answer is paged: a rule that looks at all of them, in whatever order they stand."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from operations import answer, document, operation

from aqlgen.decide.overrides import Overrides
from aqlgen.decide.stage import decide
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Location, Parameter
from aqlgen.runtime.table import Pagination, encode
from tests.cases import each

TEXT = {"type": "string"}
WORDS = {"type": "array", "items": TEXT}
SMALL = {"type": "array", "items": {"type": "object", "properties": {"id": TEXT}}}
TWO = {"type": "array", "items": {"type": "object", "properties": {"id": TEXT, "name": TEXT}}}
LARGE = {"type": "array", "items": {"type": "object", "properties": {"id": TEXT, "name": TEXT, "size": TEXT}}}
CURSOR = Parameter("cursor", Location.QUERY, required=False, schema=TEXT)


def paged(path: str, properties: dict[str, Any]) -> dict[str, Any]:
    """Return what is decided about the pages of a GET that answers with these properties."""
    schema = {"type": "object", "properties": properties}
    listing = operation(f"GET {path}", parameters=(CURSOR,), responses=(answer("200", schema),))
    (decision,) = decide(document(listing), Overrides(), Resolver({}))
    paging = decision.trait(Pagination)
    return {} if paging is None else encode(paging)


@each(
    ("path", "properties", "items"),
    [
        ("/audit-logs", {"threads": LARGE, "audit_log_entries": SMALL}, "/audit_log_entries"),
        ("/commits/{id}", {"parents": SMALL, "files": LARGE}, "/files"),
        ("/things", {"items": WORDS, "data": LARGE}, "/data"),
        ("/things", {"data": LARGE, "things": SMALL}, "/things"),
    ],
)
def test_the_list_that_is_paged_is_called_by_the_path_or_says_most(
    path: str, properties: dict[str, Any], items: str
) -> None:
    more = {"next_cursor": TEXT, **properties}
    assert paged(path, more)["items"] == items
    assert paged(path, dict(reversed(more.items())))["items"] == items


ROWS = {"type": "array", "items": {"type": "object", "additionalProperties": True}}


@each(
    ("path", "properties"),
    [
        ("/collections/{id}/get", {"ids": WORDS, "documents": WORDS, "metadatas": ROWS}),
        ("/series", {"timestamps": WORDS, "values": WORDS}),
        ("/sync", {"added": LARGE, "modified": LARGE, "removed": SMALL}),
        ("/modlog", {"removed_posts": LARGE, "locked_posts": TWO, "bans": TWO, "transfers": TWO}),
    ],
)
def test_an_object_of_several_lists_of_which_none_stands_out_is_no_list(path: str, properties: dict[str, Any]) -> None:
    """R-SEL-3: a count of one column, or of one part, would be taken for the count of all."""
    more = {"next_cursor": TEXT, **properties}
    assert "items" not in paged(path, more)
    assert "items" not in paged(path, dict(reversed(more.items())))


PAGE = {"type": "object", "properties": {"items": LARGE, "total": {"type": "integer"}, "next": TEXT}}


def test_the_place_behind_this_page_may_stand_in_what_names_the_next() -> None:
    """R-SEL-3"""
    pages = {"properties": {"next": {"properties": {"starting_after": TEXT}}, "page": {"type": "integer"}}}
    assert paged("/talks", {"talks": LARGE, "pages": pages})["next"] == "/pages/next/starting_after"


def test_several_pages_in_one_answer_are_not_the_page_of_one_list() -> None:
    """R-SEL-3: an agent would read one of the lists as all that was found."""
    assert paged("/search", {"artists": PAGE, "albums": PAGE}) == {}
    assert paged("/search", {"data": PAGE})["items"] == "/data/items"
    assert paged("/search", {"artists": PAGE})["items"] == "/artists/items"
    assert paged("/search", {"artists": PAGE, "items": LARGE, "next_cursor": TEXT})["items"] == "/items"


FIELDS = {
    "data": SMALL,
    "items": LARGE,
    "results": WORDS,
    "things": LARGE,
    "next": TEXT,
    "cursor": TEXT,
    "next_cursor": TEXT,
    "nextPageToken": TEXT,
    "has_more": {"type": "boolean"},
    "hasNext": {"type": "boolean"},
    "total": {"type": "integer"},
    "count": {"type": "integer"},
    "page": {"type": "object", "properties": {"next": TEXT, "cursor": TEXT, "total": {"type": "integer"}}},
    "paging": {"type": "object", "properties": {"next_token": TEXT, "entries": LARGE}},
}


@given(st.sets(st.sampled_from(sorted(FIELDS)), min_size=2), st.randoms())
def test_the_order_of_properties_decides_nothing(names: set[str], chance: random.Random) -> None:
    order = sorted(names)
    pages = paged("/others", {name: FIELDS[name] for name in order})
    chance.shuffle(order)
    assert paged("/others", {name: FIELDS[name] for name in order}) == pages
