"""Check the names of every document of the corpus, and show some of them to be read aloud.

Names must be unique,
valid, of at most 64 characters, without stutter (`get_user_user`) and without residue of versions, methods and code
generators. `renamed` counts the operations that get another name when a random half of the others is removed; --renamed
prints them. Documents that cannot be read are listed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import median

from aqlgen.build import build
from aqlgen.decide import Overrides, decide
from aqlgen.decide.decision import Decision
from aqlgen.decide.naming.spelling import LIMIT, RESERVED, is_valid
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.assemble import assemble
from aqlgen.document.request import Request
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document, Operation
from aqlgen.pipeline import Options, prepare
from aqlgen.words import singular
from bench.support.arguments import add_corpus, parser

RESIDUE = re.compile(r"_using_(get|post|put|patch|delete)\b|^api_|_api_v\d|(^|_)v\d+_|_v\d+$|_\d+$")
"""What a code generator leaves in names; a version or number at the end may be meant, and is judged apart."""


def stutters(name: str) -> bool:
    """Return True if a word follows itself, in singular or plural."""
    words = [singular(word) for word in name.split("_")]
    return any(word == following for word, following in pairwise(words))


def residue(decision: Decision) -> bool:
    """Return True if a name holds a version or a number that the API does not need to tell its operations apart."""
    return RESIDUE.search(decision.name) is not None


def documents(corpus: Path) -> Iterator[Path]:
    """Yield the documents of a folder: its files, and the root of each folder that is one document."""
    if corpus.is_file():
        yield corpus
        return
    for path in sorted(corpus.iterdir()):
        if path.suffix in (".json", ".yaml", ".yml"):
            yield path
        elif path.is_dir() and path.name.endswith("-multifile"):
            roots = [
                file for file in sorted(path.rglob("*")) if file.suffix in (".yaml", ".yml", ".json") and _root(file)
            ]
            yield from roots[:1]


def _root(path: Path) -> bool:
    head = path.read_text(encoding="utf-8", errors="replace")[:4000]
    return re.search(r"^\s*[\"']?(openapi|swagger)[\"']?\s*:", head, re.MULTILINE) is not None


def renamed(document: Document, resolver: Resolver, names: dict[str, str], seed: int) -> dict[str, tuple[str, str]]:
    """Return the operations whose name changes when a random half of the operations is removed, with both names."""
    chance = random.Random(seed)
    kept: tuple[Operation, ...] = tuple(operation for operation in document.operations if chance.random() < 0.5)
    half = decide(replace(document, operations=kept), Overrides(), resolver)
    return {
        decision.operation.key: (names[decision.operation.key], decision.name)
        for decision in half
        if decision.operation.key in names and names[decision.operation.key] != decision.name
    }


def main(argv: Sequence[str]) -> int:
    """Print a line for each document, then the names asked for; 1 when a name is wrong."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    arguments.add_argument("--show", default="", help="documents whose names to print, by the start of their file name")
    arguments.add_argument("--count", type=int, default=20, help="how many names to print of each")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--renamed", action="store_true", help="print the operations that are renamed")
    options = arguments.parse_args(argv)
    shown = tuple(filter(None, options.show.split(",")))
    total: dict[str, int] = dict.fromkeys(("operations", "wrong", "stutter", "residue", "renamed"), 0)
    unread = []
    lengths: list[int] = []
    columns = "".join(f"{what:>8}" for what in ("names", "median", "longest", "wrong", "stutter", "residue", "renamed"))
    print(f"{'document':38}{columns}")
    for path in documents(Path(options.corpus)):
        name = path.stem if path.parent == Path(options.corpus) else path.relative_to(options.corpus).parts[0]
        if shown and not name.startswith(shown):
            continue
        try:
            prepared = prepare(Options(Request(str(path))), _quiet)
        except AqlgenError as error:
            unread.append(f"{name}: {error}")
            continue
        decisions = prepared.decisions
        names = {decision.operation.key: decision.name for decision in decisions}
        twice = len(decisions) - len(set(names.values()))
        bad = [
            decision
            for decision in decisions
            if not is_valid(decision.name) or decision.name in RESERVED or len(decision.name) > LIMIT
        ]
        stutter = [decision for decision in decisions if stutters(decision.name)]
        left = [decision for decision in decisions if residue(decision)]
        assembled = assemble(Request(str(path)))
        resolver = Resolver(assembled.root)
        document = build(resolver, assembled.openapi).document
        moved = renamed(document, resolver, names, options.seed)
        sizes = [len(decision.name) for decision in decisions]
        lengths += sizes
        for what, count in zip(total, (len(sizes), twice + len(bad), len(stutter), len(left), len(moved)), strict=True):
            total[what] += count
        counts = (len(sizes), f"{median(sizes):g}", max(sizes), twice + len(bad), len(stutter), len(left), len(moved))
        print(f"{name:38}{''.join(f'{count:>8}' for count in counts)}")
        _print(decisions, [*bad, *stutter, *left], options.count if shown else 0, options.seed)
        if options.renamed:
            print(*(f"    {key}: {before} → {after}" for key, (before, after) in moved.items()), sep="\n")
    print(f"\n{total}, median length {median(lengths or [0]):g}")
    print(*(f"not read: {line}" for line in unread), sep="\n")
    return 1 if total["wrong"] or total["stutter"] else 0


def _quiet(stage: str) -> None:
    """Take no notice of progress."""


def _print(decisions: Sequence[Decision], faulty: Sequence[Decision], count: int, seed: int) -> None:
    for decision in faulty:
        print(f"  ! {decision.name:44} {decision.operation.key} [{decision.operation.operation_id}]")
    for decision in random.Random(seed).sample(list(decisions), min(count, len(decisions))):
        print(f"    {decision.name:44} {decision.operation.key} [{decision.operation.operation_id}]")
