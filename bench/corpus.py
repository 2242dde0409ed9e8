"""Generate a project from every document of a corpus: operations, reasons of those skipped, time, memory.

With `--projects` each project is linted, type-checked and tested.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.support.arguments import add_corpus, add_only, parser
from bench.support.documents import Entry, entries
from bench.support.processes import AQLGEN, run

TIME_LIMIT = 300
STEPS = {
    "lint": [sys.executable, "-m", "ruff", "check", "--no-cache", "-q", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--no-cache", "--check", "-q", "."],
    "types": [sys.executable, "-m", "mypy", "--no-error-summary"],
    "tests": [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"],
}
HEAD = ("document", "served", "skipped", "reasons", "warnings", "no example", "seconds", "MB", "error")


@dataclass
class Result:
    """The result for a document; `steps` maps a check of the project to `ok` or to its output."""

    name: str
    served: int = 0
    skipped: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: int = 0
    seconds: float = 0
    megabytes: float = 0
    without_example: int = 0
    error: str = ""
    steps: dict[str, str] = field(default_factory=dict)


def skipped(document: Path) -> list[tuple[str, str, str]]:
    """Return (operation, code, message) of every operation that is left out."""
    text = run([*AQLGEN, "explain", str(document), "--output-format", "json"], limit=TIME_LIMIT).output
    operations = json.loads(text[text.index("{") :])["skipped"]
    return [(f"{row['method']} {row['path']}", row["code"], row["message"]) for row in operations]


def measure(entry: Entry, folder: Path) -> Result:
    """Generate one project."""
    command = [*AQLGEN, "from-openapi", str(entry.path), "-o", str(folder), "--output-format", "json", "-q"]
    finished = run(command, limit=TIME_LIMIT)
    result = Result(entry.name, seconds=finished.seconds, megabytes=finished.megabytes)
    try:
        answer = json.loads(finished.output[finished.output.index("{") :])
    except ValueError:
        result.error = f"ended with {finished.code}: {finished.output.strip()[-300:]}"
        return result
    if finished.code:
        result.error = answer["error"]["message"]
        return result
    result.served, result.warnings = answer["operations"]["total"], len(answer["warnings"])
    if answer["operations"]["skipped"]:
        result.skipped = skipped(entry.path)
    rows = [row for path in folder.glob("src/*/operations/*.json") for row in json.loads(path.read_bytes()).values()]
    result.without_example = sum("example" not in row for row in rows)
    return result


def inspect(result: Result, folder: Path, skip: list[str]) -> None:
    """Lint, check and test the project."""
    steps = {key: command for key, command in STEPS.items() if key not in skip}
    for step, command in steps.items():
        finished = run(command, folder, TIME_LIMIT)
        text = finished.output.strip()
        last = text.splitlines()[-1:] or [""]
        result.steps[step] = f"ok {last[0]}" if finished.code == 0 else f"FAILED ({finished.code}) {text[-2000:]}"


def line(result: Result) -> str:
    """Return the line of a document."""
    reasons = Counter(code for _, code, _ in result.skipped)
    cells = [
        result.name,
        result.served,
        len(result.skipped),
        " ".join(f"{code}:{count}" for code, count in reasons.items()) or "-",
        result.warnings,
        result.without_example,
        f"{result.seconds:.2f}",
        f"{result.megabytes:.0f}",
        result.error or "-",
        *(output.split(" ")[0] for output in result.steps.values()),
    ]
    return "\t".join(str(cell).replace("\n", " ") for cell in cells)


def main(argv: Sequence[str]) -> int:
    """Print a line for each document, then what failed and why operations are skipped; return 1 if anything failed."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    arguments.add_argument("--projects", action="store_true", help="lint, type-check and test every project")
    arguments.add_argument("--skip", action="append", default=[], choices=list(STEPS), help="leave out a step")
    arguments.add_argument("--output", type=Path, metavar="FILE", help="write the table to FILE too")
    options = arguments.parse_args(argv)
    steps = [step for step in STEPS if step not in options.skip] if options.projects else []
    lines = ["\t".join([*HEAD, *steps])]
    print(lines[0])
    results = []
    for entry in entries(options.corpus, options.only):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "project"
            result = measure(entry, folder)
            if options.projects and not result.error:
                inspect(result, folder, options.skip)
        results.append(result)
        lines.append(line(result))
        print(lines[-1], flush=True)
    summary = list(summarized(results))
    print("\n".join(summary))
    if options.output:
        options.output.write_text("\n".join([*lines, *summary]) + "\n", encoding="utf-8")
    return 1 if any(map(failed, results)) else 0


def failed(result: Result) -> bool:
    """Return True if the document was refused or a check of its project failed."""
    return bool(result.error) or any(not output.startswith("ok") for output in result.steps.values())


def summarized(results: Sequence[Result]) -> Iterable[str]:
    """Yield the lines of the sums, of the skipped operations and of the failures."""
    served, left_out = sum(result.served for result in results), sum(len(result.skipped) for result in results)
    yield (
        f"\n{len(results)} documents, {sum(not result.error for result in results)} generated; "
        f"{served:,} operations served, {left_out} skipped: {100 * served / max(1, served + left_out):.2f} %"
    )
    for result in results:
        yield from (f"  {result.name}: {key} [{code}] {message}" for key, code, message in result.skipped)
    for result in filter(failed, results):
        yield f"FAILED {result.name}: {result.error}"
        yield from (f"  {step}: {output}" for step, output in result.steps.items() if not output.startswith("ok"))
