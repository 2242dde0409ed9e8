"""`aqlgen from-openapi`: generate a complete project from a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from aqlgen.cli.app import (
    AllowRefs,
    Auth,
    Destination,
    DryRun,
    Exclude,
    Fields,
    Header,
    Include,
    License,
    NameOrFolder,
    Output,
    OutputFormat,
    Overlay,
    OverridesFile,
    Quiet,
    RuntimeForm,
    Specs,
    Strict,
    Verbose,
    Workflows,
    app,
    examples,
)
from aqlgen.cli.output import print_diagnostics, progress
from aqlgen.cli.specs import options_of
from aqlgen.decide.credentials.effective import DEPARTURES, NO_SCHEME
from aqlgen.decide.overrides.owner import check_auth
from aqlgen.decide.review.rows import review_rows
from aqlgen.diagnostics.errors import OptionError
from aqlgen.diagnostics.plain import counted
from aqlgen.diagnostics.report import as_json, json_text
from aqlgen.document.assemble import Assembled
from aqlgen.document.request import Typed
from aqlgen.ir import Json
from aqlgen.options import PARTS, known_parts
from aqlgen.pipeline import Options, Prepared, Progress, prepare
from aqlgen.project.generation import order_of
from aqlgen.project.options import spdx
from aqlgen.project.write import refuse_occupied, write_tree
from aqlgen.render import render
from aqlgen.render.provenance import FILE
from aqlgen.runtime.hosts.report import entry_of
from aqlgen.runtime.text import visible
from aqlgen.table.access import (
    main_address_problem,
    refusal_lines,
    table_credentials,
    table_hosts,
    table_usage,
    use_lines,
)
from aqlgen.table.adapter import addressed
from aqlgen.table.identity import named_by
from aqlgen.table.model import FAMILIES


@app.command(
    "from-openapi",
    epilog=examples(
        "aqlgen from-openapi openapi.yaml",
        "aqlgen from-openapi openapi.yaml --include tag:pets --exclude 'operation:delete_*'",
        'aqlgen from-openapi https://example.com/api.json --header "X-Key: $KEY"',
        "aqlgen from-openapi hr=people.yaml crm=https://example.com/crm.json --name company",
    ),
)
def from_openapi_command(
    spec: Specs,
    output: Destination = None,
    name: NameOrFolder = None,
    overrides: OverridesFile = None,
    include: Include = None,
    exclude: Exclude = None,
    license: License = "",
    field_case: Fields = None,
    auth: Auth = None,
    runtime: RuntimeForm = None,
    parts: Annotated[
        list[str] | None, typer.Option("--add", metavar="PART", help="Part to add, as by `aqlgen add`; or all.")
    ] = None,
    header: Header = None,
    overlay: Overlay = None,
    workflows: Workflows = None,
    allow_refs: AllowRefs = None,
    accept_hosts: Annotated[
        bool, typer.Option("--accept-hosts", help="Allow requests to every host in the document, and list them.")
    ] = False,
    dry_run: DryRun = False,
    strict: Strict = False,
    output_format: OutputFormat = Output.HUMAN,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Generate an adapter project from an OpenAPI document, or one adapter for several APIs."""
    if part := next((each for each in spec if parts and each in PARTS and not Path(each).exists()), ""):
        raise OptionError.of("bad-option", f"{part!r} is a part, not a document", help=f"Write --add {part}.")
    options = options_of(
        spec,
        name=name or named_by(output),
        overrides=overrides,
        include=include,
        exclude=exclude,
        field_case=field_case and field_case.value,
        auth=auth,
        runtime=runtime and runtime.value,
        strict=strict,
        header=header,
        overlay=overlay,
        workflows=workflows,
        allow_refs=allow_refs,
    )
    options = replace(options, parts=known_parts(parts or ()))
    with progress(shown=output_format is Output.HUMAN and not quiet) as stage:
        generated = generate(
            options, output=output, license=license, dry_run=dry_run, progress=stage, accept_hosts=accept_hosts
        )
    print_generated(generated, output_format, verbose=verbose, quiet=quiet)


