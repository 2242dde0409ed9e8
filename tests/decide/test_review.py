"""The review list: as many rows as there are questions, and what the owner accepts of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aqlgen.decide.decision import Asked, Danger, Decision
from aqlgen.decide.effects.rules import RULES
from aqlgen.decide.overrides import is_broad
from aqlgen.decide.review.answers import questions
from aqlgen.decide.review.consequence import _UNTOLD, consequences
from aqlgen.decide.review.rows import ReviewRow, review_rows
from aqlgen.diagnostics import Severity
from aqlgen.pipeline import Prepared
from tests.cases import each
from tests.generator.commands import api, tabulate

ITEMS = ("charges", "orders", "payouts", "topics")


def operation(**fields: Any) -> dict[str, Any]:
    return {"responses": {"200": {"description": "ok"}}, **fields}


def posts(*names: str) -> dict[str, Any]:
    return {f"/v1/{name}/{{id}}": {"get": operation(), "post": operation()} for name in names}


@pytest.fixture
def prepared(tmp_path: Path) -> Any:
    def run(paths: dict[str, Any], *accept: str, overrides: str = "", **options: Any) -> Prepared:
        accepted = f"adapter:\n  accept: {json.dumps(accept)}\n" if accept else ""
        return tabulate(tmp_path, api(paths), overrides=accepted + overrides, **options).prepared

    return run


def rows(result: Prepared) -> list[ReviewRow]:
    return review_rows(result.decisions)


def by_key(result: Prepared) -> dict[str, Decision]:
    return {decision.operation.key: decision for decision in result.decisions}


def test_a_decision_that_the_whole_api_repeats_is_one_row_with_its_count_and_its_rule(prepared: Any) -> None:
    (row,) = rows(prepared(posts(*ITEMS)))
    assert (row.count, row.entries, row.section) == (4, ("rule:post-on-item",), "")
    assert row.samples == ("update_charge", "update_order", "update_payout")
    assert row.reasons == ("category: post-on-item (POST on one item)",)


def test_what_is_no_convention_stays_a_row_for_each_operation(prepared: Any) -> None:
    named = {
        f"/v1/{name}/{{id}}": {"get": operation(), "post": operation(operationId=f"update{name.title()}")}
        for name in "abcdef"
    }
    few = rows(prepared(posts(*ITEMS) | named))
    assert [(row.count, row.section) for row in few] == [(1, name) for name in ITEMS]
    assert few[0].entries == ("POST /v1/charges/{id}",)


def test_an_exception_to_a_convention_is_a_row_of_its_own_and_survives_the_rule(prepared: Any) -> None:
    odd = {"/v1/refunds/{id}": {"get": operation(), "post": operation(**{"x-readonly": True})}}
    assert sorted(row.count for row in rows(prepared(posts(*ITEMS) | odd))) == [1, 4]
    (left,) = rows(prepared(posts(*ITEMS) | odd, "rule:post-on-item"))
    assert left.decisions[0].operation.path == "/v1/refunds/{id}"
    assert not left.rules


@pytest.mark.parametrize(
    ("entry", "settled"),
    [
        ("rule:post-on-item", 4),
        ("POST /v1/*/{id}", 4),
        ("* /v1/orders/**", 1),
        ("operation:update_order", 1),
        ("operation:update_*", 4),
        ("POST /v1/topics/{id}", 1),
        ("tag:shop", 1),
    ],
)
def test_an_entry_settles_what_it_selects_and_changes_no_decision(prepared: Any, entry: str, settled: int) -> None:
    paths = posts(*ITEMS)
    paths["/v1/charges/{id}"]["post"]["tags"] = ["shop"]
    before, after = by_key(prepared(paths)), by_key(prepared(paths, entry))
    assert sum(not decision.review_reasons for key, decision in after.items() if key.startswith("POST")) == settled
    for key, decision in after.items():
        old = before[key]
        assert (decision.category_reason, decision.name, decision.danger) == (old.category_reason, old.name, old.danger)
        for acceptance in decision.accepted:
            assert acceptance.text == f"category: post-on-item (POST on one item), accepted by overrides.yaml: {entry}"


def test_an_accepted_row_of_the_table_is_under_review_no_more(prepared: Any) -> None:
    result = prepared(posts(*ITEMS), "operation:update_order")
    of = {decided.name: decided.row for decided in result.table.rows}
    assert of["update_charge"].review
    assert not of["update_order"].review
    assert list(of["update_order"].accepted.values()) == ["operation:update_order"]


@pytest.mark.parametrize(
    ("entry", "help"),
    [
        ("rule:post-on-itme", "Did you mean `post-on-item`?"),
        ("POST /v1/order/{id}", "Did you mean `POST /v1/orders/{id}`?"),
        ("operation:update_ordr", "Did you mean `update_order`?"),
        ("tag:nothing", "No tag comes near."),
    ],
)
def test_an_entry_that_is_about_nothing_is_a_warning_with_its_place(prepared: Any, entry: str, help: str) -> None:
    result = prepared(posts(*ITEMS), "rule:post-on-item", entry)
    (finding,) = [each for each in result.diagnostics if each.code == "unmatched-accept"]
    assert (finding.line, finding.column, finding.severity) == (2, 33, Severity.WARNING)
    assert finding.help == help


def test_an_entry_for_what_needs_no_review_is_no_mistake(prepared: Any) -> None:
    paths = {**posts(*ITEMS), "/v1/pets": {"get": operation(), "delete": operation(operationId="deletePets")}}
    hidden = "DELETE /v1/pets:\n  hidden: true\n"
    result = prepared(paths, "GET /v1/pets", "DELETE /v1/pets", "operation:deletePets", overrides=hidden)
    assert "unmatched-accept" not in {each.code for each in result.diagnostics}
    part = prepared(paths, "POST /v1/orders/{id}", include=("GET *",))
    assert "unmatched-accept" not in {each.code for each in part.diagnostics}


def test_rows_stand_under_the_telling_part_of_the_path_where_there_are_no_tags(prepared: Any) -> None:
    paths = {"/api/v1/shop/frobnicate": {"post": operation()}, "/api/v1/bank/frobnicate": {"post": operation()}}
    assert {row.section for row in rows(prepared(paths))} == {"shop", "bank"}
    paths["/api/v1/shop/frobnicate"]["post"]["tags"] = ["Sales"]
    assert {row.section for row in rows(prepared(paths))} == {"Sales", "bank"}


@each(
    ("entry", "broad"),
    [
        *(("rule:x", True), ("tag:x", True), ("POST /x/*", True), ("* /x", True), ("operation:get_*", True)),
        *(("POST /x/{id}", False), ("operation:get_x", False)),
    ],
)
def test_what_also_accepts_operations_to_come_is_broad(entry: str, *, broad: bool) -> None:
    assert is_broad(entry) is broad


LEASH = {"/leashes": {"get": operation(), "post": operation(summary="Add a leash")}}


@each(
    "entries, asked, danger, is_open",
    [
        ("", Asked.FIRST, Danger.REVERSIBLE, True),
        ("POST /leashes: {asked: never}", Asked.NEVER, Danger.REVERSIBLE, False),
        ("POST /leashes: {asked: first}", Asked.FIRST, Danger.REVERSIBLE, False),
        ("POST /leashes: {asked: always}", Asked.ALWAYS, Danger.DESTRUCTIVE, False),
        ("POST /leashes: {asked: never}\n'* /leashes': {asked: always}", Asked.NEVER, Danger.REVERSIBLE, False),
        ("POST /leashes: {asked: never, danger: dangerous}", Asked.ALWAYS, Danger.DANGEROUS, False),
        ("POST /leashes: {asked: always, danger: forbidden}", Asked.ALWAYS, Danger.FORBIDDEN, False),
    ],
)
def test_the_owner_says_when_a_person_is_asked_and_lowers_no_danger_by_it(
    prepared: Any, entries: str, asked: Asked, danger: Danger, *, is_open: bool
) -> None:
    """R-EFF-2"""
    result = prepared(LEASH, overrides=entries)
    decision = next(each for each in result.decisions if each.operation.method == "post")
    assert (decision.asked, decision.danger) == (asked, danger)
    assert [row.is_question for row in rows(result)] == [True] * is_open


def test_a_read_that_the_owner_wants_to_be_asked_about_is_no_safe_one_any_more(prepared: Any) -> None:
    """R-EFF-2"""
    result = prepared(LEASH, overrides="GET /leashes: {asked: first, why: it is slow}")
    decision = next(each for each in result.decisions if each.operation.method == "get")
    assert (decision.asked, decision.danger) == (Asked.FIRST, Danger.REVERSIBLE)
    assert decision.danger_reason.note == "`GET /leashes` in overrides.yaml, it is slow"


def test_a_doubt_that_several_parts_have_once_is_one_row(prepared: Any) -> None:
    """R-EFF-2"""
    parts = ("bowls", "leashes", "balls", "toys")
    paths = {f"/{part}": {"post": operation(summary=f"Add one of the {part}", tags=[part])} for part in parts}
    assert [(row.section, row.count) for row in rows(prepared(paths)) if row.is_question] == [("several parts", 4)]
    paths["/balls/of"] = {"post": operation(summary="Add another", tags=["balls"])}
    assert [(row.section, row.count) for row in rows(prepared(paths)) if row.is_question] == [
        ("balls", 2),
        ("several parts", 3),
    ]


def test_the_questions_begin_with_what_has_most_consequence_whatever_is_asked_about_it(prepared: Any) -> None:
    """R-EFF-2"""
    paths = {f"/bowls/{{id}}/{name}": {"post": operation()} for name in "abcdefghijklmnopqrstuvwxyz"}
    paths["/bowls/{id}"] = {"delete": operation()}
    paths["/tins/{id}"] = {"delete": operation()}
    paths["/payments"] = {"post": operation()}
    asked = [question["operation"] for question in questions(prepared(paths).decisions)]
    assert asked[:2] == ["DELETE /bowls/{id}", "POST /payments"]
    assert "DELETE /tins/{id}" not in asked[:20]
    settled = prepared(paths, overrides="POST /payments: {danger: dangerous}\n")
    assert "POST /payments" not in {each["operation"] for each in questions(settled.decisions)}


def test_consequence_grows_with_what_lies_below_and_shrinks_with_what_lies_around(prepared: Any) -> None:
    """R-EFF-2"""
    paths = {f"/{part}/{{id}}": {"delete": operation()} for part in ("tins", "bowls", "bowls/{bowl}/labels")}
    paths |= {f"/toys/{name}": {"get": operation()} for name in "abc"}
    weights = consequences(prepared(paths).decisions)
    deletions = sorted((key for key in weights if key.startswith("DELETE")), key=lambda key: -weights[key])
    assert deletions == ["DELETE /bowls/{id}", "DELETE /tins/{id}", "DELETE /bowls/{bowl}/labels/{id}"]


def test_an_act_has_the_consequence_of_the_items_that_it_acts_on(prepared: Any) -> None:
    """R-EFF-2: an action on an item, and an act on many items beside them, count with all that lies below the items."""
    paths = {f"/{part}/{{id}}": {"delete": operation()} for part in ("bowls", "tins", "cups", "cups/{cup}/labels")}
    paths |= {f"/{part}/destroy_many": {"delete": operation()} for part in ("bowls", "tins")}
    paths |= {f"/{part}/{{id}}/uninstall": {"post": operation()} for part in ("cups", "tins")}
    weights = consequences(prepared(paths).decisions)
    assert weights["DELETE /bowls/destroy_many"] > weights["DELETE /bowls/{id}"]
    assert weights["POST /cups/{id}/uninstall"] > weights["POST /tins/{id}/uninstall"]


def test_each_doubt_that_says_too_little_is_a_rule() -> None:
    assert {rule.name for rule in RULES} | {"unproven"} >= _UNTOLD
