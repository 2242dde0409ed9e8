"""A project that a newer aqlgen made, or no release, is told so by every command before anything else."""

from __future__ import annotations

import json

from aqlgen import __version__
from aqlgen.project.records import newest_version
from aqlgen.runtime.table import FORMAT
from tests.generator.commands import Run, run
from tests.update.repos import Repo

PROVENANCE = "MCPAQL-PROVENANCE.json"
COMMANDS = {
    "update": ("update", "{folder}"),
    "status": ("status", "{folder}"),
    "check": ("check", "{folder}", "--pristine"),
    "diff": ("diff", "{folder}", "{folder}"),
    "explain": ("explain", "{folder}/openapi/openapi.json", "--overrides", "{folder}/overrides.yaml"),
}


def run_all(repo: Repo, *options: str) -> dict[str, Run]:
    return {
        name: run(*(word.format(folder=repo.folder) for word in words), *options) for name, words in COMMANDS.items()
    }


def damage(repo: Repo) -> None:
    """Write what this aqlgen could not read, as a newer one may."""
    repo.write(PROVENANCE, json.dumps({**json.loads(repo.read(PROVENANCE)), "files": "of another form"}))
    repo.write("overrides.yaml", "of: another form\n")


def test_a_newer_aqlgen_is_told_of_before_anything_else(repo: Repo) -> None:
    repo.replace(PROVENANCE, f'"version": "{__version__}"', '"version": "99.1"')
    damage(repo)
    for name, done in run_all(repo).items():
        assert done.code == 3, name
        first, way = done.err.splitlines()
        assert "the project was made by aqlgen 99.1" in first, name
        assert first.endswith("[aqlgen-too-old]")
        assert str(repo.folder) in first
        assert "Install aqlgen 99.1 or newer" in way


def test_the_commit_of_a_clone_without_tags_is_no_version() -> None:
    """Plain copier records the hash then, which may be of digits alone."""
    assert newest_version({"generator": {"version": "0.1.0", "templates": ""}}, {"_commit": "4523772"}) == "0.1.0"
    assert newest_version({"generator": {"version": "0.1.0", "templates": "v0.2.0"}}, {"_commit": "v0.3.0"}) == "v0.3.0"


def test_a_newer_table_is_told_of_too(repo: Repo) -> None:
    path = next((repo.folder / "src").glob("*/adapter.json"))
    adapter = json.loads(path.read_bytes())
    path.write_text(json.dumps({**adapter, "format": FORMAT + 1}), encoding="utf-8")
    damage(repo)
    for name, done in run_all(repo).items():
        assert done.code == 3, name
        assert f"format {FORMAT + 1}" in done.err.splitlines()[0], name
        assert "Install the newest aqlgen" in done.err
