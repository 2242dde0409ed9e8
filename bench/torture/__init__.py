"""Run the torture set through the command line and compare each outcome with the set's INDEX.tsv.

For each document: exit code against the verdict, time and memory bounded, no traceback, no control character, nothing
written outside the destination, and what `expectations` says about the generated table. The first findings of each are
printed with their lines, for reading by eye. The corpus is a folder that holds torture/INDEX.tsv.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.support.arguments import add_corpus, add_only, parser
from bench.support.documents import index_rows
from bench.support.processes import AQLGEN, environment
from bench.support.terminal import CONTROL
from bench.torture.expectations import EXPECTED, SERVED_WHOLE, Outcome, unmet

SECONDS, MEMORY = 20, 1 << 30
EXIT_CODES = {"accept": 0, "accept-with-warning": 0, "reject": 2}


@dataclass(frozen=True)
class Run:
    """A finished command; `code` is None if it was ended for its time."""

    code: int | None
    out: str
    err: str


def limited() -> None:
    """Limit the memory of this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def run(*command: str, cwd: Path, seconds: float = SECONDS, bounded: bool = True) -> Run:
    """Run a command to its end, or to the end of its time."""
    temporary = cwd / "tmp"
    temporary.mkdir(exist_ok=True)
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment(TMPDIR=str(temporary), COLUMNS="200"),
            capture_output=True,
            timeout=seconds,
            check=False,
            preexec_fn=limited if bounded else None,
        )
    except subprocess.TimeoutExpired:
        return Run(None, "", "")
    return Run(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def generate(document: Path, scratch: Path) -> tuple[Outcome, list[str]]:
    """Generate with JSON output and dry-run with text output; return the outcome and what is wrong with it."""
    generated = run(*AQLGEN, "from-openapi", str(document), "-o", "project", "--output-format", "json", cwd=scratch)
    shown = run(*AQLGEN, "from-openapi", str(document), "-o", "elsewhere", "--dry-run", "-v", cwd=scratch)
    problems = [
        f"{way}: not finished in {SECONDS} s"
        for way, finished in (("json", generated), ("text", shown))
        if finished.code is None
    ]
    problems += [
        f"a traceback: {finished.err[-300:]}"
        for finished in (generated, shown)
        if "Traceback" in finished.out + finished.err
    ]
    problems += [
        f"a control character: {character!r}"
        for finished in (generated, shown)
        for character in CONTROL.findall(finished.out + finished.err)[:1]
    ]
    if generated.code != shown.code:
        problems.append(f"exit code {generated.code} with JSON, {shown.code} with text")
    beside = sorted(path.name for path in scratch.iterdir() if path.name not in ("project", "tmp"))
    beside += [f"tmp/{path.name}" for path in (scratch / "tmp").iterdir()]
    if beside:
        problems.append(f"written beside the project: {', '.join(beside)}")
    try:
        answer = json.loads(generated.out)
    except ValueError:
        return Outcome(generated.code, {}, [], scratch / "project"), [
            *problems,
            f"no JSON: {(generated.out + generated.err)[-200:]}",
        ]
    findings = answer["warnings"] if answer["success"] else answer["error"]["details"]
    return Outcome(generated.code, answer, findings, scratch / "project"), problems


def judged(verdict: str, outcome: Outcome) -> list[str]:
    """Return what in an outcome contradicts the verdicts that are allowed, such as `accept|reject`."""
    allowed = verdict.split("|")
    problems = []
    if outcome.code not in {EXIT_CODES[verdict] for verdict in allowed}:
        problems.append(f"exit code {outcome.code}, but the verdict is {verdict}")
    elif outcome.code == 0 and "accept" not in allowed and not outcome.findings:
        problems.append("accepted without a warning")
    problems += [
        f"no line: {finding['code']}" for finding in outcome.findings if not (finding["line"] or fileless(finding))
    ]
    return problems


def fileless(finding: dict[str, Any]) -> bool:
    """Return True if a finding is about the document as a whole, which has no line."""
    return finding["code"] in ("empty-document", "document-too-large", "not-text", "file-unreadable")


def tests_of(project: Path) -> list[str]:
    """Run the tests of a project; return what failed."""
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    tested = run(*command, cwd=project, seconds=300, bounded=False)
    return [] if tested.code == 0 else [f"its tests: {tested.out[-600:]}"]


def main(argv: Sequence[str]) -> int:
    """Print a line or more for each document; return 1 if one is not as it should be."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    arguments.add_argument("--tests", action="store_true", help="run the tests of each accepted project too")
    arguments.add_argument("--findings", type=int, default=3, metavar="N", help="how many findings to print")
    options = arguments.parse_args(argv)
    folder = options.corpus.resolve() / "torture"
    failed = checked = 0
    rows = [row for row in index_rows(folder) if re.search(options.only, row["name"])]
    for row in rows:
        with tempfile.TemporaryDirectory() as place:
            scratch = Path(place)
            outcome, problems = generate(folder / row["name"], scratch)
            verdict = "accept|reject" if row["name"] in SERVED_WHOLE else row["verdict"]
            problems += judged(verdict, outcome)
            if outcome.code == 0 and outcome.project.is_dir():
                checked += row["name"] in EXPECTED
                problems += unmet(row["name"], outcome)
            if options.tests and outcome.code == 0:
                problems += tests_of(outcome.project)
        failed += bool(problems)
        print(
            f"{'FAIL' if problems else 'ok  '} {row['name']} [{row['verdict']}] exit {outcome.code}: {outcome.summary}"
        )
        for finding in outcome.findings[: options.findings]:
            place = f"{Path(finding['file']).name}:{finding['line']}:{finding['column']}"
            print(f"       {place} {finding['code']}: {finding['message'][:150]}")
        for problem in problems:
            print(f"  !!   {problem}")
    print(f"{len(rows)} documents, {failed} not as they should be, {checked} with expectations about the table")
    return 1 if failed else 0
