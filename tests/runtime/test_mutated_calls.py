"""Calls of a generated adapter, written as models get them wrong: a small version of `bench wire.mutated`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.wire.mutated import measure, report
from tests.cases import each

PETSTORE = Path(__file__).parents[2] / "fixtures" / "golden" / "petstore"


@each("seed", [1, 2])
def test_mutated_calls_send_what_was_meant_or_are_refused_with_it(seed: int) -> None:
    """R-REQ-4, R-ENV-5"""
    verdicts = asyncio.run(measure("petstore", PETSTORE, 200, seed, 5))
    counts = dict.fromkeys(("right", "told", "as given"), 0)
    for (_, verdict), count in verdicts.items():
        counts[verdict] = counts.get(verdict, 0) + count
    table = "\n".join(report(verdicts))
    assert "wrong write" not in counts, table
    assert counts["right"] + counts["told"] >= 0.98 * (200 - counts["as given"]), table
    assert counts["as given"] <= 10, table
