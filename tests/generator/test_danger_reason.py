"""A reviewer sees how dangerous an operation is, and why."""

from __future__ import annotations

from pathlib import Path

from tests.generator.commands import api, tabulate


def test_every_row_says_why_it_has_its_level_of_danger(tmp_path: Path) -> None:
    """R-SAFE-1"""
    delete = {"responses": {"204": {"description": "gone"}}}
    item = {"name": "petId", "in": "path", "required": True, "schema": {"type": "string"}}
    document = api({"/pets": {"delete": delete}, "/pets/{petId}": {"parameters": [item], "delete": delete}})
    table = tabulate(tmp_path, document)
    dangers = {row["path"]: (row["danger"], row["danger_reason"]) for row in table.rows.values()}
    assert dangers["/pets/{petId}"] == ("destructive", "category: DELETE")
    assert dangers["/pets"] == ("dangerous", "whole-collection: DELETE on a collection")
    assert "dangerous (DELETE on a collection)" in table.page


def test_a_row_has_its_tags_and_says_if_it_moves_money_whatever_its_danger_is(tmp_path: Path) -> None:
    """R-SAFE-1: what the owner's rules and `policy.money` go by."""
    answer = {"responses": {"200": {"description": "done"}}}
    paths = {
        "/payouts": {"post": {"operationId": "createPayout", "tags": ["Money", "Money", "", "Out"], **answer}},
        "/pets": {"post": {"operationId": "createPet", **answer}},
    }
    overrides = "POST /payouts: {danger: reversible}\n"
    rows = tabulate(tmp_path, api(paths), overrides=overrides).rows
    payout, pet = rows["create_payout"], rows["create_pet"]
    assert (payout["tags"], payout["moves_money"], payout["danger"]) == (["Money", "Out"], True, "reversible")
    assert not {"tags", "moves_money"} & pet.keys()
