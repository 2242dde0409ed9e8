"""The `input` of every update, whatever its body is or if it has none (R-UPD-1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.errors import Failure
from aqlgen.runtime.wire import ApiRequest
from tests.documents import INTEGER, JSON, TEXT, list_of, object_of, parameter, replies
from tests.generator.commands import Tabulation, api, tabulate

THING = object_of("name", name=TEXT, size=INTEGER)


def body(schema: Any, kind: str = JSON, **more: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {kind: {"schema": schema}}, **more}}


def updating(path: str, *parameters: Any, **more: Any) -> dict[str, Any]:
    return {f"PUT /{path}/{{id}}": {"parameters": list(parameters), "responses": replies(status="204"), **more}}


DIALS = [parameter(name) for name in ("colorName", "account_id", "fields")]
DIALS.insert(1, parameter("volume", schema=INTEGER, required=True))
PATHS = {
    **updating("stars"),
    **updating("dials", *DIALS),
    **updating("inputs", parameter("input")),
    **updating("mixers", *(parameter(f"channel{number}") for number in range(47))),
    **updating("tags", **body(list_of(TEXT), required=True)),
    **updating("notes", **body(TEXT, "text/plain", required=True)),
    **updating("wholes", **body({}, required=True)),
    **updating("things", **body(THING, required=True)),
    **updating("options", **body(THING, required=False)),
    **updating("unsaid", **body(THING)),
    **updating("asks", parameter("input"), parameter("in-put", "header"), **body(THING, required=True)),
    **updating("named", parameter("body"), **body(list_of(TEXT))),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Tabulation:
    return tabulate(tmp_path_factory.mktemp("document"), api(PATHS, servers=[{"url": "https://api.example"}]))


@pytest.fixture
def request_of(table: Tabulation, tmp_path: Path) -> Callable[..., ApiRequest]:
    """Return what builds the request of a call."""

    def build(name: str, **params: Any) -> ApiRequest:
        return table.request(tmp_path, name, {f"{name.split('_')[1]}_id": "7", **params})

    return build


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
        "update_mixer": False,
        "update_unsaid": True,
        "update_ask": True,
        "update_named": True,
    }
    assert table.rows["update_ask"]["parameters"].keys() >= {"input", "query_input", "header_in_put"}
    assert {row["body"]["parameter"] for row in table.rows.values() if "body" in row} == {"input"}


def test_the_fields_of_an_update_without_a_body_are_those_that_identify_and_filter_nothing(table: Tabulation) -> None:
    """R-UPD-1"""
    row = table.rows["update_dial"]
    assert row["parameters"].keys() == {"dial_id", "account_id", "fields", "input", "dry_run"}
    assert row["parameters"]["input"]["schema"] == {"$ref": "#/types/UpdateDialInput"}
    assert table.types["UpdateDialInput"]["properties"].keys() == {"color_name", "volume"}
    assert table.types["UpdateDialInput"]["required"] == ["volume"]
    assert row["example"].keys() >= {"dial_id", "input"}
    assert table.types["UpdateInputInput"]["properties"].keys() == {"query_input"}


def test_all_fields_of_a_long_input_are_read_by_the_type_that_its_description_names(table: Tabulation) -> None:
    """R-INT-4, R-INT-5"""
    whole = next(item for item in table.details("update_mixer")["parameters"] if item["name"] == "input")
    assert whole["type"] == "UpdateMixerInput"
    assert whole["description"].endswith("more in UpdateMixerInput}.")
    fields = table.described("UpdateMixerInput")["fields"]
    assert {field["name"] for field in fields} == {f"channel{number}" for number in range(47)}


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
    request_of: Callable[..., ApiRequest], params: dict[str, Any]
) -> None:
    """R-UPD-1"""
    request = request_of("update_dial", account_id="a", **params)
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
    request_of: Callable[..., ApiRequest], params: dict[str, Any], code: str
) -> None:
    """R-UPD-1"""
    with pytest.raises(Failure) as caught:
        request_of("update_dial", **params)
    assert caught.value.code == code


def test_an_update_of_nothing_takes_an_empty_input_and_none_at_all(request_of: Callable[..., ApiRequest]) -> None:
    """R-UPD-1"""
    assert request_of("update_star") == request_of("update_star", input={})
    with pytest.raises(Failure) as caught:
        request_of("update_star", input={"x": 1})
    assert caught.value.code == "VALIDATION_UNKNOWN_FIELD"


def test_a_body_that_is_no_object_is_the_input_and_its_old_name_is_understood(
    request_of: Callable[..., ApiRequest],
) -> None:
    """R-UPD-1"""
    assert request_of("update_tag", input=["a"]).content == b'["a"]'
    assert request_of("update_tag", body=["a"]).content == b'["a"]'
    assert request_of("update_note", input="a").content == b"a"
    assert request_of("update_whole", input={"a": 1}).content == b'{"a":1}'
    request = request_of("update_named", input=["a"], body="b")
    assert (request.url.partition("?")[2], request.content) == ("body=b", b'["a"]')


def test_an_optional_body_may_be_left_out(request_of: Callable[..., ApiRequest]) -> None:
    """R-UPD-1"""
    assert request_of("update_option").content is None
    assert request_of("update_option", input={"name": "a"}).content == b'{"name":"a"}'
