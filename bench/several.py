"""Measure one adapter of several APIs: what it costs, its names, its search, and where its credentials go.

The documents are those of the corpus with the most tasks in `search_tasks.tsv`. Printed are the time and memory of
`from-openapi` with all of them and of each alone; the names that have a prefix; the tokens of the tools; how well
searches find operations in each adapter alone, in the one of all, in that with the name of the API behind the words,
and in that with `api` given; and, for a few calls of each API against a stand-in that records requests, how many
carried a credential of another API.
"""

from __future__ import annotations

import asyncio
import csv
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from aqlgen.conformance.operations import operations_of
from aqlgen.conformance.stand_in import StandIn, base_url, serve
from aqlgen.document.request import Request
from aqlgen.page.tokens import offered
from aqlgen.pipeline import ApiInput, Options, Prepared, prepare
from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.introspection.postings import Postings
from aqlgen.runtime.introspection.ranking import Ranking
from aqlgen.runtime.session import Session
from aqlgen.table.model import Table, table_files
from aqlgen.table.search import search_index
from bench.search import FIRST, OWN, address
from bench.support.arguments import parser
from bench.support.processes import AQLGEN, run

Tasks = Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]


def tasks() -> Tasks:
    """Return the searches by document, each with the operations that it is for."""
    searches: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
    with OWN.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            searches[row["document"]].append((row["query"], tuple(row["operation"].split(" or "))))
    return searches


def quiet(_: str) -> None:
    """Show no progress."""


class Found:
    """Counts of searches that found what they are for first, and among the first ten."""

    def __init__(self) -> None:
        self.tasks = self.first = self.in_ten = 0

    def add(self, names: Sequence[str], gold: Sequence[str]) -> None:
        """Count a search by the addresses that it found."""
        self.tasks += 1
        self.first += names[:1] != [] and names[0] in gold
        self.in_ten += bool(set(names[:FIRST]) & {*gold})

    def __str__(self) -> str:
        """Return the shares."""
        return f"{self.tasks} tasks, first {self.first / self.tasks:.3f}, in ten {self.in_ten / self.tasks:.3f}"


def searched(table: Table, api: str, of_document: Sequence[tuple[str, tuple[str, ...]]], score: Found, ranking: Ranking,
             *, narrowed: bool = False, named: bool = False) -> None:  # fmt: skip
    """Search a table for the tasks of one API's document, narrowed to it, or with its name behind the words."""
    addresses = {row.name: (row.row.api, address(f"{row.row.method} {row.row.path}")) for row in table.rows}

    def wanted(hit: object) -> bool:
        return addresses.get(getattr(hit, "name", ""), ("", ""))[0] == api

    for query, gold in of_document:
        hits = ranking.ranked(f"{query} in {api}" if named else query, wanted if narrowed else None)[:FIRST]
        places = (addresses[hit.name] for hit, _ in hits if hit.name in addresses)
        score.add([place if of_api == api else "" for of_api, place in places], gold)


def crossings(result: Prepared, scratch: Path, sample: int) -> tuple[int, int, int]:
    """Return the calls made, the requests with their own API's credential, and those with another's."""
    package = scratch / "package"
    for path, text in {**table_files(result.table), "search.txt": search_index(result.table)}.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text, encoding="utf-8")
    adapter = result.table.adapter
    secrets = {
        variable: f"secret-of-{name}-{number}"
        for name, scheme in adapter.security_schemes.items()
        for number, variable in enumerate(scheme["variables"])
        if scheme.get("type") != "mutualTLS"
    }
    owner = {secret: name.partition(":")[0] for name, scheme in adapter.security_schemes.items()
             for variable in scheme["variables"] if (secret := secrets.get(variable))}  # fmt: skip
    api = StandIn(package)
    counted: Counter[str] = Counter()
    chosen = []
    for operation in operations_of(api.table):
        if operation.row.family == "read" and operation.params is not None and counted[operation.row.api] < sample:
            counted[operation.row.api] += 1
            chosen.append(operation)

    async def calls(base: str) -> None:
        environ = {**secrets, "MCP_AQL_BASE_URL": base_url(adapter, base), "MCP_AQL_STATE_URL": "memory:",
                   "MCP_AQL_RETRIES": "0"}  # fmt: skip
        parts = assemble(package, environ=environ)
        for operation in chosen:
            call = {"operation": operation.name, "params": operation.params}
            await parts.dispatcher.handle(None, call, Session.new())
        await parts.close()

    with serve(api) as base:
        asyncio.run(calls(base))
    carrying = crossing = 0
    for request in api.arrived:
        text = str([dict(request.headers), request.path, request.query, request.body])
        carried = {owner[secret] for secret in owner if secret in text}
        carrying += request.api in carried
        crossing += bool(carried - {request.api})
    return len(chosen), carrying, crossing


