"""Compare every document of a corpus with itself in another order, and with edits: nothing, or what was edited.

    python bench/diff.py FOLDER

A line for each document: operations, seconds for the comparison alone, and how many changes that break, that are to be
looked at and that are compatible were told of the same document, with its paths, schemas and properties in reverse
order, with a path less, and with every fifth field of its schemas gone. Exit code 1 when something was told of the same
document, or of another order; but which of several lists in an answer is paged may depend on their order, and is told.
"""

from __future__ import annotations

import copy
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from aqlgen.compare import Changes, Surface, compare, surface_of_table
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.assemble import assemble
from aqlgen.document.request import Request
from aqlgen.pipeline import Options, prepare

ROOTS = ("*.json", "*.yaml")
REVERSED = ("paths", "schemas", "properties")
SHARE = 5


def surface(document: Any, names: dict[str, str]) -> Surface:
    """Give what an agent meets of a document."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        return surface_of_table(prepare(Options(Request(file.name), names=names), lambda _stage: None).table)


def turned(value: Any, key: str = "") -> Any:
    """Give a document with its maps in reverse order."""
    if isinstance(value, dict):
        items = [(name, turned(one, name)) for name, one in value.items()]
        return dict(reversed(items) if key in REVERSED else items)
    return [turned(one) for one in value] if isinstance(value, list) else value


def thinned(value: Any, counted: list[int], key: str = "") -> Any:
    """Give a document without every fifth property."""
    if isinstance(value, list):
        return [thinned(one, counted) for one in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, one in value.items():
        counted[0] += key == "properties"
        if key != "properties" or counted[0] % SHARE:
            found[name] = thinned(one, counted, name)
    return found


def check(path: Path) -> bool:
    """Compare one document in all ways, print the line, and say whether it is as it should be."""
    try:
        document = json.loads(json.dumps(assemble(Request(str(path))).given, default=str))
        plain = surface(document, {})
    except AqlgenError as error:
        print(f"{path.name:44} {error}")
        return True
    names = {one.key: one.name for one in plain.operations.values()}
    start = time.perf_counter()
    same = compare(plain, plain)
    took = time.perf_counter() - start
    moved = compare(plain, surface(turned(document), names))
    fewer = copy.deepcopy(document)
    gone = next(iter(sorted(fewer["paths"])))
    del fewer["paths"][gone]
    try:
        less = compare(plain, surface(fewer, names))
    except AqlgenError:
        less = same
    start = time.perf_counter()
    thin = compare(plain, surface(thinned(document, [0]), names))
    print(
        f"{path.name:44} {len(plain.operations):5} {took:6.2f} s; same {told(same)}; moved {told(moved)}; "
        f"less {told(less)}; thin {told(thin)}, {len(thin.as_markdown().encode()):,} bytes",
        flush=True,
    )
    wrong = [one for one in moved.changes if one.rule != "paging-changed"]
    for one in wrong:
        print("    ", one)
    return not same and not wrong


def told(changes: Changes) -> str:
    """Count what was told."""
    return "/".join(str(number) for number in changes.as_json()["counts"].values())


def main() -> int:
    """Check every document."""
    folder = Path(sys.argv[1])
    chosen = sys.argv[2:]
    paths = sorted(path for pattern in ROOTS for path in folder.glob(pattern))
    found = [check(path) for path in paths if not chosen or path.name in chosen]
    return int(not all(found))


if __name__ == "__main__":
    sys.exit(main())
