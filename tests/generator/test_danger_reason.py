"""A reviewer sees how dangerous an operation is, and why."""

from __future__ import annotations

from pathlib import Path

from tests.generator.commands import api, generate


def test_every_row_says_why_it_has_its_level_of_danger(tmp_path: Path) -> None:
    """R-SAFE-1"""
    delete = {"responses": {"204": {"description": "gone"}}}
    item = {"name": "petId", "in": "path", "required": True, "schema": {"type": "string"}}
    document = api({"/pets": {"delete": delete}, "/pets/{petId}": {"parameters": [item], "delete": delete}})
    project = generate(tmp_path, document)
    found = {row["path"]: (row["danger"], row["danger_reason"]) for row in project.rows.values()}
    assert found["/pets/{petId}"] == ("destructive", "category: DELETE")
    assert found["/pets"] == ("dangerous", "whole-collection: DELETE on a collection")
    assert "dangerous (DELETE on a collection)" in (project.folder / "OPERATIONS.md").read_text(encoding="utf-8")
