"""Cost against size: made-up documents of 10 to 10,000 operations, and one of 45 MB with 20,000; peers beside it.

    python bench/scale.py [--large] [--runs N] [--limit S] [--fastmcp PYTHON] [--openapi-mcp-generator SCRIPT]

For each document: wall time, operations per second beyond the smallest document's time, and peak memory, as medians of
N runs; then how long the adapter takes to import, to list its operations, and to describe one. Peers are measured when
given: PYTHON is the interpreter of an environment with fastmcp, SCRIPT the `bin/openapi-mcp-generator.js` of the npm
package, run by the interpreter given by --node; each run ends after S seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from madeup import made_up

SIZES = (10, 100, 1_000, 10_000)
LARGE, LARGE_BYTES = 20_000, 45_000_000

FASTMCP = """
import json, sys, httpx2
from fastmcp import FastMCP
FastMCP.from_openapi(openapi_spec=json.load(open(sys.argv[1])), client=httpx2.AsyncClient(base_url="http://127.0.0.1"))
"""
START = """
import asyncio, importlib, os, sys, time
from pathlib import Path
folder = next(Path(sys.argv[1]).glob("src/*/adapter.json")).parent
sys.path.insert(0, str(folder.parent))
begin = time.perf_counter()
assembly = importlib.import_module(folder.name + ".runtime.assembly")
environ = {"MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:"}
dispatcher = assembly.assemble(folder, environ=environ, mock=True).dispatcher
ready = time.perf_counter()
async def ask(**params):
    started = time.perf_counter()
    answer = await dispatcher.handle(None, {"operation": "introspect", "params": {"query": "operations", **params}})
    return answer["data"], time.perf_counter() - started
listed, listing = asyncio.run(ask())
_, describing = asyncio.run(ask(name=listed["operations"][-1]["name"]))
print(f"{ready - begin:.2f} {listing:.2f} {describing:.2f}")
"""

Run = tuple[float, float, bool]


def run(command: list[str], limit: int) -> Run:
    """Run a command; give wall time in seconds, peak memory in MB, and whether it ended well within the limit."""
    begin = perf_counter()
    process = subprocess.Popen(
        ["timeout", str(limit), *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    scale = 1024 * 1024 if sys.platform == "darwin" else 1024
    return perf_counter() - begin, usage.ru_maxrss / scale, process.returncode == 0


def measured(make: Callable[[Path], list[str]], runs: int, limit: int) -> Run:
    """Give the medians of several runs, each into a folder of its own; a failure counts at once."""
    found: list[Run] = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as scratch:
            found.append(run(make(Path(scratch) / "out"), limit))
        if not found[-1][2]:
            return found[-1]
    return median(one[0] for one in found), median(one[1] for one in found), True


def started(project: Path) -> str:
    """Give how long the adapter of a project takes to be ready, to list its operations, and to describe one."""
    done = subprocess.run([sys.executable, "-c", START, str(project)], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "failed"


def main() -> None:
    """Print a line for each document and tool."""
    parser = argparse.ArgumentParser(description="Measure cost against size.")
    parser.add_argument("--large", action="store_true", help="also the document of 45 MB")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=300, metavar="S")
    parser.add_argument("--fastmcp", metavar="PYTHON")
    parser.add_argument("--openapi-mcp-generator", metavar="SCRIPT")
    parser.add_argument("--node", default="node")
    options = parser.parse_args()
    sizes = [(count, 0) for count in SIZES] + ([(LARGE, LARGE_BYTES)] if options.large else [])
    tools: dict[str, Callable[[Path, Path], list[str]]] = {
        "aqlgen": lambda spec, out: [sys.executable, "-m", "aqlgen", "from-openapi", str(spec), "-o", str(out), "-q"]
    }
    if options.fastmcp:
        tools["fastmcp"] = lambda spec, _: [options.fastmcp, "-c", FASTMCP, str(spec)]
    if options.openapi_mcp_generator:
        script = [options.node, options.openapi_mcp_generator]
        tools["openapi-mcp-generator"] = lambda spec, out: [*script, "-i", str(spec), "-o", str(out), "--force"]
    base: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for count, size in sizes:
            spec = Path(scratch) / f"{count}.json"
            spec.write_bytes(made_up(count, size))
            for name, command in tools.items():
                wall, memory, well = measured(lambda out: command(spec, out), options.runs, options.limit)  # noqa: B023
                smallest = base.setdefault(name, wall)
                rate = f"{count / (wall - smallest):7.0f} op/s" if wall > smallest * 1.2 else "      - op/s"
                said = "" if well else "  FAILED or over the limit"
                megabytes = spec.stat().st_size / 1e6
                print(
                    f"{count:6} operations {megabytes:5.1f} MB  {name:22} {wall:7.2f} s {rate} {memory:6.0f} MB{said}"
                )
            out = Path(scratch) / f"{count}-project"
            if run(tools["aqlgen"](spec, out), options.limit)[2]:
                print(f"{'':27}  adapter: ready, list, describe  {started(out)} s", flush=True)


if __name__ == "__main__":
    main()
