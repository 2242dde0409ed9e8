"""Attacks that want a credential of one API of an adapter to go to another's host."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from aqlgen.diagnostics.errors import OptionError
from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.auth.sources import config_of_each
from aqlgen.runtime.decode.outcome import find_out
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.executions.places import target_at
from aqlgen.runtime.hosts.gate import Hosts
from aqlgen.runtime.introspection.search import Spellings
from aqlgen.runtime.session import Session
from aqlgen.runtime.settings.load import ConfigError, load
from aqlgen.runtime.table import Table
from aqlgen.runtime.wire import ApiRequest
from tests.generator.several import Json, api, package, prepared

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))

from local import Answer, Asked, Local, serving

HR, CRM = "hr-secret-1f2e3d", "crm-secret-9a8b7c"
ENVIRON = {"COMPANY_HR_TOKEN": HR, "COMPANY_CRM_TOKEN": CRM, "MCP_AQL_STATE_URL": "memory:"}


def answer(request: Asked) -> Answer:
    if request.path == "/full":
        return Answer({"error": "slow down"}, 429, {"Retry-After": "60"})
    return Answer({"echo": HR, "id": "1"})


@pytest.fixture
def hosts() -> Iterator[tuple[Local, Local]]:
    """Serve the host of the HR system and that of the CRM."""
    with serving(answer) as second:

        def away(request: Asked) -> Answer:
            return Answer({}, 302, {"Location": f"{second.url}/users"}) if request.path == "/away" else answer(request)

        with serving(away) as first:
            yield first, second


async def calls(folder: Path, *operations: str, environ: Mapping[str, str] | None = None) -> list[Json]:
    parts = assemble(folder, environ={**ENVIRON, **(environ or {})})
    try:
        return [
            dict(await parts.dispatcher.handle(None, {"operation": name, "params": {}}, Session.new()))
            for name in operations
        ]
    finally:
        await parts.close()


def credentials(host: Local) -> list[str]:
    """Return everything that arrived, as text."""
    return [json.dumps([request.path, dict(request.headers), request.body.decode()]) for request in host.asked]


pytestmark = pytest.mark.anyio


async def test_each_api_gets_its_own_credential(tmp_path: Path, hosts: tuple[Local, Local]) -> None:
    documents = {"hr": api("HR", url=hosts[0].url), "crm": api("CRM", url=hosts[1].url)}
    answers = await calls(package(tmp_path / "p", prepared(tmp_path, documents)), "hr_list_users", "crm_list_users")
    assert [envelope["success"] for envelope in answers] == [True, True], answers
    assert [HR in text and CRM not in text for text in credentials(hosts[0])] == [True]
    assert [CRM in text and HR not in text for text in credentials(hosts[1])] == [True]
    assert HR not in json.dumps(answers), "an answer of the CRM may not show the other's credential either"


async def test_a_document_that_names_anothers_host_gets_none_of_its_credentials(
    tmp_path: Path, hosts: tuple[Local, Local]
) -> None:
    """The CRM's document says that it is at the HR system's host, and calls its scheme what the other's is called."""
    schemes = {"hr:token": {"type": "http", "scheme": "bearer"}, "token": {"type": "http", "scheme": "bearer"}}
    documents = {"hr": api("HR", url=hosts[0].url), "crm": api("CRM", "GET /deals", url=hosts[0].url, schemes=schemes)}
    result = prepared(tmp_path, documents)
    scheme = result.table.adapter.security_schemes["crm:hr:token"]
    assert scheme["variables"] == ["COMPANY_CRM_HR_TOKEN"]
    await calls(package(tmp_path / "p", result), "list_deals", environ={"COMPANY_CRM_HR_TOKEN": CRM})
    assert [HR in text for text in credentials(hosts[0])] == [False]


async def test_an_operation_at_the_other_apis_host_is_refused(tmp_path: Path, hosts: tuple[Local, Local]) -> None:
    """That the owner accepted the host for the one API says nothing of the other's credential."""
    elsewhere = api("HR", url=hosts[0].url, servers=[{"url": hosts[1].url}])
    documents = {"hr": elsewhere, "crm": api("CRM", "GET /deals", url=hosts[1].url)}
    (refusal,) = await calls(package(tmp_path / "p", prepared(tmp_path, documents)), "list_users")
    assert refusal["error"]["code"] == "PERMISSION_DENIED"
    assert refusal["error"]["details"]["overrides"].startswith("apis: {hr: {hosts: [")
    assert not hosts[1].asked


async def test_a_document_that_moves_to_the_other_apis_host_is_refused(
    tmp_path: Path, hosts: tuple[Local, Local]
) -> None:
    first = prepared(tmp_path, {"hr": api("HR", url=hosts[0].url), "crm": api("CRM", "GET /deals", url=hosts[1].url)})
    moved = {"hr": api("HR", url=hosts[1].url), "crm": api("CRM", "GET /deals", url=hosts[1].url)}
    second = prepared(tmp_path, moved, requests=first.requests)
    (refusal,) = await calls(package(tmp_path / "p", second), "list_users")
    assert refusal["error"]["code"] == "PERMISSION_DENIED"
    assert not hosts[1].asked


