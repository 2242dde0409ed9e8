"""The `input` of every update, whatever its body is or if it has none (R-UPD-1)."""

from __future__ import annotations

from typing import Any

import pytest

from aqlgen.runtime.client import Api
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from aqlgen.runtime.wire import ApiRequest
from tests.generator.commands import Tabulation, api, tabulate
from tests.runtime.api.hand_made import Recorder

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
ID = {"name": "id", "in": "path", "required": True, "schema": TEXT}
THING = {"type": "object", "required": ["name"], "properties": {"name": TEXT, "size": WHOLE}}
DONE = {"204": {"description": "done"}}


def query(name: str, schema: Any = TEXT, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, **more}


def body(schema: Any, kind: str = "application/json", **more: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {kind: {"schema": schema}}, **more}}


def updating(path: str, *parameters: Any, **more: Any) -> dict[str, Any]:
    return {f"/{path}/{{id}}": {"put": {"parameters": [ID, *parameters], "responses": DONE, **more}}}


PATHS = {
    **updating("stars"),
    **updating(
        "dials", query("colorName"), query("volume", WHOLE, required=True), query("account_id"), query("fields")
    ),
    **updating("inputs", query("input")),
    **updating("tags", **body({"type": "array", "items": TEXT}, required=True)),
    **updating("notes", **body(TEXT, "text/plain", required=True)),
    **updating("wholes", **body({}, required=True)),
    **updating("things", **body(THING, required=True)),
    **updating("options", **body(THING, required=False)),
    **updating("unsaid", **body(THING)),
    **updating("named", query("body"), **body({"type": "array", "items": TEXT})),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Tabulation:
    return tabulate(tmp_path_factory.mktemp("document"), api(PATHS, servers=[{"url": "https://api.example"}]))


@pytest.fixture(scope="module")
def side(table: Tabulation, tmp_path_factory: pytest.TempPathFactory) -> tuple[Table, Api]:
    folder = table.write(tmp_path_factory.mktemp("package"))
    rows = Table(folder)
    return rows, Api(Adapter.load(folder), rows, Recorder(), Config(), environ={})


def sent(side: tuple[Table, Api], name: str, **params: Any) -> ApiRequest:
    """Build the request of a call."""
    rows, calls = side
    row = rows.find(name, "update")
    assert row is not None, name
    return calls.build(row, calls.validate(row, {f"{name.split('_')[1]}_id": "7", **params}))


def test_every_update_takes_input_and_demands_it_where_the_document_does(table: Tabulation) -> None:
    """R-UPD-1"""
    required = {name: row["parameters"]["input"].get("required", False) for name, row in table.rows.items()}
    assert required == {
        "update_star": False,
        "update_dial": True,
        "update_input": False,
        "update_tag": True,
        "update_note": True,
        "update_whole": True,
        "update_thing": True,
        "update_option": False,
        "update_unsaid": True,
        "update_named": True,
    }


def test_the_fields_of_an_update_without_a_body_are_those_that_identify_and_filter_nothing(table: Tabulation) -> None:
    """R-UPD-1"""
    row = table.rows["update_dial"]
    assert row["parameters"].keys() == {"dial_id", "account_id", "fields", "input", "dry_run"}
    assert row["parameters"]["input"]["schema"]["properties"].keys() == {"color_name", "volume"}
    assert row["parameters"]["input"]["schema"]["required"] == ["volume"]
    assert row["example"].keys() >= {"dial_id", "input"}
    assert table.rows["update_input"]["parameters"]["input"]["schema"]["properties"].keys() == {"query_input"}


@pytest.mark.parametrize(
    "params",
    [
        {"input": {"color_name": "red", "volume": 3}},
        {"input": {"colorName": "red", "volume": 3}},
        {"color_name": "red", "volume": 3},
        {"colorName": "red", "input": {"volume": 3}},
    ],
)
def test_the_query_is_the_same_whether_its_fields_stand_in_input_or_beside_it(
    side: tuple[Table, Api], params: dict[str, Any]
) -> None:
    """R-UPD-1"""
    request = sent(side, "update_dial", account_id="a", **params)
    assert sorted(request.url.partition("?")[2].split("&")) == ["account_id=a", "colorName=red", "volume=3"]
    assert request.content is None


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, "VALIDATION_MISSING_PARAM"),
        ({"input": {}}, "VALIDATION_MISSING_PARAM"),
        ({"input": {"volume": "x"}}, "VALIDATION_INVALID_TYPE"),
        ({"volume": "x"}, "VALIDATION_INVALID_TYPE"),
        ({"input": {"volume": 3}, "volume": 4}, "VALIDATION_INVALID_VALUE"),
        ({"input": {"volume": 3, "account_id": "a"}}, "VALIDATION_UNKNOWN_FIELD"),
        ({"input": {"volume": 3, "dial_id": "8"}}, "VALIDATION_UNKNOWN_FIELD"),
        ({"input": "volume"}, "VALIDATION_INVALID_TYPE"),
        ({"volume": 3, "loudness": 4}, "VALIDATION_UNKNOWN_PARAM"),
    ],
)
def test_what_an_input_without_a_body_must_not_hold_is_refused(
    side: tuple[Table, Api], params: dict[str, Any], code: str
) -> None:
    """R-UPD-1"""
    with pytest.raises(Failure) as caught:
        sent(side, "update_dial", **params)
    assert caught.value.code == code


def test_an_update_of_nothing_takes_an_empty_input_and_none_at_all(side: tuple[Table, Api]) -> None:
    """R-UPD-1"""
    assert sent(side, "update_star") == sent(side, "update_star", input={})
    with pytest.raises(Failure) as caught:
        sent(side, "update_star", input={"x": 1})
    assert caught.value.code == "VALIDATION_UNKNOWN_FIELD"


def test_a_body_that_is_no_object_is_the_input_and_its_old_name_is_understood(side: tuple[Table, Api]) -> None:
    """R-UPD-1"""
    assert sent(side, "update_tag", input=["a"]).content == b'["a"]'
    assert sent(side, "update_tag", body=["a"]).content == b'["a"]'
    assert sent(side, "update_note", input="a").content == b"a"
    assert sent(side, "update_whole", input={"a": 1}).content == b'{"a":1}'
    request = sent(side, "update_named", input=["a"], body="b")
    assert (request.url.partition("?")[2], request.content) == ("body=b", b'["a"]')


def test_an_optional_body_may_be_left_out(side: tuple[Table, Api]) -> None:
    """R-UPD-1"""
    assert sent(side, "update_option").content is None
    assert sent(side, "update_option", input={"name": "a"}).content == b'{"name":"a"}'