def print_generated(generated: Generated, output_format: Output, *, verbose: bool, quiet: bool) -> None:
    """Print what was generated: the findings, what there is, and how to go on."""
    prepared = generated.prepared
    if output_format is Output.JSON:
        typer.echo(json_text(generated.as_json(as_json(prepared.diagnostics))))
    elif not quiet:
        print_diagnostics(prepared.diagnostics, prepared.sources, verbose=verbose)
        typer.echo(_summary(generated))


@dataclass(frozen=True, slots=True)
class Generated:
    """A generated project: where it is, how many files it has, and everything known about the document."""

    folder: Path
    prepared: Prepared
    files: int
    written: bool
    accepted: bool = False
    """True if entries were added to the overrides, so that the hosts are accepted."""

    def as_json(self, warnings: list[Json]) -> dict[str, Json]:
        """Return the JSON form of a success."""
        counts = {family: len(self.prepared.table.of(family)) for family in FAMILIES}
        return {
            "success": True,
            "output_directory": str(self.folder),
            "package": self.prepared.identity.package,
            "files_generated": self.files,
            "operations": {"total": sum(counts.values()), **counts, "skipped": len(self.prepared.skipped)},
            "provenance": str(self.folder / FILE),
            "hosts": [use.as_json() for use in table_hosts(self.prepared.table)],
            "warnings": warnings,
        }


def generate(
    options: Options,
    *,
    output: Path | None,
    license: str,
    dry_run: bool,
    progress: Progress,
    accept_hosts: bool = False,
    documents: Sequence[Assembled] = (),
) -> Generated:
    """Generate a project and write it, unless it is a dry run. Raises AqlgenError; nothing is ever half-written.

    With `accept_hosts` every host that requests would go to is added to the overrides. `documents` are those of the
    options, where they have been read.
    """
    licensed = spdx(license)
    if output is not None:
        refuse_occupied(output)
    prepared = prepare(options, progress, documents=documents)
    check_auth(options.auth, prepared.built[0].document)
    folder = output if output is not None else Path(prepared.identity.project)
    refuse_occupied(folder)
    entry = entry_of(table_hosts(prepared.table)) if accept_hosts else {}
    if entry:
        from aqlgen.project.overriding import overridden, with_hosts

        options = overridden(options, folder, with_hosts(options.overrides, entry))
        prepared = prepare(options, progress, prepared)
    order = order_of(options, prepared, licensed)
    progress("rendering")
    tree = render(order)
    if not dry_run:
        progress("writing")
        write_tree(tree, folder)
    return Generated(folder, prepared, len(tree), written=not dry_run, accepted=bool(entry))


def _summary(generated: Generated) -> str:
    """Return the summary of the generated project, and the next steps."""
    table, prepared = generated.prepared.table, generated.prepared
    counts = ", ".join(f"{len(table.of(family))} {family}" for family in FAMILIES if table.of(family))
    review = sum(bool(decision.review_reasons) for decision in prepared.decisions)
    workflows = f" and {counted(len(table.workflows), 'workflow')}" if table.workflows else ""
    operations, skipped = counted(len(table.rows), "operation"), len(prepared.skipped)
    done = "Generated" if generated.written else "Would generate"
    report = f"`{_explain(generated)} --review`"
    page = f"OPERATIONS.md, or {report}" if generated.written else report
    lines = [f"{done} {generated.folder}: {counted(generated.files, 'file')}, {operations} ({counts}){workflows}."]
    if skipped:
        lines.append(f"{counted(skipped, 'operation')} skipped; {page} says why.")
    if review:
        rows = counted(len(review_rows(prepared.decisions)), "row")
        lines.append(f"{counted(review, 'operation')} to review in {rows}: {page}.")
    lines += [*_hosts(generated), *_addresses(prepared), *_credentials(generated), *_stated_credentials(prepared)]
    return "\n".join([*lines, *_steps(generated)] if generated.written else lines)


