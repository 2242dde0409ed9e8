"""`aqlgen check`: its options and its output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqlgen.check.checks import TESTS
from aqlgen.check.reports import as_data, as_text, format_of, missing_parts
from aqlgen.check.runner import Checked as CheckedAdapter
from aqlgen.check.runner import Chosen, check_adapter, test_ids
from aqlgen.cli.app import Folder, Output, OutputFormat, Quiet, app, examples
from aqlgen.cli.output import progress
from aqlgen.diagnostics.errors import OptionError
from aqlgen.diagnostics.plain import counted
from aqlgen.diagnostics.report import as_json, json_text
from aqlgen.diagnostics.report import as_text as text_of
from aqlgen.project import Project
from aqlgen.project.worktree import CheckRecord, Worktree
from aqlgen.project.write import write_file
from aqlgen.runtime.text import visible

if TYPE_CHECKING:
    from aqlgen.project.check import Checked


def _ids(incomplete: str) -> list[tuple[str, str]]:
    """Return the tests whose ID begins so, each with what it shows, for a shell that completes one."""
    tests = (test for test in TESTS if test.id.startswith(incomplete))
    return sorted((test.id, test.title) for test in tests)


_ENDINGS = ".json, .md, .xml (JUnit)"


@app.command(
    "check",
    epilog=examples(
        "aqlgen check",
        "aqlgen check petstore-adapter --level 2 --report conformance.md --report junit.xml",
        "aqlgen check petstore-adapter --evidence evidence.json --record",
        "aqlgen check --pristine",
    ),
)
def check_command(
    folder: Folder = Path(),
    pristine: Annotated[
        bool, typer.Option("--pristine", help="Only compare: are the generated files unedited and reproducible?")
    ] = False,
    level: Annotated[int, typer.Option(min=1, max=2, help="Conformance level to require: 1 or 2.")] = 1,
    sample: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Call at most N operations; 0: all. Default: 200.")
    ] = None,
    report: Annotated[
        list[Path] | None,
        typer.Option("--report", metavar="FILE", help=f"Write a report in the format of the suffix: {_ENDINGS}."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--test", metavar="ID", help="Run only this test, such as PH-1.", autocompletion=_ids),
    ] = None,
    evidence: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the evidence for MCP-AQL's test runner, as JSON.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="At most 30 operations and two connections; skip tests of commands and HTTP."),
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Record the result in the project, for `aqlgen status`.")
    ] = False,
    base_url: Annotated[
        str, typer.Option("--base-url", metavar="URL", help="Also call safe reads of the live API at URL.")
    ] = "",
    show_all: Annotated[bool, typer.Option("--all", help="Also show passed tests.")] = False,
    output_format: OutputFormat = Output.HUMAN,
    quiet: Quiet = False,
) -> None:
    """Test the running adapter from outside: stdio and HTTP, both modes, MCP 2025-11-25 and 2026-07-28.

    A stand-in replaces the API, so nothing uses the network. --pristine starts nothing.
    """
    if pristine:
        running: dict[str, object] = {"--level": level != 1, "--sample": sample is not None, "--report": report}
        running |= {"--all": show_all, "--test": only, "--evidence": evidence}
        running |= {"--base-url": base_url, "--quick": quick, "--record": record}
        _refuse(running, "start the adapter, and --pristine does not")
        _check_pristine(folder, output_format=output_format, quiet=quiet)
    partly = bool(only) or quick
    _refuse({"--record": record and partly}, "needs the whole check, without --test and --quick")
    reports = _checked(report)
    with progress(shown=output_format is Output.HUMAN and not quiet) as stage:
        checked = _run(folder, sample, only, stage, quick=quick, base_url=base_url)
    _write(checked, reports, evidence)
    if record:
        _record(folder, checked)
    has_passed = any(result.cases for result in checked.report.results) and checked.report.counts["failed"] == 0
    reached = has_passed if only else checked.report.level >= level and checked.report.is_sound
    if output_format is Output.JSON or not quiet or not reached:
        _print(checked, output_format, reached=reached, show_all=show_all)
    raise typer.Exit(0 if reached else 1)


def _print(checked: CheckedAdapter, output_format: Output, *, reached: bool, show_all: bool) -> None:
    """Print the report."""
    if output_format is Output.JSON:
        typer.echo(json_text({"success": reached, **as_data(checked.report)}))
    else:
        typer.echo(as_text(checked.report, show_all=show_all), err=not reached)


def _refuse(values: Mapping[str, object], why: str) -> None:
    options = [option for option, value in values.items() if value]
    if options:
        raise OptionError.of("bad-option", f"{', '.join(options)} {why}", help="`aqlgen check --help` shows both.")


def _checked(reports: list[Path] | None) -> list[Path]:
    """Return the files to write. Raises OptionError for an ending that no report has."""
    for file in reports or ():
        if format_of(file) is None:
            message = f"no report has the ending of {file.name!r}"
            raise OptionError.of("bad-option", message, help=f"Give one of these endings: {_ENDINGS}.")
    return reports or []


def _run(
    folder: Path,
    sample: int | None,
    only: list[str] | None,
    stage: Callable[[str], None],
    *,
    quick: bool,
    base_url: str,
) -> CheckedAdapter:
    unknown = sorted(set(only or ()) - set(test_ids()))
    if unknown:
        raise OptionError.of(
            "bad-option", f"no test is called {unknown[0]!r}", help=f"The tests are {', '.join(test_ids())}."
        )
    project = Project.open(folder)
    stage("checking")
    sample = (30 if quick else Chosen().sample) if sample is None else sample
    declared = _declared(project, stage) if base_url else {}
    chosen = Chosen(sample, only, quick, base_url, declared)
    return check_adapter(folder.resolve(), project.package, chosen)


def _declared(project: Project, stage: Callable[[str], None]) -> dict[str, frozenset[str]]:
    """Return the statuses that the kept document has for each operation, also of failures, which no table has."""
    from aqlgen.pipeline import prepare

    decisions = prepare(project.options(), stage).decisions
    return {
        decision.name: frozenset(response.status for response in decision.operation.responses) for decision in decisions
    }


def _write(checked: CheckedAdapter, reports: list[Path], evidence: Path | None) -> None:
    """Write the reports and the evidence. Raises FileError; OptionError for evidence that is empty."""
    for file in reports:
        form = format_of(file)
        if form is not None:
            write_file(form(checked.report).encode("utf-8"), file)
    if evidence is not None:
        missing = missing_parts(checked.evidence)
        if missing:
            raise OptionError.of(
                "bad-option",
                f"the evidence would be empty in {', '.join(missing)}",
                help="Evidence needs successful calls: `aqlgen check` shows why there are none.",
            )
        write_file(f"{json_text(checked.evidence)}\n".encode(), evidence)


def _record(folder: Path, checked: CheckedAdapter) -> None:
    """Record the result in the provenance of the project. Raises FileError."""
    report = checked.report
    CheckRecord.write(Worktree(Project.open(folder)), report.level, len(report.succeeded), report.operations)


def _check_pristine(folder: Path, *, output_format: Output, quiet: bool) -> None:
    from aqlgen.project.check import check

    shown = output_format is Output.HUMAN and not quiet
    with progress(shown=shown) as stage:
        checked = check(folder, stage)
    if output_format is Output.JSON:
        typer.echo(
            json_text(
                {
                    "success": not checked.exit_code,
                    "output_directory": str(checked.folder),
                    "package": checked.package,
                    "pristine": {
                        "files": checked.files,
                        "generated_again": checked.generated_again,
                        "why_not": checked.why_not,
                        "installed": checked.installed,
                        "unknown": list(checked.unknown),
                        "findings": as_json(checked.findings),
                    },
                }
            )
        )
    elif checked.exit_code or not quiet:
        typer.echo(_as_text(checked), err=bool(checked.exit_code))
    raise typer.Exit(checked.exit_code)


def _as_text(checked: Checked) -> str:
    folder, files = visible(str(checked.folder)), counted(checked.files, "generated file")
    if checked.findings:
        findings = counted(len(checked.findings), "finding")
        return f"{text_of(checked.findings, show_all=True)}\n{folder} differs from its generated state: {findings}."
    unknown = [f"  {visible(path)}" for path in checked.unknown]
    listed = "\n".join(["", "Files under src that aqlgen did not write:", *unknown]) if unknown else ""
    if not checked.generated_again:
        why_not = visible(checked.why_not)
        return f"{folder} cannot be checked in full: {why_not}. {files} as recorded.{listed}"
    installed = f"{visible(checked.installed)} has the same" if checked.installed else "the package is not installed"
    return f"{folder} is pristine: {files} unedited and reproducible; {installed}.{listed}"
