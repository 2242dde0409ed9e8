"""Policies of the safety server: what they may hold, and what is said of a wrong one (R-LOOP-3)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from aqlgen.runtime.settings.load import load
from aqlgen.safety.server import FOLDER, check_policy
from tests.generator.commands import run

TOML = """
log_level = "error"
[safety_loop]
mode = "monitoring"
deny = ["drop_*", "echo a; rm*"]
requires_approval = ["git push*"]
auto_approve = ["read_*"]
max_autonomous_steps = 20
risk_tolerance = "conservative"
[state]
url = "memory:"
[audit]
path = "off"
[http]
stateless = true
"""


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path) -> Iterator[None]:
    with patch.dict(os.environ, {"XDG_STATE_HOME": str(tmp_path / "state")}):
        yield


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["policy.toml", "policy"])
def test_a_policy_says_how_steps_are_evaluated(name: str, tmp_path: Path) -> None:
    """R-LOOP-3: a semicolon divides nothing in a file."""
    path = written(tmp_path, name, TOML)
    assert {"safety_loop.deny", "safety_loop.mode"} <= check_policy(path)
    config = load(FOLDER, {"MCP_AQL_CONFIG": str(path)})
    assert config.loop.deny == ("drop_*", "echo a; rm*")
    assert (config.requires_approval, config.auto_approve) == (("git push*",), ("read_*",))
    assert (config.max_autonomous_steps, config.loop.risk_tolerance) == (20, "conservative")
    assert config.safety_loop == "monitoring"


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("[safety_loop]\n  den = []", "2:3", "Did you mean 'safety_loop.deny'?"),
        ("safety_loop.den = []", "1:1", "Did you mean 'safety_loop.deny'?"),
        ("# deny\n[safety_loop]\nmode = 'enforced'", "3:1", "must be 'enforcing', 'monitoring'"),
        ("[http]\n\ntoken = 'x'", "3:1", "MCP_AQL_HTTP_TOKEN"),
        ("[policy]\nname = 'strict'", "2:1", "a safety server has none"),
        ("base_url = 'https://a.example'", "1:1", "a safety server has none"),
        ("[confirmation]\napproval = 'person'", "2:1", "a safety server has none"),
        ("[safety_loop]\ndeny = [", "", "is not valid TOML"),
        ("deny = 'a'\ndeny 2", "2:6", "is not valid TOML"),
        ("colour = 1", "1:1", "A policy has"),
        (f"safety_loop.max_autonomous_steps = {'9' * 5000}", "", "is not valid TOML"),
        ("safety_loop.max_autonomous_steps = inf", "1:1", "must be a whole number"),
        (f"deny = {'[' * 100_000}", "", "is not valid TOML"),
    ],
)
def test_a_wrong_policy_starts_nothing(text: str, place: str, sentence: str, tmp_path: Path) -> None:
    """Exit code 3, with the place and what to do, of `operator` and `audit` as well."""
    path = written(tmp_path, "p.toml", text)
    done = run("safety", "--policy", path, "audit", "verify")
    assert done.code == 3, done.out
    assert sentence in done.err
    assert f"{path}:{place}" in done.err if place else str(path) in done.err
    assert "Traceback" not in done.err


def test_all_that_is_wrong_is_said_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "p.toml", "[safety_loop]\nmode = 1\ndeny = 1\n[http]\nauth = 'x'\n")
    done: Any = run("safety", "--policy", path)
    assert [text for text in done.err.splitlines() if "[bad-policy]" in text] == [
        next(text for text in done.err.splitlines() if f":{line}:1:" in text) for line in (2, 3, 5)
    ]


@pytest.mark.parametrize(("content", "code"), [(None, 4), (b"\xff\xfe", 3), (b"#" * (1 << 20) + b"\n", 3)])
def test_a_file_that_cannot_be_read_starts_nothing(content: bytes | None, code: int, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    if content is not None:
        path.write_bytes(content)
    done = run("safety", "--policy", path)
    assert (done.code, "Traceback" in done.err) == (code, False)


def test_a_pipe_that_can_be_read_once_is_no_policy(tmp_path: Path) -> None:
    """What is read the second time would be an empty policy."""
    os.mkfifo(tmp_path / "p.toml")
    done = run("safety", "--policy", tmp_path / "p.toml")
    assert (done.code, "is not a file" in done.err) == (4, True)


def test_the_environment_comes_before_the_policy_and_the_mode_is_enforcing_unless_one_says_so(tmp_path: Path) -> None:
    for text, mode, expected in (("", "", "enforcing"), ("safety_loop.mode = 'logging'", "", "logging"),
                                 ("safety_loop.mode = 'logging'", "monitoring", "monitoring")):  # fmt: skip
        os.environ.pop("MCP_AQL_CONFIG", None)
        os.environ["MCP_AQL_SAFETY_LOOP"] = mode
        path = written(tmp_path, "p.toml", text)
        assert "only on a terminal" in run("safety", "--policy", path, "operator").err
        assert load(FOLDER, os.environ).safety_loop == expected
