"""Count the o200k tokens of the details of operations, and the writes whose example is empty, over a corpus.

The budget is a median of 300 tokens, 700 for 95 of 100 operations, and never more than 2,000.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from aqlgen.runtime.introspection.info import operation_details
from aqlgen.runtime.introspection.postings import FILE as SEARCH
from aqlgen.runtime.settings.config import Config
from aqlgen.runtime.table import Row, Table
from aqlgen.table.model import table_files
from aqlgen.table.search import search_index
from bench.introspected import spread
from bench.support.arguments import add_corpus, add_only, parser
from bench.support.documents import entries
from bench.tokens import compact, count


def described(folder: Path, sample: int) -> Iterator[tuple[Row, int]]:
    """Yield rows of a table's folder, spread evenly, each with the tokens of its details."""
    table, config = Table(folder), Config()
    for name in spread([name for name, _ in table.names()], sample):
        row = table.find(name)
        if row is not None:
            yield row, count(compact(operation_details(row, table, config, None)))


def write_table(document: Path, folder: Path) -> None:
    """Write the table's files and the index of a document into a folder. Raises AqlgenError."""
    table = prepare(Options(Request(str(document))), lambda _: None).table
    for path, text in {**table_files(table), SEARCH: search_index(table)}.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def figures(rows: Sequence[tuple[Row, int]]) -> str:
    """Return median, 95th percentile, maximum and its operation, and how many writes have no or an empty example."""
    ordered = sorted((tokens, row.name) for row, tokens in rows)
    writes = [row for row, _ in rows if row.family in ("create", "update", "execute") and row.body is not None]
    empty = sum(not row.example for row in writes)
    middle, high, (most, name) = ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100], ordered[-1]
    return f"{middle[0]:5} {high[0]:6} {most:6}  {empty:4} of {len(writes):4} writes without an example   most: {name}"


def main(argv: Sequence[str]) -> None:
    """Print a line for each document and one for all."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    arguments.add_argument("--sample", type=int, default=0, metavar="N", help="no more than N operations of a document")
    options = arguments.parse_args(argv)
    everything: list[tuple[Row, int]] = []
    print(f"{'document':45} median    p95    max")
    for entry in entries(options.corpus, options.only):
        with tempfile.TemporaryDirectory() as scratch:
            try:
                write_table(entry.path, Path(scratch))
            except AqlgenError as error:
                print(f"{entry.name}: {error}")
                continue
            rows = list(described(Path(scratch), options.sample))
        if rows:
            everything += rows
            print(f"{entry.name:45} {figures(rows)}", flush=True)
    if everything:
        print(f"{'all':45} {figures(everything)}")
