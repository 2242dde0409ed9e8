"""What a person sees of a run: its progress and its summary."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from aqlgen.commands.from_openapi import Generated
from aqlgen.pipeline import Prepared
from aqlgen.plain import counted
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


@contextmanager
def progress(*, shown: bool) -> Iterator[Callable[[str], None]]:
    """Show on a terminal which stage is at work; elsewhere nothing."""
    if not shown or not sys.stderr.isatty():
        yield lambda _stage: None
        return
    from rich.console import Console  # here, since most runs have no terminal to be rich on

    with Console(stderr=True).status("Starting") as status:
        yield lambda stage: status.update(f"{WORDS[stage]} …")


def summary(generated: Generated) -> str:
    """Say what was made and how to go on."""
    table, prepared = generated.prepared.table, generated.prepared
    counts = ", ".join(f"{len(table.of(family))} {family}" for family in FAMILIES if table.of(family))
    review = sum(bool(one.review_reasons) for one in prepared.decisions)
    operations, skipped = counted(len(table.rows), "operation"), len(prepared.skipped)
    done = "Generated" if generated.written else "Would generate"
    report = "OPERATIONS.md" if generated.written else "`aqlgen explain`"
    lines = [
        f"{done} {generated.folder}: {counted(generated.files, 'file')}, {operations} ({counts}).",
        *([f"{counted(skipped, 'operation')} skipped; {report} says why."] if skipped else []),
        *([f"{counted(review, 'decision')} to review: OPERATIONS.md, or `aqlgen explain --review`."] if review else []),
    ]
    if not addressed(table):
        lines.append("The document does not say where the API is: set MCP_AQL_BASE_URL, or base_url in adapter.toml.")
    if generated.written:
        command = prepared.identity.project
        lines.append(f"Try it: cd {quote(str(generated.folder))} && pip install . && {command} --mock operations")
        if table.adapter.security_schemes:
            lines.append(f"For real calls: `{command} doctor` names the credentials, README.md says how to go on.")
    return "\n".join(lines)


def reported(prepared: Prepared, file: Path) -> str:
    """Say what page was written and what it holds."""
    rows = prepared.table.rows
    review = sum(bool(one.decision.review_reasons) for one in rows)
    counts = f"{counted(len(rows), 'operation')}, {review} to review, {len(prepared.skipped)} skipped"
    return f"Wrote {file}: {counts}. Open it in a browser."
