"""What the tests of `aqlgen check` take for right although it looks as if something were lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aqlgen.check.checks.level2 import _is_chosen_within
from aqlgen.check.checks.round_trip import _overtaken, _scalars, _taken, _written

from aqlgen.check.operations import Operation, is_sent
from aqlgen.check.runner import prefix_of
from aqlgen.check.stand_in import Arrived
from tests.generator.commands import api, tabulate


@pytest.mark.parametrize(
    ("answer", "is_right"),
    [
        ({"sha": "1", "url": "u", "tree": [{"sha": "2"}, {"sha": "3"}]}, True),
        ({"sha": "1", "url": "u", "tree": [{"sha": "2", "path": "p"}]}, False),
        ({"sha": "1", "url": "u", "tree": []}, False),
        ({"sha": "1", "url": "u"}, False),
        ({"url": "u", "result": {"sha": "1"}}, True),
        ({"url": "u", "result": {"sha": "1", "path": "p"}}, False),
        ("text", False),
    ],
)
def test_a_field_that_the_things_in_an_answer_have_too_may_be_chosen_in_them(answer: Any, is_right: bool) -> None:
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
    operation = _update_of_policy(tmp_path)
    assert _taken(resource, operation.row, operation.table) == taken


def test_a_change_in_between_is_one_of_what_the_update_takes(tmp_path: Path) -> None:
    operation = _update_of_policy(tmp_path)
    assert _overtaken({"policy": "all", "url": "u"}, operation) == {"policy": "all2", "url": "u2"}
    assert _overtaken({"policy": 1, "url": "u"}, operation) is None


def test_a_resource_that_declares_nothing_of_what_the_update_takes_loses_nothing(tmp_path: Path) -> None:
    operation = _update_of_policy(tmp_path, {"code": {"type": "integer"}, "data": {}})
    assert operation.reads_first
    assert _taken({"code": 1, "data": "a"}, operation.row, operation.table) == {}
    assert _taken({"code": 1, "data": {"policy": "all"}}, operation.row, operation.table) == {"policy": "all"}


def _update_of_policy(tmp_path: Path, read: dict[str, Any] | None = None) -> Operation:
    schema = {
        "type": "object",
        "required": ["policy"],
        "properties": {"policy": {"type": "string"}, "note": {"type": "string"}},
    }
    content = {"application/json": {"schema": schema}}
    answer = {"200": {"description": "OK", "content": {"application/json": {"schema": {"type": "object"}}}}}
    operation = {"requestBody": {"required": True, "content": content}, "responses": answer}
    shown = {"schema": {"type": "object", "properties": read}}
    reader = {"get": {"responses": {"200": {"description": "OK", "content": {"application/json": shown}}}}}
    table = tabulate(tmp_path, api({"/settings": {"put": operation, **(reader if read else {})}})).table
    row = table.find(*next(names for names in table.names() if names[1] == "update"))
    assert row is not None
    return Operation(row, table)


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


def test_an_operation_that_is_as_grave_as_the_action_it_chooses_is_not_always_grave(tmp_path: Path) -> None:
    action = {"type": "object", "required": ["action"], "properties": {"action": {"enum": ["rename", "delete"]}}}
    whole = {"type": "object", "properties": {"actions": {"type": "array", "items": action}}}
    changes = {"requestBody": {"required": True, "content": {"application/json": {"schema": whole}}}}
    table = tabulate(tmp_path, api({"/changes": {"post": changes}, "/parts/{id}": {"delete": {}}})).table
    operations = [Operation(row, table) for names in table.names() if (row := table.find(*names)) is not None]
    levels = ("destructive", "dangerous")
    assert all(operation.row.danger in levels for operation in operations)
    assert {operation.row.path: operation.always_is(levels) for operation in operations} == {
        "/changes": False,
        "/parts/{id}": True,
    }


def test_values_that_arrive_in_a_form_are_written() -> None:
    head = "--b\r\nContent-Disposition: form-data; name="
    body = f'{head}"count"\r\n\r\n2\r\n{head}"note"\r\n\r\n\u00fc "b"\r\n{head}"at"\r\n\r\n{{"x": 0.5}}\r\n--b--\r\n'
    forms = {
        "multipart/form-data; boundary=b": (body.encode(), {"2", json.dumps('\u00fc "b"'), "0.5", '"Mg=="'}),
        "application/x-www-form-urlencoded": (b"count=2&note=a+b", {"2", '"a b"'}),
    }
    for kind, (sent, values) in forms.items():
        assert values <= set(_written(Arrived("PATCH", "/things/1", (), {"content-type": kind}, sent))), kind
