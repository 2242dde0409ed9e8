"""`--auth`: the credential of a document that states none, in one command (R-OWN-2)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import run
from tests.update.conftest import committed
from tests.update.repos import SHOP, grown, operation

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
