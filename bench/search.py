"""Measure how well `introspect` finds operations: RestBench, WAPIIBench, BFCL, and tasks of our own over the corpus.

A folder holds the documents and `tasks.jsonl`, where a line has set, doc, query and gold (a list of `METHOD /path`), or
`openapi.json` and `tasks.json`, where gold is a path; functions of one name differ by the `/v…` at its end.
Our own tasks (`search_tasks.tsv`) are searched in the documents of `--corpus`: some are worded as models do, some with
values as in WAPIIBench, some as people do, `typed` are more of the models', most of other documents, and `blind` are
people's that were written before a first run; what operations answer them stands between ` or `. The weights of the
features were fitted on every second task of a set;
the figures of the others say what they are worth. `--without FEATURE` says what one of them earns, fitted or not.
`weak` is how many first hits are marked so, of right ones, and where the documents' tasks are exchanged.
`--operations N` adds what searches cost in a synthetic document of that size: milliseconds of this process, megabytes
of the index.
"""

from __future__ import annotations

import csv
import json
import re
import tempfile
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from aqlgen.runtime.introspection.postings import Postings
from aqlgen.runtime.introspection.ranking import WEIGHTS, Ranking
from aqlgen.table.model import Table
from aqlgen.table.search import search_index
from bench.support.arguments import parser
from bench.support.synthetic import document

OWN = Path(__file__).parent / "search_tasks.tsv"
FIRST = 10
PARTS = ("fitted", "held out")


@dataclass(frozen=True, slots=True)
class Task:
    """A search with the operations that it is for."""

    set: str
    part: str
    document: Path
    query: str
    gold: tuple[str, ...]


@dataclass
class Score:
    """The counts of one set."""

    tasks: int = 0
    recall: float = 0.0
    first: int = 0
    in_five: int = 0
    right_weak: int = 0
    foreign: int = 0
    foreign_weak: int = 0

    def __str__(self) -> str:
        """Return the shares in a line."""
        tasks = self.tasks or 1
        return (
            f"{self.tasks:4} tasks  recall@10 {self.recall / tasks:.3f}  first {self.first / tasks:.3f}"
            f"  in five {self.in_five / tasks:.3f}"
            f"  weak {self.right_weak / (self.first or 1):.2f}, foreign {self.foreign_weak / (self.foreign or 1):.2f}"
        )


def address(text: str) -> str:
    """Return a method and path without the names of its parameters, and without the version of a function."""
    return re.sub(r"/v[0-9a-f]{5,6}$", "", re.sub(r"\{[^}]*\}", "{}", text.rstrip("/")))


