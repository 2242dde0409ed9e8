"""Count the o200k tokens from connecting to the right operation, described: the way from words to a call.

It is what an agent reads and writes from the list of tools on: a search, and where that does not describe the right
operation, its description by name if it is listed, or else the next page, three times at most. Counted with five tools
and with one, each beside the way that needs two calls (the protocol's list, then the description by name). The tasks
are our own over the corpus (`search_tasks.tsv`, `described_tasks.tsv`), and those of `--tasks DIR` with a single
operation, in the documents of that folder. `--fastmcp PYTHON` counts the same for FastMCP's search transforms, by words
(BM25) and by regular expression, as JSON and as Markdown; what they do not find at once counts as not found. The
figures of every second task follow as `held out`.
"""

from __future__ import annotations

import csv
import json
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf
from pathlib import Path
from typing import Any

from aqlgen.document.assemble import assemble
from aqlgen.document.request import Request
from aqlgen.runtime.introspection.introspect import Introspection
from aqlgen.runtime.server.mcp import build_tools
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Adapter, Table
from bench.descriptions import write_table
from bench.search import OWN, address
from bench.support.arguments import add_only, parser
from bench.tokens import compact, count

MORE = Path(__file__).parent / "described_tasks.tsv"
PEER = Path(__file__).parent / "support" / "fastmcp_search.py"
PAGES = 3
MODES = {"five tools": "semantic", "one tool": "single"}
Ask = Callable[..., dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Task:
    """A search in a document, and the operations that are right, each as method and path."""

    document: Path
    query: str
    right: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Way:
    """What it took to have the right operation described: tokens, infinitely many if it never was, and calls."""

    tokens: float
    calls: int


def tasks(corpus: Path, folder: Path | None) -> Iterator[Task]:
    """Yield our own tasks, and those of a folder that need one operation."""
    for file, column in ((OWN, "operation"), (MORE, "operations")):
        with file.open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows, delimiter="\t"):
                yield Task(corpus / row["document"], row["query"], tuple(row[column].split(", ")))
    if folder is not None:
        for entry in map(json.loads, (folder / "tasks.jsonl").read_text("utf-8").splitlines()):
            if len(entry["gold"]) == 1:
                yield Task(folder / f"{entry['doc']}.json", entry["query"], (address(entry["gold"][0]),))


class Agent:
    """An agent that knows the tools of one adapter and has a task; it counts what it reads and writes."""

    def __init__(self, ask: Ask, listed: int) -> None:
        self._answer = ask
        self.tokens = listed
        self.calls = 0

    def ask(self, **params: Any) -> dict[str, Any]:
        """Introspect; return the data."""
        request = {"operation": "introspect", "params": params}
        answer = self._answer(params)
        self.tokens += count(compact(request)) + count(compact(answer))
        self.calls += 1
        data: dict[str, Any] = answer["data"]
        return data

    def in_one_step(self, query: str, right: set[str]) -> Way:
        """Search by the query of our own; the best comes described, others are described by name."""
        after: dict[str, str] = {}
        for _ in range(PAGES):
            data = self.ask(query="search", search=query, **after)
            if right & {operation["name"] for operation in data["operations"]}:
                return Way(self.tokens, self.calls)
            known = right & data["others"].keys()
            if known:
                self.ask(query="search", name=[min(known)])
                return Way(self.tokens, self.calls)
            if "next" not in data:
                break
            after = {"after": data["next"]}
        return Way(inf, self.calls)

    def in_two_steps(self, query: str, right: set[str]) -> Way:
        """Search by the protocol's list, then have the right one described by its name."""
        after: dict[str, str] = {}
        for _ in range(PAGES):
            data = self.ask(query="operations", search=query, **after)
            known = right & {operation["name"] for operation in data["operations"]}
            if known:
                self.ask(query="operations", name=min(known))
                return Way(self.tokens, self.calls)
            following = data["_protocol"].get("page", {}).get("next")
            if following is None:
                break
            after = {"after": following}
        return Way(inf, self.calls)


def ours(document: Path, work: Sequence[Task]) -> dict[str, list[Way]]:
    """Return the ways of the tasks of one document, by how they were gone."""
    ways: dict[str, list[Way]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_table(document, folder)
        adapter, table = Adapter.load(folder), Table(folder)
        names: dict[str, set[str]] = {}
        for name, _, (method, path) in table.values("method", "path"):
            names.setdefault(address(f"{method.upper()} {path}"), set()).add(name)
        for title, mode in MODES.items():
            config = Config(mode=mode)
            introspection = Introspection(adapter, table, config)
            tools = build_tools(adapter, config)
            listed = count(compact([tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools]))

            def ask(params: dict[str, Any], introspection: Introspection = introspection) -> dict[str, Any]:
                return introspection.answer(params, "session")

            for task in work:
                right = {name for operation in task.right for name in names.get(operation, ())}
                ways.setdefault(title, []).append(Agent(ask, listed).in_one_step(task.query, right))
                ways.setdefault(f"{title}, in two steps", []).append(Agent(ask, listed).in_two_steps(task.query, right))
    return ways


def peers(python: str, document: Path, work: Sequence[Task]) -> dict[str, list[Way]]:
    """Return the ways of the same tasks with FastMCP's transforms; nothing if it cannot read the document."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "document.json"
        file.write_text(json.dumps(assemble(Request(str(document))).root), encoding="utf-8")
        lines = json.dumps([{"query": task.query, "right": task.right} for task in work])
        finished = subprocess.run(
            [python, str(PEER), str(file)], input=lines, capture_output=True, text=True, check=False, timeout=1200
        )
    if finished.returncode:
        print(finished.stderr[-500:])
        return {}
    ways: dict[str, list[Way]] = {}
    for title, result in json.loads(finished.stdout).items():
        listed = count(result["tools"])
        for answer in result["answers"]:
            tokens = listed + count(answer["request"]) + count(answer["answer"])
            ways.setdefault(title, []).append(Way(tokens if answer["described"] else inf, 1))
    return ways


def figures(ways: Sequence[Way]) -> str:
    """Return the median and the 95th percentile of the tokens, how many took one call, and how many were not found."""
    ordered = sorted(way.tokens for way in ways)
    middle, high = (ordered[max(0, ceil(len(ordered) * share) - 1)] for share in (0.5, 0.95))
    at_once = sum(way.calls == 1 and way.tokens < inf for way in ways)
    lost = sum(way.tokens == inf for way in ways)
    return f"{middle:7.0f} {high:7.0f}  {at_once:3} of {len(ways):3} in one call, {lost:2} not found"


def main(argv: Sequence[str]) -> None:
    """Print a line for each document and way."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("corpus", type=Path, help="the folder of the documents of our own tasks")
    arguments.add_argument("--tasks", type=Path, metavar="DIR", help="tasks.jsonl with its documents")
    arguments.add_argument(
        "--fastmcp", metavar="PYTHON", help="the interpreter of an environment with fastmcp 3 or later"
    )
    add_only(arguments)
    options = arguments.parse_args(argv)
    work: dict[Path, list[Task]] = {}
    for task in tasks(options.corpus, options.tasks):
        if options.only in task.document.name:
            work.setdefault(task.document, []).append(task)
    print(f"{'document':26} {'way':26}  median     p95")
    for document, document_tasks in work.items():
        ways = ours(document, document_tasks)
        if options.fastmcp:
            ways |= peers(options.fastmcp, document, document_tasks)
        for title, results in ways.items():
            print(f"{document.stem:26} {title:26} {figures(results)}  held out {figures(results[1::2])}", flush=True)
