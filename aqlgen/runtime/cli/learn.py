"""The command `learn`: the plan, an observation of the API, and the report that `aqlgen learn --from` proposes of."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..errors import CommandError
from ..learn.report import chosen_rows, observe, observe_with_writes, plan_lines
from ..learn.requests import Budget
from ..learn.things import Named
from ..settings.load import load
from ..table import Table
from ..text import terminal_text


def learn(folder: Path, hooks: object | None, environ: Mapping[str, str], options: argparse.Namespace) -> str:
    """Observe the API within the budget, and return what to print. Raises CommandError."""
    try:
        if options.from_notes:
            from ..learn.notes import report_of_notes

            if options.plan:
                return "Nothing is sent: the notes of the running adapter are read."
            return json.dumps(asyncio.run(report_of_notes(folder, environ)).as_data(), indent=2)
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
            writing = observe_with_writes(
                folder, hooks, environ, budget, named, options.make, named_alone=bool(options.only)
            )
            report.add(asyncio.run(writing))
        except OSError as problem:
            raise CommandError(str(problem)) from None
    return json.dumps(report.as_data(), indent=2)


def _further(options: argparse.Namespace) -> Iterator[str]:
    """Yield the acts beside the plan's reads and writes, and their limits."""
    yield from (f"Also created, and deleted again: {name}" for name in options.make)
    if options.allow_writes and options.only:
        yield "Nothing else is created: --only is set."
    if options.key is not None:
        yield f"The key in {options.key} is tried in two forms if the document declares no credential."
