"""Overrides put into a file that somebody wrote: it says more afterwards, and what they wrote is there to the byte."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from aqlgen.decide.overrides import parse
from aqlgen.project.insertion import InsertionError, insert
from tests.checkouts import ROOT
from tests.edits.conftest import Petstore
from tests.examples import examples

NEW = {"POST /pets": {"name": "take_pet"}}
ADDED = "POST /pets:\n  name: take_pet\n"
OTHER = "GET /x:\r\n  hidden: true"
SAFE = "POST /pets:\n    danger: safe"
PARAMETER = {"POST /pets": {"parameters": {"petId": {"name": "pet"}}}}


@pytest.mark.parametrize(
    ("text", "entries", "expected"),
    [
        ("", NEW, ADDED),
        ("# mine", NEW, f"# mine\n{ADDED}"),
        ("---\n", NEW, f"---\n{ADDED}"),
        (f"# a\r\n{OTHER}\r\n", NEW, f"# a\r\n{OTHER}\r\nPOST /pets:\r\n  name: take_pet\r\n"),
        ("\ufeffGET /x: {}", NEW, f"\ufeffGET /x: {{}}\n{ADDED}"),
        (f"{SAFE}  # why\n\n# end\n", NEW, "POST /pets:\n    name: take_pet\n    danger: safe  # why\n\n# end\n"),
        ("post  /pets:\n  danger: safe\n", NEW, "post  /pets:\n  name: take_pet\n  danger: safe\n"),
        ("POST /pets: {danger: safe}  # why\n", NEW, "POST /pets: {name: take_pet, danger: safe}  # why\n"),
        ("POST /pets: {}\n", NEW, "POST /pets: {name: take_pet}\n"),
        ("POST /pets:  # why\n", NEW, "POST /pets: {name: take_pet}  # why\n"),
        ("POST /pets:\n  name: old  # why\n", NEW, "POST /pets:\n  name: take_pet  # why\n"),
        ("", PARAMETER, "POST /pets:\n  parameters: {petId: {name: pet}}\n"),
    ],
)
def test_what_is_new_is_put_where_it_belongs_and_nothing_else_changes(
    text: str, entries: dict[str, Any], expected: str
) -> None:
    assert insert(text, entries) == expected


@pytest.mark.parametrize(
    "text",
    [
        "base: &b {danger: safe}\nPOST /pets: *b\n",  # would change what the anchor names too
        "POST /pets: [1]\n",
        "POST /pets:\n  name: >  # why\n    old\n",  # would take the comment with it
        "GET /x: {hidden: true}\n...\n",
        '{"GET /x": {}}\n',
        "POST /pets: {name: a\n",
    ],
)
def test_a_layout_that_cannot_be_added_to_is_refused(text: str) -> None:
    with pytest.raises(InsertionError):
        insert(text, NEW)


@pytest.mark.parametrize(
    "value",
    ["a: b", "# no", "it's", '"x"', "two\nlines", "true", "2026-01-01", "1e5", "\u202eevil", "[a, b]", "é", "- a"],
)
@pytest.mark.parametrize("text", ["", "POST /pets: {danger: safe}\n"])
def test_every_text_is_read_back_as_it_was(text: str, value: str) -> None:
    written = insert(text, {"POST /pets": {"description": value, "example": {"a, b": [value, 1, 1e5, None, True]}}})
    override = parse(written).entries["POST /pets"]
    assert override.description == value
    assert override.example == {"a, b": [value, 1, 1e5, None, True]}
    assert "\u202e" not in written


KEYS = [f"{method} /{path}" for method in ("GET", "POST", "DELETE") for path in ("pets", "pets/{petId}", "a:b", "x#y")]
VALUES = {
    "name": st.sampled_from(["take_pet", "see_pet"]),
    "danger": st.sampled_from(["safe", "destructive"]),
    "hidden": st.booleans(),
    "description": st.text("ab #:'\"{},\n", max_size=9).map(lambda text: f"x{text}y"),
    "example": st.dictionaries(st.sampled_from(["a", "b c"]), st.integers() | st.text("a,: ", max_size=4), max_size=2),
    "parameters": st.dictionaries(
        st.sampled_from(["petId", "body:note", "X-Id"]),
        st.sampled_from([{"hidden": True}, {"name": "it"}]),
        min_size=1,
        max_size=2,
    ),
}


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    """Draw overrides of a few operations, none of them empty."""
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=5))
    fields = st.lists(st.sampled_from(sorted(VALUES)), unique=True, min_size=1, max_size=4)
    return {key: {field: draw(VALUES[field]) for field in draw(fields)} for key in keys}


@st.composite
def laid_out(draw: st.DrawFn, entries: dict[str, Any]) -> str:
    """Write overrides the way people do: as blocks or on a line, with comments and empty lines anywhere."""
    end = draw(st.sampled_from(["\n", "\r\n"]))
    lines = ["# mine: {all} of it"] if draw(st.booleans()) else []
    for key, entry in json.loads(json.dumps(entries)).items():  # so that nothing occurs twice and is anchored
        if draw(st.booleans()):
            lines.append(yaml.safe_dump({key: entry}, default_flow_style=True, width=10**6).strip()[1:-1])
            lines[-1] += draw(st.sampled_from(["", "  # 'why'"]))
        else:
            step = draw(st.sampled_from([2, 3]))
            lines += yaml.safe_dump({key: entry}, indent=step, width=10**6, sort_keys=False).rstrip("\n").split("\n")
        lines += draw(st.sampled_from([[], [""], ["# next"], ["", "  # a: b", ""]]))
    return end.join(lines) + draw(st.sampled_from(["", end]))


def is_within(text: str, longer: str) -> bool:
    """Return True if a text is what remains of a longer one without some of its parts."""
    rest = iter(longer)
    return all(character in rest for character in text)


def together(overrides: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {key: {**overrides.get(key, {}), **other.get(key, {})} for key in {**overrides, **other}}


@settings(max_examples=examples(300), deadline=None)
@given(st.data(), entries(), entries())
def test_any_overrides_can_be_added_to_any_file_of_overrides(
    data: st.DataObject, before: dict[str, Any], added: dict[str, Any]
) -> None:
    text = data.draw(laid_out(before))
    new = insert(text, added)
    assert yaml.safe_load(new) == (together(before, added) or None)
    fresh = {
        key: {field: value for field, value in entry.items() if field not in before.get(key, {})}
        for key, entry in added.items()
    }
    if fresh == added:
        assert is_within(text, new)
    assert insert(new, added) == new


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
