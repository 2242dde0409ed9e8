"""The GitHub Action and the pre-commit hook of this repository, run as their runners run them."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.checkouts import ROOT
from tests.edits.conftest import Petstore

ACTION: Any = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: Any = {step["name"]: step for step in ACTION["runs"]["steps"]}
COMMAND = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m aqlgen "$@"\n'


def compared(pets: Petstore, runner: Path, fail_on: str) -> int:
    """Run the step that compares, with an `aqlgen` of this work tree where it installs one; return its exit code."""
    command = runner / "aqlgen/bin/aqlgen"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(COMMAND, encoding="utf-8")
    command.chmod(0o755)
    places = {"RUNNER_TEMP": str(runner), "GITHUB_STEP_SUMMARY": str(runner / "summary.md")}
    inputs = {"DIRECTORY": str(pets.folder), "BASE": "HEAD", "FAIL_ON": fail_on}
    assert set(inputs) == set(STEPS["Compare"]["env"])
    environment = os.environ | places | inputs | {"PYTHONPATH": str(ROOT)}
    script = ["bash", "-eo", "pipefail", "-c", STEPS["Compare"]["run"]]
    return subprocess.run(script, env=environment, check=False).returncode


def test_the_action_shows_what_a_pull_request_changes_and_fails_as_asked(pets: Petstore, tmp_path: Path) -> None:
    pets.edit("delete", lambda rows: rows.pop(next(iter(rows))))
    assert compared(pets, tmp_path, "never") == 0
    assert "breaking" in (tmp_path / "summary.md").read_text(encoding="utf-8").lower()
    assert compared(pets, tmp_path, "breaking") == 1


def test_no_step_of_the_action_holds_an_expression_in_its_script() -> None:
    """A branch or a title of a pull request is somebody else's text, and a script would run it."""
    assert [name for name, step in STEPS.items() if "${{" in step["run"]] == []


def test_the_hook_passes_a_project_as_generated_and_stops_an_edited_one(pets: Petstore) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    command = [sys.executable, "-m", *shlex.split(hook["entry"])]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    assert subprocess.run(command, cwd=pets.folder, env=environment, check=False, capture_output=True).returncode == 0
    pets.edit("delete", lambda rows: rows.pop(next(iter(rows))))
    assert subprocess.run(command, cwd=pets.folder, env=environment, check=False, capture_output=True).returncode == 1
