"""Compare the page's estimate of tokens with o200k, for each document: in total, and for a single operation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aqlgen.document.request import Request
from aqlgen.page.tokens import Costs, tool
from aqlgen.pipeline import Options, prepare
from aqlgen.table.model import Row, Table
from bench.support.arguments import parser
from bench.support.documents import PETSTORE
from bench.tokens import compact, count

BOUND = 0.1


def exact(row: Row, table: Table, costs: Costs) -> int:
    """Return the tokens of the tool as a client receives it: with every type that it needs, written out once."""
    described = tool(row)
    needed = {name: table.types[name] for name in costs.types_of(row)}
    if needed:
        described["inputSchema"]["$defs"] = needed
    return count(compact(described).replace("#/types/", "#/$defs/"))


def main(argv: Sequence[str]) -> int:
    """Print a line for each document; return 1 if a total is off by more than the bound."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("specs", nargs="*", metavar="SPEC", default=[str(PETSTORE)], help="default: the petstore")
    worst = 0.0
    for spec in arguments.parse_args(argv).specs:
        table = prepare(Options(Request(spec)), lambda _stage: None).table
        costs = Costs(table)
        pairs = [(costs.of(row), exact(row, table, costs)) for row in table.rows]
        estimated, counted = (sum(column) for column in zip(*pairs, strict=True))
        errors = sorted(abs(estimate / exact_count - 1) for estimate, exact_count in pairs)
        share = estimated / counted - 1
        worst = max(worst, abs(share))
        print(
            f"{Path(spec).name:28} {estimated:8,} estimated, {counted:8,} counted, {share:+.1%}; "
            f"an operation: median {errors[len(errors) // 2]:.1%}, 95 % within {errors[int(len(errors) * 0.95)]:.1%}"
        )
    return 1 if worst > BOUND else 0
