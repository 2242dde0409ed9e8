"""Answers that are cut to the ceiling of tokens (R-WARN-3, R-SEL-3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqlgen.runtime.text import encoded, tokens_of
from aqlgen.runtime.warnings import ceiling
from aqlgen.runtime.warnings.ceiling import Cut, cut_warnings, fit
from tests.cases import each
from tests.examples import examples

KEYS = st.text(max_size=12) | st.sampled_from(["key" * 999, "other" * 1999])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=400) | st.text("abc ", max_size=3000),
    lambda inner: st.lists(inner, max_size=12) | st.dictionaries(KEYS, inner, max_size=12),
    max_leaves=60,
)


def is_part(short: Any, whole: Any) -> bool:
    """Return True if a value is the other one, with ends of lists, ends of texts and fields left out."""
    if isinstance(whole, str):
        return isinstance(short, str) and whole.startswith(short)
    if isinstance(whole, list):
        return isinstance(short, list) and len(short) <= len(whole) and all(map(is_part, short, whole))
    if isinstance(whole, dict):
        return isinstance(short, dict) and all(key in whole and is_part(short[key], whole[key]) for key in short)
    return bool(short == whole)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=6), st.integers(200, 2000))
def test_what_is_cut_is_a_part_below_the_bound(value: Any, most: int) -> None:
    short, cuts = fit(value, most)
    assert tokens_of(short) <= most
    assert is_part(short, value)
    assert json.loads(json.dumps(short)) == short
    assert bool(cuts) is (short != value)


def test_what_is_small_stays_and_what_is_large_shares_the_room() -> None:
    value = {"id": 5, "body": "word " * 5000, "diff": "word " * 5000, "labels": ["a", "b"]}
    short, cuts = fit(value, 2000)
    assert short["id"] == 5
    assert short["labels"] == ["a", "b"]
    assert 800 < tokens_of(short["body"]) < 1000
    assert 800 < tokens_of(short["diff"]) < 1000
    assert {cut.path for cut in cuts} == {("body",), ("diff",)}


def test_a_page_keeps_its_place_and_an_item_whatever_is_beside_it() -> None:
    info = {"hasNextPage": True, "hasPreviousPage": False, "endCursor": "abc"}
    page = {"items": [{"id": 1, "text": "word " * 9000}] * 3, "pageInfo": info, "facets": ["word " * 100] * 900}
    short, _ = fit(page, 1000, page=True)
    assert short["pageInfo"] == info
    assert len(short["items"]) == 1
    assert short["items"][0]["id"] == 1
    assert tokens_of(short) <= 1000


def test_an_object_of_very_many_fields_keeps_the_first() -> None:
    short, [cut] = fit({f"key{number}": number for number in range(9000)}, 500)
    assert list(short)[:2] == ["key0", "key1"]
    assert cut == Cut((), "fields", 9000, len(short))


@each(
    ("cut", "page", "following"),
    [
        (Cut(("items",), "items", 20, 5), True, "pageInfo.endCursor"),
        (Cut(("items", "body"), "characters", 20, 5), True, {"fields": ["body[5:]"]}),
        (Cut(("files", "patch"), "characters", 20, 5), False, {"fields": ["files.patch[5:]"]}),
        (Cut((), "items", 20, 5), False, {"fields": ["[5:]"]}),
        (Cut(("map",), "fields", 20, 5), False, {"fields": ["map"]}),
        (Cut(("a.b",), "items", 20, 5), False, None),
        (Cut(("key" * 90,), "items", 20, 5), False, None),
    ],
)
def test_each_cut_says_how_to_go_on(cut: Cut, page: bool, following: Any) -> None:
    [warning] = cut_warnings([cut], 1000, page=page)
    assert warning.details is not None
    assert warning.details.get("next") == following
    assert warning.details["original_count"] == 20
    assert len(warning.details["field"]) <= 200
    assert warning.message == f"Response truncated to 5 {cut.unit}"
    [warning] = cut_warnings([cut], 1000, page=page, selector="")
    assert warning.details is not None
    assert page or "next" not in warning.details
    [warning] = cut_warnings([cut], 1000, page=page, selector="answer_fields")
    assert warning.details is not None
    if isinstance(following, dict):
        assert warning.details["next"] == {"answer_fields": following["fields"]}


def test_the_rest_of_a_part_is_counted_from_the_beginning_of_the_whole() -> None:
    cut, asked = Cut(("items", "body"), "characters", 900, 5), ["id", "body[100:950]", "[3:]"]
    [warning] = cut_warnings([cut], 1000, page=True, asked=asked)
    [whole] = cut_warnings([Cut((), "items", 20, 5)], 1000, asked=asked)
    assert [each.details and each.details["next"] for each in (warning, whole)] == [
        {"fields": ["body[105:950]"]},
        {"fields": ["[8:]"]},
    ]


def test_a_part_of_a_file_is_not_shown() -> None:
    short, [cut] = fit({"content": "AAAA" * 9000, "encoding": "base64", "mime_type": "image/png"}, 1000)
    assert short == {"content": "", "encoding": "base64", "mime_type": "image/png"}
    [warning] = cut_warnings([cut], 1000)
    assert warning.details is not None
    assert "next" not in warning.details


@pytest.mark.parametrize("page", [False, True])
def test_a_long_list_is_encoded_as_far_as_there_is_room(page: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each item once, but for those at the end; and no other item is cut down to its fields."""
    items = [{"id": number, "name": f"Pet number {number}", "tag": "dog"} for number in range(10_000)]
    lengths: list[int] = []
    changed: list[int] = []
    encode = ceiling.encoded
    monkeypatch.setattr(ceiling, "encoded", lambda value: lengths.append(len(text := encode(value))) or text)

    def change(item: Any) -> Any:
        changed.append(item["id"])
        return {key: item[key] for key in ("id", "name")}

    short, _ = fit({"items": items, "pageInfo": {}} if page else items, 8000, page=page, change=change)
    kept = short["items"] if page else short
    assert kept == [{"id": item["id"], "name": item["name"]} for item in items[: len(kept)]]
    assert 20_000 < len(encode(short)) < 40_000
    assert sum(lengths) < 1.4 * len(encode(short))
    assert changed == list(range(len(changed)))
    assert len(changed) <= len(kept) + 64


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(VALUES, max_size=8), st.integers(0, 90), st.integers(200, 3000), st.booleans())
def test_items_that_are_cut_down_as_they_are_fitted_are_those_cut_down_before(
    values: list[Any], count: int, most: int, page: bool
) -> None:
    items = [{"value": values[number % len(values)], "note": number} if values else number for number in range(count)]

    def change(item: Any) -> Any:
        return {"value": item["value"]} if isinstance(item, dict) else item

    def data(shown: list[Any]) -> Any:
        return {"items": shown, "pageInfo": {}} if page else shown

    assert fit(data(items), most, page=page, change=change) == fit(data([*map(change, items)]), most, page=page)


@each("value", [dict.fromkeys(map(str, range(90_000)), 0), {"a": {"b": [[0] * 90_000]}}], ids=["keys", "within"])
def test_what_has_no_room_is_not_written_to_be_measured(monkeypatch: pytest.MonkeyPatch, value: Any) -> None:
    """Writing a million values would hold all other calls."""
    written: list[int] = []
    monkeypatch.setattr(ceiling, "encoded", lambda part: written.append(len(text := encoded(part))) or text)
    assert fit(value, 500)[1]
    assert max(written) < 20_000
