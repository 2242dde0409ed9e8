"""The code reads as plain technical English: docstrings in the imperative, variables that are nouns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("aqlgen", "bench", "templates/project", "tests")

BEGINNINGS = re.compile(r"(Gives?|Whether|What|How|Which|Who|Says?|Tells?|Told)\b")
"""First words of a function's docstring that are no imperative; ruff's D401 knows verbs alone."""

NAMELESS = {"one", "found", "told", "own", "given", "said", "wrong", "every", "those", "made"}
"""Words that say nothing of a value: a variable is called after what it holds."""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node


def bound(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield the names that a module binds, with their lines: variables, parameters and targets of loops."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_docstring_of_a_function_is_in_the_imperative(folder: str) -> None:
    wrong_beginnings = [
        f"{path.relative_to(ROOT)}:{function.lineno} {text.splitlines()[0]}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for function in functions(ast.parse(path.read_text(encoding="utf-8")))
        if (text := ast.get_docstring(function)) and BEGINNINGS.match(text) and not function.name.startswith("test_")
    ]
    assert wrong_beginnings == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_variable_is_called_after_what_it_holds(folder: str) -> None:
    nameless = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name, line in bound(ast.parse(path.read_text(encoding="utf-8")))
        if name in NAMELESS
    ]
    assert nameless == []
