"""Projects that are made of an adapter element: they keep it, and every command knows them."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.element.reading import BOOKS
from tests.generator.commands import FIXTURES, run
from tests.update.conftest import _own_git, committed, packed  # noqa: F401 - no git configuration of the machine's
from tests.update.repos import Repo


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """Generate a project of the books' element, and commit it."""
    folder = tmp_path_factory.mktemp("books") / "books"
    result = run("from-schema", BOOKS, "-o", folder, "--output-format", "json")
    assert result.code == 0, result.out
    assert result.json["operations"]["total"] == 7
    assert run("add", "element", "--project", folder).code == 0
    return packed(committed(folder, folder))


@pytest.fixture
def repo(begun: Repo, tmp_path: Path) -> Repo:
    return begun.copy(tmp_path / "books")


def test_a_project_keeps_its_element_and_has_its_own_in_both_forms(begun: Repo) -> None:
    assert begun.read("openapi/adapter.md") == BOOKS.read_text(encoding="utf-8")
    element = begun.read("schema/adapter.yaml")
    assert yaml.safe_load(element)["name"] == "books"
    assert begun.read("schema/books-adapter.md").startswith(f"---\n{element}---\n")


def test_status_and_check_know_the_project(begun: Repo) -> None:
    assert "Up to date" in run("status", begun.folder).out
    assert run("check", begun.folder, "--pristine", "-q").code == 0
    assert "strike_book" in run("explain", begun.folder / "openapi/adapter.md").out


def test_an_update_without_news_changes_nothing(repo: Repo) -> None:
    assert "is up to date" in repo.update().out
    assert repo.git("status", "--porcelain") == ""


def test_an_update_takes_a_newer_element(repo: Repo, tmp_path: Path) -> None:
    text = BOOKS.read_text(encoding="utf-8").replace("Get a book", "Get one book").replace("strike_book", "drop_book")
    newer = tmp_path / "newer.md"
    newer.write_text(text, encoding="utf-8")
    shown = run("diff", repo.folder, newer)
    assert shown.code == 1
    assert "renamed, now `drop_book`: strike_book" in shown.out
    result = repo.update("--spec", newer)
    assert result.code == 0, result.err
    assert repo.read("openapi/adapter.md") == text
    assert '"drop_book"' in repo.read("src/books_adapter/operations/delete.json")


def test_an_element_that_was_edited_in_its_place_is_given_by_spec(repo: Repo) -> None:
    text = BOOKS.read_text(encoding="utf-8").replace("Get a book", "Get one book")
    repo.write("openapi/adapter.md", text)
    repo.commit()
    refused = repo.update()
    assert refused.code == 3
    assert "--spec" in refused.err
    assert repo.update("--spec", repo.folder / "openapi/adapter.md").code == 0
    assert "Get one book" in repo.read("OPERATIONS.md")


def test_an_update_with_an_invalid_element_changes_nothing(repo: Repo, tmp_path: Path) -> None:
    broken = tmp_path / "broken.md"
    broken.write_text(BOOKS.read_text(encoding="utf-8").replace("type: integer", "type: int"), encoding="utf-8")
    assert repo.update("--spec", broken).code == 2
    assert repo.git("status", "--porcelain") == ""


def test_a_project_stays_of_its_kind(repo: Repo, tmp_path: Path) -> None:
    result = repo.update("--spec", FIXTURES / "petstore.yaml")
    assert result.code == 2
    assert "not an adapter element" in result.err


def test_the_help_has_examples() -> None:
    shown = run("from-schema", "--help")
    assert shown.code == 0
    assert "aqlgen from-schema github-api-adapter.md" in shown.out
