"""The decisions of `aqlgen explain`, as text, a line for each operation, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import typer

from aqlgen.decide.decision import STATED, AnyTrait, Category, Danger, Decision
from aqlgen.decide.instructions import reason_of
from aqlgen.decide.review.rows import ReviewRow
from aqlgen.diagnostics.plain import counted
from aqlgen.ir import Json
from aqlgen.pipeline import Prepared
from aqlgen.runtime.auth import demand_of, sent_as
from aqlgen.runtime.table import Workflow, encode
from aqlgen.runtime.text import visible
from aqlgen.table.access import refusal_lines, table_credentials, table_hosts, table_usage, use_lines

_HEADINGS: Final = ("operation", "category", "danger", "conf", "why", "was")
_LONGEST_NAME: Final = 40
"""A longer name pushes the rest of its line to the right, instead of the others' all."""

_PLAIN: Final = frozenset({"category", "method", "override", STATED})
"""Rules of a danger that need no words beside the others."""


def print_decisions(prepared: Prepared, review: Sequence[ReviewRow] = ()) -> None:
    """Print the decisions, a line each, and their counts; those of `review` by its rows instead."""
    repeated = {decision.name for row in review if _is_repeated(row) for decision in row.decisions}
    repeated -= {decision.name for row in review if not _is_repeated(row) for decision in row.decisions}
    lines = [*_document_texts(prepared), *map(_repeated, filter(_is_repeated, review))]
    lines += _table([item for item in prepared.decisions if item.name not in repeated])
    lines += [*_access(prepared), "", _totals(_counts(prepared, review))]
    typer.echo("\n".join(lines).lstrip("\n"))


def _access(prepared: Prepared) -> Iterator[str]:
    """Yield the workflows, the hosts and the credentials."""
    if prepared.table.workflows:
        yield from ("", "Workflows:", *map(_workflow, prepared.table.workflows))
    uses = table_hosts(prepared.table)
    if uses:
        yield from ("", "Hosts:", *use_lines(uses), *refusal_lines(uses))
    if prepared.table.adapter.security_schemes:
        yield from ("", *_credentials(prepared))


def _workflow(workflow: Workflow) -> str:
    steps = ", ".join(step["operation"] for step in workflow.steps)
    return f"  {workflow.name}  {workflow.family.upper()}  {workflow.danger} ({workflow.danger_reason})  {steps}"


def _credentials(prepared: Prepared) -> Iterator[str]:
    """Yield how many operations need a credential, and of each scheme its variables, its place and its operations."""
    usage = table_usage(prepared.table)
    yield f"Credentials, {demand_of(usage.demanding, usage.operations)}:"
    schemes = prepared.table.adapter.security_schemes
    total = counted(len(prepared.table.rows), "operation")
    for entry in table_credentials(prepared.table):
        source = ", ".join(entry["variables"]) or entry["name"]
        place = visible(sent_as(schemes[entry["name"]]))
        yield f"  {visible(source)}  {place}  {entry['operations']['using']:,} of {total}"


def _document_texts(prepared: Prepared) -> Iterator[str]:
    """Yield the texts outside of operations that read as instructions to a model: every agent reads them."""
    for text in prepared.instructions:
        if not text.pointer.startswith(("/paths/", "/components/")):
            yield f"review {visible(reason_of(text))}"


def _is_repeated(row: ReviewRow) -> bool:
    return not row.section and row.count > 1


def _repeated(row: ReviewRow) -> str:
    """Return the line of a question that the API repeats, with the entry of `accept` that answers it."""
    categories = ", ".join(sorted({decision.category.value for decision in row.decisions}))
    samples = ", ".join(map(visible, row.samples)) + (", …" if row.count > len(row.samples) else "")
    line = f"{counted(row.count, 'operation')}, {categories}: {'; '.join(map(visible, row.reasons))}: {samples}"
    return f"{line}  accept {' '.join(map(visible, row.entries))}"


def _table(shown: Sequence[Decision]) -> Iterator[str]:
    """Yield a line for each decision, below a heading."""
    rows = [_HEADINGS, *map(_cells, shown)] if shown else []
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    wide[:1], wide[-1:] = [min(each, _LONGEST_NAME) for each in wide[:1]], [0 for _ in wide[-1:]]
    for cells, decision in zip(rows, (None, *shown), strict=False):
        line = "  ".join(f"{text:<{width}}" for text, width in zip(cells, wide, strict=True)).rstrip()
        yield "  ".join((line, *(() if decision is None else _notes(decision))))


