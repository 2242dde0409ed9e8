"""The catalogue of diagnostics is complete: what the code can say is explained, and nothing else is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import aqlgen
from aqlgen.compare.rules import RULES as CHANGES
from aqlgen.diagnostics.catalogue import CATALOGUE, page

PACKAGE = Path(aqlgen.__file__).parent


@cache
def modules() -> dict[str, tuple[ast.AST, ...]]:
    """Return the nodes of the generator's modules; an adapter has codes of its own, those of the protocol."""
    return {
        path.relative_to(PACKAGE).as_posix(): tuple(ast.walk(ast.parse(path.read_text("utf-8"))))
        for path in sorted(PACKAGE.rglob("*.py"))
        if not {"templates", "runtime"} & {*path.relative_to(PACKAGE).parts} and not path.name.startswith("catalogue")
    }


def codes_passed() -> Iterator[tuple[str, str]]:
    """Yield each literal code passed to Diagnostic, an error's `of`, or a function here with a parameter `code`."""
    takers = {"Diagnostic": 0, "of": 0}
    for nodes in modules().values():
        for node in nodes:
            if isinstance(node, ast.FunctionDef):
                names = [argument.arg for argument in node.args.args if argument.arg not in ("self", "cls")]
                if "code" in names:
                    takers[node.name] = names.index("code")
    for module, nodes in modules().items():
        for node in nodes:
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            arguments = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
            if called in takers:
                arguments += node.args[takers[called] : takers[called] + 1]
            for argument in arguments:
                for constant in ast.walk(argument):
                    if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                        yield constant.value, f"{module}:{constant.lineno}"


def test_every_code_in_the_code_is_in_the_catalogue():
    known = CATALOGUE.keys() | CHANGES.keys()
    missing = {code: place for code, place in codes_passed() if code not in known and re.fullmatch(r"[a-z0-9-]+", code)}
    assert missing == {}


def test_every_code_in_the_catalogue_is_used():
    nodes = (node for nodes in modules().values() for node in nodes)
    assert set(CATALOGUE) <= {node.value for node in nodes if isinstance(node, ast.Constant)}


def test_an_entry_says_what_why_and_what_to_do():
    for code, entry in CATALOGUE.items():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)
        assert entry.title[0].isupper(), code
        assert not entry.title.endswith("."), code
        assert entry.cause.endswith("."), code
        assert entry.fix[-1] in '.">l' or entry.fix.endswith("yaml"), code
        assert len({entry.title, entry.cause, entry.fix}) == 3, code


def test_the_page_of_the_documentation_says_what_the_catalogue_says():
    assert (PACKAGE.parent / "docs" / "diagnostics.md").read_text("utf-8") == page()
