"""The options of a generation and of an update: recorded, or it is said why not; hosts and APIs among them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from aqlgen.cli.from_openapi import from_openapi_command
from aqlgen.pipeline import Options
from aqlgen.project.options import RECORDED, read_options
from tests.documents import replies
from tests.generator import commands
from tests.generator.commands import run
from tests.generator.several import api
from tests.update.conftest import committed
from tests.update.repos import SHOP, Repo, grown, operation

RUN = {"requests", "overrides", "overrides_text", "strict", "stale", "ids"}
"""Fields of `Options` that are about a run: the document, the overrides, and how findings about them are reported."""

NOT_RECORDED = {
    "spec", "overlay", "workflows", "overrides", "output", "header", "allow_refs", "accept_hosts", "dry_run", "strict",
    "output_format", "verbose", "quiet",
}  # fmt: skip
"""Options of a single run, options that name files which the project keeps, and headers, which may be credentials."""


def test_every_option_of_from_openapi_is_recorded_or_declared_as_not_recorded() -> None:
    options = set(inspect.signature(from_openapi_command).parameters)
    assert options == RECORDED.keys() - {"names", "retired"} | {"license"} | NOT_RECORDED


def test_every_field_of_the_options_is_recorded_or_about_a_run() -> None:
    assert {field.name for field in fields(Options)} == set(read_options({})) | RUN


def test_a_record_that_makes_no_sense_gives_the_defaults() -> None:
    nonsense = {key: [1, {"a": 2}] for key in RECORDED}
    defaults = {field.name: field.default for field in fields(Options)}
    read = read_options({**nonsense, "names": "x", "retired": 3, "include": "x", "exclude": None})
    assert {name: read[name] for name in ("name", "include", "exclude", "field_case")} == {
        name: defaults[name] for name in ("name", "include", "exclude", "field_case")
    }
    assert (read["names"], read["retired"]) == ({}, {})


EVIL = "https://evil.example.net"
API = commands.api(
    {"GET /things": {"operationId": "listThings", "responses": replies()}},
    info={"title": "Things", "version": "1"},
    servers=[{"url": "https://api.example.com/v1"}],
)


def test_an_update_does_not_accept_a_new_server_however_often_it_runs(tmp_path: Path) -> None:
    """R-TRUST-2: what was accepted is recorded in the project."""
    spec, folder = tmp_path / "spec.json", tmp_path / "project"
    spec.write_text(json.dumps(API))
    assert run("from-openapi", spec, "-o", folder).code == 0
    repo = Repo(folder, folder)
    repo.git("init", "--quiet")
    repo.commit()
    spec.write_text(json.dumps(API | {"servers": [{"url": EVIL}]}))
    for number in range(2):
        result = repo.update("--spec", spec)
        assert "evil.example.net" in result.out
        assert "not accepted" in result.out
        adapter = json.loads(repo.read("src/things_adapter/adapter.json"))
        assert adapter["accepted"] == {"api": [], "oauth": []}
        assert json.loads(repo.read("MCPAQL-PROVENANCE.json"))["options"]["accepted"]["api"] == [
            "https://api.example.com"
        ]
        if not number:
            assert "credentials would go to" in result.out
        repo.commit()
    repo.write("overrides.yaml", "adapter:\n  hosts: [evil.example.net]\n")
    repo.commit()
    assert "not accepted" not in repo.update().out
    assert json.loads(repo.read("src/things_adapter/adapter.json"))["accepted"]["hosts"] == [EVIL]


KEY = {"key": {"type": "apiKey", "in": "header", "name": "X-Mine"}}
SECURED = {**SHOP, "components": {"securitySchemes": KEY}}

Spec = Callable[[Any], Path]


def generated(folder: Path, document: Any, auth: str, *more: str) -> Any:
    (folder / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    arguments = ("-o", folder / "shop", "--auth", auth, *more)
    return run("from-openapi", folder / "openapi.json", *arguments)


def adapter(folder: Path) -> Any:
    return json.loads((folder / "shop" / "src" / "shop_adapter" / "adapter.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("auth", "name", "scheme"),
    [
        ("bearer", "token", {"type": "http", "scheme": "bearer", "variables": ["SHOP_TOKEN"]}),
        (
            "basic",
            "login",
            {"type": "http", "scheme": "basic", "variables": ["SHOP_LOGIN_USERNAME", "SHOP_LOGIN_PASSWORD"]},
        ),
        ("header:X-Token", "key", {"type": "apiKey", "in": "header", "name": "X-Token", "variables": ["SHOP_KEY"]}),
        ("query:key", "key", {"type": "apiKey", "in": "query", "name": "key", "variables": ["SHOP_KEY"]}),
    ],
)
def test_a_document_without_security_gets_the_stated_one(
    tmp_path: Path, auth: str, name: str, scheme: dict[str, Any]
) -> None:
    done = generated(tmp_path, SHOP, auth)
    assert done.code == 0, done.err
    assert adapter(tmp_path)["security"] == [[name]]
    written = adapter(tmp_path)["security_schemes"][name]
    assert {key: written[key] for key in scheme} == scheme
    assert "declares no credential" not in done.out
    explained = run("explain", tmp_path / "openapi.json", "--auth", auth)
    assert "Credentials, needed by 4 of 4 operations:" in explained.out


def test_the_credential_is_for_operations_that_have_none(tmp_path: Path) -> None:
    document = {**grown(orders={"get": operation("listOrders", security=[{"key": []}])}), "components": {}}
    document["components"] = {"securitySchemes": KEY}
    assert generated(tmp_path, document, "header:X-Token").code == 0
    rows = json.loads((tmp_path / "shop/src/shop_adapter/operations/read.json").read_text(encoding="utf-8"))
    assert rows["list_orders"]["security"] == [["key"]]
    assert adapter(tmp_path)["security"] == [["key_added"]]
    assert adapter(tmp_path)["security_schemes"]["key"]["name"] == "X-Mine"


def test_a_credential_that_adds_nothing_or_is_none_is_refused(tmp_path: Path) -> None:
    done = generated(tmp_path, {**SECURED, "security": [{"key": []}]}, "bearer")
    assert (done.code, "has no effect" in done.err) == (3, True)
    for auth in ("digest", "header:", "header:a b", "cookie:x", ""):
        done = generated(tmp_path, SHOP, auth)
        assert (done.code, "basic, bearer, header:NAME or query:NAME" in done.err) == (3, True), auth
    several = run("from-openapi", f"a={tmp_path}/openapi.json", f"b={tmp_path}/openapi.json", "--auth", "basic")
    assert (several.code, "one API" in several.err) == (3, True)
    assert not (tmp_path / "shop").exists()


def test_an_update_keeps_the_credential_and_the_owners_file_wins_over_it(tmp_path: Path) -> None:
    assert generated(tmp_path, SHOP, "bearer").code == 0
    repo = committed(tmp_path / "shop", tmp_path / "shop")
    assert json.loads(repo.read("MCPAQL-PROVENANCE.json"))["options"]["auth"] == "bearer"
    (tmp_path / "new.json").write_text(json.dumps(grown(orders={"get": operation("listOrders")})), encoding="utf-8")
    assert repo.update("--spec", tmp_path / "new.json").code == 0
    assert adapter(tmp_path)["security"] == [["token"]]
    repo.commit()
    secured = {**SECURED, "security": [{"key": []}]}
    (tmp_path / "new.json").write_text(json.dumps(secured), encoding="utf-8")
    assert repo.update("--spec", tmp_path / "new.json").code == 0, "a document that has learnt its security"
    repo.commit()
    (tmp_path / "shop/overrides.yaml").write_text("adapter: {security: [key]}\n", encoding="utf-8")
    repo.commit()
    assert repo.update().code == 0
    assert adapter(tmp_path)["security"] == [["key"]]


@pytest.fixture
def crm(tmp_path: Path) -> Path:
    file = tmp_path / "crm.json"
    file.write_text(json.dumps(api("CRM", "GET /things", "GET /deals")), encoding="utf-8")
    return file


def recorded(repo: Repo) -> list[str]:
    options = json.loads(repo.read("MCPAQL-PROVENANCE.json"))["options"]
    return [entry["name"] for entry in options.get("apis", ())]


def names(repo: Repo) -> set[str]:
    package = next((repo.folder / "src").iterdir())
    return {name for path in (package / "operations").iterdir() for name in json.loads(path.read_text())}


def test_an_api_is_added_replaced_and_removed(repo: Repo, crm: Path) -> None:
    before = names(repo)
    added = repo.changed("--add", f"crm={crm}")
    assert added["success"], added
    assert recorded(repo) == ["shop", "crm"]
    assert before < names(repo), "the names that agents know stay"
    assert "list_deals" in names(repo)
    assert (repo.folder / "openapi/crm/openapi.json").is_file()
    assert not (repo.folder / "openapi/openapi.json").exists()
    repo.commit()
    assert repo.update().out.splitlines()[0].endswith("is up to date.")

    unnamed = repo.update("--spec", crm)
    assert (unnamed.code, "does not name its API" in unnamed.err) == (3, True)
    assert f"--spec crm={crm}" in unnamed.err
    unknown = repo.update("--spec", f"cmr={crm}")
    assert (unknown.code, "not an API of the adapter" in unknown.err) == (3, True)

    crm.write_text(json.dumps(api("CRM", "GET /things", "GET /offers")), encoding="utf-8")
    assert repo.changed("--spec", f"crm={crm}")["success"]
    assert "list_offers" in names(repo)
    assert "list_deals" not in names(repo)
    repo.commit()

    removed = repo.changed("--remove", "crm")
    assert removed["success"]
    assert recorded(repo) == ["shop"]
    assert names(repo) == before
    assert not (repo.folder / "openapi/crm").exists()
    repo.commit()
    last = repo.update("--remove", "shop")
    assert (last.code, "no API would be left" in last.err) == (3, True)


def test_a_project_of_one_document_has_no_api_to_name(repo: Repo, crm: Path) -> None:
    for options in (("--remove", "shop"), ("--spec", f"shop={crm}"), ("--spec", crm, "--spec", crm)):
        refused = repo.update(*options)
        assert (refused.code, "the adapter has one API" in refused.err) == (3, True), refused.err


def variables(repo: Repo) -> dict[str, list[str]]:
    schemes = json.loads(repo.read("src/shop_adapter/adapter.json"))["security_schemes"]
    return {name: scheme["variables"] for name, scheme in schemes.items()}


def secured(repo: Repo, folder: Path, scheme: str) -> None:
    """Update the shop to a document with a credential."""
    schemes = {"securitySchemes": {scheme: {"type": "http", "scheme": "bearer"}}}
    (folder / "shop.json").write_text(json.dumps({**SHOP, "components": schemes}))
    assert repo.update("--spec", folder / "shop.json").code == 0
    repo.commit()


def test_the_variables_of_an_api_stay_when_another_comes(repo: Repo, crm: Path, tmp_path: Path) -> None:
    secured(repo, tmp_path, "token")
    assert variables(repo) == {"token": ["SHOP_TOKEN"]}
    assert repo.update("--add", f"crm={crm}").code == 0
    expected = {"shop:token": ["SHOP_TOKEN"], "crm:token": ["SHOP_CRM_TOKEN"]}
    assert variables(repo) == expected
    repo.commit()
    assert repo.update().out.splitlines()[0].endswith("is up to date.")
    assert repo.changed("--add", f"hr={crm}")["success"]
    assert variables(repo) == expected | {"hr:token": ["SHOP_HR_TOKEN"]}


def test_no_variable_of_an_api_becomes_one_of_an_api_that_comes(repo: Repo, crm: Path, tmp_path: Path) -> None:
    secured(repo, tmp_path, "crmToken")
    assert variables(repo) == {"crmToken": ["SHOP_CRM_TOKEN"]}
    refused = repo.update("--add", f"crm={crm}")
    message = "the variable `SHOP_CRM_TOKEN` of `crmToken` would be the credential of another API"
    assert (refused.code, message in refused.err) == (3, True), refused.err
    assert repo.update("--add", f"sales={crm}").code == 0