def _addresses(prepared: Prepared) -> Iterator[str]:
    """Yield the notes on the address of each API."""
    adapter = prepared.table.adapter
    problem = main_address_problem(adapter)
    named = [any("://" in server.url for server in part.document.servers[:1]) for part in prepared.built]
    if not addressed(prepared.table):
        yield "The document has no URL of the API: set MCP_AQL_BASE_URL, or base_url in adapter.toml."
    elif problem is not None and problem.rule != "incomplete":
        elsewhere = " if the API is elsewhere" if not problem.certain else ""
        whose = "document's" if named[0] else "API's"
        yield visible(f"The {whose} address {problem.judgement}: {problem.reason}; {problem.remedy}{elsewhere}.")
    for part, is_named in zip(prepared.built, named, strict=True):
        address = next((server["url"] for server in adapter.of_api(part.api).servers), "")
        options = prepared.options
        typed = None if options is None or options.of_several else Typed.of(options.requests[0].spec)
        yield from map(visible, () if typed is None else typed.elsewhere(address))
        if "://" in address and not is_named:
            yield f"The document names no host: calls go to {visible(address)}, its origin."


def _steps(generated: Generated) -> Iterator[str]:
    """Yield how to go on."""
    prepared = generated.prepared
    command = prepared.identity.project
    yield f"Try it: cd {quote(str(generated.folder))} && pip install -e . && {command} operations"
    schemes = prepared.table.adapter.security_schemes
    if schemes:
        alternatives = next((needs for needs, _ in table_usage(prepared.table).unmet.most_common(1)), ())
        variables = [name for scheme in next(iter(alternatives), ()) for name in schemes[scheme].get("variables", ())]
        first = f"set {' and '.join(variables)}; " if variables else ""
        yield f"For real calls: {first}`{command} doctor` lists all credentials; README.md has the next steps."


def _explain(generated: Generated) -> str:
    """Return the command that shows the decisions."""
    requests = () if generated.written or generated.prepared.options is None else generated.prepared.options.requests
    specs = [f"{request.name}={request.spec}".removeprefix("=") for request in requests]
    return " ".join(["aqlgen explain", *map(quote, map(visible, specs or [str(generated.folder)]))])


def _hosts(generated: Generated) -> list[str]:
    """Return the hosts beside the API's own, what goes there, and the entry to paste for those not accepted."""
    uses = table_hosts(generated.prepared.table)
    if not generated.accepted:
        return refusal_lines(uses)
    accepted = [use for use in uses if use.accepted_by == "overrides"]
    done = "overrides.yaml accepts" if generated.written else "overrides.yaml would accept"
    return [f"{done} these hosts, to which requests and credentials go from now on:", *use_lines(accepted)]


def _stated_credentials(prepared: Prepared) -> list[str]:
    """Return the lines about variables that an element sends, and where, since nothing else was asked about them."""
    names = [name for entry in table_credentials(prepared.table) for name in entry["variables"]]
    if not prepared.is_element or not names:
        return []
    sent = [use for use in table_hosts(prepared.table) if use.credentials]
    head = f"The element has the adapter send {', '.join(dict.fromkeys(names))} to"
    return [visible(f"{head}:"), *(line for use in sent for line in use_lines([use]))]


def _credentials(generated: Generated) -> list[str]:
    """Return the notes on credentials that the document does not name, or names badly."""
    findings = generated.prepared.diagnostics
    if generated.prepared.is_element:
        return []  # which says in `auth` what is sent, or that nothing is
    added = [diagnostic.help.partition("\n")[2] for diagnostic in findings if diagnostic.code == NO_SCHEME]
    if added:
        hint = (
            "The document declares no credential. If the API needs one, generate with --auth, or add to overrides.yaml:"
        )
        return [hint, added[0], *(lines.partition("\n")[2] for lines in added[1:])]  # the key `apis` once
    if not {diagnostic.code for diagnostic in findings}.isdisjoint(DEPARTURES):
        return [f"The document is unclear about credentials: `{_explain(generated)} -v` shows those that are sent."]
    return []
