"""`contributing/requirements.md` is complete and true: each requirement has a row, and the tests in it prove it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "contributing/requirements.md"
ID = re.compile(r"\bR-[A-Z]+-[0-9]+\b")
ROW = re.compile(r"^\| (R-[A-Z]+-[0-9]+) \| ([MSB]) \| (.+?) \| (.+) \|$", re.MULTILINE)
TEST = re.compile(r"`([^`]+\.py)::(test_\w+)`")
SUFFIXES = frozenset({".py", ".jinja", ".json", ".md", ".toml", ".yaml", ".yml"})

ROWS = ROW.findall(PAGE.read_text(encoding="utf-8"))


@cache
def proofs_in(path: Path) -> dict[str, str]:
    """Return the tests of a file by name, each with its docstring and that of its module."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    about = ast.get_docstring(module) or ""
    functions = (node for node in module.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return {node.name: f"{about}\n{ast.get_docstring(node) or ''}" for node in functions}


def homes(name: str) -> str:
    """Return where a test of this name is, as a hint for a row whose test has moved."""
    tests = [*ROOT.glob("tests/**/test_*.py"), *ROOT.glob("aqlgen/runtime/testing/test_*.py")]
    modules = sorted(path.relative_to(ROOT).as_posix() for path in tests if name in proofs_in(path))
    return f"it is in {' and '.join(modules)}" if modules else "no test has that name"


def used_ids() -> set[str]:
    """Return every id that the code, the templates and the tests mention."""
    files = (path for folder in ("aqlgen", "templates", "tests") for path in (ROOT / folder).rglob("*"))
    return {
        identifier
        for path in files
        if path.suffix in SUFFIXES and path.is_file()
        for identifier in ID.findall(path.read_text(encoding="utf-8", errors="replace"))
    }


def test_every_row_can_be_read_and_every_id_has_one_row() -> None:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| R-")]
    ids = [row[0] for row in ROWS]
    assert len(ids) == len(lines)
    assert len(set(ids)) == len(ids)


def test_every_id_that_is_mentioned_has_a_row() -> None:
    assert used_ids() - {row[0] for row in ROWS} == set()


@pytest.mark.parametrize(("requirement", "proof"), [(row[0], row[3]) for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_row_names_tests_that_name_it_or_says_not_yet(requirement: str, proof: str) -> None:
    named = TEST.findall(proof)
    assert named or "Not yet: " in proof
    assert len(named) == proof.count("::"), "a test is written as `path.py::test_name`"
    for path, name in named:
        tests = proofs_in(ROOT / path) if (ROOT / path).is_file() else {}
        assert name in tests, f"{path} has no {name}; {homes(name)}"
        assert requirement in ID.findall(tests[name]), f"the docstring of {path}::{name} does not name {requirement}"
