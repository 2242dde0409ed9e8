"""Latency of a call in mock mode beside the same call of the bare server, in short rounds, in turn.

The bare server runs on the SDK's own stdio, as anybody would write it, and on the adapters' pipe, which is faster: the
first is what a client sees, the second is what the adapter does for a call.

usage: overhead.py [ADAPTER_DIR ...]
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter_ns

from lines import ERAS, Lines, adapter, bare, example
from projects import generated

ROUNDS, CALLS, WARM = 20, 200, 300


def measure(lines: Lines, arguments: dict[str, object], calls: int) -> list[float]:
    """Make calls one after the other; give their latencies in microseconds."""
    latencies = []
    for _ in range(calls):
        line = lines.line("tools/call", {"name": "mcp_aql_read", "arguments": arguments})
        begin = perf_counter_ns()
        answer = lines.raw(line)
        latencies.append((perf_counter_ns() - begin) / 1000)
        if b'"success":true' not in answer.replace(b'": ', b'":'):
            raise SystemExit(answer.decode())
    return latencies


def beside(folder: Path, transport: str, era: str) -> str:
    """Measure the adapter beside the bare server on a transport; give the line that says it."""
    operation, params = example(folder)
    arguments: dict[str, object] = {"operation": operation, "params": params}
    command, environment = adapter(folder)
    with Lines(bare(transport), era) as base, Lines(command, era, environment) as ours:
        measure(base, arguments, WARM), measure(ours, arguments, WARM)
        pairs = [(measure(base, arguments, CALLS), measure(ours, arguments, CALLS)) for _ in range(ROUNDS)]
    ratio = median(median(one[1]) / median(one[0]) for one in pairs)
    flat = [[latency for one in pairs for latency in one[side]] for side in (1, 0)]
    (p50, b50), (p99, b99) = ([median(side) for side in flat], [quantiles(side, n=100)[98] for side in flat])
    return (
        f"{era}  adapter p50 {p50:4.0f} µs p99 {p99:5.0f}   bare on {transport:5} p50 {b50:4.0f} µs p99 {b99:5.0f}"
        f"   ratio {ratio:.2f}   ({operation})"
    )


def main() -> None:
    """Print a line for each project, transport of the bare server, and era."""
    given = {Path(one).name: Path(one) for one in sys.argv[1:]}
    with nullcontext(given) if given else generated() as projects:
        for name, folder in projects.items():
            for transport in ("stdio", "pipe"):
                for era in ERAS:
                    print(f"{name:12} {beside(folder, transport, era)}")


if __name__ == "__main__":
    main()