async def test_a_redirect_to_the_other_apis_host_carries_no_credential(
    tmp_path: Path, hosts: tuple[Local, Local]
) -> None:
    documents = {"hr": api("HR", "GET /away", url=hosts[0].url), "crm": api("CRM", "GET /deals", url=hosts[1].url)}
    result = prepared(tmp_path, documents)
    (name,) = (row.name for row in result.table.rows if row.row.api == "hr")
    await calls(package(tmp_path / "p", result), name)
    assert [HR in text for text in credentials(hosts[0])] == [True]
    assert not any(HR in text or CRM in text for text in credentials(hosts[1]))


async def test_a_limit_of_one_api_does_not_hold_another_at_the_same_host(
    tmp_path: Path, hosts: tuple[Local, Local]
) -> None:
    documents = {
        "hr": api("HR", "GET /full", url=hosts[0].url),
        "crm": api("CRM", "GET /deals", url=hosts[0].url),
    }
    folder = package(tmp_path / "p", prepared(tmp_path, documents))
    environ = {"MCP_AQL_RETRIES": "0"}
    full, deals = await calls(folder, "get_full", "list_deals", environ=environ)
    assert full["error"]["code"] == "RATE_LIMIT_EXCEEDED"
    assert deals["success"]


HOSTILE = [
    "b_token",
    "B-Token",
    "_b_token",
    "B:TOKEN",
    "company_b_token",
    "COMPANY_B_TOKEN",
    "B/TOKEN",
    "b token",
    "token",
]


def test_no_name_of_a_scheme_reaches_the_variable_of_another_api(tmp_path: Path) -> None:
    """The document chooses the name of its scheme, and so of the variable that holds its credential."""
    schemes = {name: {"type": "http", "scheme": "bearer"} for name in HOSTILE if ":" not in name and "/" not in name}
    documents = {"a": api("A", schemes=schemes), "b": api("B"), "ab": api("AB", schemes=schemes)}
    table = prepared(tmp_path, documents).table
    owners: dict[str, set[str]] = {}
    for name, scheme in table.adapter.security_schemes.items():
        for variable in scheme["variables"]:
            owners.setdefault(variable, set()).add(name.partition(":")[0])
    assert all(len(apis) == 1 for apis in owners.values()), owners
    assert owners["COMPANY_B_TOKEN"] == {"b"}


def test_the_gate_of_an_api_has_no_host_of_another(tmp_path: Path) -> None:
    oauth = {
        "login": {
            "type": "oauth2",
            "flows": {"clientCredentials": {"tokenUrl": "https://login.b.test/token", "scopes": {}}},
        }
    }
    documents = {"a": api("A", url="https://a.test"), "b": api("B", url="https://b.test", schemes=oauth)}
    adapter = prepared(tmp_path, documents).table.adapter
    gate = Hosts(adapter.of_api("a"))
    gate.admit("https://a.test/users")
    for url in ("https://b.test/users", "https://login.b.test/token"):
        with pytest.raises(Failure, match="has not accepted"):
            gate.admit(url)
        with pytest.raises(Failure, match="has not accepted"):
            gate.admit_authorization(url)
    with pytest.raises(Failure, match="has not accepted"):
        Hosts(adapter).admit("https://a.test/users")


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("BASE_URL", "https://gateway.test", "must name the API of each address"),
        ("BASE_URL", "http://127.0.0.1:8099", "must name the API of each address"),
        ("BASE_URL", "hr=https://hr.test,x=https://x.test", "names the API 'x'"),
        ("SERVER_VARIABLES", "region=eu", "must name the API of 'region'"),
        ("SERVER_VARIABLES", "x.region=eu", "must name the API of 'x.region'"),
    ],
)
def test_a_setting_of_all_apis_at_once_is_refused(tmp_path: Path, key: str, value: str, problem: str) -> None:
    """One address for all would send the credential of each to the host of another."""
    folder = package(tmp_path / "p", prepared(tmp_path, {"hr": api("HR"), "crm": api("CRM")}))
    with pytest.raises(ConfigError, match=problem):
        assemble(folder, environ={**ENVIRON, f"MCP_AQL_{key}": value})


def test_the_settings_of_an_api_are_for_it_alone(tmp_path: Path) -> None:
    result = prepared(tmp_path, {"hr": api("HR"), "crm": api("CRM")})
    environ = {"MCP_AQL_BASE_URL": "hr=https://hr.test/v1, crm=https://crm.test", "MCP_AQL_SERVER_VARIABLES": "hr.x=1"}
    each = config_of_each(load(tmp_path, environ), result.table.adapter)
    assert {name: config.base_url for name, config in each.items()} == {
        "hr": "https://hr.test/v1",
        "crm": "https://crm.test",
    }
    assert {name: dict(config.server_variables) for name, config in each.items()} == {"hr": {"x": "1"}, "crm": {}}


