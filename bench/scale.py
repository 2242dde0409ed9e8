"""Measure cost against size: synthetic documents of 10 to 10,000 operations, or of 20,000 in 45 MB.

For each document: wall time, operations per second beyond the smallest document's time, and peak memory, as medians of
some runs; then how long the adapter takes to import, to list its operations, and to describe one. Other generators are
measured beside it if they are given.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from bench.support.arguments import parser
from bench.support.processes import AQLGEN, environment, run
from bench.support.synthetic import document

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

Tool = Callable[[Path, Path], list[str]]


def medians(tool: Tool, document: Path, runs: int, limit: int) -> tuple[float, float, bool]:
    """Return the medians of time and memory over several runs, and whether all succeeded; a failure ends them."""
    finished = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as scratch:
            finished.append(run(tool(document, Path(scratch) / "out"), limit=limit))
        if finished[-1].code:
            return finished[-1].seconds, finished[-1].megabytes, False
    return median(run_.seconds for run_ in finished), median(run_.megabytes for run_ in finished), True


def start(project: Path) -> str:
    """Return the seconds until the adapter of a project is ready, to list its operations, and to describe one."""
    command = [sys.executable, "-c", START, str(project)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    return finished.stdout.strip() if finished.returncode == 0 else "failed"


def main(argv: Sequence[str]) -> None:
    """Print a line for each document and tool."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("--large", action="store_true", help="also the document of 45 MB")
    arguments.add_argument("--most", type=int, default=SIZES[-1], metavar="N", help="no document of more operations")
    arguments.add_argument("--runs", type=int, default=3, metavar="N")
    arguments.add_argument("--limit", type=int, default=300, metavar="SECONDS", help="for each run")
    arguments.add_argument("--fastmcp", metavar="PYTHON", help="the interpreter of an environment with fastmcp")
    arguments.add_argument("--openapi-mcp-generator", metavar="SCRIPT", help="its bin/openapi-mcp-generator.js")
    arguments.add_argument("--node", default="node", help="the interpreter of that script")
    options = arguments.parse_args(argv)
    tools: dict[str, Tool] = {"aqlgen": lambda spec, out: [*AQLGEN, "from-openapi", str(spec), "-o", str(out), "-q"]}
    if options.fastmcp:
        tools["fastmcp"] = lambda spec, _: [options.fastmcp, "-c", FASTMCP, str(spec)]
    if options.openapi_mcp_generator:
        script = [options.node, options.openapi_mcp_generator]
        tools["openapi-mcp-generator"] = lambda spec, out: [*script, "-i", str(spec), "-o", str(out), "--force"]
    sizes = [(count, 0) for count in SIZES if count <= options.most]
    base: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for count, size in sizes + [(LARGE, LARGE_BYTES)] * options.large:
            spec = Path(scratch) / f"{count}.json"
            spec.write_bytes(document(count, size))
            for name, tool in tools.items():
                seconds, megabytes, succeeded = medians(tool, spec, options.runs, options.limit)
                beyond = seconds - base.setdefault(name, seconds)
                rate = f"{count / beyond:7.0f}" if beyond > base[name] * 0.2 else "      -"
                print(
                    f"{count:6} operations {spec.stat().st_size / 1e6:5.1f} MB  {name:22} {seconds:7.2f} s {rate} op/s "
                    f"{megabytes:6.0f} MB{'' if succeeded else '  FAILED or over the limit'}"
                )
            out = Path(scratch) / f"{count}-project"
            if run(tools["aqlgen"](spec, out), limit=options.limit).code == 0:
                print(f"{'':27}  adapter: ready, list, describe  {start(out)} s", flush=True)
