"""Several APIs in one adapter: names, types, overrides and records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aqlgen.compare import compare, surface_of_table
from aqlgen.decide.several import ApiNames, base_names, prefix_names
from aqlgen.diagnostics.errors import OptionError
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from aqlgen.project.options import addresses, read_apis, recorded_options
from aqlgen.table.identity import api_names, split_name
from tests.cases import each
from tests.documents import TEXT, body_of, object_of, ref, replies
from tests.generator.commands import run
from tests.generator.several import Json, api, names, package, prepared


def test_a_name_gets_a_prefix_only_where_another_api_has_it(tmp_path: Path) -> None:
    documents = {"hr": api("HR", "GET /users", "GET /payrolls"), "crm": api("CRM", "GET /users", "GET /deals")}
    assert names(prepared(tmp_path, documents)) == {
        "hr:GET /users": "hr_list_users",
        "hr:GET /payrolls": "list_payrolls",
        "crm:GET /users": "crm_list_users",
        "crm:GET /deals": "list_deals",
    }


def test_the_order_of_the_documents_changes_no_name(tmp_path: Path) -> None:
    documents = {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /users"), "wiki": api("Wiki", "GET /users")}
    backwards = dict(reversed(documents.items()))
    assert names(prepared(tmp_path, documents)) == names(prepared(tmp_path, backwards))


def test_a_name_that_agents_know_stays_when_an_api_comes(tmp_path: Path) -> None:
    crm = api("CRM", "GET /users", "GET /deals")
    before = prepared(tmp_path, {"crm": crm})
    known = names(before)
    assert known["crm:GET /users"] == "list_users"
    after = prepared(tmp_path, {"crm": crm, "hr": api("HR", "GET /users")}, names=known)
    assert names(after) == {**known, "hr:GET /users": "hr_list_users"}
    assert after.pinned == {"crm:GET /users": "list_users"}
    again = prepared(tmp_path, {"crm": crm, "hr": api("HR", "GET /users")}, names=after.pinned)
    assert names(again) == names(after)
    assert again.pinned == after.pinned


def test_an_update_with_nothing_new_pins_nothing(tmp_path: Path) -> None:
    documents = {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /users")}
    first = prepared(tmp_path, documents)
    again = prepared(tmp_path, documents, names=names(first))
    assert (names(again), again.pinned, again.retired) == (names(first), {}, {})


def test_the_names_of_an_api_that_is_gone_are_no_others(tmp_path: Path) -> None:
    both = prepared(tmp_path, {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /deals")})
    left = prepared(tmp_path, {"crm": api("CRM", "GET /deals", "GET /users")}, names=names(both))
    assert left.retired == {"list_users": "hr:GET /users"}
    assert names(left) == {"crm:GET /deals": "list_deals", "crm:GET /users": "crm_list_users"}


def test_the_owner_chooses_the_prefix_and_any_name(tmp_path: Path) -> None:
    documents = {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /users"), "wiki": api("Wiki", "GET /users")}
    overrides = "apis: {crm: {prefix: sales}}\nhr:GET /users: {name: list_people}"
    assert sorted(names(prepared(tmp_path, documents, overrides)).values()) == [
        "list_people",
        "sales_list_users",
        "wiki_list_users",
    ]


def test_two_apis_cannot_have_one_name_by_the_owner(tmp_path: Path) -> None:
    documents = {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /users")}
    overrides = "hr:GET /users: {name: list_people}\ncrm:GET /users: {name: list_people}"
    with pytest.raises(OptionError, match="`list_people` is taken by"):
        prepared(tmp_path, documents, overrides)


def test_an_override_cannot_take_the_name_of_another_apis_operation(tmp_path: Path) -> None:
    documents = {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /deals")}
    known = names(prepared(tmp_path, documents))
    with pytest.raises(OptionError, match="the name `list_deals` is that of crm:GET /deals"):
        prepared(tmp_path, documents, "hr:GET /users: {name: list_deals}", names=known)


def test_an_operation_id_of_one_api_is_no_name_of_another(tmp_path: Path) -> None:
    """R-NAME-3"""
    crm = api("CRM", "GET /people")
    crm["paths"]["/people"]["get"]["operationId"] = "listUsers"
    documents = {"hr": api("HR", "GET /users"), "crm": crm}
    expected = {"hr:GET /users": "hr_list_users", "crm:GET /people": "list_people"}
    assert names(prepared(tmp_path, documents)) == expected
    assert names(prepared(tmp_path, dict(reversed(documents.items())))) == expected


def test_references_to_operations_have_the_prefix_too(tmp_path: Path) -> None:
    def document(title: str) -> Json:
        result = api(title, "GET /users/{id}", "PUT /users/{id}", responses=replies(ref("User")))
        result["paths"]["/users/{id}"]["put"]["requestBody"] = body_of(ref("User"))
        result["components"]["schemas"] = {"User": object_of(id=TEXT, name=TEXT)}
        return result

    rows = {row.name: row.row for row in prepared(tmp_path, {"hr": document("HR"), "crm": document("CRM")}).table.rows}
    for prefix in ("hr", "crm"):
        update = rows[f"{prefix}_update_user"].update
        assert update is not None
        assert (update.strategy, update.read) == ("put-merge", f"{prefix}_get_user")
    assert rows["hr_update_user"].returns["name"] == "User"
    assert rows["crm_update_user"].returns["name"] == "CrmUser"


def test_what_is_decided_about_an_operation_does_not_depend_on_the_prefix(tmp_path: Path) -> None:
    """An API called delete makes none of its operations more dangerous."""
    alone = prepared(tmp_path, {"delete": api("Delete", "GET /users", "POST /users/{id}/archive")})
    documents = {
        "delete": api("Delete", "GET /users", "POST /users/{id}/archive"),
        "crm": api("CRM", "GET /users", "POST /users/{id}/archive"),
    }
    both = prepared(tmp_path, documents)
    expected = {row.decision.operation.key: (row.row.danger, row.row.verb, row.family) for row in alone.table.rows}
    decided = {row.decision.operation.key: (row.row.danger, row.row.verb, row.family) for row in both.table.rows}
    assert {key: decided[key] for key in expected} == expected


@pytest.mark.parametrize(
    ("overrides", "hidden"),
    [
        ("crm:GET /users: {hidden: true}", {"crm:GET /users"}),
        ("GET /deals: {hidden: true}", {"crm:GET /deals"}),
        ("api:crm: {hidden: true}", {"crm:GET /users", "crm:GET /deals"}),
        ('"* /users": {hidden: true}', {"crm:GET /users", "hr:GET /users"}),
        ('"hr:* /**": {hidden: true}', {"hr:GET /users"}),
        ('api:crm: {hidden: true}\n"crm:GET /users": {hidden: false}', {"crm:GET /deals"}),
        ("crm:operation:list_*: {hidden: true}", {"crm:GET /users", "crm:GET /deals"}),
    ],
)
def test_a_key_selects_the_operations_of_an_api(tmp_path: Path, overrides: str, hidden: set[str]) -> None:
    documents = {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /users", "GET /deals")}
    operations = {"hr:GET /users", "crm:GET /users", "crm:GET /deals"}
    if hidden == operations - {"hr:GET /users"}:
        documents["hr"]["paths"] |= api("HR", "GET /rooms")["paths"]
        operations |= {"hr:GET /rooms"}
    documents["wiki"] = api("Wiki", "GET /pages")
    assert operations - set(names(prepared(tmp_path, documents, overrides))) == hidden


@pytest.mark.parametrize(
    ("overrides", "message", "help"),
    [
        (
            "GET /users: {hidden: true}",
            "`GET /users` is an operation of 2 APIs",
            "Write `hr:GET /users` or `crm:GET /users`.",
        ),
        ("x:GET /users: {hidden: true}", "there is no API called `x`", "Choose one of hr, crm."),
        ("api:crn: {hidden: true}", "there is no API called `crn`", "Did you mean `crm`?"),
        ("apis: {crn: {prefix: x}}", "there is no API called `crn`", "Did you mean `crm`?"),
        ("GET /user: {hidden: true}", "there is no operation `GET /user` in any", "Did you mean `GET /users`?"),
        ("tag:none: {hidden: true}", "no operation has the tag `none`", ""),
        (
            "GET /deals: {hidden: true}\ncrm:GET /deals: {hidden: true}",
            "`GET /deals` and `crm:GET /deals` are the same",
            "Keep one",
        ),
    ],
)
def test_a_key_that_selects_nothing_or_too_much_is_refused(
    tmp_path: Path, overrides: str, message: str, help: str
) -> None:
    documents = {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /users", "GET /deals")}
    with pytest.raises(OptionError) as refusal:
        prepared(tmp_path, documents, overrides)
    (diagnostic,) = refusal.value.diagnostics
    assert message in diagnostic.message
    assert help in diagnostic.help
    assert diagnostic.line


def test_an_entry_that_fits_one_of_the_apis_is_no_mistake(tmp_path: Path) -> None:
    documents = {"hr": api("HR", "GET /users", tags=["people"]), "crm": api("CRM", "GET /deals")}
    result = prepared(tmp_path, documents, "tag:people: {danger: destructive}")
    assert {row.row.api: row.row.danger for row in result.table.rows} == {"hr": "destructive", "crm": "safe"}


def test_include_selects_by_api(tmp_path: Path) -> None:
    documents = {"hr": api("HR", "GET /users"), "crm": api("CRM", "GET /users", "GET /deals")}
    result = prepared(tmp_path, documents, include=("api:crm",), exclude=("operation:crm:GET /deals",))
    assert names(result) == {"crm:GET /users": "crm_list_users"}


def test_the_record_says_what_was_accepted_of_each(tmp_path: Path) -> None:
    result = prepared(tmp_path, {"hr": api("HR"), "crm": api("CRM")})
    recorded = recorded_options(Options(result.requests, name="company"), result, "")
    assert recorded["apis"] == [
        {"name": "hr", "spec_url": "", "accepted": {"api": ["https://hr.example.com"], "oauth": []}, "base": None},
        {"name": "crm", "spec_url": "", "accepted": {"api": ["https://crm.example.com"], "oauth": []}, "base": None},
    ]
    assert [each.name for each in read_apis(recorded)] == ["hr", "crm"]


def test_the_addresses_are_recorded_as_an_update_takes_them() -> None:
    apis = [Request("https://hr.test/a.json", name="hr"), Request("crm.json", name="crm"),
            Request("crm.json", name="wiki", spec_url="https://wiki.test/a.json")]  # fmt: skip
    assert addresses(apis) == "hr=https://hr.test/a.json\nwiki=https://wiki.test/a.json"


@each("name", ["../x", "", "A", "tag", "a-b", "x" * 25, 1, None])
def test_a_record_with_a_name_that_no_api_has_is_not_followed(name: Any) -> None:
    """The name is a folder of the project, too."""
    assert read_apis({"apis": [{"name": name}, "x"]}) == []


def test_the_input_is_kept_in_a_folder_of_each_api(tmp_path: Path) -> None:
    result = prepared(tmp_path, {"hr": api("HR"), "crm": api("CRM")})
    assert sorted(result.kept) == ["crm/openapi.json", "hr/openapi.json"]


@each(
    ("written", "expected"),
    [
        ("crm.yaml", ("", "crm.yaml")),
        ("crm=crm.yaml", ("crm", "crm.yaml")),
        ("https://x.test/?a=b", ("", "https://x.test/?a=b")),
        ("crm=https://x.test/?a=b", ("crm", "https://x.test/?a=b")),
    ],
)
def test_a_name_stands_before_a_document(written: str, expected: tuple[str, str]) -> None:
    assert split_name(written) == expected


@each("written", ["my-crm=x.yaml", "CRM=x.yaml", "tag=x.yaml", "workflows=x.yaml"])
def test_a_name_that_cannot_be_used_is_refused(written: str) -> None:
    with pytest.raises(OptionError) as refusal:
        split_name(written)
    assert refusal.value.diagnostics[0].help


def test_an_api_is_named_after_its_document() -> None:
    def named(*apis: tuple[str, str, str]) -> list[str]:
        requests = [Request(spec, name=name) for name, _, spec in apis]
        return api_names(requests, [{"info": {"title": title}} for _, title, _ in apis])

    assert named(("", "Google Drive API", "x.yaml"), ("", "GitHub v3 REST API", "y.yaml")) == ["googledrive", "github"]
    assert named(("", "Users", "hr.yaml"), ("", "Users", "crm.yaml")) == ["users", "crm"]
    assert named(("users", "X", "hr.yaml"), ("", "Users", "crm.yaml")) == ["users", "crm"]
    with pytest.raises(OptionError, match="has a name of another API"):
        named(("", "Users", "a.yaml"), ("", "Users", "a.yaml"), ("", "Users", "a.yaml"))


def test_a_name_that_is_too_long_for_a_prefix_is_told_apart_by_a_hash() -> None:
    long = "list_" + "x" * 58
    apis = {name: ApiNames(name, {f"{name}:GET /x": long}, (), (), {}) for name in ("first", "second")}
    decided = prefix_names(apis, {}).names
    assert len(set(decided.values())) == 2
    assert all(len(name) <= 64 for name in decided.values())


def test_a_kept_name_loses_the_prefix_only_where_that_is_one() -> None:
    assert base_names({"crm:GET /a": "crm_list_a", "crm:GET /b": "list_b"}, "crm") == {
        "crm:GET /a": "list_a",
        "crm:GET /b": "list_b",
    }
    assert base_names({"crm:GET /a": "crm_list_a", "crm:GET /b": "list_a"}, "crm")["crm:GET /a"] == "crm_list_a"


def test_an_adapter_of_one_document_says_nothing_of_apis(tmp_path: Path) -> None:
    path = tmp_path / "hr.json"
    path.write_text(json.dumps(api("HR", "GET /users")), encoding="utf-8")
    result = prepare(Options((Request(str(path)),)), lambda _: None)
    folder = package(tmp_path / "p", result)
    assert "api" not in json.loads((folder / "operations" / "read.json").read_text())["list_users"]
    assert "apis" not in json.loads((folder / "adapter.json").read_text())


def test_an_api_that_comes_changes_only_the_credentials_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "alone.json"
    path.write_text(json.dumps(api("CRM", "GET /users", "GET /deals")), encoding="utf-8")
    alone = prepare(Options((Request(str(path)),), name="company"), lambda _: None)
    known = {f"crm:{key}": name for key, name in names(alone).items()}
    documents = {"crm": api("CRM", "GET /users", "GET /deals"), "hr": api("HR", "GET /users")}
    both = prepared(tmp_path, documents, names=known)
    changes = compare(surface_of_table(alone.table), surface_of_table(both.table)).as_json()["changes"]
    assert {change["rule"] for change in changes} == {
        "credentials-changed", "host-added", "operation-added", "text-added", "text-removed",
    }  # fmt: skip


def test_the_printed_entry_for_missing_credentials_names_the_apis_and_can_be_pasted(tmp_path: Path) -> None:
    documents = {name: api(name.upper(), "GET /users", schemes={}) for name in ("hr", "crm")}
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    specs = [f"{name}={tmp_path / name}.json" for name in documents]
    done = run("from-openapi", *specs, "--name", "both", "-o", tmp_path / "both")
    assert done.code == 0, done.err
    entry = done.out[done.out.index("apis:") : done.out.index("Try it")]
    assert len(prepared(tmp_path, documents, entry).table.adapter.security_schemes) == 2