def main(argv: Sequence[str]) -> None:
    """Print the figures."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("--corpus", type=Path, required=True)
    arguments.add_argument("--documents", type=int, default=20, metavar="N")
    arguments.add_argument("--calls", type=int, default=8, metavar="N", help="of each API, against the stand-in")
    arguments.add_argument("--no-processes", action="store_true", help="without the time and memory of the command")
    options = arguments.parse_args(argv)
    all_tasks = tasks()
    most = sorted(all_tasks, key=lambda name: (-len(all_tasks[name]), name))
    files = [name for name in most if (options.corpus / name).is_file()][: options.documents]
    specs = {"".join(filter(str.isalnum, name.split(".")[0].split("-")[0].split("/")[0])): options.corpus / name
             for name in files}  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        if not options.no_processes:
            named = [f"{name}={path}" for name, path in specs.items()]
            whole = run(
                [*AQLGEN, "from-openapi", *named, "--name", "company", "-o", f"{scratch}/all", "-q"], limit=1800
            )
            alone = [
                run([*AQLGEN, "from-openapi", str(path), "-o", f"{scratch}/{name}", "-q"], limit=1800)
                for name, path in specs.items()
            ]
            print(f"from-openapi: {whole.seconds:.1f} s, {whole.megabytes:.0f} MB (exit {whole.code}); each alone "
                  f"{sum(each.seconds for each in alone):.1f} s together, at most "
                  f"{max(each.megabytes for each in alone):.0f} MB")  # fmt: skip
        inputs = tuple(ApiInput(name, Request(str(path))) for name, path in specs.items())
        result = prepare(Options(inputs[0].request, name="company", apis=inputs), quiet)
        rows = result.table.rows
        prefixed = Counter(row.row.api for row in rows if row.name.startswith(f"{row.row.api}_"))
        print(f"{len(specs)} APIs, {len(rows)} operations, {len(result.table.types)} types; "
              f"{sum(prefixed.values())} names with a prefix: "
              + ", ".join(f"{api} {count}" for api, count in prefixed.most_common()))  # fmt: skip
        print("tokens of tools/list, five tools and one: {}, {}".format(*offered(result.table.adapter)))
        together, named, narrowed, single = Found(), Found(), Found(), Found()
        ranking = Ranking(Postings.of(search_index(result.table)), prefixes=frozenset(specs))
        costs = []
        for name, path in specs.items():
            of_document = all_tasks[files[list(specs).index(name)]]
            searched(result.table, name, of_document, together, ranking)
            searched(result.table, name, of_document, named, ranking, named=True)
            searched(result.table, name, of_document, narrowed, ranking, narrowed=True)
            table = prepare(Options(Request(str(path))), quiet).table
            costs.append(offered(table.adapter)[0])
            searched(table, "", of_document, single, Ranking(Postings.of(search_index(table))))
        print(f"tokens of tools/list of each alone: {min(costs)} to {max(costs)}")
        print(f"search, each API alone: {single}")
        print(f"search in all of them:  {together}")
        print(f"search, the API named:  {named}")
        print(f"search with api given:  {narrowed}")
        calls, carrying, crossing = crossings(result, Path(scratch), options.calls)
        print(f"{calls} calls; {carrying} requests with a credential of their API, {crossing} with one of another")
