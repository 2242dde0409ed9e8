"""The adapter's code is the machine's: replaced whole, and an edit is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aqlgen.render.provenance import file_hash, tree_hash
from tests.generator.commands import run
from tests.update.repos import SOURCE, Repo, Templates
from tests.update.test_stored_forms import report as status

pytestmark = pytest.mark.long

RUNTIME = "src/shop_adapter/runtime"
EDITED = f"{RUNTIME}/__init__.py"
HOOK = "hatch_build.py"


@pytest.fixture
def repo(copied: Repo) -> Repo:
    return copied


def edit(repo: Repo, *paths: str) -> None:
    for path in paths:
        repo.write(path, repo.read(path) + "\n\nOURS = 1\n")
    repo.commit()


def check(repo: Repo, *options: str) -> Any:
    return run("check", repo.folder, "--pristine", "--output-format", "json", *options)


@pytest.fixture
def newest(newer: Templates) -> Templates:
    newer.replace(f"{SOURCE}/__init__.py", '"""', '"""Newer. ')
    return newer


def test_an_edit_of_code_is_refused_with_the_way_out_and_nothing_changes(repo: Repo, newest: Templates) -> None:
    edit(repo, EDITED, HOOK)
    before = repo.snapshot()
    done = repo.update("--output-format", "json")
    assert (done.code, repo.snapshot()) == (3, before)
    details = done.json["error"]["details"]
    assert [Path(detail["path"]).relative_to(repo.folder).as_posix() for detail in details] == [HOOK, EDITED]
    for detail in details:
        assert detail["code"] == "machine-file-edited"
        ways = ("src/shop_adapter/hooks.py", "adapter.toml", "overrides.yaml", "delete the file")
        assert all(way in detail["suggestion"] for way in ways)
    lines = repo.read(HOOK).splitlines()
    assert details[0]["line"] == lines.index("OURS = 1") - 1


def test_a_back_door_is_found_also_when_the_record_was_changed_with_it(repo: Repo) -> None:
    before = json.loads(repo.read("MCPAQL-PROVENANCE.json"))["files"]
    edit(repo, EDITED)
    hashes = {**before["each"], EDITED: file_hash((repo.folder / EDITED).read_bytes())}
    repo.replace("MCPAQL-PROVENANCE.json", before["each"][EDITED], hashes[EDITED])
    repo.replace("MCPAQL-PROVENANCE.json", before["hash"], tree_hash(hashes))
    findings = check(repo).json["pristine"]["findings"]
    assert [(finding["code"], finding["path"]) for finding in findings] == [("not-reproducible", EDITED)]


def test_an_edit_is_given_up_by_deleting_the_file(repo: Repo, newest: Templates) -> None:
    edit(repo, EDITED)
    assert repo.update().code == 3
    (repo.folder / EDITED).unlink()
    repo.commit()
    assert repo.changed()["success"]
    assert '"""Newer. ' in repo.read(EDITED)


def test_an_edited_module_that_is_gone_is_refused(repo: Repo, newer: Templates) -> None:
    edit(repo, EDITED)
    before = repo.read(EDITED)
    newer.remove(f"{SOURCE}/__init__.py")
    assert (repo.update().code, repo.read(EDITED)) == (3, before)


def test_a_file_of_the_users_in_the_runtime_stays_and_is_told_as_misplaced(repo: Repo, newest: Templates) -> None:
    repo.write(f"{RUNTIME}/ours.py", "OURS = 1\n")
    repo.commit()
    assert repo.update().code == 0
    assert repo.read(f"{RUNTIME}/ours.py") == "OURS = 1\n"
    repo.commit()
    assert status(repo)["files"]["misplaced"] == [f"{RUNTIME}/ours.py"]
    assert "move them elsewhere" in run("status", repo.folder).out
    assert [finding["code"] for finding in check(repo).json["pristine"]["findings"]] == ["machine-file-extra"]


def test_a_module_under_another_name_is_generated_again_and_the_users_stays(repo: Repo) -> None:
    repo.git("mv", EDITED, f"{RUNTIME}/ours.py")
    repo.commit()
    done = repo.changed()
    assert done["files"]["added"] == [EDITED]
    assert repo.read(f"{RUNTIME}/ours.py") == repo.read(EDITED)


def test_reviews_fold_the_code(repo: Repo) -> None:
    paths = (
        EDITED,
        HOOK,
        "src/shop_adapter/hooks.py",
        "src/shop_adapter/operations/read.json",
        "tests/test_adapter.py",
    )
    attributes = repo.git("check-attr", "linguist-generated", "--", *paths).splitlines()
    assert [line.rpartition(": ")[2] for line in attributes] == ["set", "set", *["unspecified"] * 3]
