"""Every test that a page of docs/ names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NAMED = re.compile(r"`([\w./]+\.py|…)::(test_\w+)`")
FOLDER = re.compile(r"in `(tests/[\w/]+)`")
PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if "::test_" in path.read_text(encoding="utf-8")]


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the names of a file's tests."""
    if not path.is_file():
        return frozenset()
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return frozenset(node.name for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_the_tests_that_a_page_names_exist(page: Path) -> None:
    """Paths are from the root, or from the folder that the page names; `…` is the file named before."""
    text = page.read_text(encoding="utf-8")
    folders = [ROOT, *(ROOT / folder for folder in FOLDER.findall(text))]
    module, missing = "", list[str]()
    for path, name in NAMED.findall(text):
        module = module if path == "…" else path
        if not any(name in names_in(folder / module) for folder in folders):
            missing.append(f"{module}::{name}")
    assert not missing
    assert len(NAMED.findall(text)) == text.count("::test_"), "a test is written as `path.py::test_name`"
