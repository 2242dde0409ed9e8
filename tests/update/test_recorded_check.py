"""`aqlgen check --record`: the provenance says what was found, and what came after it makes it stale (R-CONF-2)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aqlgen.check.results import Report
from aqlgen.check.runner import Checked
from aqlgen.resources import build
from tests.generator.commands import run
from tests.update.repos import Repo, grown, operation

pytestmark = pytest.mark.long


@pytest.fixture
def checked(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Return the project; a check of it finds level 0, resting on one operation of four, and no test runs."""
    report = Report("shop", "1", "1.0.0-draft", "0.1", (), 4, 4, succeeded=frozenset({"list_pets"}))
    monkeypatch.setattr("aqlgen.cli.check._run", lambda *_, **__: Checked(report, {}))
    return repo


def record(repo: Repo) -> Any:
    return json.loads(repo.read("MCPAQL-PROVENANCE.json"))["conformance"]


def standing(repo: Repo) -> Any:
    return run("status", repo.folder, "--output-format", "json").json["conformance"]


def test_a_check_changes_nothing_without_record_and_with_it_the_provenance_alone(checked: Repo) -> None:
    before = checked.snapshot()
    assert run("check", checked.folder).code == 1
    assert (checked.snapshot(), standing(checked)) == (before, None)
    assert run("check", checked.folder, "--record").code == 1
    entry = record(checked)
    assert (entry["level"], entry["operations"], entry["total"], entry["aqlgen"]) == (0, 1, 4, build())
    assert standing(checked) == {**entry, "stale": False}
    assert (
        f"Checked: level 0, from calls of 1 of 4 operations, on {entry['date']}." in run("status", checked.folder).out
    )
    assert [line[3:] for line in checked.status()] == ["MCPAQL-PROVENANCE.json"]
    assert run("check", checked.folder, "--pristine").code == 0


@pytest.mark.parametrize("form", [{"indent": 2, "sort_keys": True}, {"separators": (",", ":")}])
def test_a_check_keeps_a_provenance_that_was_formatted(checked: Repo, form: dict[str, Any]) -> None:
    before = json.loads(checked.read("MCPAQL-PROVENANCE.json"))
    checked.write("MCPAQL-PROVENANCE.json", json.dumps(before, **form))
    assert run("check", checked.folder, "--record").code == 1
    after = json.loads(checked.read("MCPAQL-PROVENANCE.json"))
    assert after == {**before, "conformance": after["conformance"]}
    assert not standing(checked)["stale"]


def test_an_edit_makes_it_stale_and_another_check_renews_it(checked: Repo) -> None:
    run("check", checked.folder, "--record")
    hooks = next(checked.folder.glob("src/*/hooks.py"))
    hooks.write_text(hooks.read_text() + "# mine\n")
    assert standing(checked)["stale"]
    assert "; stale since files changed: `aqlgen check --record`" in run("status", checked.folder).out
    run("check", checked.folder, "--record")
    assert not standing(checked)["stale"]


def test_an_update_keeps_it_and_says_that_it_is_stale(checked: Repo, tmp_path: Path) -> None:
    run("check", checked.folder, "--record")
    checked.commit()
    entry, before = record(checked), checked.snapshot()
    assert checked.update().code == 0
    assert checked.snapshot() == before, "an update with nothing new changes no byte"
    newer = tmp_path / "newer.json"
    newer.write_text(json.dumps(grown(orders={"get": operation("listOrders")})))
    done = checked.update("--spec", newer)
    assert "The check is stale (level 0, from calls of 1 of 4 operations, on " in done.out
    assert record(checked) == entry
    assert standing(checked)["stale"]


@pytest.mark.parametrize("options", [["--quick"], ["--test", "IF-1"], ["--pristine"]])
def test_a_part_of_a_check_is_not_recorded(checked: Repo, options: list[str]) -> None:
    done = run("check", checked.folder, "--record", *options)
    assert (done.code, "--record" in done.err) == (3, True)
    assert record(checked) is None
