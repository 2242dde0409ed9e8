"""Problems in the schemas that operations use; their pointers are only computed for a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.document.positions import escape, nodes, pointer_to
from aqlgen.ir import Json


@dataclass(frozen=True, slots=True)
class Finding:
    """A keyword of a schema of the document that cannot be used as written."""

    code: str
    node: Mapping[str, Json]
    key: str
    message: str
    severity: Severity


class Findings:
    """A collection of findings, one for each keyword and code."""

    def __init__(self) -> None:
        self._findings: dict[tuple[int, str, str], Finding] = {}

    def add(
        self, code: str, node: Mapping[str, Json], key: str, message: str, severity: Severity = Severity.WARNING
    ) -> None:
        """Add the finding that `key` of a schema (the object in the document itself) cannot be used."""
        self._findings.setdefault((id(node), key, code), Finding(code, node, key, message, severity))

    def diagnostics(self, root: Json) -> list[Diagnostic]:
        """Return the findings as diagnostics with pointers; the document is only walked if there are any."""
        if not self._findings:
            return []
        pointers = _pointers(root, {key[0] for key in self._findings})
        return [
            Diagnostic(finding.code, finding.severity, finding.message, pointer=f"{pointer}/{escape(finding.key)}")
            for finding in self._findings.values()
            if (pointer := pointers.get(id(finding.node))) is not None
        ]


def _pointers(root: Json, wanted: set[int]) -> dict[int, str]:
    """Return the first pointer to each of the objects that the document contains."""
    pointers: dict[int, str] = {}
    for node, at in nodes(root):
        if id(node) in wanted:
            pointers[id(node)] = pointer_to(at)
            if len(pointers) == len(wanted):
                break
    return pointers
