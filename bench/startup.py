"""From a process's start to its first answer: an adapter beside the bare server, in pairs, in turn.

usage: startup.py [ADAPTER_DIR ...]
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from statistics import median

from lines import ERAS, Lines, adapter, bare, example
from projects import generated

PAIRS = 15


def first_call(folder: Path, era: str) -> tuple[float, float]:
    """Give the seconds to the first answer, and those of a first call after it, which loads the table."""
    from time import perf_counter

    operation, params = example(folder)
    command, environment = adapter(folder)
    with Lines(command, era, environment) as lines:
        begin = perf_counter()
        arguments = {"operation": operation, "params": params}
        answer = lines.ask("tools/call", {"name": "mcp_aql_read", "arguments": arguments})
        call = perf_counter() - begin
    if answer.get("result", {}).get("structuredContent", {}).get("success") is not True:
        raise SystemExit(f"{operation}: {answer}")
    return lines.started, call


def bare_start(era: str) -> float:
    """Give the seconds to the bare server's first answer."""
    with Lines(bare(), era) as lines:
        return lines.started


def main() -> None:
    """Print one line for each project and era: medians, and the median of the pairs' ratios."""
    given = {Path(one).name: Path(one) for one in sys.argv[1:]}
    with nullcontext(given) if given else generated() as projects:
        for name, folder in projects.items():
            for era in ERAS:
                bare_start(era), first_call(folder, era)  # warm the file cache
                pairs = [(bare_start(era), *first_call(folder, era)) for _ in range(PAIRS)]
                base, ours, call = (median(column) * 1000 for column in zip(*pairs, strict=True))
                ratio = median(one[1] / one[0] for one in pairs)
                loaded = median((one[1] + one[2]) / one[0] for one in pairs)
                print(
                    f"{name:12} {era}  adapter {ours:4.0f} ms  bare {base:4.0f} ms  ratio {ratio:.2f}"
                    f"  first call {call:4.0f} ms  with it {loaded:.2f}"
                )


if __name__ == "__main__":
    main()
