"""A project of one document that becomes one of several APIs, and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.generator.several import api
from tests.update.repos import SHOP, Repo


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
    added = repo.update("--add", f"crm={crm}")
    assert added.code == 0
    assert "shop keeps its variables, SHOP_TOKEN; those of the other APIs have their names in them." in added.out
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
