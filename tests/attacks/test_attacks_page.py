"""docs/attacks.md and this folder belong together: every row names a test that exists, every module has a row."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "attacks.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^\| attack \| defence \| test \|\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
ROWS = "".join(TABLES).splitlines()
NAMED = re.compile(r"`((?:tests/[\w/]+/)?test_\w+\.py)(?:::(\w+))?`")
TEST = re.compile(r"\bdef (\w+)\b")


def named(text: str) -> list[tuple[str, str]]:
    """Return the modules that a text names, each with its test; a module without a folder is in this one."""
    return [(path if "/" in path else f"tests/attacks/{path}", name) for path, name in NAMED.findall(text)]


def test_a_row_names_a_test_that_exists() -> None:
    tests = {path: set(TEST.findall((ROOT / path).read_text(encoding="utf-8"))) for path, _ in named(PAGE)}
    assert [f"{path} has no {name}" for path, name in named(PAGE) if name and name not in tests[path]] == []


def test_every_module_of_attacks_has_a_row() -> None:
    modules = {f"tests/attacks/{path.name}" for path in Path(__file__).parent.glob("test_*.py")}
    assert modules - {path for path, _ in named("\n".join(ROWS))} == {"tests/attacks/test_attacks_page.py"}


def test_every_row_names_a_test() -> None:
    assert len(TABLES) == 13
    assert [row for row in ROWS if not named(row)] == []
