"""docs/security.md and this folder belong together: every row names a test that exists, every module has a row."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
TEST = re.compile(r"\bdef (\w+)\b")


def test_a_row_names_a_test_that_exists() -> None:
    tests = {path: set(TEST.findall((ROOT / path).read_text(encoding="utf-8"))) for path, _ in NAMED}
    assert [f"{path} has no {name}" for path, name in NAMED if name and name not in tests[path]] == []


def test_every_module_of_attacks_has_a_row() -> None:
    modules = {f"tests/attacks/{path.name}" for path in Path(__file__).parent.glob("test_*.py")}
    assert modules - {path for path, _ in NAMED} == {"tests/attacks/test_security_page.py"}


def test_every_row_names_a_test() -> None:
    rows = [line for line in PAGE.split("## Attacks and defences")[1].splitlines() if line.startswith("| ")]
    unproved = [row for row in rows if "attack | defence" not in row and "`tests/" not in row]
    assert not unproved
