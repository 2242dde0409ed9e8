"""`aqlgen update`: its options and its output."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from aqlgen.cli.app import (
    AllowRefs,
    DryRun,
    Exclude,
    Fields,
    Header,
    Include,
    Output,
    OutputFormat,
    Overlay,
    Quiet,
    RuntimeForm,
    Strict,
    Verbose,
    Workflows,
    app,
    examples,
    listed,
)
from aqlgen.cli.output import print_diagnostics, progress
from aqlgen.cli.output_cache import OutputCache
from aqlgen.diagnostics.plain import counted, few
from aqlgen.diagnostics.report import as_json, json_text
from aqlgen.runtime.text import visible

if TYPE_CHECKING:
    from aqlgen.ir import Json
    from aqlgen.project.records import Provenance
    from aqlgen.project.update import Asked, Updated

_NO_ALIASES: Final = (
    "This update renames nothing, so --aliases adds nothing. To keep a name that an earlier update replaced, "
    "write `aliases: [old_name]` into overrides.yaml."
)
_SHOWN: Final = 10
"""The number of files of a kind that are named before the rest is counted."""


@app.command(
    "update",
    epilog=examples(
        "aqlgen update",
        "aqlgen update --spec https://example.com/openapi.json --dry-run",
        "aqlgen update petstore-adapter --spec openapi.yaml --aliases 90",
        "aqlgen update company-adapter --spec crm=crm.yaml --add billing=billing.yaml",
    ),
)
def update_command(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the project.")] = Path(),
    spec: Annotated[
        list[str] | None,
        typer.Option(
            "--spec", metavar="SPEC", help="Newer document; with several APIs NAME=SPEC. Default: the stored one."
        ),
    ] = None,
    add: Annotated[
        list[str] | None, typer.Option("--add", metavar="SPEC", help="Document of another API to add, or NAME=SPEC.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", metavar="NAME", help="API to remove from the adapter.")
    ] = None,
    header: Header = None,
    overlay: Overlay = None,
    workflows: Workflows = None,
    allow_refs: AllowRefs = None,
    license: Annotated[
        str | None, typer.Option("--license", metavar="SPDX", help="New licence of the project; '' for none.")
    ] = None,
    include: Include = None,
    exclude: Exclude = None,
    field_case: Fields = None,
    runtime: RuntimeForm = None,
    rename: Annotated[
        bool, typer.Option("--rename", help="Rename operations by the current rules; else they keep their names.")
    ] = False,
    aliases: Annotated[
        int | None,
        typer.Option(metavar="DAYS", min=1, max=3650, help="Keep old names of renamed operations as aliases for DAYS."),
    ] = None,
    dry_run: DryRun = False,
    strict: Strict = False,
    output_format: OutputFormat = Output.HUMAN,
    verbose: Verbose = False,
    quiet: Quiet = False,
) -> None:
    """Update a project to a newer document, to your overrides and to this aqlgen, and merge your edits."""
    cache = OutputCache("update", folder, context.params, history=True)
    if cache.recall():
        return
    from aqlgen.project.update import Asked, update

    asked = Asked(
        specs=tuple(line for written in listed(spec) for line in written.splitlines() or [written]),
        add=listed(add),
        remove=listed(remove),
        headers=listed(header),
        overlays=listed(overlay),
        workflows=listed(workflows),
        allow=listed(allow_refs),
        license=license,
        include=listed(include),
        exclude=listed(exclude),
        field_case=field_case and field_case.value,
        runtime=runtime and runtime.value,
        rename=rename,
        aliases=aliases,
        strict=strict,
    )
    with progress(shown=output_format is Output.HUMAN and not quiet) as stage:
        updated = update(folder, asked, dry_run=dry_run, progress=stage)
    _show(updated, cache, asked, output_format, verbose=verbose, quiet=quiet)
    if updated.merged.nothing and not (asked.specs or asked.add or asked.overlays or asked.workflows):
        cache.keep()
    raise typer.Exit(updated.exit_code)


def _show(
    updated: Updated, cache: OutputCache, asked: Asked, output_format: Output, *, verbose: bool, quiet: bool
) -> None:
    if output_format is Output.JSON:
        cache.echo(json_text(_as_json(updated)))
    elif not quiet:
        print_diagnostics(updated.warnings, updated.prepared.sources, verbose=verbose, echo=cache.echo)
        cache.echo(_summary(updated, verbose=verbose))
        if asked.aliases and not updated.aliases_added:
            cache.echo(_NO_ALIASES)
    elif updated.merged.conflicts:
        cache.echo(_conflicts(updated), err=True)


def _summary(updated: Updated, *, verbose: bool) -> str:
    """Return the summary of an update, done or planned: changes for agents, files, and the work that is left."""
    from aqlgen.table.access import refusal_lines, table_hosts

    merged = updated.merged
    refused = refusal_lines(table_hosts(updated.prepared.table))
    if merged.nothing:
        return "\n".join([f"{visible(str(updated.folder.resolve()))} is up to date.", *refused])
    did = "Updated" if updated.written else "Would update"
    files = sum(map(len, (merged.added, merged.changed, merged.removed, merged.conflicts)))
    versions = _versions(updated.before, updated.after)
    parts = [f"{did} {visible(str(updated.folder))}: {counted(files, 'file')}, {versions}."]
    parts += _news(updated, show_all=verbose)
    parts.append(updated.changes.as_text(show_all=verbose))
    parts += refused
    for what, paths in (("added", merged.added), ("changed", merged.changed), ("removed", merged.removed)):
        parts += _files(what, paths, show_all=verbose)
    if updated.aliases_added:
        parts.append(f"Renamed, and answering to their old names for a time: {few(updated.aliases_added)}.")
    if merged.unstaged:
        parts.append(
            f"Not staged, since aqlgen runs no git filter (such as Git LFS); `git add` them: {few(merged.unstaged)}."
        )
    if updated.checked is not None:
        parts.append(f"The check is stale ({visible(str(updated.checked))}): `aqlgen check --record` renews it.")
    if merged.conflicts:
        parts.append(_conflicts(updated))
    elif updated.written:
        added = f"`git add {' '.join(updated.uncommitted)}`, " if updated.uncommitted else ""
        parts.append(f"Review with `git diff --cached`, then {added}commit. {_undo(updated)}")
    return "\n".join(parts)


def _conflicts(updated: Updated) -> str:
    """Return the files that are left to the user, and what to do about them."""
    would = "" if updated.written else "would be "
    lines = [f"{counted(len(updated.merged.conflicts), 'conflict')} {would}left to resolve:"]
    lines += [f"  {visible(conflict.path)}: {visible(conflict.why)}" for conflict in updated.merged.conflicts]
    if updated.written:
        lines.append(
            "Edit the parts between <<<<<<< and >>>>>>>, or `git rm` files to delete; `git add` the rest, and commit."
        )
        lines.append(_undo(updated))
    return "\n".join(lines)


def _undo(updated: Updated) -> str:
    """Return the way to undo the update and nothing else: there may be other work elsewhere in the repository."""
    kept = "".join(f" {quote(f':(exclude){updated.folder / path}')}" for path in updated.uncommitted)
    return f"`git restore --source=HEAD --staged --worktree {quote(str(updated.folder))}{kept}` undoes it."


def _versions(before: Provenance, after: Provenance) -> str:
    parts = []
    if before.aqlgen != after.aqlgen:
        parts.append(f"aqlgen {visible(before.aqlgen)} to {after.aqlgen}")
    if before.input != after.input:
        parts.append("a newer document")
    return " and ".join(parts) or "by the same aqlgen from the same document"


def _news(updated: Updated, *, show_all: bool) -> Iterator[str]:
    """Yield the entries of the changelog since the version that wrote the project."""
    news = updated.changelog
    shown = news if show_all else news[:_SHOWN]
    if news:
        yield f"The changelog of aqlgen since {updated.before.version}:"
        yield from (f"- {entry}" for entry in shown)
    if len(shown) < len(news):
        yield f"- and {len(news) - len(shown)} more (-v shows them)"


def _files(what: str, paths: tuple[str, ...], *, show_all: bool) -> Iterator[str]:
    if paths:
        yield f"{what}: {few(paths, len(paths) if show_all else _SHOWN)}"


def _as_json(updated: Updated) -> dict[str, Json]:
    from aqlgen.render.provenance import FILE
    from aqlgen.table.access import table_hosts
    from aqlgen.table.model import FAMILIES

    merged, table = updated.merged, updated.prepared.table
    counts = {family: len(table.of(family)) for family in FAMILIES}
    return {
        "success": not merged.conflicts,
        "output_directory": str(updated.folder),
        "package": updated.prepared.identity.package,
        "dry_run": not updated.written,
        "from": updated.before.as_json(),
        "to": updated.after.as_json(),
        "changelog": list(updated.changelog),
        "files": {
            "added": list(merged.added),
            "changed": list(merged.changed),
            "removed": list(merged.removed),
            "conflicts": [conflict.path for conflict in merged.conflicts],
            "unstaged": list(merged.unstaged),
        },
        "conflicts": [{"path": conflict.path, "why": conflict.why} for conflict in merged.conflicts],
        "uncommitted": list(updated.uncommitted),
        "aliases_added": list(updated.aliases_added),
        "operations": {"total": sum(counts.values()), **counts, "skipped": len(updated.prepared.skipped)},
        "changes": updated.changes.as_json(),
        "hosts": [use.as_json() for use in table_hosts(table)],
        "provenance": str(updated.folder / FILE),
        "warnings": as_json(updated.warnings),
    }
