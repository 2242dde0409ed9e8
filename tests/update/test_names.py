"""The names that agents know when a project is updated."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.generator.commands import run
from tests.update.repos import Repo, grown, operation

Spec = Callable[[Any], Path]
READ = "src/shop_adapter/operations/read.json"


def without(*paths: str, **more: Any) -> dict[str, Any]:
    """Return the shop without some paths, and with others."""
    document = grown(**more)
    return {**document, "paths": {path: item for path, item in document["paths"].items() if path not in paths}}


def rows(repo: Repo) -> dict[str, Any]:
    return json.loads(repo.read(READ))


def recorded(repo: Repo) -> dict[str, Any]:
    return json.loads(repo.read("MCPAQL-PROVENANCE.json"))["options"]


def pinned(repo: Repo) -> dict[str, str]:
    return recorded(repo)["names"]


def until(days: int) -> str:
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


def test_a_name_follows_an_operation_to_another_path(repo: Repo, spec: Spec) -> None:
    """R-NAME-3"""
    moved = without(
        "/goods", wares={"get": operation("listGoods", summary=""), "post": operation("createGood", summary="")}
    )
    assert repo.update("--spec", spec(moved)).code == 0
    assert rows(repo)["list_goods"]["path"] == "/wares"
    assert pinned(repo) == {"GET /wares": "list_goods", "POST /wares": "create_good"}
    repo.commit()
    repo.assert_up_to_date()


def test_todays_names_can_be_taken_and_the_old_ones_answered_for_a_time(repo: Repo, spec: Spec) -> None:
    """R-WARN-2"""
    moved = without(
        "/goods", wares={"get": operation("listGoods", summary=""), "post": operation("createGood", summary="")}
    )
    repo.update("--spec", spec(moved))
    repo.commit()
    done = repo.changed("--rename", "--aliases", "90")
    assert done["aliases_added"] == ["GET /wares", "POST /wares"]
    assert rows(repo)["list_wares"]["aliases"] == [{"name": "list_goods", "until": until(90)}]
    assert pinned(repo) == {}
    assert f"GET /wares:\n  aliases: [{{name: list_goods, until: '{until(90)}'}}]" in repo.read("overrides.yaml")
    repo.commit()
    repo.assert_up_to_date("--aliases", "90")


def test_what_the_user_renames_can_answer_to_its_old_name_beside_those_that_it_has(repo: Repo) -> None:
    text = repo.read("overrides.yaml")
    repo.write("overrides.yaml", f"{text}GET /goods:\n  name: browse_goods  # it is what we say\n  aliases: [goods]\n")
    repo.commit()
    done = repo.changed("--aliases", "30")
    assert (done["success"], done["aliases_added"]) == (True, ["GET /goods"])
    assert rows(repo)["browse_goods"]["aliases"] == [{"name": "goods"}, {"name": "list_goods", "until": until(30)}]
    after = repo.read("overrides.yaml")
    assert after.startswith(f"{text}GET /goods:\n  name: browse_goods  # it is what we say\n  aliases: [goods, ")


def test_aliases_are_added_to_overrides_with_line_ends_of_windows(repo: Repo) -> None:
    text = f"{repo.read('overrides.yaml')}GET /goods:\n  name: browse_goods\n"
    repo.write("overrides.yaml", text.replace("\n", "\r\n"))
    repo.commit()
    assert repo.changed("--aliases", "30")["aliases_added"] == ["GET /goods"]
    content = (repo.folder / "overrides.yaml").read_bytes()
    assert b"\r\r" not in content
    assert content.count(b"\n") == content.count(b"\r\n") == text.count("\n") + 1


def test_an_update_adds_no_aliases_unasked(repo: Repo) -> None:
    repo.write("overrides.yaml", "GET /goods: {name: browse_goods}\n")
    repo.commit()
    assert repo.changed()["aliases_added"] == []
    assert "aliases" not in rows(repo)["browse_goods"]


def test_people_are_told_which_operations_answer_to_old_names(repo: Repo) -> None:
    repo.write("overrides.yaml", "GET /goods: {name: browse_goods}\n")
    repo.commit()
    done = repo.update("--aliases", "30", "--dry-run")
    assert "answering to their old names for a time: GET /goods." in done.out
    assert repo.read("overrides.yaml") == "GET /goods: {name: browse_goods}\n"


def test_a_name_is_never_given_away_also_long_after_its_operation_is_gone(repo: Repo, spec: Spec) -> None:
    """R-NAME-3"""
    assert repo.update("--spec", spec(without("/goods"))).code == 0
    repo.commit()
    assert recorded(repo)["retired"] == {"create_good": "POST /goods", "list_goods": "GET /goods"}
    repo.assert_up_to_date()
    assert repo.update("--spec", spec(without("/goods", pets={"get": operation("listPets")}))).code == 0
    repo.commit()
    other = without("/goods", pets={"get": operation("listPets")}, **{"shops/{shop}/goods": {"get": operation("x")}})
    del other["paths"]["/shops/{shop}/goods"]["get"]["operationId"]
    assert repo.update("--spec", spec(other)).code == 0
    assert "list_goods" not in rows(repo)
    repo.commit()
    assert run("check", repo.folder, "--pristine").code == 0
    repo.assert_up_to_date()


def test_an_operation_that_comes_back_has_its_name_again(repo: Repo, spec: Spec) -> None:
    """R-NAME-3"""
    assert repo.update("--spec", spec(without("/goods"))).code == 0
    repo.commit()
    assert repo.update("--spec", spec(grown())).code == 0
    assert rows(repo)["list_goods"]["path"] == "/goods"
    assert "retired" not in recorded(repo)


def test_a_name_that_the_user_replaced_is_given_to_no_other(repo: Repo, spec: Spec) -> None:
    """R-NAME-3"""
    repo.write("overrides.yaml", "GET /goods:\n  name: browse_goods\n")
    repo.commit()
    assert repo.update().code == 0
    repo.commit()
    assert recorded(repo)["retired"] == {"list_goods": "GET /goods"}
    repo.write("overrides.yaml", "")
    repo.commit()
    assert repo.update("--rename").code == 0
    assert "list_goods" in rows(repo)
    assert "retired" not in recorded(repo)
