"""Measure the time from an adapter's start to its first answer, beside the bare server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.support.arguments import add_adapters, parser
from bench.support.documents import adapters
from bench.support.stdio import ERAS, RawClient, adapter_command, bare_command, example

PAIRS = 15


def adapter_start(project: Path, era: str) -> tuple[float, float]:
    """Return the seconds to the first answer, and those of the first call after it, which loads the table."""
    operation, params = example(project)
    command, variables = adapter_command(project)
    with RawClient(command, era, variables) as client:
        begin = perf_counter()
        arguments = {"operation": operation, "params": params}
        answer = client.ask("tools/call", {"name": "mcp_aql_read", "arguments": arguments})
        call = perf_counter() - begin
    if answer.get("result", {}).get("structuredContent", {}).get("success") is not True:
        raise SystemExit(f"{operation}: {answer}")
    return client.started, call


def bare_start(era: str) -> float:
    """Return the seconds to the bare server's first answer."""
    with RawClient(bare_command(), era) as client:
        return client.started


def main(argv: Sequence[str]) -> None:
    """Print a line for each project and protocol era: medians, and the median of the ratios of each pair of starts."""
    options = parser(__name__, __doc__)
    add_adapters(options)
    with adapters(options.parse_args(argv).adapters) as projects:
        for name, project in projects.items():
            for era in ERAS:
                bare_start(era), adapter_start(project, era)  # warm the file cache
                pairs = [(bare_start(era), *adapter_start(project, era)) for _ in range(PAIRS)]
                bare, adapter, call = (median(column) * 1000 for column in zip(*pairs, strict=True))
                ratio = median(started / base for base, started, _ in pairs)
                with_call = median((started + first) / base for base, started, first in pairs)
                print(
                    f"{name:12} {era}  adapter {adapter:4.0f} ms  bare {bare:4.0f} ms  ratio {ratio:.2f}"
                    f"  first call {call:4.0f} ms  with it {with_call:.2f}",
                    flush=True,
                )
