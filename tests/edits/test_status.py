"""`aqlgen status`: the owners of files, their changes, and what is left to do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.edits.conftest import OPERATIONS, PACKAGE, Petstore
from tests.generator.commands import run


def test_a_project_as_it_was_generated_is_up_to_date(pets: Petstore) -> None:
    done = run("status", pets.folder)
    assert done.code == 0
    assert "Up to date" in done.out
    report = pets.report()
    assert list(report) == [
        "success",
        "output_directory",
        "package",
        "recorded",
        "today",
        "files",
        "conformance",
        "edits",
        "overrides",
        "stale",
        "changes",
        "problems",
    ]
    assert list(report["files"]) == ["yours", "shared", "machine", "own", "misplaced", "changed"]
    assert report["recorded"] == report["today"]
    assert report["files"]["changed"] == []
    assert (report["stale"], report["problems"]) == ([], [])


def test_every_changed_file_is_told_with_whose_it_is(pets: Petstore) -> None:
    pets.write("adapter.toml", pets.read("adapter.toml") + "\n")
    pets.write("README.md", "mine\n")
    (pets.folder / "Dockerfile").unlink()
    (pets.folder / "OPERATIONS.md").unlink()
    pets.edit("create", lambda rows: rows["create_pet"].update(danger="dangerous"))
    pets.write("src/petstore_adapter/extra.py", "")
    report = pets.report()
    assert {(change["path"], change["kind"], change["state"]) for change in report["files"]["changed"]} == {
        ("adapter.toml", "yours", "edited"),
        ("README.md", "shared", "edited"),
        ("Dockerfile", "shared", "deleted"),
        ("OPERATIONS.md", "machine", "deleted"),
        (f"{OPERATIONS}/create.json", "machine", "edited"),
    }
    assert report["files"]["own"] == 1
    out = run("status", pets.folder).out
    assert "edited README.md" in out
    assert "`aqlgen update` or `git checkout` restores the deleted machine files." in out
    assert "POST /pets: {danger: dangerous}" in out


def test_what_its_owner_wrote_of_the_owners_files_is_among_them(pets: Petstore) -> None:
    pets.git("rm", "-q", "overrides.yaml")
    record = json.loads(pets.read("MCPAQL-PROVENANCE.json"))
    del record["files"]["each"]["overrides.yaml"]
    pets.write("MCPAQL-PROVENANCE.json", json.dumps(record))
    pets.commit()
    pets.write("overrides.yaml", "POST /pets:\n  name: take_pet\n")
    report = pets.report()
    assert {"path": "overrides.yaml", "kind": "yours", "state": "written"} in report["files"]["changed"]
    assert report["files"]["own"] == 0
    assert "1 written" in run("status", pets.folder).out
    done = pets.update()
    assert "then `git add overrides.yaml`, commit" in done.out


def test_what_git_ignores_is_nobodys_file(pets: Petstore) -> None:
    (pets.folder / ".venv").mkdir()
    pets.write(".venv/lib.py", "")
    assert pets.report()["files"]["own"] == 0


def test_it_needs_no_repository(pets: Petstore) -> None:
    (pets.folder / ".git").rename(pets.folder.parent / "elsewhere")
    pets.write("mine.py", "")
    pets.write("__pycache__/mine.pyc", "")
    assert pets.report()["files"]["own"] == 1


def test_line_ends_of_windows_are_no_edit(pets: Petstore) -> None:
    for path in ("README.md", "OPERATIONS.md", f"{OPERATIONS}/read.json"):
        pets.write(path, pets.read(path).replace("\n", "\r\n"))
    assert pets.report()["files"]["changed"] == []


def test_overrides_that_were_changed_since_make_the_table_stale(pets: Petstore) -> None:
    pets.write("overrides.yaml", "POST /pets:\n  name: take_pet\n")
    report = pets.report()
    assert f"{OPERATIONS}/create.json" in report["stale"]
    assert "OPERATIONS.md" in report["stale"]
    assert f"{OPERATIONS}/delete.json" not in report["stale"]
    pets.commit()
    assert pets.update().code == 0
    assert pets.report()["stale"] == []


def test_overrides_that_fit_nothing_are_told_with_their_line(pets: Petstore) -> None:
    pets.write("overrides.yaml", "# mine\nGET /nowhere:\n  name: see_nothing\n")
    (finding,) = pets.report()["overrides"]
    assert (finding["code"], finding["line"]) == ("unmatched-override", 2)


def test_overrides_that_cannot_be_read_are_told_as_a_problem(pets: Petstore) -> None:
    pets.write("overrides.yaml", "GET /pets:\n  nme: x\n")
    report = pets.report()
    assert report["success"]
    assert [(problem["code"], problem["line"]) for problem in report["problems"]] == [("bad-override", 2)]
    assert "aqlgen cannot regenerate this project yet" in run("status", pets.folder).out


def test_another_aqlgen_is_told(pets: Petstore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aqlgen.project.status.build", lambda: "99.0")
    report = pets.report()
    assert (report["recorded"]["aqlgen"], report["today"]["aqlgen"]) != ("99.0", "0.1.0")
    assert report["today"]["aqlgen"] == "99.0"
    assert "The installed aqlgen is 99.0" in run("status", pets.folder).out


def test_a_folder_that_is_no_project_is_refused(pets: Petstore) -> None:
    done = run("status", pets.folder.parent, "--output-format", "json")
    assert done.code == 4
    assert done.json["error"]["details"][0]["code"] == "not-a-project"


def test_a_document_that_was_edited_is_told(pets: Petstore) -> None:
    pets.write("openapi/openapi.yaml", pets.read("openapi/openapi.yaml").replace("listPets", "findPets"))
    report = pets.report()
    assert report["recorded"]["input"] != report["today"]["input"]
    assert [refusal["path"] for refusal in report["edits"]["refused"]] == ["openapi/openapi.yaml"]


def test_the_document_is_read_once_whatever_was_edited(pets: Petstore, readings: list[str]) -> None:
    def change(rows: dict[str, Any]) -> None:
        rows["create_pet"]["danger"] = "dangerous"
        rows["take_pet"] = rows.pop("create_pet")

    pets.edit("create", change)
    (refusal,) = pets.report()["edits"]["refused"]
    assert "POST /pets: {name: take_pet, danger: dangerous}" in refusal["suggestion"]
    assert readings == [str(pets.folder / "openapi/openapi.yaml")]


def test_status_changes_nothing(pets: Petstore) -> None:
    pets.edit("create", lambda rows: rows["create_pet"].update(danger="dangerous"))
    before = pets.snapshot()
    pets.report()
    assert pets.snapshot() == before


def test_texts_of_a_document_do_nothing_to_a_terminal(pets: Petstore) -> None:
    pets.write(f"{PACKAGE}/\x1b[31mred.json", json.dumps({}))
    assert "\x1b" not in run("status", pets.folder, "-v").out
