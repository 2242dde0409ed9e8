"""Measure what a plain read pays for warnings, the gatekeeper and the safety loop in the dispatcher.

It is compared with the same dispatcher under the policy `open`, and with the one of another checkout, if one is given;
that one also as a whole adapter over stdio, in both protocol eras. Each side is a process of its own, rounds are short
and alternate, and there is no network.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.overhead import WARM, latencies
from bench.support.arguments import parser
from bench.support.documents import PETSTORE, package_of
from bench.support.processes import ROOT, environment, generate
from bench.support.stdio import ERAS, RawClient, adapter_command

ROUNDS, CALLS, WARM_ROUNDS = 200, 500, 10
BUDGET = 40.0
SIDE = """
import asyncio, json, os, sys
from pathlib import Path
from time import perf_counter_ns
from bench.support.runtime import load, location
path, runtime = location(Path(sys.argv[1]))
package, calls, arguments, settings = Path(sys.argv[2]), int(sys.argv[3]), *map(json.loads, sys.argv[4:])
sys.path.insert(0, str(path))
assemble = load("assembly", runtime, path).assemble
Session = load("session", runtime, path).Session
settings = {**settings, "MCP_AQL_CONFIG": os.devnull}
async def main():
    dispatcher = assemble(package, environ=settings, mock=True).dispatcher
    session = Session.new()
    answer = await dispatcher.handle("read", arguments, session)
    assert answer["success"] and "warnings" not in answer, answer
    for _ in sys.stdin:
        begin = perf_counter_ns()
        for _ in range(calls):
            await dispatcher.handle("read", arguments, session)
        print((perf_counter_ns() - begin) / calls / 1000, flush=True)
asyncio.run(main())
"""


@contextmanager
def dispatching(
    checkout: Path, package: Path, arguments: dict[str, object], **settings: str
) -> Iterator[subprocess.Popen[str]]:
    """Start a process that measures a round for each line that it reads."""
    command = [sys.executable, "-c", SIDE, str(checkout), str(package), str(CALLS)]
    command += [json.dumps(arguments), json.dumps(settings)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment())
    try:
        yield process
    finally:
        process.communicate()


def round_of(process: subprocess.Popen[str]) -> float:
    """Measure one round; return microseconds a call."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def over_stdio(era: str, current: Path, earlier: Path, arguments: dict[str, object]) -> None:
    """Compare two whole adapters, as a client waits for them."""
    (command, variables), (other_command, other_variables) = adapter_command(current), adapter_command(earlier)
    with RawClient(command, era, variables) as adapter, RawClient(other_command, era, other_variables) as beside:
        latencies(adapter, arguments, WARM), latencies(beside, arguments, WARM)
        rounds = [(latencies(adapter, arguments, 100), latencies(beside, arguments, 100)) for _ in range(ROUNDS // 2)]
    report(f"over stdio, {era}", [(median(mine), median(theirs)) for mine, theirs in rounds])


def report(label: str, pairs: list[tuple[float, float]]) -> None:
    """Print the medians of both sides, and the median of the differences in pairs."""
    standard, beside = (median(side) for side in zip(*pairs, strict=True))
    cost = median(standard - beside for standard, beside in pairs)
    figures = f"standard {standard:6.1f} µs   beside {beside:6.1f} µs   in pairs {cost:+5.1f} µs"
    print(f"{label:24} {figures}   (budget {BUDGET:.0f})", flush=True)


def main(argv: Sequence[str]) -> None:
    """Print a line for each comparison."""
    options = parser(__name__, __doc__)
    options.add_argument("checkout", type=Path, nargs="?", help="another checkout of aqlgen to compare with")
    checkout = options.parse_args(argv).checkout
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch) / "current"
        generate(PETSTORE, project)
        package = package_of(project)
        rows = json.loads((package / "operations" / "read.json").read_bytes())
        name = next(key for key, row in rows.items() if row.get("example") is not None and not row.get("deprecated"))
        arguments = {"operation": name, "params": rows[name]["example"]}
        others = [("policy open", ROOT, package, {"MCP_AQL_POLICY": "open"})]
        if checkout:
            root, earlier = checkout.resolve(), Path(scratch) / "earlier"
            generate(PETSTORE, earlier, folder=root)
            others.insert(0, (f"as in {root.name}", root, package_of(earlier), {}))
            for era in ERAS:
                over_stdio(era, project, earlier, arguments)
        for label, root, other, settings in others:
            with (
                dispatching(ROOT, package, arguments) as standard,
                dispatching(root, other, arguments, **settings) as beside,
            ):
                for _ in range(WARM_ROUNDS):
                    round_of(standard), round_of(beside)
                report(f"dispatcher, {label}", [(round_of(standard), round_of(beside)) for _ in range(ROUNDS)])
