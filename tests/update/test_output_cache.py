"""`status`, and an update with nothing new, generate nothing again while all that they follow from is the same."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from operator import methodcaller
from pathlib import Path

import pytest

from aqlgen.cli import output_cache
from tests.cases import each
from tests.generator.commands import Run, run
from tests.update.repos import SHOP, Repo, grown

pytestmark = pytest.mark.long

COMMANDS = (("status",), ("update", "--dry-run", "--output-format", "json"))


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the commands keep their outputs, in a folder of the test."""
    monkeypatch.setenv("AQLGEN_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def generations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of the documents that are read from now on."""
    from aqlgen import pipeline

    read: list[str] = []
    assemble = pipeline.assemble
    monkeypatch.setattr(pipeline, "assemble", lambda request: read.append(request.spec) or assemble(request))
    return read


def outputs(repo: Repo) -> list[Run]:
    return [run(command, repo.folder, *options) for command, *options in COMMANDS]


def uncached(repo: Repo) -> list[Run]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AQLGEN_CACHE", "")
        return outputs(repo)


def test_the_same_is_printed_again_and_nothing_is_generated(repo: Repo, generations: list[str]) -> None:
    first = outputs(repo)
    assert generations
    generations.clear()
    assert outputs(repo) == first
    assert generations == []


def _edit_table(repo: Repo) -> None:
    path = next((repo.folder / "src").glob("*/operations/read.json"))
    repo.replace(path.relative_to(repo.folder).as_posix(), "list_goods", "list_all_goods")


def _edit_record_too(repo: Repo) -> None:
    """Edit a machine file and its hash in the record, as whoever can edit the one can edit the other."""
    from aqlgen.render.provenance import file_hash

    path = next((repo.folder / "src").glob("*/operations/read.json"))
    name, before = path.relative_to(repo.folder).as_posix(), file_hash(path.read_bytes())
    repo.replace(name, "list_goods", "list_all_goods")
    repo.replace("MCPAQL-PROVENANCE.json", before, file_hash(path.read_bytes()))
    repo.commit()


OVERLAY = {
    "overlay": "1.0.0",
    "info": {"title": "o", "version": "1"},
    "actions": [{"target": "$.paths['/goods'].get", "update": {"summary": "Other"}}],
}
does = methodcaller
COMMIT = does("commit")
EDITS: dict[str, tuple[Callable[[Repo], object], ...]] = {
    "an alias": (does("write", "overrides.yaml", "GET /goods: {name: browse_goods}\n"),),
    "a document that moved": (
        lambda repo: (repo.folder / "openapi/openapi.json").rename(repo.folder / "openapi/elsewhere.json"),
    ),
    "an edited document": (does("replace", "openapi/openapi.json", "listGoods", "listWares"),),
    "an overlay": (does("write", "openapi/overlays/1-own.json", json.dumps(OVERLAY)),),
    "an edited table": (_edit_table,),
    "an edited table and record": (_edit_record_too,),
    "a table that is gone": (lambda repo: next((repo.folder / "src").glob("*/types.json")).unlink(),),
    "a shared file that is gone": (lambda repo: (repo.folder / "README.md").unlink(),),
    "an option": (does("replace", "MCPAQL-PROVENANCE.json", '"exclude": []', '"exclude": ["DELETE *"]'), COMMIT),
    "an edit that is committed": (_edit_table, COMMIT),
    "a file of nobody": (does("write", "notes.md", "mine\n"),),
    "a file that is ignored": (
        does("write", "notes.md", "mine\n"),
        lambda repo: (repo.top / ".git/info").mkdir(exist_ok=True),
        lambda repo: (repo.top / ".git/info/exclude").write_text("notes.md\n", encoding="utf-8"),
    ),
    "a merge": (
        lambda repo: (repo.top / ".git/MERGE_HEAD").write_text(repo.git("rev-parse", "HEAD"), encoding="utf-8"),
    ),
}


@each("edit", EDITS)
def test_after_an_edit_the_output_is_that_without_a_cache(begun: Repo, tmp_path: Path, edit: str) -> None:
    repo = begun.copy(tmp_path / "shop")
    outputs(repo)
    for act in EDITS[edit]:
        act(repo)
    assert outputs(repo) == uncached(repo)


def test_another_aqlgen_says_it_anew(repo: Repo, generations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    outputs(repo)
    generations.clear()
    file = repo.top.parent / "rule.py"
    file.write_text("other = True\n", encoding="utf-8")
    files = output_cache.own_files()
    monkeypatch.setattr(output_cache, "own_files", lambda: [*files, ("decide/rule.py", file)])
    outputs(repo)
    assert len(generations) == len(COMMANDS)


def test_what_a_project_brings_is_no_cache(repo: Repo, generations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The hash has no secret, so whoever writes the cache has its word: it is the user's own folder."""
    monkeypatch.delenv("AQLGEN_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(repo.top.parent / "home"))
    monkeypatch.chdir(repo.folder)
    outputs(repo)
    assert {path.parent.name for path in (repo.top.parent / "home").rglob("*.json")} == {"aqlgen"}
    assert repo.git("status", "--short", "--ignored") == ""


def test_a_link_out_of_the_project_is_not_followed(repo: Repo, generations: list[str], tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("before", encoding="utf-8")
    (repo.folder / "notes.txt").symlink_to(tmp_path / "outside.txt")
    outputs(repo)
    generations.clear()
    outputs(repo)
    assert len(generations) == len(COMMANDS)


def test_a_newer_document_is_read_each_time(repo: Repo, generations: list[str], tmp_path: Path) -> None:
    spec = tmp_path / "newer.json"
    spec.write_text(json.dumps(SHOP, indent=2), encoding="utf-8")
    assert "is up to date" in repo.update("--spec", spec).out
    generations.clear()
    assert "is up to date" in repo.update("--spec", spec).out
    assert generations
    spec.write_text(json.dumps(grown(orders={"get": SHOP["paths"]["/goods"]["get"]})), encoding="utf-8")
    assert "is up to date" not in repo.update("--spec", spec, "--dry-run").out


MODULES = """
import sys
from aqlgen.cli import main
try:
    main()
finally:
    heavy = ("openapi_pydantic", "aqlgen.decide", "aqlgen.build", "aqlgen.pipeline", "copier", "jinja2")
    print([name for name in heavy if name in sys.modules], file=sys.stderr)
"""


def test_nothing_new_imports_nothing_that_generates(repo: Repo) -> None:
    outputs(repo)
    for command, *options in COMMANDS:
        arguments = [sys.executable, "-c", MODULES, command, str(repo.folder), *options]
        subprocess.run(arguments, check=True, capture_output=True)
        done = subprocess.run(arguments, check=True, capture_output=True, text=True)
        assert done.stderr.splitlines()[-1] == "[]"
