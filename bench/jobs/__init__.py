"""Play 20 jobs of 3 to 12 operations over five APIs by fixed policies, and count calls and tokens.

Each job is played in a real MCP client session against a stand-in of the API that remembers what is written: as a plan
over the adapter of today; call by call over an adapter, that of another checkout with --before; and as code over
FastMCP's code mode in a Python that has it (`python -m venv DIR`, `DIR/bin/pip install 'fastmcp[code-mode]'`,
`--fastmcp DIR/bin/python`); with `--shell` also by the adapter's command, as its skill says. Every policy must leave
the same writes behind. `read` counts the context again in every turn, `added` once.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import anyio

from aqlgen.check.stand_in import serve
from bench.jobs import development, everyday
from bench.jobs.context import Context
from bench.jobs.model import Job
from bench.jobs.player import Adapter, Shell, play_as_plan, play_by_calls
from bench.jobs.things import APIS
from bench.support.arguments import add_corpus, parser
from bench.support.documents import package_of
from bench.support.processes import ROOT, generate
from bench.support.stateful import StatefulApi, key_of_list
from bench.tokens import count

JOBS: Sequence[Job] = (*development.JOBS, *everyday.JOBS)


PLAN, CALLS, PEER = "as a plan", "call by call", "FastMCP, as code"
SHELL_CALLS, SHELL_PLAN = "shell, by calls", "shell, as a plan"
Play = Callable[[Job], Context]


@dataclass
class Total:
    """The sums of one policy over jobs."""

    jobs: int = 0
    calls: int = 0
    added: int = 0
    read: int = 0
    failed: list[str] = field(default_factory=list)

    def add(self, context: Context) -> None:
        """Add a job."""
        self.jobs += 1
        self.calls += context.calls
        self.added += context.added
        self.read += context.read

    def text(self, jobs: int) -> str:
        """Return the sums as they are for a number of jobs."""
        share = jobs / max(self.jobs, 1)
        return f"{self.calls * share:5.0f} calls {self.added * share:8,.0f} added {self.read * share:9,.0f} read"


def _line(policy: str, context: Context) -> str:
    answers = " ".join(map(str, context.answers[:20]))
    return (
        f"    {policy:18} {context.calls:3} calls {context.added:7,} added {context.read:8,} read   answers {answers}"
    )


@contextmanager
def _policies(
    name: str, corpus: Path, before: Path | None, python: Path | None, folder: Path, *, asks_agent: bool, shell: bool
) -> Iterator[Any]:
    """Yield the stand-in of an API and what plays jobs over it, by policy."""
    api = APIS[name]
    document = corpus / api.document
    today = _project(document, folder / f"{name}-today", None, api.overrides)
    earlier = today if before is None else _project(document, folder / f"{name}-before", before, api.overrides)
    stand_in = StatefulApi(package_of(today), api.things, api.aliases)
    with ExitStack() as stack:
        base = stack.enter_context(serve(stand_in))
        plays: dict[str, Play] = {
            CALLS: _played(play_by_calls, Adapter(earlier, base, api.secret, asks_agent=asks_agent)),
            PLAN: _played(play_as_plan, Adapter(today, base, api.secret, asks_agent=asks_agent)),
        }
        if shell:
            command = Shell(today, base, api.secret)
            plays |= {SHELL_CALLS: _played(play_by_calls, command), SHELL_PLAN: _played(play_as_plan, command)}
        if python is not None:
            plays[PEER] = stack.enter_context(_peer(python, document, base, _lists(stand_in)))
        yield stand_in, plays


def _project(document: Path, project: Path, checkout: Path | None, overrides: str) -> Path:
    if not project.exists():
        project.parent.mkdir(parents=True, exist_ok=True)
        words = project.with_suffix(".yaml")
        words.write_text(overrides)
        generate(document, project, "--overrides", str(words), folder=checkout)
    return project


def _played(policy: Callable[[Adapter, Job], Awaitable[Context]], adapter: Adapter) -> Play:
    return lambda job: anyio.run(policy, adapter, job)


def _lists(api: StatefulApi) -> dict[str, str | None]:
    """Return the fields that hold the lists of answers, by operation."""
    lists: dict[str, str | None] = {}
    for job in JOBS:
        for step in job.steps:
            method, path = step.operation.split(" ")
            row = api.row_of(method, path)
            body = None if row is None else api.mocked(row)[1]
            key = key_of_list(body, path.rpartition("/")[2])
            if method == "GET" and (key is not None or isinstance(body, list)):
                lists[step.operation] = key
    return lists


@contextmanager
def _peer(python: Path, document: Path, base: str, lists: Mapping[str, str | None]) -> Iterator[Play]:
    """Yield what plays a job over FastMCP. Raises RuntimeError for a job that it could not play."""
    command = [str(python), str(ROOT / "bench" / "jobs" / "peer.py")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    ask, answer = process.stdin, process.stdout

    def send(value: Any) -> str:
        ask.write(json.dumps(value) + "\n")
        ask.flush()
        return answer.readline()

    def play(job: Job) -> Context:
        played = json.loads(send(asdict(job)))
        context = Context(count(played["tools"]))
        for request, text in played["exchanges"]:
            context.call(request, text)
        if played["error"]:
            raise RuntimeError(played["error"])
        return context

    try:
        send({"document": str(document.resolve()), "base": base, "lists": lists})
        yield play
    finally:
        ask.close()
        process.wait(30)


def _measure(name: str, stand_in: StatefulApi, plays: Mapping[str, Play], totals: Mapping[str, Total]) -> None:
    """Play the jobs of an API by each policy and print what they cost."""
    for job in JOBS:
        if job.api != name:
            continue
        print(f"{name}: {job.task}", flush=True)
        writes: dict[str, Any] = {}
        for policy, play in plays.items():
            stand_in.reset()
            try:
                context = play(job)
            except Exception as problem:  # noqa: BLE001 - shown with the job, and counted
                error: BaseException = problem
                while isinstance(error, BaseExceptionGroup):
                    error = error.exceptions[0]
                print(f"    {policy:18} failed: {str(error)[:1200]}", flush=True)
                totals[policy].failed.append(job.task)
                continue
            writes[policy] = sorted(f"{method} {path}" for method, path, _ in stand_in.writes)
            totals[policy].add(context)
            print(_line(policy, context), flush=True)
            if writes[policy] != next(iter(writes.values())):
                print(f"    {policy:18} left other writes behind: {writes[policy][:5]}", flush=True)
                totals[policy].failed.append(job.task)


def main(argv: Sequence[str]) -> int:
    """Print the cost of each job and the sums; return 1 if a job failed or left other writes behind."""
    options = parser(__name__, __doc__)
    add_corpus(options)
    options.add_argument("--before", type=Path, metavar="CHECKOUT", help="play call by call over its adapters")
    options.add_argument("--fastmcp", type=Path, metavar="PYTHON", help="play over FastMCP's code mode, too")
    options.add_argument("--shell", action="store_true", help="play by the adapter's command and its skill, too")
    options.add_argument("--agent", action="store_true", help="questions are answered by the agent, not a person")
    options.add_argument("--only", default="", metavar="API", help="only the jobs of one API")
    options.add_argument("--folder", type=Path, help="where projects are generated, and found in the next run")
    arguments = options.parse_args(argv)
    policies = (CALLS, PLAN, *((SHELL_CALLS, SHELL_PLAN) if arguments.shell else ()))
    totals = {policy: Total() for policy in (*policies, *([PEER] if arguments.fastmcp else []))}
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder or Path(scratch)
        for name in APIS:
            if arguments.only not in ("", name):
                continue
            api = name, arguments.corpus, arguments.before, arguments.fastmcp, folder
            with _policies(*api, asks_agent=arguments.agent, shell=arguments.shell) as (stand_in, plays):
                _measure(name, stand_in, plays, totals)
    for policy, total in totals.items():
        print(f"{policy:18} {total.jobs:2} jobs {total.text(total.jobs)}   as 15 jobs: {total.text(15)}")
    return any(total.failed for total in totals.values())
