"""Compare the adapter element of every document of a corpus with what introspection says, and generate from it.

An element says the same if each operation has the parameters of introspection, with type, required, default, listed
texts, bounds, pattern and format. The adapter that `aqlgen from-schema` makes of it has the same operations, and how
many of them have all the same parameters is counted. `--schema` is the protocol's adapter schema.
"""

from __future__ import annotations

import gc
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from aqlgen.diagnostics.errors import AqlgenError
from aqlgen.document.request import Request
from aqlgen.document.yaml_events import SafeLoader
from aqlgen.pipeline import Options, Prepared, prepare
from aqlgen.render.adapter_element import adapter_element
from aqlgen.runtime.introspection.fields import parameter_info
from aqlgen.runtime.introspection.type_info import type_details
from bench.introspected import spread
from bench.support.arguments import add_corpus, add_only, parser
from bench.support.documents import entries

KEYS = ("type", "default", "minimum", "maximum", "pattern", "format")


@dataclass(frozen=True, slots=True)
class Figures:
    """Counts of a document; `differing` are parameters of which element and introspection do not say the same."""

    operations: int
    parameters: int
    differing: tuple[str, ...]
    invalid: int
    same_operations: int
    same_parameters: int
    error: str = ""


def prepared(path: Path, *, element: bool = False) -> Prepared:
    """Prepare a document. Raises AqlgenError."""
    return prepare(Options(Request(str(path), element=element)), lambda _: None)


def differing(
    operations: Mapping[str, Mapping[str, Any]], document: Prepared, names: Sequence[str]
) -> Iterator[tuple[str, bool]]:
    """Yield each parameter with whether the element says something else of it than introspection."""
    rows = {row.name: row.row for row in document.table.rows}
    types = document.table.types
    for name in names:
        params = operations[name].get("params", {})
        shown = rows[name].shown_parameters
        if list(params) != list(shown):
            yield name, True
            continue
        for key, entry in params.items():
            info = parameter_info(shown[key], types)
            values = info.get("enum")
            if values is None and info["type"] in types:
                values = type_details(info["type"], types[info["type"]], types).get("values")
            texts = values if values and all(isinstance(value, str) for value in values) else None
            same = all(entry.get(each, None) == info.get(each, None) for each in KEYS)
            same = same and entry.get("required", False) == info["required"] and entry.get("enum") == texts
            yield f"{name}.{key}", not same


def measure(path: Path, folder: Path, sample: int, schema: Path | None) -> Figures:
    """Compare one document's element. Raises AqlgenError."""
    document = prepared(path)
    text = adapter_element(document.table)
    data = yaml.load(text, SafeLoader=SafeLoader)
    operations = {each["name"]: each for family in data["operations"].values() for each in family}
    names = spread(list(operations), sample)
    compared = list(differing(operations, document, names))
    invalid = 0
    if schema is not None:
        import jsonschema_rs

        rules = json.loads(schema.read_text(encoding="utf-8"))
        invalid = sum(1 for _ in jsonschema_rs.validator_for(rules).iter_errors(data))
    file = folder / "adapter.yaml"
    file.write_text(text, encoding="utf-8")
    before = {row.name: (row.family, list(row.row.shown_parameters)) for row in document.table.rows}
    error, after = "", {}
    try:
        again = prepared(file, element=True)
        after = {row.name: (row.family, list(row.row.shown_parameters)) for row in again.table.rows}
    except AqlgenError as refusal:
        error = f"{len(refusal.diagnostics)} findings, the first: {refusal.diagnostics[0].line}: {refusal}"
    return Figures(
        operations=len(before),
        parameters=len(compared),
        differing=tuple(name for name, differs in compared if differs),
        invalid=invalid,
        same_operations=sum(name in after and after[name][0] == family for name, (family, _) in before.items()),
        same_parameters=sum(
            name in after and sorted(after[name][1]) == sorted(parameters) for name, (_, parameters) in before.items()
        ),
        error=error,
    )


def main(argv: Sequence[str]) -> None:
    """Print a line for each document and one for all."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    arguments.add_argument("--sample", type=int, default=0, metavar="N", help="compare N operations of a document")
    arguments.add_argument("--schema", type=Path, metavar="FILE", help="the protocol's adapter schema")
    options = arguments.parse_args(argv)
    total = [0, 0, 0, 0, 0, 0]
    print(f"{'document':45} operations  parameters  differ  invalid  generated again  same parameters")
    for entry in entries(options.corpus, options.only):
        with tempfile.TemporaryDirectory() as scratch:
            try:
                figures = measure(entry.path, Path(scratch), options.sample, options.schema)
            except AqlgenError as error:
                print(f"{entry.name:45} {error}")
                continue
        gc.collect()
        counts = [
            figures.operations,
            figures.parameters,
            len(figures.differing),
            figures.invalid,
            figures.same_operations,
            figures.same_parameters,
        ]
        total = [before + now for before, now in zip(total, counts, strict=True)]
        more = f"  {', '.join(figures.differing[:3])}" if figures.differing else ""
        print(line(entry.name, counts) + more + (f"  {figures.error}" if figures.error else ""), flush=True)
    print(line("all", total))


def line(name: str, counts: Sequence[int]) -> str:
    """Return a line of figures."""
    operations, parameters, differ, invalid, again, same = counts
    return f"{name:45} {operations:10} {parameters:11} {differ:7} {invalid:8} {again:16} {same:16}"
