"""`aqlgen explain`: every decision with its reason, before anything is generated (R-NAME-4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from aqlgen.decisions import Category, Danger, Decision, Trait
from aqlgen.ir import Json
from aqlgen.pipeline import Options, Prepared, Progress, prepare
from aqlgen.project.write import write_file


@dataclass(frozen=True, slots=True)
class Only:
    """Which decisions are shown; nothing given shows all. It changes none of them."""

    review: bool = False
    categories: tuple[Category, ...] = ()
    dangers: tuple[Danger, ...] = ()

    def admits(self, decision: Decision) -> bool:
        """Whether the decision is shown."""
        return (
            (not self.review or bool(decision.review_reasons))
            and (not self.categories or decision.category in self.categories)
            and (not self.dangers or decision.danger in self.dangers)
        )


_ALL = Only()


def explain(options: Options, progress: Progress, html: Path | None = None, only: Only = _ALL) -> Prepared:
    """Decide everything about a document and write nothing but the page, if one is asked for. Raises AqlgenError.

    The decisions of what is given back are those that `only` admits; its table has the rows of all. So has the page,
    which has filters of its own, and counts what the whole API costs.
    """
    prepared = prepare(options, progress)
    if html is not None:
        from aqlgen.page import report

        progress("writing the page")
        write_file(report(prepared).encode(), html)
    return replace(prepared, decisions=tuple(one for one in prepared.decisions if only.admits(one)))


def counts(prepared: Prepared) -> dict[str, Json]:
    """Count the decisions that are shown, by category, danger and need of review, beside what there is in all."""
    shown = prepared.decisions
    categories, dangers = Counter(one.category for one in shown), Counter(one.danger for one in shown)
    return {
        "shown": len(shown),
        "operations": len(prepared.table.rows),
        "skipped": len(prepared.skipped),
        "categories": {one.family: categories[one] for one in Category if categories[one]},
        "dangers": {one.value: dangers[one] for one in Danger if dangers[one]},
        "review": sum(bool(one.review_reasons) for one in shown),
    }


def as_json(prepared: Prepared, diagnostics: list[Json]) -> dict[str, Json]:
    """Give the JSON form of the decisions."""
    parameters = {row.name: [one.name for one in row.parameters] for row in prepared.table.rows}
    return {
        "operations": [_operation(one, parameters[one.name]) for one in prepared.decisions],
        "skipped": [one.as_json() for one in prepared.skipped],
        "diagnostics": diagnostics,
    }


def _operation(decision: Decision, parameters: list[str]) -> dict[str, Json]:
    operation = decision.operation
    return {
        "method": operation.method.upper(),
        "path": operation.path,
        "operation_id": operation.operation_id,
        "name": decision.name,
        "category": decision.category.value,
        "resource": decision.resource,
        "verb": decision.verb,
        "danger": decision.danger.value,
        "rule": decision.category_reason.rule,
        "confidence": round(decision.confidence, 2),
        "category_confidence": round(decision.category_reason.confidence, 2),
        "name_rule": decision.name_reason.rule,
        "name_confidence": round(decision.name_reason.confidence, 2),
        "danger_rule": decision.danger_reason.rule,
        "needs_review": bool(decision.review_reasons),
        "review_reasons": list(decision.review_reasons),
        "parameters": parameters,
        "traits": [_trait(one) for one in decision.traits],
    }


def _trait(trait: Trait) -> dict[str, Json]:
    reason = trait.reason
    return {
        "kind": trait.kind,
        "value": dict(trait.value),
        "rule": reason.rule,
        "evidence": reason.evidence.value,
        "confidence": round(reason.confidence, 2),
        "note": reason.note,
    }
