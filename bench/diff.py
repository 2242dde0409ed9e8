"""Compare every document of a corpus with itself, with itself in another order, and with itself edited.

A line for each document: operations, seconds for the comparison alone, and how many changes that break, that are to be
looked at and that are compatible are reported for the same document, with its paths, schemas and properties in reverse
order, without one path, and without every fifth field of its schemas. The exit code is 1 if a change is reported for
the same document or for another order; but which of several lists in an answer is paged may depend on their order.
"""

from __future__ import annotations

import copy
import json
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from aqlgen.compare import Changes, Surface, compare, surface_of_table
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.assemble import assemble
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare
from bench.support.arguments import add_corpus, add_only, parser
from bench.support.documents import Entry, entries

REVERSED = ("paths", "schemas", "properties")
SHARE = 5


def surface(document: Any, names: dict[str, str]) -> Surface:
    """Return what an agent sees of a document."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        return surface_of_table(prepare(Options(Request(file.name), names=names), lambda _stage: None).table)


def turned(value: Any, key: str = "") -> Any:
    """Return a document with its maps in reverse order."""
    if isinstance(value, dict):
        items = [(name, turned(member, name)) for name, member in value.items()]
        return dict(reversed(items) if key in REVERSED else items)
    return [turned(item) for item in value] if isinstance(value, list) else value


def thinned(value: Any, counted: list[int], key: str = "") -> Any:
    """Return a document without every fifth property; `counted` holds how many properties there were so far."""
    if isinstance(value, list):
        return [thinned(item, counted) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, member in value.items():
        counted[0] += key == "properties"
        if key != "properties" or counted[0] % SHARE:
            kept[name] = thinned(member, counted, name)
    return kept


def check(entry: Entry) -> bool:
    """Compare a document in all ways and print the line; return False if an unchanged document has changes."""
    try:
        document = json.loads(json.dumps(assemble(Request(str(entry.path))).raw, default=str))
        plain = surface(document, {})
    except AqlgenError as error:
        print(f"{entry.name:44} {error}")
        return True
    names = {operation.key: operation.name for operation in plain.operations.values()}
    start = time.perf_counter()
    same = compare(plain, plain)
    seconds = time.perf_counter() - start
    moved = compare(plain, surface(turned(document), names))
    fewer = copy.deepcopy(document)
    gone = next(iter(sorted(fewer["paths"])))
    del fewer["paths"][gone]
    try:
        less = compare(plain, surface(fewer, names))
    except AqlgenError:
        less = same
    thin = compare(plain, surface(thinned(document, [0]), names))
    print(
        f"{entry.name:44} {len(plain.operations):5} {seconds:6.2f} s; same {counts(same)}; moved {counts(moved)}; "
        f"less {counts(less)}; thin {counts(thin)}, {len(thin.as_markdown().encode()):,} bytes",
        flush=True,
    )
    unexpected = [change for change in moved.changes if change.rule != "paging-changed"]
    for change in unexpected:
        print("    ", change)
    return not same and not unexpected


def counts(changes: Changes) -> str:
    """Return the numbers of changes by their weight."""
    return "/".join(str(number) for number in changes.as_json()["counts"].values())


def main(argv: Sequence[str]) -> int:
    """Check every document."""
    options = parser(__name__, __doc__)
    add_corpus(options)
    add_only(options)
    chosen = options.parse_args(argv)
    results = [check(entry) for entry in entries(chosen.corpus, chosen.only)]
    return 0 if all(results) else 1
