"""What a person sees: progress, the summary of a run, the table of decisions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aqlgen.commands.explain import counts
from aqlgen.commands.from_openapi import Generated
from aqlgen.decisions import Decision
from aqlgen.pipeline import Prepared
from aqlgen.plain import counted
from aqlgen.report import visible
from aqlgen.table.model import FAMILIES
from aqlgen.table.servers import addressed

WORDS = {
    "reading": "Reading the document",
    "building": "Understanding its operations",
    "deciding": "Deciding names and categories",
    "tabulating": "Building the operation table",
    "rendering": "Rendering the project",
    "writing": "Writing the project",
    "looking": "Looking at the project",
    "reading edits": "Turning edits into overrides",
    "merging": "Merging",
    "comparing": "Comparing with what there was",
    "writing the page": "Writing the page",
}

WIDE: Final = 140
"""Columns from which every decision of an operation has a column of its own."""

PIPED: Final = 200


@contextmanager
def progress(*, shown: bool) -> Iterator[Callable[[str], None]]:
    """Show on a terminal which stage is at work; elsewhere nothing."""
    console = Console(stderr=True)
    if not shown or not console.is_terminal:
        yield lambda _stage: None
        return
    with console.status("Starting") as status:
        yield lambda stage: status.update(f"{WORDS[stage]} …")


def summary(generated: Generated) -> str:
    """Say what was made and how to go on."""
    table = generated.prepared.table
    counts = ", ".join(f"{len(table.of(family))} {family}" for family in FAMILIES if table.of(family))
    review = sum(bool(one.review_reasons) for one in generated.prepared.decisions)
    operations, skipped = counted(len(table.rows), "operation"), len(generated.prepared.skipped)
    done = "Generated" if generated.written else "Would generate"
    lines = [
        f"{done} {generated.folder}: {counted(generated.files, 'file')}, {operations} ({counts}).",
        *([f"{counted(skipped, 'operation')} skipped; OPERATIONS.md says why."] if skipped else []),
        *([f"{counted(review, 'decision')} to review: `aqlgen explain`, or OPERATIONS.md."] if review else []),
    ]
    if not addressed(table):
        lines.append("The document does not say where the API is: set MCP_AQL_BASE_URL, or base_url in adapter.toml.")
    if generated.written:
        package = generated.prepared.identity.package
        lines.append(f"Try it: cd {generated.folder} && pip install . && python -m {package} --mock operations")
    return "\n".join(lines)


def reported(prepared: Prepared, file: Path) -> str:
    """Say what page was written and what it holds."""
    rows = prepared.table.rows
    review = sum(bool(one.decision.review_reasons) for one in rows)
    counts = f"{counted(len(rows), 'operation')}, {review} to review, {len(prepared.skipped)} skipped"
    return f"Wrote {file}: {counts}. Open it in a browser."


def decisions(prepared: Prepared) -> None:
    """Print the decisions as a table that fits the terminal, and what they come to."""
    console = Console(width=None if sys.stdout.isatty() else PIPED, highlight=False)
    if prepared.decisions:
        console.print(_wide(prepared) if console.width >= WIDE else _narrow(prepared), soft_wrap=False)
    console.print(f"{_counted(counts(prepared))}", style=None, markup=False)


def _wide(prepared: Prepared) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("operation", "was", "category", "why", "confidence", "danger", "review"):
        whole = heading in ("category", "confidence", "danger")
        table.add_column(heading, no_wrap=whole, overflow="fold")
    for one in prepared.decisions:
        was = f"{one.operation.key} / {one.operation.operation_id}" if one.operation.operation_id else one.operation.key
        review = "; ".join(one.review_reasons)
        cells = (one.name, was, one.category.value, _why(one), f"{one.confidence:.2f}", one.danger.value, review)
        table.add_row(*(escape(visible(cell)) for cell in cells))
    return table


def _narrow(prepared: Prepared) -> Table:
    """Put what an operation was under its name, and what is to be reviewed under the reason."""
    table = Table(box=None, pad_edge=False)
    table.add_column("operation", overflow="fold", ratio=5)
    table.add_column("category", no_wrap=True)
    table.add_column("danger", no_wrap=True)
    table.add_column("conf", no_wrap=True)
    table.add_column("why", overflow="fold", ratio=3)
    for one in prepared.decisions:
        was = f"  {visible(one.operation.key)}"
        why = [_why(one), *(f"review {visible(reason)}" for reason in one.review_reasons)]
        table.add_row(
            f"{escape(one.name)}\n{escape(was)}",
            one.category.value,
            one.danger.value,
            f"{one.confidence:.2f}",
            escape("\n".join(why)),
        )
    return table


def _why(decision: Decision) -> str:
    """Say by which rule it is of its category, and by which it is more dangerous than that."""
    danger = decision.danger_reason.rule
    return decision.category_reason.rule + (f"; danger: {danger}" if danger not in ("category", "override") else "")


def _counted(found: Mapping[str, Any]) -> str:
    """Say in a line how many there are of each kind."""
    every = counted(found["operations"], "operation")
    shown = f"{found['shown']:,} of {every}" if found["shown"] != found["operations"] else every
    parts = [
        ", ".join(f"{number} {name}" for name, number in found["categories"].items()),
        ", ".join(f"{number} {name}" for name, number in found["dangers"].items()),
        f"{found['review']} to review",
        f"{found['skipped']} skipped",
    ]
    return f"\n{shown}: {'; '.join(part for part in parts if part)}."
