"""`aqlgen explain`: show every decision with its reason, before anything is generated (R-NAME-4)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from aqlgen.cli import decisions
from aqlgen.cli.app import (
    AllowRefs,
    Auth,
    Exclude,
    Fields,
    Header,
    Include,
    Name,
    Output,
    OutputFormat,
    Overlay,
    OverridesFile,
    Quiet,
    Specs,
    Strict,
    Verbose,
    Workflows,
    app,
    examples,
)
from aqlgen.cli.output import print_diagnostics, progress
from aqlgen.cli.specs import options_of
from aqlgen.decide.decision import Decision
from aqlgen.decide.instructions import in_order_of_review
from aqlgen.decide.review.rows import review_rows
from aqlgen.diagnostics.errors import FileError
from aqlgen.diagnostics.plain import counted
from aqlgen.diagnostics.report import as_json, json_text
from aqlgen.pipeline import Options, Prepared, Progress, prepare
from aqlgen.render.provenance import FILE


@app.command(
    "explain",
    epilog=examples(
        "aqlgen explain openapi.yaml --review",
        "aqlgen explain openapi.yaml --html review.html",
        "aqlgen explain petstore-adapter --questions > questions.jsonl",
        "aqlgen explain petstore-adapter --review",
    ),
)
def explain_command(
    spec: Specs,
    name: Name = None,
    overrides: OverridesFile = None,
    include: Include = None,
    exclude: Exclude = None,
    review: Annotated[bool, typer.Option("--review", help="Show only decisions that need a review.")] = False,
    questions: Annotated[
        bool, typer.Option("--questions", help="Print the questions of the review, as JSON lines.")
    ] = False,
    field_case: Fields = None,
    auth: Auth = None,
    header: Header = None,
    overlay: Overlay = None,
    workflows: Workflows = None,
    allow_refs: AllowRefs = None,
    strict: Strict = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a review page for the browser.")
    ] = None,
    output_format: OutputFormat = Output.HUMAN,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Show every decision about an OpenAPI document with its reason. Nothing is written, except the page of --html.

    For a project's folder, show the decisions of an update, with its overrides, names and options.
    """
    options = options_of(
        spec,
        name=name or ("apis" if len(spec) > 1 else None),
        overrides=overrides,
        include=include,
        exclude=exclude,
        field_case=field_case and field_case.value,
        auth=auth,
        strict=strict,
        header=header,
        overlay=overlay,
        workflows=workflows,
        allow_refs=allow_refs,
    )
    if not options.of_several:
        options = as_an_update(replace(options, requests=(replace(options.requests[0], element=None),)))
    with progress(shown=output_format is Output.HUMAN and not quiet) as stage:
        prepared = explain(options, stage, html, review=review)
    _show(prepared, html, output_format, review=review, questions=questions, verbose=verbose, quiet=quiet)


def _show(
    prepared: Prepared,
    html: Path | None,
    output_format: Output,
    *,
    review: bool,
    questions: bool,
    verbose: bool,
    quiet: bool,
) -> None:
    """Print the diagnostics and the decisions, the questions, or a summary of the page."""
    rows = review_rows(row.decision for row in prepared.table.rows)
    if output_format is Output.JSON and not questions:
        typer.echo(json_text(decisions.as_json(prepared, rows, as_json(prepared.diagnostics))))
        return
    if not quiet:
        print_diagnostics(prepared.diagnostics, prepared.sources, verbose=verbose)
    if questions:
        _print_questions(row.decision for row in prepared.table.rows if not review or row.decision.review_reasons)
    elif html is not None:
        typer.echo(_page_summary(prepared, html))
    else:
        decisions.print_decisions(prepared, rows if review else ())


def as_an_update(options: Options) -> Options:
    """Return the options with which an update would generate, if the document is a project's folder.

    Those are its own document, overrides, names and recorded options, each replaced by what the user gave instead.
    """
    from aqlgen.project import Project

    folder = Path(options.requests[0].spec)
    if not (folder / FILE).is_file():
        return options
    project, request = Project.open(folder), options.requests[0]
    recorded = project.options(names=project.names(), strict=options.strict)
    if not project.apis():
        (kept,) = recorded.requests
        changed = replace(
            kept,
            headers=request.headers,
            allow=request.allow,
            overlays=request.overlays or kept.overlays,
            workflows=request.workflows or kept.workflows,
        )
        recorded = replace(recorded, requests=(changed,))
    asked = {field: getattr(options, field) for field in ("name", "overrides", "include", "exclude", "field_case")}
    return replace(recorded, **{field: value for field, value in asked.items() if value})


def explain(options: Options, progress: Progress, html: Path | None, *, review: bool = False) -> Prepared:
    """Decide everything about a document and write nothing but the page, if one is asked for. Raises AqlgenError.

    The result holds the decisions, with `review` those to look at, those first whose texts instruct agents. Its table
    has the rows of all, and so has the page.
    """
    if html is not None and not html.parent.is_dir():
        raise FileError.of("output-unwritable", f"there is no folder {html.parent}", file=str(html))
    prepared = prepare(options, progress)
    if html is not None:
        from aqlgen.page import report
        from aqlgen.project.write import write_file

        progress("writing the page")
        write_file(report(prepared).encode(), html)
    decisions = in_order_of_review(prepared.decisions)
    return replace(prepared, decisions=tuple(item for item in decisions if not review or item.review_reasons))


def _print_questions(decisions: Iterable[Decision]) -> None:
    """Print the questions of the review, as JSON lines."""
    from aqlgen.decide.review.answers import questions

    for question in questions(decisions):
        typer.echo(json.dumps(question))


def _page_summary(prepared: Prepared, file: Path) -> str:
    """Return the summary of a written page: its file and its counts."""
    rows = prepared.table.rows
    review = counted(len(review_rows(row.decision for row in rows)), "question")
    counts = f"{counted(len(rows), 'operation')}, {review} to review, {len(prepared.skipped)} skipped"
    return f"Wrote {file}: {counts}. Open it in a browser."
