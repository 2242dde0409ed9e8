"""Parts that a project can have beside the adapter itself: added, kept current, and removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aqlgen.options import PARTS, part_of
from aqlgen.render.template import render_template
from tests.generator.commands import Run, run
from tests.template.test_template import PLAIN
from tests.update.conftest import committed
from tests.update.repos import Repo, Templates, grown

PACKAGE = "shop_adapter"


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def add(folder: Path, *arguments: str) -> Run:
    return run("add", *arguments, "--project", folder, "--output-format", "json")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Generate a project without parts."""
    (tmp_path / "shop.json").write_text(json.dumps(grown()), encoding="utf-8")
    assert run("from-openapi", tmp_path / "shop.json", "-o", tmp_path / "shop", "-q").code == 0
    return tmp_path / "shop"


def test_each_part_is_added_alone_and_is_pristine(bare: Path) -> None:
    assert not {path for path in files(bare) if part_of(path, PACKAGE)}
    for part in PARTS:
        before = files(bare)
        added = set(add(bare, part).json["added"])
        assert added == files(bare) - before
        assert {part_of(path, PACKAGE) for path in added} == {part}
    assert run("check", bare, "--pristine").code == 0


@pytest.mark.parametrize("command", [["ci", "docker"], ["--remove", "ci"]])
def test_where_a_file_cannot_be_written_nothing_is_changed(
    bare: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    """As on a full disk."""
    assert "ci" in command or add(bare, "ci").code == 0
    before = {path: (bare / path).read_bytes() for path in files(bare)}
    left = [2]

    def replaced(temporary: Path, target: Path) -> Path:
        left[0] -= target.parent.exists()
        if left[0] == 0:
            raise OSError(28, "No space left on device")
        temporary.rename(target)
        return target

    monkeypatch.setattr(Path, "replace", replaced)
    assert add(bare, *command).code == 4
    assert {path: (bare / path).read_bytes() for path in files(bare)} == before


def test_nothing_is_left_of_a_part_that_is_removed(bare: Path) -> None:
    before = {path.relative_to(bare) for path in bare.rglob("*")}
    assert add(bare, "ci").code == 0
    assert add(bare, "--remove", "ci").code == 0
    assert {path.relative_to(bare) for path in bare.rglob("*")} == before


def test_the_template_excludes_what_the_parts_name() -> None:
    """`copier.yml` and `PARTS` name the same files, but for those that the table gives."""
    complete = set(render_template(PLAIN))
    for part in PARTS.keys() - {"element"}:
        others = " ".join(name for name in PARTS if name != part)
        missing = complete - set(render_template(PLAIN | {"parts": others}))
        assert missing == {path for path in complete if part_of(path, "petstore_adapter") == part} != set(), part


def test_what_is_added_at_generation_is_what_is_added_later(bare: Path, tmp_path: Path) -> None:
    assert add(bare, "all").code == 0
    assert run("from-openapi", tmp_path / "shop.json", "-o", tmp_path / "whole", "-q", "--add", "all").code == 0
    for path in files(bare) | files(tmp_path / "whole"):
        assert (bare / path).read_bytes() == (tmp_path / "whole" / path).read_bytes(), path


def test_an_update_keeps_a_part_current(bare: Path, newer: Templates) -> None:
    add(bare, "docker")
    repo = committed(bare, bare)
    newer.replace("Dockerfile.jinja", "EXPOSE 8000", "EXPOSE 8001")
    assert repo.changed()["files"]["changed"] == ["Dockerfile", "MCPAQL-PROVENANCE.json"]
    assert "EXPOSE 8001" in repo.read("Dockerfile")


def test_a_part_is_removed_but_no_edit_of_it(bare: Path) -> None:
    before = files(bare)
    add(bare, "docker", "schemas")
    (bare / "Dockerfile").write_text("FROM scratch\n", encoding="utf-8")
    refused = add(bare, "--remove", "docker")
    assert (refused.code, "Dockerfile was edited" in refused.json["error"]["message"]) == (3, True)
    assert len(add(bare, "--remove", "schemas").json["removed"]) == 4
    (bare / "Dockerfile").unlink()
    assert add(bare, "--remove", "docker").code == 0
    assert files(bare) == before
    assert run("check", bare, "--pristine").code == 0


def test_a_file_of_the_owner_is_never_written_over(bare: Path) -> None:
    hooks = bare / f"src/{PACKAGE}/hooks.py"
    hooks.write_text("# mine\n", encoding="utf-8")
    assert add(bare, "hooks").json["added"] == []
    assert hooks.read_text(encoding="utf-8") == "# mine\n"
    (bare / "Dockerfile").write_text("FROM scratch\n", encoding="utf-8")
    refused = add(bare, "docker")
    assert (refused.code, "Dockerfile is there already" in refused.json["error"]["message"]) == (3, True)
    assert (bare / "Dockerfile").read_text(encoding="utf-8") == "FROM scratch\n"


def test_a_file_in_the_place_of_a_folder_stops_a_part_before_it_is_written(bare: Path) -> None:
    (bare / "deploy").write_text("mine", encoding="utf-8")
    before = files(bare)
    refused = add(bare, "docker", "kubernetes")
    assert (refused.code, "deploy is there already" in refused.json["error"]["message"]) == (3, True)
    assert files(bare) == before


def test_nothing_is_added_where_an_update_is_due(bare: Path) -> None:
    (bare / "overrides.yaml").write_text("GET /goods: {name: browse}\n", encoding="utf-8")
    before = {path: (bare / path).read_bytes() for path in files(bare)}
    refused = add(bare, "docker")
    assert (refused.code, "aqlgen update" in str(refused.json)) == (3, True)
    assert {path: (bare / path).read_bytes() for path in files(bare)} == before


def test_an_unknown_part_is_refused_with_those_that_there_are(bare: Path) -> None:
    refused = add(bare, "dokcer")
    assert refused.code == 3
    assert "docker" in str(refused.json["error"]["details"])


def test_a_project_of_a_release_without_parts_keeps_all_that_it_has(repo: Repo) -> None:
    record = json.loads(repo.read("MCPAQL-PROVENANCE.json"))
    text = repo.read("MCPAQL-PROVENANCE.json")
    start = text.index('    "parts": [')
    end = text.index("],\n", start) + 3
    repo.write("MCPAQL-PROVENANCE.json", text[:start] + text[end:])
    repo.commit()
    done = repo.changed("--dry-run")
    assert done["files"]["removed"] == []
    assert repo.changed()["success"]
    assert json.loads(repo.read("MCPAQL-PROVENANCE.json"))["options"]["parts"] == record["options"]["parts"]


def test_a_part_that_was_deleted_is_added_again_and_pending_overrides_come_first(bare: Path) -> None:
    added = set(add(bare, "docker", "overrides").json["added"])
    whole = files(bare)
    for path in added:
        (bare / path).unlink()
    assert set(add(bare, "docker", "overrides").json["added"]) == added
    assert files(bare) == whole
    (bare / "overrides.yaml").write_text("GET /goods: {name: browse_goods}\n", encoding="utf-8")
    message = add(bare, "hooks").json["error"]["message"]
    assert message == "the project is not up to date: `aqlgen update` would change OPERATIONS.md"
