# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The command `learn`: the plan, an observation of the API, and its proposals to paste or to keep in a file."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from ..errors import CommandError
from ..learn.proposals import proposals, yaml_block
from ..learn.report import Report, chosen_rows, observe, observe_with_writes, plan_lines
from ..learn.requests import Budget
from ..learn.things import Named
from ..settings.load import load
from ..table import Table
from ..text import counted, terminal_text


def learn(folder: Path, hooks: object | None, environ: Mapping[str, str], options: argparse.Namespace) -> str:
    """Observe the API within the budget, and return what to print. Raises CommandError."""
    try:
        return _observed(folder, hooks, environ, options)
    except ValueError as problem:
        raise CommandError(str(problem)) from None


def _observed(folder: Path, hooks: object | None, environ: Mapping[str, str], options: argparse.Namespace) -> str:
    """Observe the API, and return what to print. Raises CommandError and ValueError."""
    budget = Budget(options.requests, options.seconds)
    if (options.resource or options.make) and not options.allow_writes:
        raise CommandError(f"--{'resource' if options.resource else 'make'} is for --allow-writes")
    key = "" if options.key is None else environ.get(options.key, "")
    if options.key is not None and not key:
        raise CommandError(f"--key {options.key}: the variable is not set")
    named = [Named.read(text) for text in options.resource] if options.allow_writes else None
    rows = chosen_rows(Table(folder, read_only=load(folder, environ).read_only), options.only)
    plan = "\n".join([*plan_lines(rows, budget, named), *_further(options)])
    if options.plan:
        return plan
    if sys.stderr.isatty():
        sys.stderr.write(f"{terminal_text(plan)}\n")
    report = asyncio.run(observe(folder, hooks, environ, budget, options.only, named or (), key))
    if named is not None:
        try:
            report.add(asyncio.run(observe_with_writes(folder, hooks, environ, budget, named, options.make)))
        except OSError as problem:
            raise CommandError(str(problem)) from None
    return _told(report, options)


def _further(options: argparse.Namespace) -> Iterator[str]:
    """Yield what is done beside the plan's reads and writes."""
    yield from (f"Also created, and deleted again: {name}" for name in options.make)
    if options.key is not None:
        yield f"The key in {options.key} is tried in two forms if the document declares no credential."


def _told(report: Report, options: argparse.Namespace) -> str:
    """Write or return a report as the options say. Raises CommandError."""
    if options.write is not None:
        try:
            options.write.write_text(f"{json.dumps(report.as_data(), indent=2)}\n", encoding="utf-8")
        except OSError as problem:
            raise CommandError(f"{options.write} cannot be written ({problem.strerror})") from None
        return f"{_cost(report)}\nWrote {counted(len(report.observations), 'observation')} to {options.write}."
    if options.output_format == "json":
        return json.dumps(report.as_data(), indent=2)
    return "\n".join(_page(report))


def _cost(report: Report) -> str:
    """Return what the observation cost."""
    cut = f" The rest was not looked at: {report.spent}." if report.spent else ""
    succeeded = sum(200 <= status < 300 for status in report.reads.values())
    return (
        f"{counted(report.requests, 'request')} in {report.seconds:.1f} seconds: {succeeded} of "
        f"{counted(report.operations, 'read')} succeeded, {len(report.unread)} were not tried.{cut}"
    )


def _page(report: Report) -> Iterator[str]:
    """Yield the observations for people, and the proposals as overrides.yaml has them."""
    yield _cost(report)
    for observation in report.observations:
        if not observation.override and not observation.settled:
            yield f"{observation.key or 'adapter'}: {observation.says}"
    proposed = proposals(report.observations, {}, datetime.now(UTC).date().isoformat())
    if proposed:
        yield "\nFor overrides.yaml of the project, where `aqlgen update` takes it:\n"
        yield yaml_block(proposed)
    else:
        yield "Nothing to propose: the adapter already does this."
