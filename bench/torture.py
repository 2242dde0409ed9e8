"""Run the torture set through the command line and hold each outcome to what the set's INDEX.tsv says.

For each document: exit code against the verdict, time and memory bounded, no traceback, no character that acts on a
terminal, nothing written outside the destination, and what `expected` says about the generated table. Prints each
one's first findings with their lines, for reading by eye.

usage: torture.py [CORPUS] [--only NAME] [--tests]
CORPUS (or AQLGEN_CORPUS) is a folder that holds torture/INDEX.tsv; --tests runs each accepted project's own tests too.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from expected import EXPECTED, SERVED_WHOLE, Outcome, unmet

SECONDS, MEMORY = 20, 1 << 30
ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CODES = {"accept": 0, "accept-with-warning": 0, "reject": 2}


@dataclass(frozen=True)
class Run:
    """One finished command; `code` is None when it was ended for its time."""

    code: int | None
    out: str
    err: str


def limited() -> None:
    """Hold the child process to the memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(*command: str, cwd: Path, seconds: float = SECONDS, bounded: bool = True) -> Run:
    """Run a command to its end, or to the end of its time."""
    temporary = cwd / "tmp"
    temporary.mkdir(exist_ok=True)
    environment = {**os.environ, "TMPDIR": str(temporary), "COLUMNS": "200"}
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            capture_output=True,
            timeout=seconds,
            check=False,
            preexec_fn=limited if bounded else None,
        )
    except subprocess.TimeoutExpired:
        return Run(None, "", "")
    return Run(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def generate(document: Path, scratch: Path) -> tuple[Outcome, list[str]]:
    """Generate as for programs, and look at the document as for people; give the outcome and what is wrong with it."""
    aqlgen = (sys.executable, "-m", "aqlgen")
    made = run(*aqlgen, "from-openapi", str(document), "-o", "project", "--output-format", "json", cwd=scratch)
    told = run(*aqlgen, "from-openapi", str(document), "-o", "elsewhere", "--dry-run", "-v", cwd=scratch)
    problems = [
        f"{way}: not finished in {SECONDS} s" for way, one in (("json", made), ("text", told)) if one.code is None
    ]
    problems += [f"a traceback: {one.err[-300:]}" for one in (made, told) if "Traceback" in one.out + one.err]
    problems += [
        f"a character that acts: {found[0]!r}"
        for one in (made, told)
        for found in ACTING.findall(one.out + one.err)[:1]
    ]
    if made.code != told.code:
        problems.append(f"exit code {made.code} for programs, {told.code} for people")
    beside = sorted(path.name for path in scratch.iterdir() if path.name not in ("project", "tmp"))
    beside += [f"tmp/{path.name}" for path in (scratch / "tmp").iterdir()]
    if beside:
        problems.append(f"written beside the project: {', '.join(beside)}")
    try:
        answer = json.loads(made.out)
    except ValueError:
        return Outcome(made.code, {}, [], scratch / "project"), [*problems, f"no JSON: {(made.out + made.err)[-200:]}"]
    findings = answer["warnings"] if answer["success"] else answer["error"]["details"]
    return Outcome(made.code, answer, findings, scratch / "project"), problems


def judged(verdict: str, outcome: Outcome) -> list[str]:
    """Compare an outcome with the verdicts that are allowed."""
    allowed = verdict.split("|")
    problems = []
    if outcome.code not in {CODES[one] for one in allowed}:
        problems.append(f"exit code {outcome.code}, but the verdict is {verdict}")
    elif outcome.code == 0 and "accept" not in allowed and not outcome.findings:
        problems.append("accepted without a warning")
    problems += [f"no line: {one['code']}" for one in outcome.findings if not one["line"] and not fileless(one)]
    return problems


def fileless(finding: dict[str, Any]) -> bool:
    """Whether a finding is about a document as a whole, which has no line."""
    return finding["code"] in ("empty-document", "document-too-large", "not-text", "file-unreadable")


def main() -> int:
    """Print a line or more for each document; the exit code says whether all is well."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", default=os.environ.get("AQLGEN_CORPUS"), type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--tests", action="store_true")
    parser.add_argument("--findings", type=int, default=3, help="how many findings to print")
    given = parser.parse_args()
    if given.corpus is None:
        parser.error("give the corpus, or set AQLGEN_CORPUS")
    folder = given.corpus.resolve() / "torture"
    failed = checked = 0
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        rows = [
            row for row in csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE) if given.only in row["name"]
        ]
    for row in rows:
        with tempfile.TemporaryDirectory() as place:
            scratch = Path(place)
            outcome, problems = generate(folder / row["name"], scratch)
            verdict = "accept|reject" if row["name"] in SERVED_WHOLE else row["verdict"]
            problems += judged(verdict, outcome)
            if outcome.code == 0 and "project" in {path.name for path in scratch.iterdir()}:
                checked += row["name"] in EXPECTED
                problems += unmet(row["name"], outcome)
            if given.tests and outcome.code == 0:
                tested = run(
                    sys.executable,
                    "-m",
                    "pytest",
                    "-q",
                    "-p",
                    "no:cacheprovider",
                    cwd=scratch / "project",
                    seconds=300,
                    bounded=False,
                )
                problems += [] if tested.code == 0 else [f"its tests: {tested.out[-600:]}"]
        failed += bool(problems)
        said = "ok  " if not problems else "FAIL"
        print(f"{said} {row['name']} [{row['verdict']}] exit {outcome.code}: {outcome.summary}")
        for one in outcome.findings[: given.findings]:
            print(
                f"       {Path(one['file']).name}:{one['line']}:{one['column']} {one['code']}: {one['message'][:150]}"
            )
        for problem in problems:
            print(f"  !!   {problem}")
    print(f"{len(rows)} documents, {failed} not as they should be, {checked} with expectations about the table")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
