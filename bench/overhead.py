"""Measure the latency of a call in mock mode, beside the same call of the bare server.

The bare server runs on the SDK's own stdio, as anybody would write it, and on the adapters' pipe, which is faster: the
first is what a client sees, the second is what the adapter itself does for a call. Rounds are short and alternate.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter_ns

from bench.support.arguments import add_adapters, parser
from bench.support.documents import adapters
from bench.support.stdio import ERAS, RawClient, adapter_command, bare_command, example

ROUNDS, CALLS, WARM = 20, 200, 300


def latencies(client: RawClient, arguments: dict[str, object], calls: int) -> list[float]:
    """Make calls one after the other; return their latencies in microseconds."""
    microseconds = []
    for _ in range(calls):
        line = client.line("tools/call", {"name": "mcp_aql_read", "arguments": arguments})
        begin = perf_counter_ns()
        answer = client.exchange(line)
        microseconds.append((perf_counter_ns() - begin) / 1000)
        if b'"success":true' not in answer.replace(b'": ', b'":'):
            raise SystemExit(answer.decode())
    return microseconds


def compared(project: Path, transport: str, era: str) -> str:
    """Measure an adapter beside the bare server on a transport; return the line of the result."""
    operation, params = example(project)
    arguments: dict[str, object] = {"operation": operation, "params": params}
    command, variables = adapter_command(project)
    with RawClient(bare_command(transport), era) as bare, RawClient(command, era, variables) as adapter:
        latencies(bare, arguments, WARM), latencies(adapter, arguments, WARM)
        rounds = [(latencies(bare, arguments, CALLS), latencies(adapter, arguments, CALLS)) for _ in range(ROUNDS)]
    ratio = median(median(of_adapter) / median(of_bare) for of_bare, of_adapter in rounds)
    bare_all, adapter_all = ([latency for pair in rounds for latency in pair[side]] for side in (0, 1))
    return (
        f"{era}  adapter {percentiles(adapter_all)}   bare on {transport:5} {percentiles(bare_all)}"
        f"   ratio {ratio:.2f}   ({operation})"
    )


def percentiles(microseconds: Sequence[float]) -> str:
    """Return the median and the 99th percentile as text."""
    return f"p50 {median(microseconds):4.0f} µs p99 {quantiles(microseconds, n=100)[98]:5.0f}"


def main(argv: Sequence[str]) -> None:
    """Print a line for each project, transport of the bare server, and protocol era."""
    options = parser(__name__, __doc__)
    add_adapters(options)
    with adapters(options.parse_args(argv).adapters) as projects:
        for name, project in projects.items():
            for transport in ("stdio", "pipe"):
                for era in ERAS:
                    print(f"{name:12} {compared(project, transport, era)}", flush=True)
