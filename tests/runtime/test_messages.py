"""No message of ours looks like a leak of the implementation (R-ENV-4)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

RUNTIME = Path(__file__).parents[2] / "aqlgen/runtime"
LEAKS = re.compile(
    r"type ?error|reference ?error|syntax ?error|key ?error|value ?error|exception|traceback|\bNone\b|\bdict\b"
    r"|at\s+\S+|/src/|/node_modules/|\.[tj]s:\d|\.py\b|0x[0-9a-f]{4}|<[a-z_.]+ object",
    re.IGNORECASE,
)
RAISES = {"Failure", "Refuse"}


def templates() -> list[tuple[str, str]]:
    """Every text in a function that makes a Failure, docstrings left out; a hole in it shows as X."""
    found = []
    for path in sorted(RUNTIME.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            calls = [one for one in ast.walk(function) if isinstance(one, ast.Call)]
            if not any(isinstance(one.func, ast.Name) and one.func.id in RAISES for one in calls):
                continue
            texts: list[ast.AST] = [one for one in ast.walk(function) if isinstance(one, ast.JoinedStr)]
            inner = {id(part) for text in texts for part in ast.walk(text) if part is not text}
            texts = [one for one in texts if id(one) not in inner]
            docstring = ast.get_docstring(function, clean=False)
            for one in ast.walk(function):
                if isinstance(one, ast.Constant) and one.value != docstring and id(one) not in inner:
                    texts += [one] if isinstance(one.value, str) else []
            for text in texts:
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                said = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in parts)
                if " " in said:
                    found.append((f"{path.name}:{function.name}", said))
    return found


def test_there_are_messages_to_look_at() -> None:
    assert len(templates()) > 20


@pytest.mark.parametrize(("where", "said"), templates())
def test_no_message_looks_like_a_leak(where: str, said: str) -> None:
    """R-ENV-4"""
    assert not LEAKS.search(said), where
