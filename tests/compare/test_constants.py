"""Changes of constants that requests carry: the owner's, by overrides, and those of the document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aqlgen.compare import compare, surface_of_table
from tests.compare.shops import SHOP, changes, operation
from tests.generator.commands import tabulate

PET = "GET /pets/{pet_id}"


def noticed(folder: Path, before: str, after: str) -> list[tuple[str, str, list[str]]]:
    """Return rule, sentence and operations of each change from one text of overrides to another."""
    tables = []
    for name, text in (("old", before), ("new", after)):
        (folder / name).mkdir()
        tables.append(tabulate(folder / name, SHOP, overrides=text).prepared.table)
    entries = compare(*map(surface_of_table, tables)).as_json()["changes"]
    return [(entry["rule"], entry["message"], entry["operations"]) for entry in entries]


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ('{X-V: "1"}', '{X-V: "2"}', "every request sends `header X-V` as `2` now, not as `1`"),
        ("{}", '{X-V: "2"}', "every request sends `header X-V` as `2` now"),
        ('{X-V: "1"}', "{}", "every request no longer sends `header X-V`"),
    ],
)
def test_a_constant_header_of_the_owner_that_changes_is_told(
    tmp_path: Path, before: str, after: str, sentence: str
) -> None:
    texts = (f"adapter: {{headers: {headers}}}" for headers in (before, after))
    assert noticed(tmp_path, *texts) == [("constant-changed", sentence, [])]


@pytest.mark.parametrize(
    ("entry", "before", "after", "sentence"),
    [
        (PET, "{pet_id: {value: 1}}", "{pet_id: {value: 2}}", "sends `path pet_id` as `2` now, not as `1`"),
        ("GET /pets", "{order: {value: a}}", "{order: {value: b}}", "sends `query order` as `b` now, not as `a`"),
        ("POST /pets", "{kind: {value: cat}}", "{kind: {value: dog}}", "sends `body kind` as `dog` now, not as `cat`"),
        (
            "GET /pets",
            "{order: {value: a, sensitive: true}}",
            "{order: {value: b, sensitive: true}}",
            "sends `query order` as `a sensitive value` now, not as `a sensitive value`",
        ),
    ],
)
def test_a_constant_of_an_operation_that_changes_is_told(
    tmp_path: Path, entry: str, before: str, after: str, sentence: str
) -> None:
    texts = (f'"{entry}": {{parameters: {parameters}}}' for parameters in (before, after))
    ((rule, message, operations),) = noticed(tmp_path, *texts)
    assert (rule, message, len(operations)) == ("constant-changed", sentence, 1)


def test_a_default_of_the_owner_that_changes_is_told(tmp_path: Path) -> None:
    texts = (f"GET /pets: {{parameters: {{most: {{default: {most}}}}}}}" for most in (10, 20))
    ((rule, message, _),) = noticed(tmp_path, *texts)
    assert rule == "default-changed"
    assert "20" in message


def test_a_constant_of_the_document_that_changes_is_told(tmp_path: Path) -> None:
    def edit(document: dict[str, Any], value: str) -> None:
        version = {"name": "X-V", "in": "header", "required": True, "schema": {"type": "string", "enum": [value]}}
        operation(document, "GET /pets").setdefault("parameters", []).append(version)

    ((entry),) = changes(tmp_path, lambda document: edit(document, "2"))
    assert (entry["rule"], entry["message"]) == ("constant-changed", "sends `header X-V` as `2` now")
