"""`aqlgen update`: what is new arrives, what is not new changes nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aqlgen.resources import build
from tests.generator.commands import run
from tests.update.conftest import committed
from tests.update.repos import SHOP, SOURCE, Repo, Templates, grown, operation
from tests.web import Answer, serving

pytestmark = pytest.mark.long

Spec = Callable[[Any], Path]


def test_an_update_with_nothing_new_changes_no_byte(repo: Repo) -> None:
    before = repo.snapshot()
    done = repo.update()
    assert done.code == 0
    assert "warning:" not in done.err
    assert "up to date" in done.out
    assert repo.snapshot() == before


def test_the_same_document_given_again_changes_no_byte(repo: Repo, spec: Spec) -> None:
    repo.assert_up_to_date("--spec", spec(SHOP))


def test_a_new_operation_arrives_in_the_work_tree_and_the_index(repo: Repo, spec: Spec) -> None:
    done = repo.changed("--spec", spec(grown(orders={"get": operation("listOrders")})))
    assert done["success"]
    assert (done["files"]["added"], done["files"]["removed"], done["files"]["conflicts"]) == ([], [], [])
    assert repo.status() == [f"M  {path}" for path in sorted(done["files"]["changed"])]
    assert "list_orders" in json.loads(repo.read("src/shop_adapter/operations/read.json"))
    assert done["operations"]["total"] == 5
    assert done["from"]["input"] != done["to"]["input"]
    assert "list_orders" in json.dumps(done["changes"])


def test_an_update_leaves_no_state_of_git_behind(repo: Repo, spec: Spec) -> None:
    known = {path.name for path in (repo.top / ".git").iterdir()}
    refs = repo.git("for-each-ref")
    repo.update("--spec", spec(grown(orders={"get": operation("listOrders")})))
    left = {path.name for path in (repo.top / ".git").iterdir()} - known
    assert left == set()
    assert repo.git("for-each-ref") == refs
    assert repo.git("rev-list", "--all", "--count").strip() == "1"


def test_what_was_updated_and_committed_is_up_to_date(repo: Repo, spec: Spec) -> None:
    repo.update("--spec", spec(grown(orders={"get": operation("listOrders")})))
    repo.commit()
    repo.assert_up_to_date()


def test_a_dry_run_says_the_same_and_touches_nothing(repo: Repo, spec: Spec) -> None:
    document = spec(grown(orders={"get": operation("listOrders")}))
    before = repo.snapshot()
    tried = repo.changed("--spec", document, "--dry-run")
    assert repo.snapshot() == before
    done = repo.changed("--spec", document)
    assert (tried.pop("dry_run"), done.pop("dry_run")) == (True, False)
    assert tried == done


def test_people_are_told_what_changed_and_what_to_do(repo: Repo, spec: Spec) -> None:
    done = repo.update("--spec", spec(grown(orders={"get": operation("listOrders")})))
    assert "list_orders" in done.out
    assert "src/shop_adapter/operations/read.json" in done.out
    assert "git diff --cached" in done.out
    repo.commit()
    tried = repo.update("--spec", spec(SHOP), "--dry-run")
    assert "Would update" in tried.out
    assert "git" not in tried.out


def test_people_are_told_the_changelog_since_the_build_that_wrote_the_project(
    repo: Repo, newer: Templates, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = "MCPAQL-PROVENANCE.json"
    repo.write(record, repo.read(record).replace(build(), "0.0.9+other"))
    repo.commit()
    entries = ["- Newest. More of it.", "- New\n  `thing`.", *["- More."] * 9, "\n## 0.0.9 (2026-01-01)\n\n- Old."]
    (newer.folder / "CHANGELOG.md").write_text("## Unreleased\n\n" + "\n".join(entries) + "\n", encoding="utf-8")
    monkeypatch.setattr("aqlgen.resources.own_templates", lambda: newer.folder)
    done = repo.update("--dry-run")
    assert f"aqlgen 0.0.9+other to {build()}" in done.out
    assert "The changelog of aqlgen since 0.0.9:\n- Newest.\n- New `thing`.\n- More.\n" in done.out
    assert "- and 1 more (-v shows them)" in done.out
    assert "Old." not in done.out


def test_quiet_says_nothing(repo: Repo, spec: Spec) -> None:
    done = repo.update("--spec", spec(grown(orders={"get": operation("listOrders")})), "-q")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_an_operation_that_is_gone_goes(repo: Repo, spec: Spec) -> None:
    document = grown()
    del document["paths"]["/goods/{id}"]
    done = repo.changed("--spec", spec(document))
    assert done["operations"]["total"] == 2
    assert done["changes"]["breaking"]
    assert json.loads(repo.read("src/shop_adapter/operations/delete.json")) == {}


def test_operations_keep_their_names_until_new_ones_are_asked_for(repo: Repo, spec: Spec) -> None:
    """A fresh decision would name it after the path that is nearer to it now."""
    changed = grown(goods={"get": operation("findAllTheGoods"), "post": operation("createGood")})
    repo.update("--spec", spec(changed))
    repo.commit()
    kept = json.loads(repo.read("src/shop_adapter/operations/read.json"))
    assert "list_goods" in kept
    before = repo.snapshot()
    repo.update()
    assert repo.snapshot() == before


def test_the_kept_document_takes_another_ending_with_another_format(repo: Repo, tmp_path: Path) -> None:
    document = tmp_path / "shop.yaml"
    document.write_text(yaml.safe_dump({**SHOP}, sort_keys=False), encoding="utf-8")
    done = repo.changed("--spec", document)
    assert done["files"]["added"] == ["openapi/openapi.yaml"]
    assert done["files"]["removed"] == ["openapi/openapi.json"]


def test_options_are_remembered_and_can_be_given_anew(repo: Repo) -> None:
    done = repo.changed("--exclude", "operation:delete*", "--license", "mit", "--field-case", "preserve")
    assert done["operations"]["delete"] == 0
    repo.commit()
    recorded = json.loads(repo.read("MCPAQL-PROVENANCE.json"))["options"]
    assert (recorded["exclude"], recorded["license"]) == (["operation:delete*"], "MIT")
    assert recorded["field_case"] == "preserve"
    assert 'license = "MIT"' in repo.read("pyproject.toml")
    assert repo.changed()["files"]["changed"] == []
    assert repo.changed("--exclude", "operation:create*")["operations"]["delete"] == 1


def test_a_remembered_pattern_for_what_the_api_gave_up_is_warned_of(repo: Repo, spec: Spec) -> None:
    assert repo.update("--exclude", "operation:deleteGood").code == 0
    repo.commit()
    document = grown()
    del document["paths"]["/goods/{id}"]
    done = repo.changed("--spec", spec(document))
    assert done["success"]
    assert [warning["code"] for warning in done["warnings"]] == [
        "unmatched-pattern",
        "no-security-scheme",
        "placeholder-address",
    ]


def test_an_override_for_what_the_api_gave_up_is_warned_of(repo: Repo, spec: Spec) -> None:
    repo.write("overrides.yaml", "DELETE /goods/{id}:\n  name: bin_good\n")
    repo.commit()
    document = grown()
    del document["paths"]["/goods/{id}"]
    done = repo.changed("--spec", spec(document))
    assert done["success"]
    assert "unmatched-override" in {warning["code"] for warning in done["warnings"]}


def test_overrides_that_were_edited_and_committed_take_effect(repo: Repo) -> None:
    repo.write("overrides.yaml", "DELETE /goods/{id}:\n  name: bin_good\n")
    repo.commit()
    done = repo.changed()
    assert "src/shop_adapter/operations/delete.json" in done["files"]["changed"]
    assert "overrides.yaml" not in done["files"]["changed"]
    assert "bin_good" in repo.read("src/shop_adapter/operations/delete.json")


def test_overlays_are_kept_under_their_names_until_others_are_given(repo: Repo, tmp_path: Path) -> None:
    overlay = {
        "overlay": "1.0.0",
        "info": {"title": "Ours", "version": "1"},
        "actions": [{"target": "$.paths['/goods'].get", "update": {"summary": "All that we sell"}}],
    }
    first, second = tmp_path / "2-ours.json", tmp_path / "other.json"
    first.write_text(json.dumps(overlay), encoding="utf-8")
    assert repo.changed("--overlay", first)["files"]["added"] == ["openapi/overlays/1-2-ours.json"]
    repo.commit()
    assert "All that we sell" in repo.read("OPERATIONS.md")
    repo.assert_up_to_date()
    second.write_text(json.dumps(overlay).replace("All that we sell", "Everything"), encoding="utf-8")
    done = repo.changed("--overlay", second)
    assert done["files"]["added"] == ["openapi/overlays/1-other.json"]
    assert done["files"]["removed"] == ["openapi/overlays/1-2-ours.json"]
    assert "Everything" in repo.read("OPERATIONS.md")


def test_a_document_of_several_files_is_kept_as_one_that_gives_the_same(tmp_path: Path) -> None:
    (tmp_path / "split").mkdir()
    document = grown(orders={"$ref": "orders.json"}, lost={"$ref": "nowhere.json"})
    (tmp_path / "split" / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    (tmp_path / "split" / "orders.json").write_text(json.dumps({"get": operation("listOrders")}), encoding="utf-8")
    run("from-openapi", tmp_path / "split", "-o", tmp_path / "shop", "-q")
    repo = committed(tmp_path / "shop", tmp_path / "shop")
    repo.assert_up_to_date()


def test_servers_relative_to_the_address_of_the_document_stay_where_they_are(tmp_path: Path) -> None:
    document = json.dumps({**SHOP, "servers": [{"url": "../v2"}]}).encode()

    with serving(lambda _: Answer(document)) as local:
        spec = f"{local.url}/docs/openapi.json?token=secret"
        assert run("from-openapi", spec, "-o", tmp_path / "shop", "-q").code == 0
    repo = committed(tmp_path / "shop", tmp_path / "shop")
    assert f'"{local.url}/v2"' in repo.read("src/shop_adapter/adapter.json")
    assert "secret" not in repo.read("MCPAQL-PROVENANCE.json")
    repo.assert_up_to_date()


def test_the_time_is_recorded_anew_only_with_something_new(
    repo: Repo, spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    repo.assert_up_to_date()
    assert repo.update("--spec", spec(grown(orders={"get": operation("listOrders")}))).code == 0
    assert json.loads(repo.read("MCPAQL-PROVENANCE.json"))["generated_at"] == "2027-01-15T08:00:00Z"


def test_a_new_release_brings_its_changes(copied: Repo, newer: Templates) -> None:
    repo = copied
    newer.add("docs/USING.md", "# Using it\n")
    newer.add(f"{SOURCE}/novelty.py", '"""New."""\n')
    newer.replace(f"{SOURCE}/__init__.py", '"""', '"""Newer. ')
    newer.remove("Dockerfile.jinja")
    done = repo.changed()
    assert done["files"]["added"] == ["docs/USING.md", "src/shop_adapter/runtime/novelty.py"]
    assert done["files"]["removed"] == ["Dockerfile"]
    assert "src/shop_adapter/runtime/__init__.py" in done["files"]["changed"]
    assert done["changes"]["changes"] == []


def test_only_what_is_asked_for_is_read_from_the_work_tree(repo: Repo, spec: Spec) -> None:
    repo.write("notes.txt", "not committed, and in nobody's way\n")
    done = repo.changed("--spec", spec(grown(orders={"get": operation("listOrders")})))
    assert done["success"]
    assert "?? notes.txt" in repo.status()


def test_workflows_are_kept_until_others_are_given(repo: Repo, tmp_path: Path) -> None:
    """R-STEP-3"""
    arazzo = {
        "arazzo": "1.0.0",
        "info": {"title": "Ours", "version": "1"},
        "sourceDescriptions": [{"name": "shop", "url": "shop.json", "type": "openapi"}],
        "workflows": [{"workflowId": "seeGoods", "steps": [{"stepId": "all", "operationId": "listGoods"}]}],
    }
    first, second = tmp_path / "ours.arazzo.json", tmp_path / "other.json"
    first.write_text(json.dumps(arazzo), encoding="utf-8")
    done = repo.changed("--workflows", first)
    kept, table = "openapi/workflows/1-ours-arazzo.json", "src/shop_adapter/workflows.json"
    assert sorted(done["files"]["added"]) == [kept, table]
    assert "see_goods" in json.dumps(done["changes"])
    repo.commit()
    assert "`see_goods`" in repo.read("OPERATIONS.md")
    repo.assert_up_to_date()
    assert run("check", repo.folder, "--pristine").code == 0
    second.write_text(json.dumps(arazzo).replace("seeGoods", "viewGoods"), encoding="utf-8")
    done = repo.changed("--workflows", second)
    assert done["files"]["removed"] == [kept]
    assert "view_goods" in repo.read(table)
