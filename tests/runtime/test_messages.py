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
    """Return the texts in functions that build a Failure, without docstrings, with an X for each value filled in."""
    messages = []
    for path in sorted(RUNTIME.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
            if not any(isinstance(call.func, ast.Name) and call.func.id in RAISES for call in calls):
                continue
            texts: list[ast.AST] = [node for node in ast.walk(function) if isinstance(node, ast.JoinedStr)]
            inner = {id(part) for text in texts for part in ast.walk(text) if part is not text}
            texts = [text for text in texts if id(text) not in inner]
            docstring = ast.get_docstring(function, clean=False)
            for node in ast.walk(function):
                if isinstance(node, ast.Constant) and node.value != docstring and id(node) not in inner:
                    texts += [node] if isinstance(node.value, str) else []
            for text in texts:
                parts = text.values if isinstance(text, ast.JoinedStr) else [text]
                message = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in parts)
                if " " in message:
                    messages.append((f"{path.name}:{function.name}", message))
    return messages


def test_there_are_messages_to_look_at() -> None:
    assert len(templates()) > 20


@pytest.mark.parametrize(("where", "message"), templates())
def test_no_message_looks_like_a_leak(where: str, message: str) -> None:
    """R-ENV-4"""
    assert not LEAKS.search(message), where
