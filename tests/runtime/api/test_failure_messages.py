"""Messages are bounded, free of secrets, and unlike a leak."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from aqlgen.runtime import text as messages
from aqlgen.runtime.redaction import redact
from aqlgen.runtime.text import bounded, leaks, listed, shown


def test_secrets_are_replaced_the_longest_first_and_trifles_left() -> None:
    assert redact("key abcdef and abcd and a", {"abcd", "abcdef", "a"}) == "key *** and *** and a"


def test_a_foreign_text_is_one_short_line_without_its_trace() -> None:
    assert bounded("one\n two\n   at run (x.js:1)") == "one two"
    assert bounded("oops\nTraceback (most recent call last):\n x") == "oops"
    assert len(bounded("x" * 900)) == 500


def test_what_the_protocol_takes_for_a_leak_is_known() -> None:
    """R-ENV-4."""
    for text in ("at least 1", "Format date", "TypeError", "/src/a", "a.js:3"):
        assert leaks(text)
    assert not leaks("minimum 1, 'format' and so on")


def test_values_are_shown_as_people_write_them() -> None:
    assert shown("a") == "'a'"
    assert shown(True) == "true"
    assert listed(range(3), 2) == "0, 1 and 1 more"


def sentences(module: ast.Module) -> Iterator[str]:
    """Yield the texts in a module's code, without docstrings, with an x for each value that is filled in."""
    docstrings = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    for node in ast.walk(module):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_no_sentence_of_a_failure_reads_like_a_leak() -> None:
    """R-ENV-4: every template against the protocol's own patterns."""
    modules = {path.as_posix(): path.read_text() for path in Path(messages.__file__).parent.rglob("*.py")}
    leaking = [
        (name, text)
        for name, source in sorted(modules.items())
        if re.search(r"\b(?:Failure|Problem)\(", source) or name.endswith("/problems.py")
        for text in sentences(ast.parse(source))
        if " " in text and leaks(text)
    ]
    assert len(modules) > 20
    assert leaking == []
