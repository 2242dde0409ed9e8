"""What a person sees: progress, the summary of a run, the table of decisions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from aqlgen.commands.from_openapi import Generated
from aqlgen.decisions import Decision
from aqlgen.pipeline import Prepared
from aqlgen.report import visible
from aqlgen.table.model import FAMILIES

WORDS = {
    "reading": "Reading the document",
    "building": "Understanding its operations",
    "deciding": "Deciding names and categories",
    "tabulating": "Building the operation table",
    "rendering": "Rendering the project",
    "writing": "Writing the project",
}


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
    skipped = len(generated.prepared.skipped)
    done = "Generated" if generated.written else "Would generate"
    lines = [
        f"{done} {generated.folder}: {generated.files} files, {len(table.rows)} operations ({counts}).",
        *([f"{skipped} operations were skipped; OPERATIONS.md says why."] if skipped else []),
        *([f"{review} decisions are worth a review: `aqlgen explain`, or OPERATIONS.md."] if review else []),
    ]
    if generated.written:
        package = generated.prepared.identity.package
        lines.append(f"Try it: cd {generated.folder} && pip install . && python -m {package} --mock operations")
    return "\n".join(lines)


def decisions(prepared: Prepared) -> None:
    """Print the decisions as a table."""
    wide = Console(width=None if sys.stdout.isatty() else 200)
    table = Table("operation", "API", "category", "decided by", "confidence", "danger", "review", box=None)
    for one in prepared.decisions:
        table.add_row(*map(escape, _cells(one)))
    wide.print(table)
    wide.print(f"\n{len(prepared.decisions)} operations, {len(prepared.skipped)} skipped.")


def _cells(decision: Decision) -> tuple[str, ...]:
    return (
        decision.name,
        visible(decision.operation.key),
        decision.category.value,
        decision.category_reason.rule,
        f"{decision.confidence:.2f}",
        decision.danger.value,
        visible("; ".join(decision.review_reasons)),
    )
