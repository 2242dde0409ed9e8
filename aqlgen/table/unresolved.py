"""References of schemas that lead nowhere, each told once, where it first stands."""

from __future__ import annotations

from collections.abc import Mapping

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import nodes
from aqlgen.document.resolve import UnresolvedError
from aqlgen.ir import Json


def unresolved(root: Json, broken: Mapping[str, UnresolvedError]) -> list[Diagnostic]:
    """Return a warning for each reference; the document is walked once, and only if there are any."""
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
    """Return the pointer of the first occurrence of each reference."""
    places: dict[str, str] = {}
    for node, pointer in nodes(root):
        reference = node.get("$ref") if isinstance(node, dict) else None
        if isinstance(reference, str) and reference in wanted:
            places.setdefault(reference, f"{pointer}/$ref")
            if len(places) == len(wanted):
                break
    return places
