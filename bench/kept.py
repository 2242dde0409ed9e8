"""Check over the corpus that names stay: through additions and removals, and through generating again.

A random half of the
operations is named, then all of them with those names kept, then the other half. `renamed` counts operations that lost
a kept name, `unstable` those that come out differently when only the pinned names are kept: both must be 0. `followed`
are names of operations that are gone which another version of the same operation got, `pinned` what the record of a
project has to hold.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from aqlgen.build import build
from aqlgen.decide.naming.uniqueness import unused
from aqlgen.decide.overrides import Overrides
from aqlgen.decide.stage import Known, decide
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.assemble import assemble
from aqlgen.document.request import Request
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document
from bench.support.arguments import add_corpus, parser

ROOT = re.compile(r"^\s*[\"']?(openapi|swagger)[\"']?\s*:", re.MULTILINE)
KINDS = ("operations", "pinned", "followed", "renamed", "unstable")


def documents(corpus: Path) -> Iterator[Path]:
    """Yield the documents of a folder: its files, and the root of each folder that is one document."""
    for path in sorted(corpus.iterdir()):
        if path.suffix in (".json", ".yaml", ".yml"):
            yield path
        elif path.is_dir() and path.name.endswith("-multifile"):
            files = (file for file in sorted(path.rglob("*")) if file.suffix in (".yaml", ".yml", ".json"))
            yield from [file for file in files if ROOT.search(file.read_text("utf-8", errors="replace")[:4000])][:1]


def measure(document: Document, resolver: Resolver, chance: random.Random) -> dict[str, int]:
    """Count what goes wrong in one document."""
    keys = [operation.key for operation in document.operations]
    half = set(chance.sample(keys, len(keys) // 2))
    counts = dict.fromkeys(KINDS, 0)
    counts["operations"] = len(keys)
    part = replace(document, operations=tuple(operation for operation in document.operations if operation.key in half))
    rest = replace(
        document, operations=tuple(operation for operation in document.operations if operation.key not in half)
    )
    names = {decision.operation.key: decision.name for decision in decide(part, Overrides(), resolver)}
    for now in (document, rest):
        decided = decide(now, Overrides(), resolver, known=Known(names))
        today = {decision.operation.key: decision.name for decision in decided}
        pinned = {decision.operation.key: decision.name for decision in decided if decision.pinned}
        known = {name: key for key, name in names.items()}
        counts["pinned"] += len(pinned)
        counts["renamed"] += sum(today[key] != name for key, name in names.items() if key in today)
        counts["followed"] += sum(name in known and known[name] != key for key, name in today.items())
        again = decide(now, Overrides(), resolver, known=Known(pinned, retired=unused(names, {}, today.values())))
        counts["unstable"] += sum(before != after for before, after in zip(decided, again, strict=True))
        names = today
    return counts


def main(argv: Sequence[str]) -> None:
    """Print a line a document that has something to tell, and the sums."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args(argv)
    sums, started, count = dict.fromkeys(KINDS, 0), time.perf_counter(), 0
    for path in documents(options.corpus):
        try:
            assembled = assemble(Request(str(path)))
            resolver = Resolver(assembled.root)
            document = build(resolver, assembled.openapi).document
        except AqlgenError as error:
            print(f"{path.name}: {type(error).__name__}")
            continue
        counts = measure(document, resolver, random.Random(options.seed))
        count += 1
        sums = {kind: sums[kind] + counts[kind] for kind in KINDS}
        if any(counts[kind] for kind in KINDS[1:]):
            print(f"{path.name:<40} " + " ".join(f"{kind} {counts[kind]}" for kind in KINDS))
    summary = ", ".join(f"{kind} {number}" for kind, number in sums.items())
    print(f"{count} documents in {time.perf_counter() - started:.0f} s: {summary}")
