"""Conditions on items, which `where` and steps share (R-SEL-4)."""

from __future__ import annotations

from typing import Any

import pytest

from aqlgen.runtime.calls.absent import Absence, absent_fields
from aqlgen.runtime.calls.conditions import compile_condition
from aqlgen.runtime.errors import Failure
from tests.cases import each

ITEM = {
    "id": 7,
    "state": "open",
    "draft": False,
    "price": "12.50",
    "closed_at": None,
    "made_at": "2026-03-01T10:00:00+02:00",
    "owner": {"name": "Ada Lovelace", "age": 36},
    "labels": [{"name": "bug", "weight": 2}, {"name": "docs", "weight": 5}],
    "tags": ["red", "blue"],
    "a.b": 1,
}

HOLD = [
    {"state": "open"},
    {"state": "open", "id": 7},
    {"id": 7.0},
    {"id": "7"},
    {"draft": False},
    {"draft": {"ne": True}},
    {"closed_at": None},
    {"missing": None},
    {"missing": {"ne": 1}},
    {"price": {"gt": 12, "lt": 13}},
    {"price": 12.5},
    {"id": {"gte": 7, "lte": 7}},
    {"id": {"in": [1, 7]}},
    {"closed_at": {"in": [None]}},
    {"owner.name": {"contains": "lovelace"}},
    {"owner.age": {"gt": 30}},
    {"labels.name": "bug"},
    {"labels.name": {"ne": "security"}},
    {"labels.weight": {"gte": 5}},
    {"tags": "red"},
    {"tags": {"contains": "blue"}},
    {"tags": {"contains": "re"}},
    {"owner.name": {"startswith": "ada"}},
    {"labels.name": {"startswith": "DO"}},
    {"tags": {"eq": ["red", "blue"]}},
    {"made_at": {"lt": "2026-03-01T09:00:00Z"}},
    {"made_at": {"gte": "2026-03-01"}},
    {"a.b": 1},
    {"owner": {"eq": {"name": "Ada Lovelace", "age": 36}}},
]
FAIL = [
    {"state": "closed"},
    {"state": "open", "id": 8},
    {"owner.name": {"startswith": "Lovelace"}},
    {"id": {"startswith": "7"}},
    {"draft": 0},
    {"id": True},
    {"closed_at": {"gt": 1}},
    {"missing": {"gt": 1}},
    {"missing": {"contains": "a"}},
    {"missing": 1},
    {"state": {"gt": 3}},
    {"labels.name": {"ne": "bug"}},
    {"id": {"in": []}},
    {"tags": {"contains": "green"}},
    {"id": {"contains": 7}},
]
NONE = [
    None,
    [],
    "state = open",
    {},
    {"state": {}},
    {"state": ["open", "closed"]},
    {"state": {"like": "o%"}},
    {"state": {"in": "open"}},
    {"id": {"gt": None}},
    {"id": {"gt": True}},
    {"tags": {"contains": ["red"]}},
    {"": 1},
    {"a..b": 1},
    {"x" * 201: 1},
    {f"f{number}": 1 for number in range(21)},
]


@each("condition", HOLD, ids=str)
def test_an_item_meets_a_condition(condition: dict[str, Any]) -> None:
    assert compile_condition(condition)(ITEM)


@each("condition", FAIL, ids=str)
def test_an_item_does_not_meet_a_condition(condition: dict[str, Any]) -> None:
    assert not compile_condition(condition)(ITEM)


@each("condition", NONE, ids=lambda condition: str(condition)[:40])
def test_what_is_no_condition_is_refused_with_what_to_give(condition: Any) -> None:
    with pytest.raises(Failure, match="Examples") as refused:
        compile_condition(condition)
    assert refused.value.details["param_name"] == "where"


@each("item", [None, 5, "text", [], [{"id": 2}], {"id": {"deep": []}}], ids=str)
def test_of_any_other_value_each_field_is_missing(item: Any) -> None:
    assert [condition for condition in HOLD + FAIL if compile_condition(condition)(item)] == [
        {"draft": {"ne": True}},
        {"closed_at": None},
        {"missing": None},
        {"missing": {"ne": 1}},
        {"closed_at": {"in": [None]}},
        {"labels.name": {"ne": "security"}},
        {"labels.name": {"ne": "bug"}},
    ]


@each(
    ("text", "number"),
    [
        ("1_2", 12),
        (" 5 ", 5),
        ("+5", 5),
        ("007", 7),
        ("5.", 5),
        (".5", 0.5),
        ("5e-9999", 0),
        ("٥", 5),
        ("1e400", 10**38),
    ],
)
def test_only_a_number_of_json_is_one_as_text(text: str, number: float) -> None:
    assert not compile_condition({"id": number})({"id": text})
    assert not compile_condition({"id": {"gte": number}})({"id": text})


def test_numbers_of_any_length_cost_nothing() -> None:
    assert not compile_condition({"id": {"lt": 5}})({"id": "1e999999999"})
    assert not compile_condition({"id": {"lt": 5}})({"id": "9" * 5000})
    assert not compile_condition({"id": 1})({"id": 10**6000})


@each(
    "items, field, absent",
    [
        ([ITEM], "sate", {"sate": "state"}),
        ([ITEM], "closedAt", {"closedAt": "closed_at"}),
        ([ITEM], "name", {"name": "owner.name"}),
        ([ITEM], "labels.wieght", {"labels.wieght": "labels.weight"}),
        ([ITEM], "zzz", {"zzz": None}),
        ([ITEM], "id.x", {"id.x": None}),
        ([{}, ITEM], "owner.nmae", {"owner.nmae": "owner.name"}),
        ([ITEM], "closed_at", {}),
        ([ITEM], "a.b", {}),
        ([{}, ITEM], "owner.name", {}),
        ([{"owner": None}, {"owner": []}], "owner.nmae", {}),
        ([], "sate", {}),
        ([None], "sate", {}),
    ],
)
def test_a_field_is_absent_if_an_item_shows_that_it_is_not_there(items: Any, field: str, absent: Any) -> None:
    """R-SEL-4: where nothing tells, every spelling means the same."""
    assert absent_fields(items, [field]) == absent


def test_a_field_that_an_item_of_a_later_page_has_is_not_absent() -> None:
    """R-SEL-4"""
    absence = Absence(["state", "sate"])
    for page in ([{"id": 1}], [{"id": 2, "state": "open"}]):
        absence.see(page)
    assert absence.fields == {"sate": "state"}
