"""`aqlgen status`: its options and its output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from aqlgen.cli.app import Folder, Output, OutputFormat, Verbose, app, examples
from aqlgen.cli.output import progress
from aqlgen.cli.output_cache import OutputCache
from aqlgen.diagnostics.plain import counted
from aqlgen.diagnostics.report import as_json, as_text, json_text
from aqlgen.runtime.text import visible

if TYPE_CHECKING:
    from aqlgen.ir import Json
    from aqlgen.project.status import Status
    from aqlgen.render.provenance import Kind

_SHOWN: Final = 10
"""The number of files of a kind that are named before the rest is counted."""

_POLICIES: Final = {
    "yours": "an update changes none, but --aliases adds to overrides.yaml",
    "shared": "an update merges your edits",
    "machine": "an update replaces them, and refuses edits",
}


@app.command(
    "status",
    epilog=examples(
        "aqlgen status",
        "aqlgen status petstore-adapter -v",
    ),
)
def status_command(
    context: typer.Context,
    folder: Folder = Path(),
    output_format: OutputFormat = Output.HUMAN,
    verbose: Verbose = False,
) -> None:
    """Show your edits since a project was generated, and whether it is up to date."""
    cache = OutputCache("status", folder, context.params, history=False)
    if cache.recall():
        return
    from aqlgen.project.status import status

    with progress(shown=output_format is Output.HUMAN) as stage:
        project_status = status(folder, stage)
    if output_format is Output.JSON:
        cache.echo(json_text(_as_json(project_status)))
    else:
        cache.echo("\n".join(_lines(project_status, show_all=verbose)))
    cache.keep()


def _lines(status: Status, *, show_all: bool) -> Iterator[str]:
    """Yield the output for people: the versions, the files by their owner, and what is left to do."""
    from aqlgen.render.provenance import Kind

    yield f"{status.package} in {visible(str(status.folder))}, made by aqlgen {visible(status.recorded.aqlgen or '?')}."
    for whose in Kind:
        yield from _files(whose, status, show_all=show_all)
    yield f"other: {counted(status.own_files, 'file')} that aqlgen did not write"
    if status.checked is not None:
        stale = "; stale since files changed: `aqlgen check --record` renews it" if status.check_stale else ""
        yield f"Checked: {visible(str(status.checked))}{stale}."
    yield from _todo(status, show_all=show_all)
    yield from _freshness(status, show_all=show_all)


def _files(whose: Kind, status: Status, *, show_all: bool) -> Iterator[str]:
    changed = sorted(status.of(whose), key=lambda file: (file.state, file.path))
    states = [file.state for file in changed]
    counts = ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))
    files = counted(status.counts.get(whose, 0), "file")
    yield f"{whose}: {files} ({_POLICIES[whose]}), {counts or 'as generated'}"
    yield from _some([f"  {file.state} {visible(file.path)}" for file in changed], show_all=show_all)


def _todo(status: Status, *, show_all: bool) -> Iterator[str]:
    """Yield the findings that need somebody's attention."""
    from aqlgen.render.provenance import Kind

    if status.misplaced:
        yield "Your files in folders that belong to aqlgen; move them elsewhere:"
        yield from _some([f"  {visible(path)}" for path in status.misplaced], show_all=show_all)
    if any(file.state == "deleted" for file in status.of(Kind.MACHINE)):
        yield "`aqlgen update` or `git checkout` restores the deleted machine files."
    reports = (
        ("Edits of generated files that `aqlgen update` refuses:", status.edits),
        ("Overrides to check:", status.overrides),
        ("aqlgen cannot regenerate this project yet:", status.problems),
    )
    for heading, findings in reports:
        if findings:
            yield heading
            yield as_text(list(findings), show_all=show_all)


def _freshness(status: Status, *, show_all: bool) -> Iterator[str]:
    recorded, today = status.recorded, status.today
    if (recorded.aqlgen, recorded.templates) != (today.aqlgen, today.templates):
        of = f", templates {today.templates}" if today.templates else ""
        yield f"The installed aqlgen is {today.aqlgen}{of}: `aqlgen update` applies its changes."
    if status.stale:
        stale = counted(len(status.stale), "generated file")
        yield f"{stale} out of date; `aqlgen update` writes them again:"
        yield from _some([f"  {visible(path)}" for path in status.stale], show_all=show_all)
        if status.changes is not None:
            yield "Changes for agents:"
            yield status.changes.as_text(show_all=show_all)
    elif not status.problems and recorded.aqlgen == today.aqlgen:
        yield "Up to date with its document and its overrides."


def _some(lines: list[str], *, show_all: bool) -> list[str]:
    shown = lines if show_all else lines[:_SHOWN]
    return [*shown, f"  and {len(lines) - len(shown)} more (-v shows them)"] if len(shown) < len(lines) else shown


def _as_json(status: Status) -> dict[str, Json]:
    from aqlgen.render.provenance import Kind

    return {
        "success": True,
        "output_directory": str(status.folder),
        "package": status.package,
        "recorded": status.recorded.as_json(),
        "today": status.today.as_json(),
        "files": {
            **{whose.value: status.counts.get(whose, 0) for whose in Kind},
            "own": status.own_files,
            "misplaced": list(status.misplaced),
            "changed": [{"path": file.path, "kind": file.kind, "state": file.state} for file in status.changed],
        },
        "conformance": {**asdict(status.checked), "stale": status.check_stale} if status.checked else None,
        "edits": {"refused": as_json(status.edits)},
        "overrides": as_json(status.overrides),
        "stale": list(status.stale),
        "changes": status.changes.as_json() if status.changes is not None else None,
        "problems": as_json(status.problems),
    }
