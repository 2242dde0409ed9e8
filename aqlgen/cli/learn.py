"""`aqlgen learn`: observe the real API through the project's adapter, and take what was seen as overrides."""

from __future__ import annotations

import difflib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from aqlgen.cli.app import Folder, Output, OutputFormat, app, examples
from aqlgen.cli.output import read_text
from aqlgen.decide.overrides import load
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.diagnostics.plain import counted
from aqlgen.diagnostics.report import json_text
from aqlgen.document.yaml_events import SafeLoader
from aqlgen.project import OVERRIDES, Project
from aqlgen.project.insertion import flow
from aqlgen.project.overriding import with_entries
from aqlgen.project.write import write_file
from aqlgen.runtime.learn.model import Observation
from aqlgen.runtime.learn.proposals import Change, Proposal, changes, entries_of, proposals
from aqlgen.runtime.learn.report import Report, observations_of
from aqlgen.runtime.table import Table
from aqlgen.runtime.text import visible


class Take(StrEnum):
    """Which proposals are written to overrides.yaml."""

    NONE = "none"
    CERTAIN = "certain"
    ALL = "all"
    EACH = "each"


@app.command(
    "learn",
    epilog=examples(
        "aqlgen learn petstore-adapter --plan",
        "aqlgen learn petstore-adapter --take certain",
        "aqlgen learn --check --output-format json",
    ),
)
def learn_command(
    folder: Folder = Path(),
    *,
    plan: Annotated[bool, typer.Option("--plan", help="Show the requests without sending them.")] = False,
    requests: Annotated[int, typer.Option(min=1, metavar="N", help="Send at most N requests.")] = 300,
    seconds: Annotated[float, typer.Option(min=1, metavar="N", help="Stop after N seconds.")] = 60.0,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="OPERATION", help="Observe only this operation; repeatable.")
    ] = None,
    allow_writes: Annotated[
        bool, typer.Option("--allow-writes", help="Create, change and delete test resources at the API.")
    ] = False,
    resource: Annotated[
        list[str] | None,
        typer.Option(
            "--resource", metavar="PATH=VALUES", help="Also change and restore this resource: /pets/{petId}=7."
        ),
    ] = None,
    make: Annotated[
        list[str] | None,
        typer.Option("--make", metavar="OPERATION", help="Also create a resource with this operation."),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="VARIABLE", help="Try the key in this variable, if none is declared."),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Use the report that the adapter's `learn` printed.")
    ] = None,
    from_notes: Annotated[
        bool, typer.Option("--from-notes", help="Use the notes of the running adapter (`learn.notes`); send nothing.")
    ] = False,
    take: Annotated[
        Take | None, typer.Option(help="Proposals to write; default: ask about each in a terminal, else none.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Exit with 1 if the API contradicts an earlier run.")] = False,
    output_format: OutputFormat = Output.HUMAN,
) -> None:
    """Observe the API for facts that its document lacks: paging, public reads, deviations from its types.

    The project's adapter sends only safe reads, unless you allow writes, with your settings and credentials.
    No observation lowers danger.
    """
    project = Project.open(folder)
    named = {"only": only, "resource": resource, "make": make}
    options = ["--requests", str(requests), "--seconds", str(seconds), *["--from-notes"] * from_notes]
    options += ["--allow-writes"] * allow_writes + [f"--key={key}"] * (key is not None)
    options += [f"--{name}={value}" for name, values in named.items() for value in values or ()]
    if plan:
        typer.echo(_run(folder, project.package, [*options, "--plan"]))
        return
    data, observations = _observed(folder, project.package, options, source)
    entries = _entries(folder / OVERRIDES)
    proposed = proposals(observations, entries, datetime.now(UTC).date().isoformat())
    changed = changes(observations, entries)
    asks = output_format is Output.HUMAN and not check and sys.stdin.isatty() and sys.stderr.isatty()
    taken = list(_taken(proposed, take or (Take.EACH if asks else Take.NONE)))
    difference = _write(folder, entries_of(taken, entries)) if taken else ""
    if output_format is Output.JSON:
        typer.echo(json_text(_as_json(data, proposed, taken, changed)))
    else:
        typer.echo("\n".join([difference] * bool(taken) + [*_summary(data, observations, proposed, taken, changed)]))
    unanswered = bool(data["reads"]) and not _succeeded(data)
    raise typer.Exit(4 if unanswered else int(check and bool(changed)))


def _succeeded(data: Mapping[str, Any]) -> int:
    """Return the number of first reads that the API succeeded."""
    return sum(isinstance(status, int) and 200 <= status < 300 for status in data["reads"].values())


