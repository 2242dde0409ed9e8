"""No message of ours looks like a leak of the implementation (R-ENV-4)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

RUNTIME = Path(__file__).parents[2] / "aqlgen/runtime"
LEAKS = re.compile(
    r"type ?error|reference ?error|syntax ?error|key ?error|value ?error|exception|traceback|\bNone\b|\bdict\b"
    r"|at\s+\S+|/src/|/node_modules/|\.[tj]s:\d|\.py\b|0x[0-9a-f]{4}|<[a-z_.]+ object",
    re.IGNORECASE,
)
RAISES = {"Failure", "Refuse", "invalid", "permission_denied", "refused"}


def templates() -> list[tuple[str, str]]:
    """Return the texts in functions that build a Failure, without docstrings, with an X for each value filled in."""
    messages = []
    for path in sorted(RUNTIME.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for function in ast.walk(ast.parse(text)) if any(f"{name}(" in text for name in RAISES) else ():
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


def test_no_message_looks_like_a_leak() -> None:
    """R-ENV-4"""
    messages = templates()
    assert len(messages) > 200
    assert [(where, message) for where, message in messages if LEAKS.search(message)] == []