def _notes(decision: Decision) -> Iterator[str]:
    """Yield the grounds of a decision: the reason of its danger, overrides, observations, doubts."""
    is_reviewed = any(concern.subject == "danger" for concern in decision.concerns)
    if not is_reviewed and decision.danger_reason.rule not in _PLAIN:
        yield f"danger: {visible(decision.danger_reason.note)}"
    if decision.overridden_by:
        entries = decision.overridden_by.items()
        yield "overridden by " + "; ".join(
            f"`{visible(key)}` {', '.join(map(visible, fields))}" for key, fields in entries
        )
    observed = [f"observed: {visible(each.says)}" for each in decision.evidence if each.kind == "observed"]
    yield from filter(None, ("; ".join(observed), "; ".join(visible(each.text) for each in decision.accepted)))
    if decision.review_reasons:
        yield f"to review: {'; '.join(map(visible, decision.review_reasons))}"


def _cells(decision: Decision) -> tuple[str, ...]:
    was = (
        f"{decision.operation.key} / {decision.operation.operation_id}"
        if decision.operation.operation_id
        else decision.operation.key
    )
    danger = decision.danger_reason.rule
    why = decision.category_reason.rule + (f"; danger: {danger}" if danger not in _PLAIN - {"method"} else "")
    return (
        visible(decision.name),
        decision.category.value,
        decision.danger.value,
        f"{decision.confidence:.2f}",
        why,
        visible(was),
    )


def _totals(counts: Mapping[str, Any]) -> str:
    """Return a line with how many there are of each kind."""
    total = counted(counts["operations"], "operation")
    shown = f"{counts['shown']:,} of {total} shown" if counts["shown"] != counts["operations"] else total
    parts = [
        ", ".join(f"{number} {name}" for name, number in counts["categories"].items()),
        ", ".join(f"{number} {name}" for name, number in counts["dangers"].items()),
        f"{counts['review']} to review" + (f" in {counted(counts['rows'], 'row')}" if counts["rows"] else ""),
        f"{counts['skipped']} skipped",
    ]
    return f"{shown}: {'; '.join(part for part in parts if part)}."


def _counts(prepared: Prepared, review: Sequence[ReviewRow]) -> dict[str, Json]:
    """Count the decisions that are shown, by category, danger and need of review, beside what there is in all.

    `review` are the rows, where they are shown.
    """
    shown = prepared.decisions
    categories = Counter(decision.category for decision in shown)
    dangers = Counter(decision.danger for decision in shown)
    return {
        "shown": len(shown),
        "operations": len(prepared.table.rows),
        "skipped": len(prepared.skipped),
        "categories": {item.family: categories[item] for item in Category if categories[item]},
        "dangers": {level.value: dangers[level] for level in Danger if dangers[level]},
        "review": sum(bool(decision.review_reasons) for decision in shown),
        "rows": len(review),
    }


def as_json(prepared: Prepared, review: Sequence[ReviewRow], diagnostics: list[Json]) -> dict[str, Json]:
    """Return the JSON form of the decisions."""
    parameters = {row.name: list(row.row.shown_parameters) for row in prepared.table.rows}
    workflows: list[Json] = [{"name": item.name, **encode(item)} for item in prepared.table.workflows]
    return {
        "operations": [_operation(decision, parameters[decision.name]) for decision in prepared.decisions],
        "review": list(map(_review_row, review)),
        "skipped": [operation.as_json() for operation in prepared.skipped],
        "instructions": [
            {"path": text.pointer, "rules": list(text.instruction.rules), "quote": text.instruction.quote}
            for text in prepared.instructions
        ],
        "diagnostics": diagnostics,
        "hosts": [use.as_json() for use in table_hosts(prepared.table)],
        "credentials": table_credentials(prepared.table),
        **({"workflows": workflows} if workflows else {}),
    }


def _review_row(row: ReviewRow) -> dict[str, Json]:
    return {
        "count": row.count,
        "section": row.section,
        "rules": list(row.rules),
        "reasons": list(row.reasons),
        "samples": list(row.samples),
        "operations": [decision.operation.key for decision in row.decisions],
        "accept": list(row.entries),
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
        "danger_reason": decision.danger_reason.note,
        "effects": [effect.value for effect in decision.effects],
        "asked": decision.asked.value,
        "evidence": [evidence._asdict() for evidence in decision.evidence],
        "moves_money": decision.moves_money,
        "needs_review": bool(decision.review_reasons),
        "review_reasons": list(decision.review_reasons),
        "accepted": [acceptance.text for acceptance in decision.accepted],
        "parameters": parameters,
        "overrides": {key: list(fields) for key, fields in decision.overridden_by.items()},
        "traits": [_trait(trait) for trait in decision.traits],
    }


def _trait(trait: AnyTrait) -> dict[str, Json]:
    reason = trait.reason
    return {
        "kind": trait.kind,
        "value": encode(trait.value),
        "rule": reason.rule,
        "evidence": reason.evidence.value,
        "confidence": round(reason.confidence, 2),
        "note": reason.note,
    }
