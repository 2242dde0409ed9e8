"""References of schemas that lead nowhere, each told once, where it first stands."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import Json
from aqlgen.positions import escape
from aqlgen.resolve import UnresolvedError


def unresolved(root: Json, broken: Mapping[str, UnresolvedError]) -> list[Diagnostic]:
    """Give a warning for each reference; the document is walked once, and only when there are any."""
    places = _places(root, set(broken)) if broken else {}
    return [
        Diagnostic(
            "external-reference" if error.external else "unresolved-reference",
            Severity.WARNING,
            f"{error}; what it stands for is taken as any value",
            pointer=places.get(reference, ""),
        )
        for reference, error in broken.items()
    ]


def _places(root: Json, wanted: set[str]) -> dict[str, str]:
    """Find the first place that holds each of the references."""
    found: dict[str, str] = {}
    stack: list[tuple[Json, str]] = [(root, "")]
    seen: set[int] = set()
    while stack and len(found) < len(wanted):
        node, pointer = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, dict):
            reference = node.get("$ref")
            if isinstance(reference, str) and reference in wanted:
                found.setdefault(reference, f"{pointer}/$ref")
        entries = node.items() if isinstance(node, dict) else enumerate(node)
        inner = [(value, f"{pointer}/{escape(str(key))}") for key, value in entries if isinstance(value, dict | list)]
        stack.extend(reversed(inner))
    return found
