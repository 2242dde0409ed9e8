"""The ground truth of the corpus (`ground-truth.tsv`) as documents to decide about, the real ones where they are read.

A row says what people called an operation in an SDK, and the category that follows from that name by fixed rules. Where
the corpus holds the document itself, its own operations count, with their summaries, bodies and responses; elsewhere
an operation is made of the row's columns, which hold neither.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aqlgen.build import build
from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.assemble import assemble
from aqlgen.document.request import Request
from aqlgen.document.resolve import Resolver
from aqlgen.ir import Document, Operation, Origin
from aqlgen.words import split

Row = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Truth:
    """A document with its rows of high confidence; `real` counts the operations that the document itself describes.

    `named` tells whether people named the operations, other than by the operationIds that we read too.
    """

    name: str
    rows: tuple[Row, ...]
    document: Document
    resolver: Resolver | None
    real: int
    named: bool

    @property
    def provider(self) -> str:
        """Return the provider of the API: azure of `azure:web-WebApps`."""
        return _provider(self.name)


_OWN: Final = 0.9
"""A provider whose names hold no word that its operationIds lack, in more than this share of rows, has no others."""


def truths(corpus: Path, *, rows_only: bool = False) -> Iterator[Truth]:
    """Yield the documents of the file, one after the other; with `rows_only` none is read from the corpus."""
    by_document: dict[str, list[Row]] = defaultdict(list)
    for row in _table(corpus / "ground-truth.tsv"):
        if row["confidence"] == "high":
            by_document[row["document"]].append(row)
    named = _named(row for rows in by_document.values() for row in rows)
    files = {row["name"].split("/")[0].rsplit(".", 1)[0]: corpus / row["name"] for row in _table(corpus / "INDEX.tsv")}
    for name, rows in by_document.items():
        there = None if rows_only or rows[0]["document_in_corpus"] != "yes" else _real(files.get(name))
        operations = {operation.key: operation for operation in map(_from_row, rows)}
        if there is None:
            yield Truth(name, tuple(rows), _around(operations), None, 0, _provider(name) in named)
            continue
        document, resolver = there
        real = {
            operation.key: operation
            for operation in document.operations
            if operation.key in operations and _is_described(operation)
        }
        others = {operation.key: operation for operation in document.operations if _is_described(operation)}
        complete = _around(operations | others)
        yield Truth(name, tuple(rows), complete, resolver, len(real), _provider(name) in named)


def _provider(document: str) -> str:
    return document.split(":")[0]


def _named(rows: Iterable[Row]) -> frozenset[str]:
    """Find the providers whose names are people's; those from x-kubernetes-action and from operationIds are not."""
    borrowed: dict[str, list[bool]] = defaultdict(list)
    for row in rows:
        kubernetes = row["rule"].startswith("x-kubernetes-action")
        same = set(split(row["human_method"])) <= set(split(row["operation_id"]))
        borrowed[_provider(row["document"])].append(kubernetes or (bool(row["operation_id"]) and same))
    return frozenset(provider for provider, each in borrowed.items() if sum(each) <= _OWN * len(each))


def _table(path: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t")


def _real(path: Path | None) -> tuple[Document, Resolver] | None:
    if path is None:
        return None
    try:
        assembled = assemble(Request(str(path)))
        resolver = Resolver(assembled.root)
        return build(resolver, assembled.openapi).document, resolver
    except AqlgenError as error:
        print(f"{path.name} is not read, its rows count instead: {error}", file=sys.stderr)
        return None


def _is_described(operation: Operation) -> bool:
    """Return True if the document describes the operation, rather than refers to its description."""
    return bool(operation.operation_id or operation.summary or operation.responses)


def _from_row(row: Row) -> Operation:
    """Make the operation that the row's columns describe."""
    rule, _, action = row["rule"].partition(":")
    extensions = {"x-kubernetes-action": action} if rule == "x-kubernetes-action" else {}
    return Operation(
        method=row["method"].lower(),
        path=row["path"],
        operation_id=row["operation_id"] or None,
        summary="",
        description="",
        tags=(),
        parameters=(),
        body=None,
        responses=(),
        security=None,
        servers=(),
        deprecated=False,
        extensions=extensions,
        origin=Origin(""),
    )


def _around(operations: Mapping[str, Operation]) -> Document:
    return Document("3.1.0", "", "", "", (), (), (), (), tuple(operations.values()))
