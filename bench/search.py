"""Measure how well `introspect` finds operations: RestBench, WAPIIBench, and tasks of our own over the corpus.

The folder holds the documents and `tasks.jsonl`, where a line has set, doc, query and gold (a list of `METHOD /path`).
Our own tasks (`search_tasks.tsv`) are searched in the documents of `--corpus`: some are worded as models do, some with
values as in WAPIIBench, some as people do, and `typed` are more of the models', most of other documents; what
operations answer them stands between ` or `. Every second task of a set is for tuning; the figures of the others say
what the weights are worth.
`--operations N` adds what searches cost in a synthetic document of that size: milliseconds of this process, megabytes
of the index.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import random
import re
import tempfile
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from aqlgen.runtime.introspection import postings
from aqlgen.runtime.introspection.postings import Postings
from aqlgen.runtime.introspection.ranking import Ranking
from aqlgen.runtime.introspection.weighing import Weights
from aqlgen.table.model import Table
from aqlgen.table.search import search_index
from bench.support.arguments import parser
from bench.support.synthetic import document

OWN = Path(__file__).parent / "search_tasks.tsv"
FIRST = 10
PARTS = ("tuning", "held out")


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
    empty: int = 0

    def __str__(self) -> str:
        """Return the shares in a line."""
        tasks = self.tasks or 1
        return (
            f"{self.tasks:4} tasks  recall@10 {self.recall / tasks:.3f}  first {self.first / tasks:.3f}"
            f"  in five {self.in_five / tasks:.3f}  unmatched {self.empty}"
        )


def address(text: str) -> str:
    """Return a method and path without the names of its parameters."""
    return re.sub(r"\{[^}]*\}", "{}", text.rstrip("/"))


def tasks(folder: Path, corpus: Path | None) -> Iterator[Task]:
    """Yield the tasks of a folder, and our own if there is a corpus; every second one of a set is for tuning."""
    seen: dict[str, int] = defaultdict(int)
    for entry in map(json.loads, (folder / "tasks.jsonl").read_text("utf-8").splitlines()):
        gold = tuple(map(address, entry["gold"]))
        yield Task(entry["set"], PARTS[seen[entry["set"]] % 2], folder / f"{entry['doc']}.json", entry["query"], gold)
        seen[entry["set"]] += 1
    if corpus is not None:
        with OWN.open(encoding="utf-8", newline="") as file:
            for number, row in enumerate(csv.DictReader(file, delimiter="\t")):
                document = corpus / row["document"]
                yield Task(
                    f"own, {row['style']}",
                    PARTS[number % 2],
                    document,
                    row["query"],
                    tuple(row["operation"].split(" or ")),
                )


def table_of(document: Path) -> Table:
    """Return the table of a document."""
    return prepare(Options(request=Request(str(document))), lambda _: None).table


class Trial:
    """The tables of all documents, to be searched with any weights."""

    def __init__(self, all_tasks: Sequence[Task]) -> None:
        self.tasks = all_tasks
        self.tables = {document: table_of(document) for document in sorted({task.document for task in all_tasks})}
        self.addresses = {
            document: {row.name: address(row.row.key) for row in table.rows} for document, table in self.tables.items()
        }

    def indexes(self) -> dict[Path, Postings]:
        """Return the indexes of the documents with the weights of terms as they are now."""
        return {document: Postings.of(search_index(table)) for document, table in self.tables.items()}

    def scores(
        self, indexes: Mapping[Path, Postings], weights: Weights, *, misses: bool = False
    ) -> dict[tuple[str, str], Score]:
        """Return the counts by part and set; with `misses` print what was not found first, of the tuning part alone."""
        rankings = {document: Ranking(index, weights) for document, index in indexes.items()}
        scores: dict[tuple[str, str], Score] = defaultdict(Score)
        for task in self.tasks:
            hits = rankings[task.document].search(task.query, most=FIRST)
            names = [self.addresses[task.document][hit.name] for hit in hits]
            score = scores[task.part, task.set]
            score.tasks += 1
            score.recall += sum(gold in names for gold in task.gold) / len(task.gold)
            score.first += names[:1] != [] and names[0] in task.gold
            score.in_five += any(gold in names[:5] for gold in task.gold)
            score.empty += not names
            if misses and task.part == PARTS[0] and not set(task.gold) <= set(names[: max(1, len(task.gold))]):
                print(f"{task.query} | {task.gold} | {[hit.name for hit in hits][:5]}")
        return scores


def worth(scores: Mapping[tuple[str, str], Score]) -> float:
    """Return what tuning makes as high as it can: recall of chains, first hits of single calls."""
    total = 0.0
    for (part, name), score in scores.items():
        if part == PARTS[0]:
            if name.startswith("RestBench"):
                total += 2 * score.recall / score.tasks
            else:
                total += min(1, score.tasks / 30) * (score.first + 0.5 * score.in_five) / score.tasks
    return total


def tune(trial: Trial, rounds: int, seed: int) -> Weights:
    """Return weights that a random walk from today's found better on the tuning part; print each step up."""
    dice = random.Random(seed)
    weights, zones, indexes = Weights(), dict(postings.WEIGHTS), trial.indexes()
    best = worth(trial.scores(indexes, weights))
    names = [field.name for field in dataclasses.fields(Weights)]
    for _ in range(rounds):
        tried, tried_zones, tried_indexes = weights, dict(zones), indexes
        for _ in range(dice.choice((1, 1, 2, 3))):
            if dice.random() < 0.2:
                zone = dice.choice([zone for zone in zones if zone != "name"])
                tried_zones[zone] = min(9.0, max(1.0, tried_zones[zone] + dice.choice((-1, -0.5, 0.5, 1))))
            else:
                name = dice.choice(names)
                value = getattr(tried, name) + dice.choice((-0.2, -0.1, -0.05, 0.05, 0.1, 0.2))
                tried = dataclasses.replace(tried, **{name: round(min(1.0, max(0.0, value)), 2)})
        if tried_zones != zones:
            postings.WEIGHTS.update(tried_zones)
            tried_indexes = trial.indexes()
        result = worth(trial.scores(tried_indexes, tried))
        if result > best:
            best, weights, zones, indexes = result, tried, tried_zones, tried_indexes
            print(f"{best:.4f} {weights} {zones}", flush=True)
    postings.WEIGHTS.update(zones)
    return weights


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
    ranking = Ranking(Postings.of(text))
    ranking.search(QUERIES[0])
    held, peak = tracemalloc.get_traced_memory()
    print(f"in memory {held / 1e6:.0f} MB, at most {peak / 1e6:.0f} MB")
    tracemalloc.stop()
    begin = time.process_time()
    ranking = Ranking(Postings.of(text))
    ranking.search(QUERIES[0])
    print(f"{(time.process_time() - begin) * 1e3:6.1f} ms the first search, reading the index")
    for query in QUERIES:
        spent = []
        for _ in range(6):
            begin = time.process_time()
            ranking.search(query) or ranking.nearest(query)
            spent.append((time.process_time() - begin) * 1e3)
        print(f"{spent[0]:6.1f} ms, again {median(spent[1:]):5.1f} ms  {query}")


def main(argv: Sequence[str]) -> None:
    """Print a line for each set and part."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("folder", type=Path, help="tasks.jsonl with its documents")
    arguments.add_argument("--corpus", type=Path, metavar="DIR", help="the documents of our own tasks")
    arguments.add_argument("--misses", action="store_true", help="print what was not found, of the tuning part")
    arguments.add_argument("--tune", type=int, default=0, metavar="N", help="first try N changes of the weights")
    arguments.add_argument("--seed", type=int, default=1, metavar="N")
    arguments.add_argument("--operations", type=int, default=0, metavar="N", help="also the cost of searches")
    options = arguments.parse_args(argv)
    if options.operations:
        costs(options.operations)
    trial = Trial(list(tasks(options.folder, options.corpus)))
    weights = tune(trial, options.tune, options.seed) if options.tune else Weights()
    scores = trial.scores(trial.indexes(), weights, misses=options.misses)
    for (part, name), score in sorted(scores.items(), reverse=True):
        print(f"{part:9} {name:26} {score}")
