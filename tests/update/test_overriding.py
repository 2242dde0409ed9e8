"""Edits by hand of machine files are refused with the override that does the same; observed entries are compared."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.documents import INTEGER, TEXT, body_of, list_of, object_of, parameter, paths_of, replies
from tests.generator.commands import run
from tests.update.repos import Repo, grown, operation

Spec = Callable[[Any], Path]
READ = "src/shop_adapter/operations/read.json"


EDITS: Mapping[str, tuple[str, str, str]] = {
    "a name": ('"list_goods"', '"browse_goods"', "GET /goods: {name: browse_goods}"),
    "a summary": ('"About listGoods"', '"What we sell"', "GET /goods: {summary: What we sell}"),
    "a question": ('"danger": "safe"', '"asked": "first", "danger": "safe"', "GET /goods/{id}: {asked: first}"),
    "what no override says": ('"path": "/goods/{id}"', '"path": "/wares/{id}"', "GET /goods/{id}: {hidden: true}"),
}
"""The edit of the table, and the line of overrides.yaml that does the same."""


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_of_a_row_is_refused_with_the_override_that_does_the_same(repo: Repo, case: str) -> None:
    old, new, line = EDITS[case]
    repo.replace(READ, old, new)
    repo.commit()
    before = repo.snapshot()
    details = repo.changed()["error"]["details"]
    assert repo.snapshot() == before
    assert any(line in detail["suggestion"].replace("'", "").replace('"', "") for detail in details)
    assert {Path(detail["file"]) for detail in details} == {repo.folder / READ}


def test_the_override_that_a_refusal_names_does_what_was_edited(repo: Repo) -> None:
    repo.replace(READ, '"list_goods"', '"browse_goods"')
    (detail,) = repo.changed()["error"]["details"]
    line = re.search(r"overrides\.yaml: `(.*\})`", detail["suggestion"])
    assert line
    repo.write("overrides.yaml", f"{line[1]}\n")
    (repo.folder / READ).unlink()
    assert repo.changed()["success"]
    assert "browse_goods" in json.loads(repo.read(READ))


def test_a_row_that_is_none_is_refused_with_its_file(repo: Repo) -> None:
    repo.replace(READ, '"parameters"', '"paramters"')
    repo.commit()
    (detail,) = repo.changed()["error"]["details"]
    assert Path(detail["file"]) == repo.folder / READ


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
    assert json.loads(repo.read(READ)) == before


def test_overrides_and_settings_that_are_not_committed_are_taken_and_stay_as_they_are(inner: Repo) -> None:
    overrides = "GET /goods: {name: browse_goods}\n"
    settings = (inner.folder / "adapter.toml").read_text(encoding="utf-8") + "\n# ours\n"
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
    assert "then `git add overrides.yaml`, commit" in done.out
    assert "write `aliases: [old_name]` into overrides.yaml" in repo.update("--aliases", "90").out
    repo.write("overrides.yaml", "GET /goods: {name: leaf_through_goods}\n")  # tried again, before a commit
    done = repo.update()
    assert done.code == 0
    assert "leaf_through_goods" in json.loads(repo.read(READ))
    (undo,) = (line.split("`")[-2] for line in done.out.splitlines() if "git restore" in line)
    subprocess.run(undo, shell=True, cwd=repo.folder, check=True)
    assert repo.status() == ["MM overrides.yaml"]


def test_an_update_that_would_add_to_overrides_that_are_not_committed_is_refused(repo: Repo, spec: Spec) -> None:
    repo.write("overrides.yaml", "DELETE /goods/{id}: {name: bin_good}\n")
    before = repo.snapshot()
    done = repo.update("--aliases", "90")
    assert done.code == 4
    assert "the update would add to overrides.yaml" in done.err
    assert repo.snapshot() == before


def test_status_says_what_overrides_change_for_an_agent(repo: Repo) -> None:
    assert run("status", repo.folder).out.strip().endswith("Up to date with its document and its overrides.")
    repo.write("overrides.yaml", "GET /goods: {name: browse_goods}\n")
    done = run("status", repo.folder)
    assert "Changes for agents:" in done.out
    assert "browse_goods" in done.out.split("Changes for agents")[1]


def test_texts_that_repeat_the_name_or_each_other_are_compared_as_agents_read_them(repo: Repo, spec: Spec) -> None:
    goods = spec(grown(goods={"get": operation("listGoods", summary="List all goods.")}))
    assert repo.update("--spec", goods).code == 0
    repo.commit()
    repo.write("overrides.yaml", "GET /goods: {name: list_all_goods}\n")
    assert [change["rule"] for change in repo.changed()["changes"]["changes"]] == ["operation-renamed"]
    repo.write("overrides.yaml", "GET /goods: {name: list_all_goods, description: Goods of this shop.}\n")
    (change,) = repo.changed()["changes"]["changes"]
    assert change["message"] == "the description of the operation is new"


SEEN = """\
GET /orders:
  pagination: {style: offset, offset_param: skip, items: /orders}
  why: "observed 2026-11-24: two pages by skip"
PATCH /orders/{id}:
  send: named
  parameters: {size: {type: [integer, "null"]}, note: {type: [string, "null"]}}
  why: "observed 2026-11-24: answers have null"
POST /boards:
  can_undo: true
  why: "observed 2026-11-24: the delete took it away"
"""


def document(size: str, *query: str, deletes: bool = True) -> dict[str, Any]:
    """Return a shop with orders, whose list takes these parameters."""
    whole = object_of(size={"type": size}, note=TEXT)
    body = body_of(whole)
    parameters = [parameter(name, schema=INTEGER) for name in ("skip", "limit", *query)]
    operations = {
        "GET /orders": operation(
            "listOrders", parameters=parameters, responses=replies(object_of(orders=list_of(whole)))
        ),
        "POST /orders": operation("createOrder", requestBody=body),
        "PATCH /orders/{id}": operation("updateOrder", requestBody=body),
        "DELETE /orders/{id}": operation("deleteOrder"),
        "POST /boards": operation("createBoard", requestBody=body),
        **(
            {"DELETE /boards/{id}": operation("deleteBoard")}
            if deletes
            else {"GET /boards/{id}": operation("getBoard")}
        ),
    }
    return grown(**{path.removeprefix("/"): item for path, item in paths_of(operations).items()})


def contradictions(done: Any) -> list[tuple[int, int, str]]:
    code = "contradicted-observation"
    return [
        (warning["line"], warning["column"], warning["message"])
        for warning in done["warnings"]
        if warning["code"] == code
    ]


def test_an_update_keeps_what_was_observed_and_says_where_a_newer_document_contradicts_it(
    repo: Repo, spec: Callable[[Any], Path]
) -> None:
    """R-LEARN-1"""
    repo.changed("--spec", spec(document("integer")))
    repo.write("overrides.yaml", SEEN)
    repo.commit()
    assert contradictions(repo.changed()) == []
    repo.commit()
    text = "the document changed {} since its `{}` was observed on 2026-11-24"
    assert contradictions(repo.changed("--spec", spec(document("integer", deletes=False)))) == [
        (9, 13, text.format("POST /boards", "can_undo"))
    ]
    repo.commit()
    assert contradictions(repo.changed("--spec", spec(document("number", "page", deletes=False)))) == [
        (2, 15, text.format("GET /orders", "pagination")),
        (6, 16, text.format("PATCH /orders/{id}", "parameters.size")),
    ]
    assert repo.read("overrides.yaml") == SEEN
