"""Break an adapter in each of the ways of bench/mutations.toml, and see which test of `aqlgen check` catches it.

Each mutation is one change of one file of a generated project's runtime. The test that caught it at the last recorded
run is tried first, then all of them until one fails, without WI-4, whose hashes catch every one. The exit code is 1 if
fewer than 57 of 60 are caught, if a mutation's old text is not found exactly once, or if the adapter as it is fails.
"""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from aqlgen.check.results import Outcome, Report
from aqlgen.check.runner import Chosen, check_adapter, test_ids
from bench.support.arguments import parser
from bench.support.processes import generate

FOLDER = Path(__file__).parent
MUTATIONS = FOLDER / "mutations.toml"
FIXTURE = FOLDER.parent / "fixtures" / "workshop.yaml"
OVERRIDES = """\
DELETE /bikes: {danger: forbidden}
POST /bikes/{bikeId}/keys: {danger: destructive}
GET /hours: {parameters: {channel: {value: agents}}}
"""
PACKAGE = "workshop_adapter"
LEAST = 57 / 60


class Mutation(NamedTuple):
    """A defect in words, the file of the runtime that has it, and the text that becomes another one.

    `caught` is the test that caught it at the last recorded run, `survives` says why none can.
    """

    name: str
    file: str
    old: str
    new: str
    caught: str = ""
    survives: str = ""


def mutations() -> list[Mutation]:
    """Return the mutations of the file."""
    return [Mutation(**entry) for entry in tomllib.loads(MUTATIONS.read_text(encoding="utf-8"))["mutation"]]


def generated(folder: Path) -> Path:
    """Generate the project that is broken."""
    project = folder / "whole"
    overrides = folder / "overrides.yaml"
    overrides.write_text(OVERRIDES, encoding="utf-8")
    generate(FIXTURE, project, "--overrides", str(overrides), "--runtime", "source")
    return project


def broken(project: Path, folder: Path, mutation: Mutation) -> Path | None:
    """Return a copy of a project with a mutation; None if its old text is not there exactly once."""
    copy = folder / "broken"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(project, copy)
    file = copy / "src" / PACKAGE / "runtime" / mutation.file
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    if text.count(mutation.old) != 1:
        return None
    file.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
    return copy


def caught_by(project: Path, hint: str, *, whole: bool = True) -> tuple[str, str]:
    """Return the first test that a project fails, with its first problem; "" for both if it passes all.

    The test `hint` is tried first, and all others only with `whole`.
    """
    behaviour = [test for test in test_ids() if test != "WI-4"]
    for only in [*([[hint]] if hint else []), *([behaviour] if whole else [])]:
        report = check_adapter(project, PACKAGE, Chosen(only=only)).report
        failed = failures(report)
        if failed is not None:
            return (hint, failed[1]) if only == [hint] else failed
    return "", ""


def failures(report: Report) -> tuple[str, str] | None:
    """Return the id of the first test that failed, and what it says."""
    for result in report.results:
        if result.outcome is Outcome.FAIL:
            problem = result.problems[0]
            return result.id, f"{problem.subject}: {problem.text}"[:100]
    return None


def record(caught: dict[str, str]) -> None:
    """Write into the file which test caught each mutation."""
    text = re.sub(r'^caught = ".*"\n', "", MUTATIONS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for mutation in mutations():
        test = caught.get(mutation.name, mutation.caught)
        if test:
            line = f'name = "{mutation.name}"\n'
            text = text.replace(line, f'{line}caught = "{test}"\n')
    MUTATIONS.write_text(text, encoding="utf-8")


def main(argv: Sequence[str]) -> int:
    """Break the adapter in each way, and print what catches it."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("--only", default="", metavar="TEXT", help="only the mutations whose name or file has this")
    arguments.add_argument("--whole", action="store_true", help="do not try the recorded test first")
    arguments.add_argument(
        "--recorded", action="store_true", help="try the recorded test of each alone, which is quick"
    )
    arguments.add_argument("--record", action="store_true", help="record which test caught each")
    options = arguments.parse_args(argv)
    logging.disable()
    chosen = [mutation for mutation in mutations() if options.only in f"{mutation.name} {mutation.file}"]
    caught: dict[str, str] = {}
    stale: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        project = generated(Path(scratch))
        honest = caught_by(project, "", whole=not options.only and not options.recorded)
        if honest[0]:
            print(f"the adapter as it is fails {honest[0]}: {honest[1]}")
            return 1
        for mutation in chosen:
            begin = monotonic()
            copy = broken(project, Path(scratch), mutation)
            if copy is None:
                stale.append(mutation.name)
                print(f"STALE     {mutation.name} ({mutation.file})", flush=True)
                continue
            hint = "" if options.whole else mutation.caught
            test, problem = caught_by(copy, hint, whole=not options.recorded)
            if test:
                caught[mutation.name] = test
            why = problem or mutation.survives or "NOT EXPLAINED"
            print(f"{test or 'survived':8}  {mutation.name} [{monotonic() - begin:.0f} s]: {why}", flush=True)
    if options.record:
        record(caught)
    print(f"{len(caught)} of {len(chosen)} caught, {len(stale)} stale")
    return 1 if stale or len(caught) < LEAST * len(chosen) else 0
