"""Generate a project from every document of a corpus: operations served, reasons of those skipped, time and memory.

    python bench/corpus.py [CORPUS] [--only TEXT] [--projects] [--skip STEP] [--sample N] [--schemas DIR] [--output F]

CORPUS is a folder with `INDEX.tsv`, whose first column names the documents (the root document of one in several files);
default: the variable AQLGEN_CORPUS. With `--projects` each project is linted, type-checked, tested and started, and
every operation and type introspected; `--schemas` is the folder of the protocol's schemas that answers are held
against. `--sample N` does that last part for N operations and types of each, spread evenly. `--skip` leaves out a step:
lint, format, types or tests. The table goes to F.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

TIME_LIMIT = 300
INTROSPECTED = Path(__file__).parent / "introspected.py"
STEPS = {
    "lint": [sys.executable, "-m", "ruff", "check", "--no-cache", "-q", "."],
    "format": [sys.executable, "-m", "ruff", "format", "--no-cache", "--check", "-q", "."],
    "types": [sys.executable, "-m", "mypy", "--no-error-summary"],
    "tests": [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"],
}


@dataclass
class Result:
    """What became of one document; `steps` maps a check to `ok` or to what it said."""

    name: str
    served: int = 0
    skipped: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: int = 0
    seconds: float = 0
    megabytes: float = 0
    without_example: int = 0
    error: str = ""
    steps: dict[str, str] = field(default_factory=dict)


def run(command: list[str], folder: Path | None = None) -> tuple[int, str, float, float]:
    """Run to the end; give the exit code, what was printed, the wall time in seconds and the peak memory in MB."""
    begin = perf_counter()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(["timeout", str(TIME_LIMIT), *command], stdout=output, stderr=output, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    return process.returncode, text, perf_counter() - begin, usage.ru_maxrss / scale


def skipped(document: Path) -> list[tuple[str, str, str]]:
    """Give (operation, code, message) of every operation that is left out."""
    _, text, _, _ = run([sys.executable, "-m", "aqlgen", "explain", str(document), "--output-format", "json"])
    listed = json.loads(text[text.index("{") :])["skipped"]
    return [(f"{one['method']} {one['path']}", one["code"], one["message"]) for one in listed]


def measure(name: str, document: Path, folder: Path) -> Result:
    """Generate one project."""
    result = Result(name)
    command = [sys.executable, "-m", "aqlgen", "from-openapi", str(document), "-o", str(folder)]
    code, text, result.seconds, result.megabytes = run([*command, "--output-format", "json", "-q"])
    try:
        said = json.loads(text[text.index("{") :])
    except ValueError:
        result.error = f"ended with {code}: {text.strip()[-300:]}"
        return result
    if code:
        result.error = said["error"]["message"]
        return result
    result.served, result.warnings = said["operations"]["total"], len(said["warnings"])
    if said["operations"]["skipped"]:
        result.skipped = skipped(document)
    rows = [row for path in folder.glob("src/*/operations/*.json") for row in json.loads(path.read_bytes()).values()]
    result.without_example = sum("example" not in row for row in rows)
    return result


def inspect(result: Result, folder: Path, schemas: str | None, sample: int, skip: list[str]) -> None:
    """Lint, check, test and start the project."""
    steps = {key: command for key, command in STEPS.items() if key not in skip}
    steps |= {"answers": [sys.executable, str(INTROSPECTED), str(folder), "--sample", str(sample)]}
    if schemas:
        steps["answers"] += ["--schemas", str(Path(schemas).resolve())]
    for step, command in steps.items():
        code, text, _, _ = run(command, folder)
        last = text.strip().splitlines()[-1:] or [""]
        result.steps[step] = f"ok {last[0]}" if code == 0 else f"FAILED ({code}) {text.strip()[-2000:]}"


def documents(corpus: Path, only: str) -> Iterator[tuple[str, Path]]:
    """Give the documents that the index names."""
    with (corpus / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            if only in row["name"]:
                yield row["name"], corpus / row["name"]


def line(result: Result) -> str:
    """Give a document's line of the table."""
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
        *(said.split(" ")[0] for said in result.steps.values()),
    ]
    return "\t".join(str(one).replace("\n", " ") for one in cells)


def main() -> int:
    """Print a line for each document, then what failed and why operations are skipped; 1 when anything failed."""
    parser = argparse.ArgumentParser(description="Measure a corpus.")
    parser.add_argument("corpus", nargs="?", default=os.environ.get("AQLGEN_CORPUS"))
    parser.add_argument("--only", default="", metavar="TEXT", help="only documents whose name holds TEXT")
    parser.add_argument("--projects", action="store_true", help="lint, type-check, test and start every project")
    parser.add_argument("--skip", action="append", default=[], choices=list(STEPS), help="leave out a step")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="introspect N operations and types of each")
    parser.add_argument("--schemas", metavar="DIR", help="the protocol's JSON Schemas")
    parser.add_argument("--output", metavar="FILE", help="write the table to FILE too")
    options = parser.parse_args()
    if not options.corpus:
        parser.error("name the corpus, or set AQLGEN_CORPUS")
    head = ["document", "served", "skipped", "reasons", "warnings", "no example", "seconds", "MB", "error"]
    lines = ["\t".join([*head, *((*STEPS, "answers") if options.projects else ())])]
    lines[0] = "\t".join(one for one in lines[0].split("\t") if one not in options.skip)
    print(lines[0])
    results = []
    for name, document in documents(Path(options.corpus), options.only):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "project"
            result = measure(name, document, folder)
            if options.projects and not result.error:
                inspect(result, folder, options.schemas, options.sample, options.skip)
        results.append(result)
        lines.append(line(result))
        print(lines[-1], flush=True)
    return report(results, lines, options.output)


def report(results: list[Result], lines: list[str], output: str | None) -> int:
    """Print the sums, the skipped operations and the failures; 1 when anything failed."""
    served, left_out = sum(one.served for one in results), sum(len(one.skipped) for one in results)
    failed = [one for one in results if one.error or any(not said.startswith("ok") for said in one.steps.values())]
    share = 100 * served / max(1, served + left_out)
    lines.append(
        f"\n{len(results)} documents, {sum(not one.error for one in results)} generated; "
        f"{served:,} operations served, {left_out} skipped: {share:.2f} %"
    )
    for one in results:
        lines += [f"  {one.name}: {key} [{code}] {message}" for key, code, message in one.skipped]
    for one in failed:
        lines.append(f"FAILED {one.name}: {one.error}")
        lines += [f"  {step}: {said}" for step, said in one.steps.items() if not said.startswith("ok")]
    print("\n".join(lines[len(results) + 1 :]))
    if output:
        Path(output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