def _run(folder: Path, package: str, arguments: Sequence[str]) -> str:
    """Return the output of the adapter's `learn`. Raises FileError where it fails."""
    source = str((folder / "src").resolve())
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (source, os.environ.get("PYTHONPATH"))))}
    process = subprocess.run(  # noqa: S603 - the project that the user named
        [sys.executable, "-P", "-m", package, "learn", *arguments],
        cwd=folder if (folder / "adapter.toml").is_file() else None,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if process.returncode:
        lines = process.stderr.strip().splitlines()
        message = lines[-1].removeprefix("Error: ") if lines else f"it ended with {process.returncode}"
        way = "See `aqlgen learn --help`." if process.returncode == 1 else "Run its `doctor`."  # 2: a setting, a hook
        raise FileError.of("learn-failed", f"the adapter's `learn` failed: {message}", file=str(folder), help=way)
    return process.stdout.rstrip("\n")


def _observed(
    folder: Path, package: str, options: Sequence[str], source: Path | None
) -> tuple[Mapping[str, Any], list[Observation]]:
    """Return a report as data, with its observations: of a file, or of the API now."""
    if source is None and sys.stderr.isatty():
        typer.echo(_run(folder, package, [*options, "--plan"]), err=True)
    text = _run(folder, package, options) if source is None else read_text(source, "bad-option")
    try:
        data = json.loads(text)
        observations, report = observations_of(data, Table(folder / "src" / package)), Report().as_data()
        return {
            key: data[key] if isinstance(data.get(key), type(value)) else value for key, value in report.items()
        }, observations
    except (ValueError, RecursionError):
        message = f"{source} holds no observations"
        raise OptionError.of("bad-option", message, help="The adapter's `learn` prints them.") from None


def _entries(path: Path) -> dict[str, Mapping[str, Any]]:
    """Return the entries of overrides.yaml as they stand. Raises OptionError for one that cannot be read."""
    if not path.is_file():
        return {}
    load(path)
    data = yaml.load(read_text(path, "bad-override"), Loader=SafeLoader) or {}  # noqa: S506 - the loader is a safe one
    return {str(key): entry for key, entry in data.items() if isinstance(entry, dict)}


def _taken(proposed: Sequence[Proposal], take: Take) -> Iterator[Proposal]:
    """Yield the proposals to write, none against the owner's word; ask a person about each if so."""
    for proposal in proposed:
        if proposal.owned is not None or take is Take.NONE:
            continue
        if take is Take.EACH:
            typer.echo(_line(proposal), err=True)
            if typer.confirm("Take it?", default=proposal.certain, err=True):
                yield proposal
        elif proposal.certain or take is Take.ALL:
            yield proposal


def _line(proposal: Proposal) -> str:
    doubt = "" if proposal.certain else " (look at it first)"
    return visible(f"{proposal.key}: {{{proposal.field}: {flow(proposal.value)}}}{doubt} - {proposal.why}")


def _write(folder: Path, added: Mapping[str, Mapping[str, Any]]) -> str:
    """Add to the overrides of a folder, and return the difference."""
    path = folder / OVERRIDES
    before = read_text(path, "bad-override").splitlines() if path.is_file() else []
    content = with_entries(folder, added, "observation")
    write_file(content, path)
    lines = difflib.unified_diff(
        before, content.decode().splitlines(), "overrides.yaml", "overrides.yaml", "", "", 1, ""
    )
    return "\n".join(map(visible, lines))


def _summary(
    data: Mapping[str, Any],
    observations: Sequence[Observation],
    proposed: Sequence[Proposal],
    taken: Sequence[Proposal],
    changed: Sequence[Change],
) -> Iterator[str]:
    unread = f"; {len(data['unread'])} not tried" if data["unread"] else ""
    if data["reads"] or not observations:
        asked = counted(data["requests"], "request")
        yield f"{asked}: {_succeeded(data)} of {counted(len(data['reads']), 'read')} succeeded{unread}."
    if data.get("lacking"):
        yield visible(data["lacking"])
    if data["spent"]:
        yield visible(f"It ended early: {data['spent']}. --requests and --seconds raise the budget.")
    for observation in observations:
        if not observation.override:
            yield visible(f"Seen: {observation.key or 'the API'}: {observation.says}.")
    for change in changed:
        yield visible(f"Changed: {change.key}: {change.field} was {flow(change.was)}, and now {change.says}.")
    for proposal in proposed:
        if proposal.owned is not None:
            yield visible(f"Against your own entry, which stays: {_line(proposal)}")
        elif proposal not in taken:
            yield f"Proposed: {_line(proposal)}"
    if taken:
        yield f"Wrote {counted(len(taken), 'proposal')}. `aqlgen update` applies them."
    elif not proposed:
        yield "Nothing to propose."


def _as_json(
    data: Mapping[str, Any], proposed: Sequence[Proposal], taken: Sequence[Proposal], changed: Sequence[Change]
) -> dict[str, Any]:
    return {
        "success": not changed,
        **{
            key: data.get(key)
            for key in ("operations", "requests", "seconds", "spent", "reads", "unread", "observations")
        },
        "proposals": [asdict(proposal) for proposal in proposed],
        "taken": [f"{proposal.key}: {proposal.field}" for proposal in taken],
        "changes": [asdict(change) for change in changed],
    }
