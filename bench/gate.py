"""What a plain read pays for warnings, the gatekeeper and the safety loop, in the dispatcher, in short rounds, in turn.

Beside it: the dispatcher of another checkout, from before them, if one is given, and the whole adapter of it over
stdio, in both eras; and the same dispatcher with policy `open`. Each side is a process of its own; no network.

usage: gate.py [OTHER_CHECKOUT]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from lines import ERAS, Lines, adapter
from overhead import WARM
from overhead import measure as latencies

ROOT = Path(__file__).resolve().parent.parent
RUNTIME = Path("templates/project/src/{{package}}")
ROUNDS, CALLS = 200, 500
BUDGET = 40.0
SIDE = """
import asyncio, json, os, sys
from pathlib import Path
from time import perf_counter_ns
runtime, folder, calls = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
arguments, settings = map(json.loads, sys.argv[4:])
sys.path.insert(0, runtime)
from runtime.assembly import assemble
from runtime.session import Session
settings = {**settings, "MCP_AQL_CONFIG": os.devnull}
async def main():
    dispatcher = assemble(folder, environ=settings, mock=True).dispatcher
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
def side(root: Path, folder: Path, arguments: dict[str, object], **settings: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that measures a round for each line that it reads."""
    command = [sys.executable, "-c", SIDE, str(root / RUNTIME), str(folder), str(CALLS)]
    command += [json.dumps(arguments), json.dumps(settings)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.communicate()


def measure(process: subprocess.Popen[str]) -> float:
    """Give microseconds a call, of one round."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def generated(root: Path, into: Path) -> Path:
    """Generate the petstore adapter by a checkout; give its package."""
    project = into / root.name
    command = [sys.executable, "-m", "aqlgen", "from-openapi", str(ROOT / "fixtures/petstore.yaml"), "-o", str(project)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    return next(project.glob("src/*/adapter.json")).parent


def over_stdio(era: str, ours: Path, theirs: Path, arguments: dict[str, object]) -> None:
    """Compare the whole of two adapters, as a client waits for them."""
    (command, environment), (other_command, other_environment) = adapter(ours), adapter(theirs)
    with Lines(command, era, environment) as one, Lines(other_command, era, other_environment) as other:
        latencies(one, arguments, WARM), latencies(other, arguments, WARM)
        rounds = [(latencies(one, arguments, 100), latencies(other, arguments, 100)) for _ in range(ROUNDS // 2)]
    say(f"over stdio, {era}", [(median(one), median(other)) for one, other in rounds])


def say(label: str, pairs: list[tuple[float, float]]) -> None:
    """Print the medians of both sides, and of their differences in pairs."""
    ours, theirs = (median(side) for side in zip(*pairs, strict=True))
    cost = median(one - other for one, other in pairs)
    told = f"standard {ours:6.1f} µs   beside {theirs:6.1f} µs   in pairs {cost:+5.1f} µs"
    print(f"{label:24} {told}   (budget {BUDGET:.0f})")


def main() -> None:
    """Print a line for each comparison."""
    with tempfile.TemporaryDirectory() as place:
        package = generated(ROOT, Path(place) / "ours")
        rows = json.loads((package / "operations" / "read.json").read_bytes())
        name = next(one for one, row in rows.items() if row.get("example") is not None and not row.get("deprecated"))
        arguments = {"operation": name, "params": rows[name]["example"]}
        others = [("policy open", ROOT, package, {"MCP_AQL_POLICY": "open"})]
        if len(sys.argv) > 1:
            root = Path(sys.argv[1]).resolve()
            before = generated(root, Path(place) / "before")
            others.insert(0, (f"as in {root.name}", root, before, {}))
            for era in ERAS:
                over_stdio(era, package.parents[1], before.parents[1], arguments)
        for label, root, folder, settings in others:
            with side(ROOT, package, arguments) as ours, side(root, folder, arguments, **settings) as theirs:
                for _ in range(10):
                    measure(ours), measure(theirs)
                say(f"dispatcher, {label}", [(measure(ours), measure(theirs)) for _ in range(ROUNDS)])


if __name__ == "__main__":
    main()
