"""What the tests of `aqlgen check` take for right although it looks as if something were lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aqlgen.conformance.checks.level2 import _is_chosen_within
from aqlgen.conformance.checks.round_trip import _scalars, _taken
from aqlgen.conformance.operations import is_sent
from aqlgen.conformance.runner import prefix_of
from tests.generator.commands import api, tabulate


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ({"sha": "1", "url": "u", "tree": [{"sha": "2"}, {"sha": "3"}]}, True),
        ({"sha": "1", "url": "u", "tree": [{"sha": "2", "path": "p"}]}, False),
        ({"sha": "1", "url": "u", "tree": []}, False),
        ({"sha": "1", "url": "u"}, False),
        ("text", False),
    ],
)
def test_a_field_that_the_things_of_a_list_have_too_may_be_chosen_in_them(answer: Any, is_right: bool) -> None:
    assert _is_chosen_within(answer, "sha") is is_right


@pytest.mark.parametrize(
    ("resource", "taken"),
    [
        ({"policy": "all", "url": "u"}, {"policy": "all"}),
        ({"settings": {"policy": "all", "url": "u"}}, {"policy": "all"}),
        ({"url": "u"}, {"url": "u"}),
        (None, None),
    ],
)
def test_an_update_is_judged_by_the_fields_of_the_resource_that_it_takes(
    tmp_path: Path, resource: Any, taken: Any
) -> None:
    schema = {"type": "object", "required": ["policy"], "properties": {"policy": {"type": "string"}}}
    content = {"application/json": {"schema": schema}}
    answer = {"200": {"description": "OK", "content": {"application/json": {"schema": {"type": "object"}}}}}
    operation = {"requestBody": {"required": True, "content": content}, "responses": answer}
    table = tabulate(tmp_path, api({"/settings": {"put": operation}})).table
    ((name, family),) = table.names()
    row = table.find(name, family)
    assert row is not None
    assert _taken(resource, row, table) == taken


@pytest.mark.parametrize(
    ("text", "value", "is_right"),
    [
        ("1", 1.0, True),
        ("1.0", 1, True),
        ("1e3", 1000, True),
        ("0.5", 0.5, True),
        ("1.5", 1.0, False),
        ("true", 1, False),
        ("1", True, False),
        ("true", True, True),
        ("1.0", "1", False),
        ("one", 1, False),
        (None, 1, False),
        (None, "None", False),
    ],
)
def test_a_number_is_sent_in_any_of_its_forms_and_a_text_in_one(text: str | None, value: Any, is_right: bool) -> None:
    assert is_sent(text, value) is is_right


def test_a_number_of_a_body_arrives_in_any_of_its_forms() -> None:
    assert _scalars({"a": 1.0, "b": [2.5, "1.0"]}) == _scalars({"a": 1, "b": [2.5, "1.0"]})


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        ("https://x.example/v1/", "/v1"),
        ("https://x.example", ""),
        ("/api", "/api"),
        ("api/v1", "/api/v1"),
        ("xxx", "/xxx"),
        ("https://x.example/{tenant}", ""),
    ],
)
def test_the_stand_in_has_the_path_of_any_address_that_a_document_names(url: str, prefix: str) -> None:
    assert prefix_of([{"url": url}]) == prefix
    assert prefix_of([]) == ""
