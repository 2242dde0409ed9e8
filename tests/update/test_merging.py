"""Edits of shared files are there after an update, or in a marked conflict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.generator.commands import run
from tests.update.conftest import committed
from tests.update.repos import SOURCE, Repo, Templates, git, grown, operation

pytestmark = pytest.mark.long

Spec = Callable[[Any], Path]
RUNTIME = "src/shop_adapter/runtime"


def test_edits_elsewhere_in_a_file_are_merged(repo: Repo, newer: Templates) -> None:
    repo.write("README.md", repo.read("README.md") + "\n## How we run it\n\nOn Fridays.\n")
    repo.replace("pyproject.toml", "dependencies = [", 'dependencies = [\n  "ours>=1",')
    repo.commit()
    newer.replace("README.md.jinja", "\n## ", "\nA line of the new release.\n\n## ")
    done = repo.changed()
    assert done["success"]
    assert "A line of the new release." in repo.read("README.md")
    assert "On Fridays." in repo.read("README.md")
    assert '"ours>=1"' in repo.read("pyproject.toml")


def test_edits_in_the_same_place_are_a_conflict_with_all_three_versions(repo: Repo, newer: Templates) -> None:
    repo.replace("Dockerfile", "FROM ", "FROM our-registry/")
    repo.commit()
    newer.replace("Dockerfile.jinja", "FROM ", "FROM newer-")
    done = repo.update("--output-format", "json")
    assert done.code == 1
    assert not done.json["success"]
    assert done.json["files"]["conflicts"] == ["Dockerfile"]
    assert done.json["conflicts"] == [{"path": "Dockerfile", "why": "changed by you and by aqlgen in the same place"}]
    text = repo.read("Dockerfile")
    assert all(mark in text for mark in ("<<<<<<< yours", "||||||| ", "=======", ">>>>>>> ", "our-registry", "newer-"))
    assert "UU Dockerfile" in repo.status()


def test_people_are_told_of_conflicts_also_when_it_is_to_be_quiet(repo: Repo, newer: Templates) -> None:
    repo.replace("Dockerfile", "FROM ", "FROM our-registry/")
    repo.commit()
    newer.replace("Dockerfile.jinja", "FROM ", "FROM newer-")
    tried = repo.update("--dry-run")
    assert tried.code == 1
    assert "1 conflict would be left" in tried.out
    assert repo.status() == []
    done = repo.update("-q")
    assert done.code == 1
    assert "Dockerfile: changed by you and by aqlgen in the same place" in done.err
    assert "undoes it" in done.err


def test_what_is_yours_and_was_deleted_stays_away(repo: Repo) -> None:
    (repo.folder / "src/shop_adapter/hooks.py").unlink()
    (repo.folder / "overrides.yaml").unlink()
    repo.commit()
    assert repo.update().code == 0
    assert not (repo.folder / "src/shop_adapter/hooks.py").exists()
    assert not (repo.folder / "overrides.yaml").exists()


def test_a_renamed_file_is_yours_from_then_on(repo: Repo, newer: Templates) -> None:
    repo.git("mv", "tests/test_adapter.py", "tests/test_our_adapter.py")
    repo.commit()
    before = repo.read("tests/test_our_adapter.py")
    newer.replace("tests/test_adapter.py.jinja", '"""', '"""Newer. ')
    assert repo.update().code == 0
    assert repo.read("tests/test_our_adapter.py") == before
    assert not (repo.folder / "tests/test_adapter.py").exists()


def test_an_edited_file_that_is_generated_no_more_is_a_conflict(repo: Repo, newer: Templates) -> None:
    repo.replace("Dockerfile", "FROM ", "FROM our-registry/")
    repo.commit()
    newer.remove("Dockerfile.jinja")
    done = repo.changed()
    assert done["conflicts"] == [{"path": "Dockerfile", "why": "changed by you, no longer generated"}]
    assert "our-registry" in repo.read("Dockerfile")


def test_a_file_of_your_own_where_one_is_generated_now_is_a_conflict(repo: Repo, newer: Templates) -> None:
    repo.write("docs/USING.md", "ours\n")
    repo.commit()
    newer.add("docs/USING.md", "theirs\n")
    done = repo.changed()
    assert done["conflicts"] == [{"path": "docs/USING.md", "why": "added by you and by aqlgen"}]
    text = repo.read("docs/USING.md")
    assert "ours" in text
    assert "theirs" in text


def test_a_file_whose_end_you_deleted_gets_it_back_only_in_a_conflict(repo: Repo, newer: Templates) -> None:
    text = repo.read("README.md")
    repo.write("README.md", text[: text.rindex("\n## ") + 1])
    repo.commit()
    template = newer.folder / "templates/project/README.md.jinja"
    template.write_text(f"{template.read_text(encoding='utf-8')}\nA newer line.\n", encoding="utf-8")
    assert [conflict["path"] for conflict in repo.changed()["conflicts"]] == ["README.md"]


def test_line_ends_of_windows_stay_and_are_no_edit(copied: Repo, newer: Templates, spec: Spec) -> None:
    repo = copied
    (repo.folder / ".gitattributes").unlink()
    for path in ("README.md", f"{RUNTIME}/__init__.py", "src/shop_adapter/operations/read.json"):
        repo.write(path, repo.read(path).replace("\n", "\r\n"))
    repo.commit()
    newer.replace(f"{SOURCE}/__init__.py", '"""', '"""Newer. ')
    done = repo.changed("--spec", spec(grown(orders={"get": operation("listOrders")})))
    assert done["success"]
    for path in (f"{RUNTIME}/__init__.py", "src/shop_adapter/operations/read.json"):
        content = (repo.folder / path).read_bytes()
        assert content.count(b"\n") == content.count(b"\r\n") > 0
    assert "Newer. " in repo.read(f"{RUNTIME}/__init__.py")


def test_a_document_that_has_line_ends_of_windows_keeps_them(tmp_path: Path) -> None:
    text = json.dumps(grown(), indent=2).replace("\n", "\r\n")
    (tmp_path / "shop.json").write_bytes(text.encode())
    assert run("from-openapi", tmp_path / "shop.json", "-o", tmp_path / "shop", "-q", "--add", "docker").code == 0
    repo = committed(tmp_path / "shop", tmp_path / "shop")
    repo.assert_up_to_date()
    (tmp_path / "shop.json").write_text(json.dumps(grown(), indent=2), encoding="utf-8", newline="")
    assert repo.changed("--spec", tmp_path / "shop.json")["success"]
    assert b"\r" not in (repo.folder / "openapi" / "openapi.json").read_bytes()
    repo.commit()
    assert repo.changed()["files"]["changed"] == []


def test_an_executable_file_stays_one(repo: Repo, newer: Templates) -> None:
    (repo.folder / "scripts/update-adapter.sh").chmod(0o755)
    repo.commit()
    newer.replace("scripts/update-adapter.sh", "\n", "\n# newer\n")
    assert repo.update().code == 0
    assert repo.git("ls-files", "--stage", "scripts/update-adapter.sh").startswith("100755")
    assert "# newer" in repo.read("scripts/update-adapter.sh")


def test_in_a_folder_of_a_larger_repository_nothing_outside_is_touched(inner: Repo, newer: Templates) -> None:
    """A file outside of the project is not taken for a renamed one of it."""
    (inner.top / "test_adapter.py").write_text(inner.read("tests/test_adapter.py"), encoding="utf-8")
    (inner.folder / "tests/test_adapter.py").unlink()
    inner.commit()
    newer.replace("tests/test_adapter.py.jinja", '"""', '"""Newer. ')
    newer.replace("README.md.jinja", "\n## ", "\nA line of the new release.\n\n## ")
    (inner.top / "README.md").write_text("# Changed, and not committed\n", encoding="utf-8")
    tried = inner.changed("--dry-run")
    done = inner.changed()
    assert tried["conflicts"] == done["conflicts"]
    assert done["conflicts"] == []
    assert "Newer" not in (inner.top / "test_adapter.py").read_text(encoding="utf-8")
    assert " M README.md" in inner.status()
    assert "A line of the new release." in inner.read("README.md")


def test_a_shallow_clone_is_updated_as_any_other(repo: Repo, newer: Templates, tmp_path: Path) -> None:
    repo.replace("Dockerfile", "FROM ", "# ours\nFROM ")
    repo.commit()
    git("clone", "--quiet", "--depth=1", f"file://{repo.top}", tmp_path / "shallow", cwd=tmp_path)
    shallow = Repo(tmp_path / "shallow", tmp_path / "shallow")
    newer.replace("README.md.jinja", "\n## ", "\nA line of the new release.\n\n## ")
    done = shallow.changed()
    assert done["success"]
    assert "A line of the new release." in shallow.read("README.md")
    assert "# ours" in shallow.read("Dockerfile")


def test_a_partial_clone_is_updated_without_fetching_what_it_lacks(
    repo: Repo, newer: Templates, tmp_path: Path
) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo.replace("Dockerfile", "FROM ", "# ours\nFROM ")
    repo.commit()
    git("clone", "--quiet", "--filter=blob:none", f"file://{repo.top}", tmp_path / "partial", cwd=tmp_path)
    partial = Repo(tmp_path / "partial", tmp_path / "partial")
    partial.git("config", "remote.origin.url", "https://nowhere.invalid/shop.git")
    newer.replace("Dockerfile.jinja", "FROM ", "# newer\nFROM ")
    assert partial.changed("--dry-run")["files"]["conflicts"] == ["Dockerfile"]
    assert partial.changed()["files"]["conflicts"] == ["Dockerfile"]
    assert all(line in partial.read("Dockerfile") for line in ("# ours\n", "# newer\n"))


@pytest.fixture
def squashed(tmp_path: Path, generated: Path, newer: Templates) -> Repo:
    """Make a project by other templates, with an edit that is in its only commit."""
    newer.replace("Dockerfile.jinja", "FROM ", "# an older line\nFROM ")
    (tmp_path / "shop.json").write_text((generated.parent / "shop.json").read_text(encoding="utf-8"), encoding="utf-8")
    run("from-openapi", tmp_path / "shop.json", "-o", tmp_path / "shop", "-q", "--add", "docker")
    repo = Repo(tmp_path / "shop", tmp_path / "shop")
    repo.write("Dockerfile", repo.read("Dockerfile") + "# ours\n")
    newer.replace("Dockerfile.jinja", "# an older line\n", "# a newer line\n")
    return committed(repo.folder, repo.top)


def test_an_edit_is_merged_from_the_record_alone(squashed: Repo) -> None:
    assert squashed.changed()["success"]
    text = squashed.read("Dockerfile")
    assert "# a newer line\n" in text
    assert "# an older line\n" not in text
    assert "# ours\n" in text


@pytest.mark.parametrize("base", [None, {"Dockerfile": "AAAA"}, {"Dockerfile": []}, "nothing"])
def test_a_record_without_what_was_generated_leaves_both_versions(squashed: Repo, base: object) -> None:
    """As those of earlier releases, and those that somebody edited."""
    record = json.loads(squashed.read("MCPAQL-PROVENANCE.json"))
    squashed.write("MCPAQL-PROVENANCE.json", json.dumps({**record, "base": base}))
    squashed.commit()
    done = squashed.changed()
    assert done["files"]["conflicts"] == ["Dockerfile"]
    text = squashed.read("Dockerfile")
    assert all(line in text for line in ("# ours\n", "# an older line\n", "# a newer line\n"))
    assert "UU Dockerfile" in squashed.status() or "AA Dockerfile" in squashed.status()
