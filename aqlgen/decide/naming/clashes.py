"""Names that stand in the way of one another: a name that an override takes away, and the operationId of another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from aqlgen.decide.decision import Category, Decision
from aqlgen.decide.overrides.model import finding
from aqlgen.diagnostics import Diagnostic, Severity
from aqlgen.ir import Operation

__all__ = ["misnamed", "takeovers"]

_MISNAMED: Final = "operation-id-of-another"


def takeovers(decisions: Iterable[Decision], file: str) -> list[Diagnostic]:
    """Find the overrides that give an operation the name of another that is served."""
    decisions = list(decisions)
    owners = {decision.name: decision.override for decision in decisions}
    findings = []
    for decision in decisions:
        if decision.lost_name in owners:
            override = owners[decision.lost_name]
            message = f"the name `{decision.lost_name}` is that of {decision.operation.key}"
            way_out = "Choose another, or give that operation another `name`, too."
            findings.append(finding(file, override.places.get("name", override.place), message, way_out))
    return findings


def misnamed(decisions: Iterable[Decision], operations: Iterable[Operation]) -> list[Diagnostic]:
    """Find the names and aliases that are the operationId of another operation; a READ that is called does no harm."""
    by_id: defaultdict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        by_id[operation.id_as_name].append(operation)
    findings = []
    for decision in decisions:
        key = decision.operation.key
        for name in (decision.name, *(alias.name for alias in decision.override.aliases)):
            others = by_id.get(name, ())
            if others and name != decision.operation.id_as_name:
                severity = Severity.NOTE if decision.category is Category.READ else Severity.WARNING
                message = f"{name!r} is the operationId of {others[0].key}, and calls {key}"
                pointer = f"{others[0].origin.pointer}/operationId"
                findings.append(Diagnostic(_MISNAMED, severity, message, pointer=pointer, help=f"Rename {key}."))
    return findings
