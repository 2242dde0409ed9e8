"""Code and docs read as plain technical English: docstrings in the imperative, variables that are nouns."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("aqlgen", "bench", "templates/project", "tests")

BEGINNINGS = re.compile(r"(Gives?|Whether|What|How|Which|Who|Says?|Tells?|Told)\b")
"""First words of a function's docstring that are no imperative; ruff's D401 knows verbs alone."""

NAMELESS = {"one", "found", "told", "own", "given", "said", "wrong", "every", "those", "made"}
"""Words that say nothing of a value: a variable is called after what it holds."""

SUSPECT = re.compile(
    rf'"""\s*{BEGINNINGS.pattern}|\b(?:{"|".join(sorted(NAMELESS))})\s*(?:[=,:)\]]|[-+*/|&^%@<>]+=|in\b)'
)
"""What stands in every file that breaks a rule, and in some others: only these are parsed."""


@dataclass(frozen=True)
class Module:
    """The docstrings of a module's functions but tests, and the names that it binds, each with its line.

    What is bound are variables, parameters and targets of loops.
    """

    docstrings: tuple[tuple[str, int], ...]
    bound: tuple[tuple[str, int], ...]


def nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield what `ast.walk` does, in half of its time: the nodes of all files are two million."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for value in vars(node).values():
            if isinstance(value, list):
                waiting += [item for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                waiting.append(value)


@cache
def read(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    docstrings, bound = [], []
    for node in nodes(ast.parse(text)) if SUSPECT.search(text) else ():
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("test_"):
            docstrings.append((ast.get_docstring(node) or "", node.lineno))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.append((node.id, node.lineno))
        elif isinstance(node, ast.arg):
            bound.append((node.arg, node.lineno))
    return Module(tuple(docstrings), tuple(bound))


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_docstring_of_a_function_is_in_the_imperative(folder: str) -> None:
    wrong_beginnings = [
        f"{path.relative_to(ROOT)}:{line} {text.splitlines()[0]}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for text, line in read(path).docstrings
        if BEGINNINGS.match(text)
    ]
    assert wrong_beginnings == []


def test_a_module_that_a_text_names_by_its_package_exists() -> None:
    sources = list((ROOT / "aqlgen").rglob("*.py"))
    packages = {each.parent.name: each.parent for each in sources}
    names = {f"{each.parent.name}/{each.stem}" for each in (*sources, *packages.values())}
    named = {match for each in sources for match in re.findall(r"`((\w+)/\w+)`", each.read_text(encoding="utf-8"))}
    assert {name for name, package in named if package in packages} <= names


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_variable_is_called_after_what_it_holds(folder: str) -> None:
    nameless = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name, line in read(path).bound
        if name in NAMELESS
    ]
    assert nameless == []


FOREIGN = re.compile(
    r"\b(?:in vain|takes? off|all the same|but for|for ever|anew|(?:is|are) no texts?|what destroys"
    r"|what is (?:kept|away)|is told of|are told of|of itself)\b",
    re.IGNORECASE,
)
"""Turns of phrase that readers of the docs stumbled over."""
PROSE = [
    ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "contributing").glob("*.md")),
    *sorted((ROOT / "docs").glob("*.md")),
]  # fmt: skip


def test_no_comment_or_message_of_the_code_has_such_a_turn_of_phrase() -> None:
    lines = (
        (f"{path.relative_to(ROOT)}:{number}", line)
        for folder in ("aqlgen", "bench")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    )
    assert [place for place, line in lines if FOREIGN.search(line)] == []


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_a_page_has_no_long_sentence_and_no_turn_of_phrase_that_readers_stumbled_over(page: Path) -> None:
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "CODE", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert FOREIGN.findall(prose) == []
    prose = re.sub(r"^[|#!].*|\]\([^)]*\)", "", prose, flags=re.MULTILINE)
    sentences = re.split(r"(?<=[.:;?!])[)*\"]*\s+|\n\n|^ *(?:-|\d+\.) ", prose, flags=re.MULTILINE)
    assert [sentence for sentence in sentences if len(sentence.split()) > 25] == []
