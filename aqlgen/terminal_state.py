"""What a person sees of `aqlgen status` and `aqlgen check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from aqlgen.commands.check import Checked
from aqlgen.commands.status import Changed, Status
from aqlgen.diagnostics import Diagnostic
from aqlgen.diagnostics.plain import counted
from aqlgen.diagnostics.report import as_text, visible
from aqlgen.edits.writing import flow
from aqlgen.render.kinds import Kind

__all__ = ["checked", "status"]

SHOWN: Final = 10
"""How many of a kind are named before the rest is counted."""

_WHAT: Final = {
    Kind.YOURS: "never touched by aqlgen",
    Kind.SHARED: "edits are merged",
    Kind.MACHINE: "written anew; edits become overrides or are refused",
}


def status(found: Status, *, every: bool) -> str:
    """Say how a project is: its versions, its files by whose they are, and what is left to do."""
    lines = [f"{visible(str(found.folder))}: {found.package}, by aqlgen {visible(found.recorded.aqlgen or '?')}."]
    for whose in Kind:
        lines += _files(whose, found, every=every)
    lines.append(f"own: {counted(found.own, 'file')} that aqlgen did not write")
    lines += _todo(found, every=every)
    return "\n".join(lines)


def _files(whose: Kind, found: Status, *, every: bool) -> Iterator[str]:
    changed = found.of(whose)
    states = [
        f"{sum(one.state == state for one in changed)} {state}" for state in sorted({one.state for one in changed})
    ]
    head = f"{whose}: {counted(found.counts.get(whose, 0), 'file')} ({_WHAT[whose]})"
    yield f"{head}, {', '.join(states) or 'as generated'}"
    yield from _some([f"  {one.state} {visible(one.path)}" for one in _sorted(changed)], every=every)


def _sorted(changed: Iterable[Changed]) -> list[Changed]:
    return sorted(changed, key=lambda one: (one.state, one.path))


def _todo(found: Status, *, every: bool) -> Iterator[str]:
    """Say what needs somebody's attention."""
    if found.conflicts:
        yield f"{counted(len(found.conflicts), 'conflict')} left to resolve:"
        yield from _some([f"  {visible(path)}:{line}" for path, line in found.conflicts], every=every)
    if found.edits.entries:
        yield "Edits of generated files that `aqlgen update` puts into overrides.yaml:"
        entries = [f"  {visible(key)}: {visible(flow(one))}" for key, one in found.edits.entries.items()]
        yield from _some(entries, every=every)
    if found.edits.refused:
        yield "Edits of generated files that `aqlgen update` refuses:"
        yield _report(found.edits.refused, every=every)
    if found.overrides:
        yield "Overrides to look at:"
        yield _report(found.overrides, every=every)
    if found.problems:
        yield "It cannot be generated again as it is:"
        yield _report(found.problems, every=every)
    yield from _freshness(found, every=every)


def _freshness(found: Status, *, every: bool) -> Iterator[str]:
    if found.recorded.aqlgen != found.today.aqlgen or found.recorded.templates != found.today.templates:
        of = f", templates {found.today.templates}" if found.today.templates else ""
        yield f"This is aqlgen {found.today.aqlgen}{of}: `aqlgen update` brings what is new."
    if found.stale:
        stale = counted(len(found.stale), "generated file")
        yield f"{stale} would come out otherwise now; `aqlgen update` writes them:"
        yield from _some([f"  {visible(path)}" for path in found.stale], every=every)
    elif not found.problems and found.recorded.aqlgen == found.today.aqlgen:
        yield "Up to date with its document and its overrides."


def checked(found: Checked) -> str:
    """Say what a check found."""
    files = counted(found.files, "generated file")
    if found.findings:
        head = f"{visible(str(found.folder))} is not as it was generated: {counted(len(found.findings), 'finding')}."
        return f"{_report(found.findings, every=True)}\n{head}"
    again = (
        "the same when generated again" if found.generated_again else f"not generated again: {visible(found.why_not)}"
    )
    return f"{visible(str(found.folder))} is pristine: {files} as generated, {again}."


def _some(lines: list[str], *, every: bool) -> list[str]:
    shown = lines if every else lines[:SHOWN]
    return [*shown, f"  and {len(lines) - len(shown)} more (-v shows them)"] if len(shown) < len(lines) else shown


def _report(findings: Iterable[Diagnostic], *, every: bool) -> str:
    return as_text(list(findings), every=every)
