"""`aqlgen serve`: from a document, or the address of a running API, to a server in one command."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from aqlgen.cli import without_headers
from aqlgen.cli.app import (
    Auth,
    Header,
    Name,
    OverridesFile,
    Quiet,
    Specs,
    Verbose,
    app,
    examples,
    refuse_without_http,
)
from aqlgen.cli.output import print_diagnostics, progress
from aqlgen.cli.specs import options_of
from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.errors import FileError, OptionError
from aqlgen.diagnostics.plain import counted
from aqlgen.document.assemble import Assembled, assemble
from aqlgen.document.read import Source
from aqlgen.document.request import Typed
from aqlgen.pipeline import Options, Progress
from aqlgen.project import Project
from aqlgen.project.served import ServedProjects
from aqlgen.project.write import refuse_occupied, write_tree
from aqlgen.render.provenance import FILE
from aqlgen.runtime.auth import STARTED_BY
from aqlgen.runtime.cli.doctor import doctor
from aqlgen.runtime.cli.readiness import verdict
from aqlgen.runtime.settings.load import ConfigError
from aqlgen.runtime.table import FAMILIES, Table
from aqlgen.runtime.text import terminal_text

_GENERATING = ("header", "name", "overrides", "auth", "accept_hosts", "keep")
"""Options that a project has behind it."""

_UVX = "archive-v0"
"""The folder of uv's cache in which uvx has its environments."""


@app.command(
    "serve",
    epilog=examples(
        "aqlgen serve http://127.0.0.1:8000",
        "aqlgen serve openapi.yaml --read-only",
        "aqlgen serve https://example.com/openapi.json --http --port 8001",
        "aqlgen serve openapi.yaml --keep petstore-adapter",
    ),
)
def serve_command(
    context: typer.Context,
    spec: Specs,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP instead of stdio.")] = False,
    host: Annotated[str, typer.Option(help="Address for --http.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port for --http; 0: any free port.")] = 8000,
    read_only: Annotated[bool, typer.Option("--read-only", help="Serve only safe reads.")] = False,
    mock: Annotated[bool, typer.Option("--mock", help="Answer from the document, without network.")] = False,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Write the project to DIR for review, and serve it.")
    ] = None,
    name: Name = None,
    overrides: OverridesFile = None,
    auth: Auth = None,
    header: Header = None,
    accept_hosts: Annotated[
        bool, typer.Option("--accept-hosts", help="Allow requests to every host in the document, and list them.")
    ] = False,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Serve an API to agents in one command, with the policy, settings and variables of a generated adapter.

    The adapter is generated in your state folder and reused while the document is the same. Over stdio you can use this
    command in the settings of an MCP client. If SPEC is the folder of a project, that project is served.
    """
    if not http:
        refuse_without_http(context, "--http")
    if len(spec) == 1 and (Path(spec[0]) / FILE).is_file():
        _refuse_beside_project(context.params, spec[0])
        project = Path(spec[0])
        package = (project / "src" / Project.open(project).package).absolute()
    elif "-" in spec:
        message = "standard input is the client's, so the document cannot be there"
        raise OptionError.of("bad-option", message, help="Name a file or an address.")
    else:
        options = options_of(spec, name=name, overrides=overrides, auth=auth, header=header)
        if keep is not None:
            refuse_occupied(keep)
        project = _made(options, accept_hosts=accept_hosts, verbose=verbose, quiet=quiet)
        if keep is not None:
            files = (*Project.open(project).recorded, FILE)
            write_tree({path: (project / path).read_bytes() for path in files}, keep)
            project = keep
        package = next((project / "src").iterdir()).absolute()
    environ = _environment(package, read_only=read_only)
    report = _report(package, environ)
    if not quiet:
        lines = [*_review(project, package, report, mock=mock), *([] if mock else _readiness(report, spec))]
        typer.echo(terminal_text("\n".join(lines)), err=True)
    arguments = ["--transport", "http", "--host", host, "--port", str(port)] if http else []
    _start(package, [*arguments, *["--mock"] * mock], environ)


def _refuse_beside_project(params: Mapping[str, Any], spec: str) -> None:
    option = next((name for name in _GENERATING if params[name]), None)
    if option is not None:
        message = f"--{option.replace('_', '-')} is for a document, and {spec} is a project"
        way = (
            "Change the project by overrides.yaml and the options of `aqlgen update`, then serve it without the option."
        )
        raise OptionError.of("bad-option", message, help=way)


def _made(options: Options, *, accept_hosts: bool, verbose: bool, quiet: bool) -> Path:
    """Return the folder of the project of the documents, which is made unless it is there already.

    It is that of the last start where a document cannot be fetched, as from a server that is down.
    """
    served = ServedProjects.of(options, os.environ, accept_hosts=accept_hosts)
    last = served.last()
    with progress(shown=not quiet) as stage:
        stage("reading")
        try:
            documents = [assemble(request) for request in options.requests]
        except FileError as error:
            warning = served.warning_of_last(error)
            if last is None or warning is None:
                raise
            if not quiet:
                print_diagnostics([warning], (), verbose=verbose)
            served.use(last)
            return last
        folder = served.folder_of(documents)
        if not folder.exists():
            findings = _generate(options, served, folder, documents, stage, accept_hosts=accept_hosts)
            if findings is not None and not quiet:
                print_diagnostics(*findings, verbose=verbose)
        if last not in (None, folder) and not quiet:
            from aqlgen.cli.comparison import compare_sides

            changes = compare_sides(str(last), str(folder), stage).changes
            typer.echo(f"Since the last start: {changes.as_text(show_all=verbose)}\n", err=True)
    served.use(folder)
    return folder


def _generate(
    options: Options,
    served: ServedProjects,
    folder: Path,
    documents: Sequence[Assembled],
    stage: Progress,
    *,
    accept_hosts: bool,
) -> tuple[Sequence[Diagnostic], Sequence[Source]] | None:
    """Generate the project; return the findings with their sources, None where another start was faster."""
    from aqlgen.cli.from_openapi import generate

    before = served.as_before(options)
    try:
        prepared = generate(
            before or options, output=folder, license="", dry_run=False, progress=stage,
            accept_hosts=accept_hosts and before is None, documents=documents,
        ).prepared  # fmt: skip
    except FileError:
        if not folder.exists():
            raise
        return None
    return prepared.diagnostics, prepared.sources


def _environment(package: Path, *, read_only: bool) -> dict[str, str]:
    """Return the environment of the adapter: the user's, with that of its file of variables."""
    environ = dict(os.environ)
    paths = (str(package.parent), environ.get("PYTHONPATH", ""))
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    environ[STARTED_BY] = shlex.join([*_program(), *without_headers(sys.argv[1:])])
    return environ | ({"MCP_AQL_READ_ONLY": "true"} if read_only else {})


