"""What an agent is told of several APIs, and how it asks for one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aqlgen.runtime.introspection.introspect import Introspection
from aqlgen.runtime.quota.limits import Pattern
from aqlgen.runtime.safety.question_texts import title_of
from aqlgen.runtime.settings.load import load
from aqlgen.runtime.table import Adapter, Table
from tests.cases import each
from tests.generator.several import api, package, prepared


@pytest.fixture(scope="module")
def introspection(tmp_path_factory: pytest.TempPathFactory) -> Introspection:
    folder = tmp_path_factory.mktemp("company")
    documents = {
        "hr": api("HR System", "GET /users", "GET /payrolls"),
        "crm": api("CRM", "GET /users", "GET /users/{id}", "GET /deals"),
    }
    place = package(folder / "p", prepared(folder, documents))
    return Introspection(Adapter.load(place), Table(place), load(folder, {}))


def answer(introspection: Introspection, **params: Any) -> dict[str, Any]:
    return introspection.answer(params, None)


def test_the_overview_names_the_apis_with_their_counts(introspection: Introspection) -> None:
    apis = {"hr": {"title": "HR System", "operations": 2}, "crm": {"title": "CRM", "operations": 3}}
    assert answer(introspection, query="operations")["data"]["_protocol"]["apis"] == apis
    assert answer(introspection, query="adapter_info")["data"]["apis"] == apis


def test_the_list_is_narrowed_to_an_api(introspection: Introspection) -> None:
    listed = answer(introspection, query="operations", api="crm")["data"]["operations"]
    assert [entry["name"] for entry in listed] == ["crm_list_users", "get_user", "list_deals"]


def test_a_search_is_narrowed_to_an_api(introspection: Introspection) -> None:
    data = answer(introspection, query="search", search="list users", api="hr")["data"]
    assert [entry["name"] for entry in data["operations"]] + [*data["others"]] == ["hr_list_users"]


def test_a_search_finds_by_the_name_of_the_api(introspection: Introspection) -> None:
    hits = answer(introspection, query="operations", search="users in the crm")["data"]["operations"]
    assert hits[0]["name"] == "crm_list_users"


def test_an_unknown_api_is_refused_with_the_known_ones(introspection: Introspection) -> None:
    error = answer(introspection, query="operations", api="crn")["error"]
    assert error["code"] == "VALIDATION_INVALID_VALUE"
    assert "'hr', 'crm'" in error["message"]


def test_introspect_tells_of_the_parameter(introspection: Introspection) -> None:
    details = answer(introspection, query="operations", name="introspect")["data"]["operation"]
    assert next(each for each in details["parameters"] if each["name"] == "api")["enum"] == ["hr", "crm"]


def test_an_adapter_of_one_api_knows_no_such_parameter(tmp_path: Path) -> None:
    document = prepared(tmp_path, {"crm": api("CRM", "GET /deals")})
    place = package(tmp_path / "p", document)
    adapter, table = Adapter.load(place), Table(place)
    alone = Introspection(adapter.of_api("crm"), table, load(tmp_path, {}))
    assert alone.answer({"query": "operations", "api": "crm"}, None)["error"]["code"] == "VALIDATION_UNKNOWN_PARAM"
    assert "apis" not in alone.answer({"query": "operations"}, None)["data"]["_protocol"]


@each(
    ("pattern", "fitting"),
    [
        ("api:crm", {"crm"}),
        ("api:*", {"crm", "hr"}),
        ("crm:DELETE /users/*", {"crm"}),
        ("DELETE /users/*", {"crm", "hr", ""}),
        ("*delete_user", {"crm", "hr", ""}),
        ("api:", set()),
    ],
)
def test_a_pattern_of_the_owner_names_an_api(pattern: str, fitting: set[str]) -> None:
    apis = ("crm", "hr", "")
    assert {api for api in apis if Pattern(pattern).fits("crm_delete_user", "DELETE", "/users/{id}", api)} == fitting


def test_the_question_about_a_call_leaves_out_the_prefix(tmp_path: Path) -> None:
    documents = {name: api(name, "DELETE /users/{id}") for name in ("crm", "hr")}
    rows = {row.name: row.row for row in prepared(tmp_path, documents).table.rows}
    assert title_of(rows["crm_delete_user"], {"user_id": "7"}).startswith("Delete user 7?")
