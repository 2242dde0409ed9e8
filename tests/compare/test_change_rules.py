"""The table of rules is complete: every rule that is used is in it, and nothing else is."""

from __future__ import annotations

import ast
from pathlib import Path

import aqlgen.compare
from aqlgen.compare.rules import ORDER, RULES

MODULES = [
    ast.parse(path.read_text(encoding="utf-8"))
    for path in Path(aqlgen.compare.__file__).parent.glob("*.py")
    if path.name != "rules.py"
]


def used() -> set[str]:
    """Return the texts that are the first argument of `Difference` or `add`, also one of two."""
    rules: set[str] = set()
    for node in (node for tree in MODULES for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in ("Difference", "add"):
            choices = [node.args[0]]
            if isinstance(choices[0], ast.IfExp):
                choices = [choices[0].body, choices[0].orelse]
            rules |= {choice.value for choice in choices if isinstance(choice, ast.Constant)}
    return rules


def test_every_rule_that_is_used_is_in_the_table() -> None:
    assert used() - RULES.keys() == set()


def test_every_rule_of_the_table_can_be_used() -> None:
    texts = {
        node.value
        for tree in MODULES
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert RULES.keys() - texts == set()


def test_every_rule_has_a_title_and_words() -> None:
    for name, rule in RULES.items():
        assert rule.title, name
        assert rule.wording or rule.on_input or rule.on_output, name
        assert ORDER[name] >= 0