def entries(folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the tasks of a folder."""
    if (folder / "tasks.jsonl").exists():
        yield from map(json.loads, (folder / "tasks.jsonl").read_text("utf-8").splitlines())
    else:
        for entry in json.loads((folder / "tasks.json").read_text("utf-8")):
            yield {**entry, "set": folder.name, "doc": "openapi", "gold": [f"POST {entry['gold']}"]}


def tasks(folders: Sequence[Path], corpus: Path | None) -> Iterator[Task]:
    """Yield the tasks of folders, and our own if there is a corpus; the weights saw every second one of a set."""
    seen: dict[str, int] = defaultdict(int)
    for folder in folders:
        for entry in entries(folder):
            gold = tuple(map(address, entry["gold"]))
            part = PARTS[seen[entry["set"]] % 2]
            yield Task(entry["set"], part, folder / f"{entry['doc']}.json", entry["query"], gold)
            seen[entry["set"]] += 1
    if corpus is not None:
        with OWN.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file, delimiter="\t")):
                gold = tuple(row["operation"].split(" or "))
                style, place = f"own, {row['style']}", corpus / row["document"]
                yield Task(style, PARTS[number % 2], place, row["query"], gold)


def table_of(document: Path) -> Table:
    """Return the table of a document."""
    return prepare(Options((Request(str(document)),)), lambda _: None).table


def scores(
    all_tasks: Sequence[Task], weights: Mapping[str, float], *, misses: bool = False
) -> dict[tuple[str, str], Score]:
    """Return the counts by part and set; with `misses` print what was not found first, of the fitted part alone."""
    result: dict[tuple[str, str], Score] = defaultdict(Score)
    documents = sorted({task.document for task in all_tasks})
    for number, place in enumerate(documents):
        table = table_of(place)
        addresses = {row.name: address(row.row.key) for row in table.rows}
        ranking = Ranking(Postings(search_index(table)), weights=weights)
        for task in all_tasks:
            score = result[task.part, task.set]
            if task.document == documents[number - 1] != place:
                score.foreign += 1
                score.foreign_weak += ranking.search(task.query).weak
            if task.document != place:
                continue
            matches = ranking.search(task.query, most=FIRST)
            names = [addresses[hit.name] for hit in matches.hits]
            right = names[:1] != [] and names[0] in task.gold
            score.tasks += 1
            score.recall += sum(gold in names for gold in task.gold) / len(task.gold)
            score.first += right
            score.in_five += any(gold in names[:5] for gold in task.gold)
            score.right_weak += right and matches.weak
            if misses and task.part == PARTS[0] and not set(task.gold) <= set(names[: max(1, len(task.gold))]):
                print(f"{task.query} | {task.gold} | {[hit.name for hit in matches.hits][:5]}")
    return result


QUERIES = (
    "list invoices of an account in the eu",
    "create legacy payment",
    "delete edge core sensor",
    "updte shipmnt",
    "How do I find all open tickets that belong to a user of the partner team?",
    'Create a new mobile batch order named "X" for account 123, setting its state to "paused" and its labels to "a"',
    "xylophone",
)


def costs(operations: int) -> None:
    """Print what the first search and others cost, each for the first time and again."""
    with tempfile.TemporaryDirectory() as scratch:
        spec = Path(scratch) / "document.json"
        spec.write_bytes(document(operations))
        table = table_of(spec)
        begin = time.process_time()
        text = search_index(table)
        print(f"{operations} operations: made in {time.process_time() - begin:.1f} s, {len(text) / 1e6:.1f} MB")
    del table
    tracemalloc.start()
    ranking = Ranking(Postings(text))
    ranking.search(QUERIES[0])
    held, peak = tracemalloc.get_traced_memory()
    print(f"in memory {held / 1e6:.0f} MB, at most {peak / 1e6:.0f} MB")
    tracemalloc.stop()
    begin = time.process_time()
    ranking = Ranking(Postings(text))
    ranking.search(QUERIES[0])
    print(f"{(time.process_time() - begin) * 1e3:6.1f} ms the first search, reading the index")
    for query in QUERIES:
        spent = []
        for _ in range(6):
            begin = time.process_time()
            ranking.search(query)
            spent.append((time.process_time() - begin) * 1e3)
        print(f"{spent[0]:6.1f} ms, again {median(spent[1:]):5.1f} ms  {query}")


def main(argv: Sequence[str]) -> None:
    """Print a line for each set and part."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("folders", type=Path, nargs="+", help="tasks with their documents")
    arguments.add_argument("--corpus", type=Path, metavar="DIR", help="the documents of our own tasks")
    arguments.add_argument("--misses", action="store_true", help="print what was not found, of the fitted part")
    arguments.add_argument("--without", action="append", default=[], choices=WEIGHTS, metavar="FEATURE")
    arguments.add_argument("--operations", type=int, default=0, metavar="N", help="also the cost of searches")
    options = arguments.parse_args(argv)
    if options.operations:
        costs(options.operations)
    weights = WEIGHTS | dict.fromkeys(options.without, 0.0)
    result = scores(list(tasks(options.folders, options.corpus)), weights, misses=options.misses)
    for (part, name), score in sorted(result.items(), reverse=True):
        print(f"{part:9} {name:26} {score}")