@pytest.mark.parametrize("field", ["headers: {X-Tenant: {env: TENANT}}", "hosts: [evil.test]", "variables: {token: T}"])
def test_an_override_of_all_apis_at_once_is_refused(tmp_path: Path, field: str) -> None:
    documents = {"hr": api("HR"), "crm": api("CRM")}
    with pytest.raises(OptionError, match="each of the 2 APIs has its own"):
        prepared(tmp_path, documents, f"adapter:\n  {field}\n")


async def test_a_header_of_the_owner_goes_to_its_api_alone(tmp_path: Path, hosts: tuple[Local, Local]) -> None:
    documents = {"hr": api("HR", url=hosts[0].url), "crm": api("CRM", url=hosts[1].url)}
    overrides = "apis: {hr: {headers: {X-Tenant: {env: TENANT}, X-Plain: main}}}"
    folder = package(tmp_path / "p", prepared(tmp_path, documents, overrides))
    await calls(folder, "hr_list_users", "crm_list_users", environ={"TENANT": "t3nant-s3cret"})
    assert hosts[0].asked[0].headers["x-tenant"] == "t3nant-s3cret"
    assert hosts[0].asked[0].headers["x-plain"] == "main"
    assert not {"x-tenant", "x-plain"} & hosts[1].asked[0].headers.keys()


def test_a_row_of_no_known_api_is_not_called(tmp_path: Path) -> None:
    folder = package(tmp_path / "p", prepared(tmp_path, {"hr": api("HR"), "crm": api("CRM")}))
    rows: dict[str, Any] = json.loads((folder / "operations" / "read.json").read_text())
    assert {row["api"] for row in rows.values()} == {"hr", "crm"}
    adapter = prepared(tmp_path, {"hr": api("HR"), "crm": api("CRM")}).table.adapter
    for name in ("", "x", "hr:crm"):
        with pytest.raises(KeyError):
            adapter.of_api(name)


def shops(tmp_path: Path, *second: str) -> Table:
    """Return the table of an API that starts work, and of one that has the paths that its answers could name."""
    documents = {"crm": api("CRM", "POST /imports", "PATCH /users/{id}"), "hr": api("HR", *second)}
    return Table(package(tmp_path / "p", prepared(tmp_path, documents)))


def test_an_answer_of_one_api_does_not_lead_to_an_operation_of_another(tmp_path: Path) -> None:
    """An answer says where its work can be followed, and names a path that the other API serves."""
    table = shops(tmp_path, "GET /users/{id}")
    row = next(row for name, family in table.names() if (row := table.find(name, family)) and row.path == "/imports")
    request = ApiRequest("POST", "https://crm.example.com/imports", (), None)
    target = target_at("/users/7", row, request, table)
    assert target is not None
    assert not target.monitor
    with_reader = shops(tmp_path, "GET /users/{id}", "POST /exports")
    same = next(
        row
        for name, family in with_reader.names()
        if (row := with_reader.find(name, family)) and row.path == "/exports"
    )
    followed = target_at("/users/7", same, ApiRequest("POST", "https://hr.example.com/exports", (), None), with_reader)
    assert followed is not None
    assert followed.monitor == "get_user"


def test_what_became_of_a_write_is_not_looked_up_in_another_api(tmp_path: Path) -> None:
    table = shops(tmp_path, "GET /users/{id}")
    row = table.find("update_user", "update")
    assert row is not None
    assert find_out(row, {"id": "7"}, table) is None


def test_a_path_that_two_apis_have_is_no_operations_spelling(tmp_path: Path) -> None:
    documents = {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /users")}
    spellings = Spellings(Table(package(tmp_path / "p", prepared(tmp_path, documents))))
    assert spellings.find("GET /users") is None
    assert spellings.find("crm:GET /users") == "crm_list_users"


def test_a_name_of_one_operation_that_another_has_as_its_operation_id_is_the_spelling_of_neither(
    tmp_path: Path,
) -> None:
    hr = api("HR", "DELETE /users/{id}", "DELETE /users/{id}/roles")
    hr["paths"]["/users/{id}/roles"]["delete"]["operationId"] = "deleteuser"
    documents = {"hr": hr, "crm": api("CRM", "GET /users")}
    named = (
        "hr:DELETE /users/{id}:\n  name: delete_user\n"  # as a project has it that is older than the other operation
    )
    spellings = Spellings(Table(package(tmp_path / "p", prepared(tmp_path, documents, named))))
    assert spellings.find("DeleteUser") is None
    assert spellings.find("deleteuser") == "delete_user_roles"
    assert spellings.find("Delete-User-Roles") == "delete_user_roles"