def _program() -> list[str]:
    """Return the words that start aqlgen again; an environment of uvx lasts no longer than the cache of uv."""
    if _UVX in Path(sys.prefix).parts:
        from importlib.metadata import distribution

        source = json.loads(distribution("aqlgen").read_text("direct_url.json") or "{}").get("url")
        if source:  # never the bare name, which is somebody else's on a public index
            return ["uvx", "--from", source, "aqlgen"]
    return [os.path.abspath(sys.argv[0])]


def _report(package: Path, environ: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the report of `doctor` on the adapter. Raises OptionError for a setting that would stop its start."""
    try:
        return doctor(package, environ)
    except ConfigError as problem:
        raise OptionError.of("bad-setting", str(problem), help="docs/settings.md lists the settings.") from None


def _review(project: Path, package: Path, report: Mapping[str, Any], *, mock: bool) -> Iterator[str]:
    """Yield the counts of operations and questions, and what real calls lack."""
    safety = report["safety"]
    table = Table(package, read_only=safety["read_only"])
    counts = {family: len(table.raw(family)) for family in FAMILIES}
    split = ", ".join(f"{count} {family}" for family, count in counts.items() if count)
    yield f"{report['adapter']['name']}: {counted(sum(counts.values()), 'operation')} ({split or 'none'})."
    first, asked = safety["asks_at_first_use"], safety["asks_about"]
    if asked:
        times = {"at the first call": first, "at each call": asked - first}
        when = ", ".join(f"{counted(count, 'operation')} {time}" for time, count in times.items() if count)
        yield f"Confirmations: {when}; `aqlgen explain {shlex.quote(str(project))}` shows why."
    if not mock:  # which needs neither hosts nor credentials
        yield from _refused_hosts(report)


def _refused_hosts(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the hosts that are needed and not accepted, and how to accept them."""
    refused = [host for host in report["hosts"] if not host["accepted"] and (host["operations"] or host["purposes"])]
    yield from (f"Not accepted, so that nothing is sent there: {host['origin']}  {host['summary']}" for host in refused)
    if refused:
        entries = dict.fromkeys(host["overrides"] for host in refused)
        yield f"  to accept: --accept-hosts, or 'adapter: {{hosts: [{', '.join(entries)}]}}' in a file for --overrides"


def _readiness(report: Mapping[str, Any], spec: Sequence[str]) -> Iterator[str]:
    """Yield whether calls can be made: the address that the user typed is not doubted, and one beside it is told."""
    address = report["address"]
    stated = report["base_url"] or next(iter(report["servers"]), "")
    typed = Typed.of(spec[0]) if len(spec) == 1 else None
    if typed is not None and typed.is_at(stated):
        if (address["problem"] or {}).get("rule") == "local":
            report = {**report, "address": {**address, "problem": None}}
    elif typed is not None and address["source"] == "document":
        yield from typed.elsewhere(stated)
    yield from verdict(report)


def _start(package: Path, arguments: Sequence[str], environ: Mapping[str, str]) -> NoReturn:
    """Become the adapter: where the system can, in this process, to which signals go and which nothing is left of."""
    command = [sys.executable, "-P", "-m", package.name, *arguments]
    sys.stderr.flush()
    if sys.platform == "win32":
        raise typer.Exit(subprocess.run(command, env=environ, check=False).returncode)  # noqa: S603
    os.execve(sys.executable, command, environ)  # noqa: S606
