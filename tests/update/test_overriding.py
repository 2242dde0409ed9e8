"""Edits by hand of what is the machine's: they become overrides, or the update is refused with the way out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.generator.commands import run
from tests.update.repos import SHOP, Repo, grown, operation

Spec = Callable[[Any], Path]
READ = "src/shop_adapter/operations/read.json"


def test_an_edit_that_an_override_can_say_becomes_one(repo: Repo, spec: Spec) -> None:
    repo.replace(READ, '"list_goods"', '"browse_goods"')
    repo.commit()
    document = spec(grown(orders={"get": operation("listOrders")}))
    tried = repo.changed("--spec", document, "--dry-run")
    assert repo.status() == []
    done = repo.changed("--spec", document)
    assert tried["overrides_added"] == done["overrides_added"] == ["GET /goods"]
    assert "overrides.yaml" in done["files"]["changed"]
    assert "browse_goods" in repo.read("overrides.yaml")
    assert {"browse_goods", "list_orders"} <= set(json.loads(repo.read(READ)))
    repo.commit()
    before = repo.snapshot()
    assert repo.update().code == 0
    assert repo.snapshot() == before


def test_what_the_user_wrote_into_the_overrides_stays_as_it_is(repo: Repo) -> None:
    overrides = '# Ours, and this comment too\nDELETE /goods/{id}:   {name: "bin_good"}   # short\n'
    repo.write("overrides.yaml", overrides)
    repo.replace(READ, '"list_goods"', '"browse_goods"')
    repo.commit()
    assert repo.update().code == 0
    text = repo.read("overrides.yaml")
    assert text.startswith(overrides)
    assert "browse_goods" in text


def test_an_edit_that_no_override_can_say_is_refused(repo: Repo, spec: Spec) -> None:
    repo.replace(READ, '"path": "/goods"', '"path": "/wares"')
    repo.commit()
    before = repo.snapshot()
    done = repo.update("--spec", spec(grown(orders={"get": operation("listOrders")})))
    assert done.code == 3
    assert "[machine-file-edited]" in done.err
    assert READ in done.err
    assert "help: " in done.err
    assert repo.snapshot() == before


def test_an_edit_of_the_kept_document_is_refused_unless_it_is_given_as_the_new_one(repo: Repo) -> None:
    repo.replace("openapi/openapi.json", "About listGoods", "What we sell")
    repo.commit()
    assert repo.update().code == 3
    done = repo.changed("--spec", repo.folder / "openapi" / "openapi.json")
    assert done["success"]
    assert "What we sell" in repo.read(READ)
    repo.commit()
    assert repo.changed()["files"]["changed"] == []


def test_an_edit_of_the_records_is_refused(repo: Repo) -> None:
    repo.write(".copier-answers.yml", repo.read(".copier-answers.yml").replace("title: Shop", "title: Store"))
    repo.commit()
    done = repo.update()
    assert done.code == 3
    assert ".copier-answers.yml" in done.err


def test_a_file_that_was_only_written_in_another_style_is_taken_back(repo: Repo, spec: Spec) -> None:
    before = json.loads(repo.read(READ))
    repo.write(READ, json.dumps(before, indent=4))
    repo.commit()
    done = repo.changed()
    assert done["success"]
    assert done["overrides_added"] == []
    assert json.loads(repo.read(READ)) == before


def test_old_names_become_aliases_when_they_are_asked_for(repo: Repo, spec: Spec) -> None:
    moved = grown()
    moved["paths"] = {f"/v2{path}": item for path, item in SHOP["paths"].items()}
    done = repo.changed("--spec", spec(moved), "--rename", "--aliases", "90")
    assert done["success"]
    for name in done["aliases_added"]:
        assert name in repo.read("overrides.yaml")


def test_overrides_and_settings_that_are_not_committed_are_taken_and_stay_as_they_are(inner: Repo) -> None:
    overrides, settings = "GET /goods: {name: browse_goods}\n", repo_text(inner, "adapter.toml") + "\n# ours\n"
    inner.write("overrides.yaml", overrides)
    inner.write("adapter.toml", settings)
    before = inner.snapshot()
    tried = inner.changed("--dry-run")
    assert inner.snapshot() == before
    assert READ in tried["files"]["changed"]
    assert tried["uncommitted"] == ["overrides.yaml", "adapter.toml"]
    done = inner.changed()
    assert done["files"] == tried["files"]
    assert "browse_goods" in json.loads(inner.read(READ))
    assert (inner.read("overrides.yaml"), inner.read("adapter.toml")) == (overrides, settings)
    assert {" M adapters/shop/overrides.yaml", " M adapters/shop/adapter.toml", f"M  adapters/shop/{READ}"} <= set(
        inner.status()
    )


def test_overrides_that_are_staged_are_taken_and_are_no_change_of_the_update(repo: Repo) -> None:
    repo.write("overrides.yaml", "GET /goods: {name: browse_goods}\n")
    repo.git("add", "overrides.yaml")
    done = repo.update()
    assert done.code == 0
    assert "overrides.yaml" not in done.out.split("changed:")[1].splitlines()[0]
    assert "`git add` overrides.yaml to it" in done.out
    (undo,) = (line.split("`")[-2] for line in done.out.splitlines() if "git restore" in line)
    subprocess.run(undo, shell=True, cwd=repo.folder, check=True)
    assert repo.status() == ["M  overrides.yaml"]


def test_an_update_that_would_add_to_overrides_that_are_not_committed_is_refused(repo: Repo) -> None:
    repo.replace(READ, '"list_goods"', '"browse_goods"')
    repo.commit()
    repo.write("overrides.yaml", "DELETE /goods/{id}: {name: bin_good}\n")
    before = repo.snapshot()
    done = repo.update()
    assert done.code == 4
    assert "the update would add to overrides.yaml" in done.err
    assert repo.snapshot() == before


def test_status_says_what_overrides_change_for_an_agent(repo: Repo) -> None:
    assert run("status", repo.folder).out.strip().endswith("Up to date with its document and its overrides.")
    repo.write("overrides.yaml", "GET /goods: {name: browse_goods}\n")
    done = run("status", repo.folder)
    assert "For an agent that changes:" in done.out
    assert "browse_goods" in done.out.split("For an agent")[1]


def repo_text(repo: Repo, path: str) -> str:
    return (repo.folder / path).read_text(encoding="utf-8")
