"""What is wrong with the schemas that operations use; where it stands is only looked up when it is to be reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import escape, nodes
from aqlgen.ir import Json


@dataclass(frozen=True, slots=True)
class Finding:
    """One keyword of one schema of the document that cannot be used as it stands."""

    code: str
    node: Mapping[str, Json]
    key: str
    message: str


class Findings:
    """Collects findings, each place and code once."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, str, str], Finding] = {}

    def add(self, code: str, node: Mapping[str, Json], key: str, message: str) -> None:
        """Note that `key` of a schema of the document (the very object) cannot be used."""
        self._found.setdefault((id(node), key, code), Finding(code, node, key, message))

    def diagnostics(self, root: Json) -> list[Diagnostic]:
        """Give the findings with their places in the document; the document is only walked when there are any."""
        if not self._found:
            return []
        pointers = _pointers(root, {key[0] for key in self._found})
        return [
            Diagnostic(one.code, Severity.WARNING, one.message, pointer=f"{pointers[id(one.node)]}/{escape(one.key)}")
            for one in self._found.values()
            if id(one.node) in pointers
        ]


def _pointers(root: Json, wanted: set[int]) -> dict[int, str]:
    """Give the first place of each of the objects that is there."""
    found: dict[int, str] = {}
    for node, pointer in nodes(root):
        if id(node) in wanted:
            found[id(node)] = pointer
            if len(found) == len(wanted):
                break
    return found
