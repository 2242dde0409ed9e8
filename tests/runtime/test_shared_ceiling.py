"""The ceiling of a request that holds several answers: a batch, the steps of a plan (R-WARN-3, R-STEP-3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_paging import COUNTED, Client, Listing, by_offset

from aqlgen.runtime.session import Session
from aqlgen.runtime.text import tokens_of
from aqlgen.runtime.wire import ApiRequest

pytestmark = pytest.mark.anyio
MOST = 3000


@pytest.fixture
def listing(tmp_path: Path) -> Client:
    def answer(query: dict[str, str], request: ApiRequest) -> Any:
        return [{**item, "text": "word " * 50} for item in by_offset(query, request)]

    return Client(tmp_path / "p", Listing(answer), COUNTED, max_answer_tokens=MOST)


async def batch(listing: Client, *calls: dict[str, Any]) -> list[dict[str, Any]]:
    operations = [{"operation": "list_things", "params": params} for params in calls]
    answer = await listing.dispatcher.handle("read", {"operations": operations})
    return [entry["result"] for entry in answer["results"]]


async def run(listing: Client, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    steps = tuple({"operation": "list_things", **step} for step in steps)
    arguments = {"operation": "run_steps", "params": {"steps": list(steps), **more}}
    return await listing.dispatcher.handle(None, arguments, Session("s"))


async def test_the_answers_of_a_batch_have_one_ceiling_together(listing: Client) -> None:
    """R-WARN-3: what is small stays whole, what is large shares the room, and each page leads on where it was cut."""
    small, *large = await batch(listing, {"first": 3}, {"first": 100}, {"first": 100, "color": "red"})
    assert len(small["data"]["items"]) == 3
    assert "warnings" not in small
    assert tokens_of([small["data"], *(result["data"] for result in large)]) <= MOST * 1.05
    for result, color in zip(large, ({}, {"color": "red"}), strict=True):
        kept = len(result["data"]["items"])
        assert 10 < kept < 30
        [warning] = result["warnings"]
        assert (warning["details"]["original_count"], warning["details"]["truncated_count"]) == (100, kept)
        after = result["data"]["pageInfo"]["endCursor"]
        following = await listing.page(first=1, after=after, **color)
        assert following["items"][0]["id"] == kept + 1


async def test_what_describes_operations_is_no_part_of_it(listing: Client) -> None:
    """R-INT-1: an answer of introspection stays as it is."""
    asked = {"operation": "introspect", "params": {"query": "operations", "name": "list_things"}}
    listed = {"operation": "list_things", "params": {"first": 100}}
    alone = await listing.dispatcher.handle("read", asked)
    both = await listing.dispatcher.handle("read", {"operations": [listed, asked, listed]})
    assert both["results"][1]["result"] == alone


async def test_a_step_hands_on_all_of_a_list_and_the_answer_is_cut(listing: Client) -> None:
    """R-STEP-1, R-STEP-3: conditions, foreach and references see what the ceiling leaves out of the answer."""
    find = {"id": "find", "params": {"first": 100}}
    last = {"id": "last", "params": {"first": 1}, "foreach": {"$ref": "find.items"}, "where": {"id": {"gte": 99}}}
    answer = await run(listing, find, last)
    first, second = answer["data"]["steps"]
    assert second["calls"] == 2
    assert len(second["data"]) == 2
    assert 10 < len(first["data"]["items"]) < 100
    assert tokens_of(answer["data"]) <= MOST * 1.05
    assert "find.items" in [warning["details"].get("field") for warning in answer["warnings"]]
    answer = await run(listing, find, **{"return": {"last": {"$ref": "find.items[99].id"}}})
    assert answer["data"] == {"last": 100}
    assert "warnings" not in answer


async def test_a_page_that_a_plan_cut_has_no_cursor_behind_items_that_are_not_shown(listing: Client) -> None:
    """R-SEL-3, R-STEP-3"""
    answer = await run(listing, {"params": {"first": 100}})
    assert answer["data"]["steps"][0]["data"]["pageInfo"] == {"hasNextPage": True, "hasPreviousPage": False}
    answer = await run(listing, {"params": {"first": 100}}, **{"return": {"x": [{"$ref": "1"}]}})
    assert "endCursor" not in answer["data"]["x"][0]["pageInfo"]
    answer = await run(listing, {"params": {"first": 2}})
    assert "endCursor" in answer["data"]["steps"][0]["data"]["pageInfo"]


async def test_what_a_plan_cut_is_kept_in_the_history_unless_it_is_suppressed(tmp_path: Path) -> None:
    """R-WARN-6"""

    def answer(query: dict[str, str], request: ApiRequest) -> Any:
        return [{**item, "text": "word " * 50} for item in by_offset(query, request)]

    asked = {"operation": "introspect", "params": {"query": "warnings", "name": ["run_steps"]}}
    for suppressed, expected in (((), 1), (("VALIDATION_",), 0)):
        settings = {"max_answer_tokens": MOST, "warn_suppress": suppressed}
        listing = Client(tmp_path / str(expected), Listing(answer), COUNTED, **settings)
        session = Session("s")
        steps = [{"operation": "list_things", "params": {"first": 100}}]
        plan = {"operation": "run_steps", "params": {"steps": steps}}
        envelope = await listing.dispatcher.handle(None, plan, session)
        kept = (await listing.dispatcher.handle("read", asked, session))["data"]["warnings"]
        assert len(envelope.get("warnings", [])) == len(kept) == expected
