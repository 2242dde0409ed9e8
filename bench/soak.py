"""Load an adapter over HTTP with mixed calls for minutes, and watch its memory and its open handles.

Callers search, read, list, write, batch, fail and confirm at full speed; half of them by protocol 2026-07-28, half in
sessions of 2025-11-25 that they open and end. The API is a stand-in in this process that remembers, and forgets every
few seconds. Memory and handles should be flat: the last fifth of the samples beside the second fifth. Linux alone.

With `--attack` the callers send what is most costly to refuse instead (`tests/attacks/test_explaining.py`), all kinds
at once, while another client asks for /healthz. The exit code is 1 if an answer of it takes 250 ms, if memory grows
by 50 MB, or if a call is neither refused nor answered (INTERNAL_ERROR).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing as processes
import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import median, quantiles
from time import monotonic, sleep
from typing import Any

import httpx2

from aqlgen.check.stand_in import serve
from bench.support.arguments import parser
from bench.support.documents import adapters, package_of
from bench.support.processes import environment, free_port
from bench.support.runtime import load as load_runtime
from bench.support.stateful import StatefulApi
from bench.support.stdio import adapter_command, example
from tests.attacks.test_explaining import ATTACKS, TYPES
from tests.runtime.api.hand_made import make_package, operation

MODERN, LEGACY = "2026-07-28", "2025-11-25"
PER_SESSION = 50
FORGET = 5.0
SAMPLE = 1.0
LATE, LARGE = 0.25, 50.0
PROBE = 0.02
SERVE = "import sys, pathlib; from {cli} import main; sys.exit(main(pathlib.Path(sys.argv[1]), None, sys.argv[2:]))"


def mixed(project: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return the tools with their arguments that a caller goes through."""
    read, params = example(project)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read", {"operation": read, "params": params}),
        ("read", {"operation": "introspect", "params": {"query": "operations", "search": "list all"}}),
        ("read", {"operation": "introspect", "params": {"query": "operations", "name": read}}),
        ("read", {"operations": [{"operation": read, "params": params}] * 5}),
        ("read", {"operation": "no_such_operation"}),
        ("read", {"operation": read, "params": {**params, "no_such_parameter": 1}}),
    ]
    for family in ("create", "update", "delete"):
        with suppress(ValueError, FileNotFoundError):
            operation, arguments = example(project, family)
            calls.append((family, {"operation": operation, "params": arguments}))
    return calls


def hostile(package: Path) -> list[tuple[str, dict[str, Any]]]:
    """Make an adapter with an operation for each type of the attacks, and return the calls that attack it."""
    types = {name: json.loads(json.dumps(TYPES[name]).replace("#/types/Filter", f"#/types/{name}")) for name in TYPES}
    rows = {
        name.lower(): operation("POST", parameters={"filter": {"in": "body", "schema": {"$ref": f"#/types/{name}"}}})
        for name in TYPES
    }
    make_package(package, rows, types, family="create", adapter={"counts": {"create": len(rows)}})
    return [("create", {"operation": name.lower(), "params": {"filter": value}}) for name, value in ATTACKS]


class Caller:
    """One caller with a connection of its own."""

    def __init__(self, url: str, era: str, calls: Sequence[tuple[str, dict[str, Any]]], number: int) -> None:
        self._url, self._era, self._calls = url, era, calls
        self._turn = number
        self.outcomes: Counter[str] = Counter()

    async def run(self, ends: float) -> None:
        """Call until the time is over."""
        async with httpx2.AsyncClient(timeout=60) as client:
            while monotonic() < ends:
                if self._era == MODERN:
                    await self._call(client, {})
                    continue
                session = await self._opened(client)
                for _ in range(PER_SESSION):
                    if monotonic() < ends:
                        await self._call(client, session)
                await client.delete(self._url, headers=session)

    async def _opened(self, client: httpx2.AsyncClient) -> dict[str, str]:
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        answer = await self._post(client, "initialize", params, {})
        headers = {"mcp-session-id": answer.headers.get("mcp-session-id", ""), "mcp-protocol-version": LEGACY}
        body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await client.post(self._url, json=body, headers={**headers, "accept": "application/json, text/event-stream"})
        return headers

    async def _call(self, client: httpx2.AsyncClient, session: Mapping[str, str]) -> None:
        family, arguments = self._calls[self._turn % len(self._calls)]
        self._turn += 1
        envelope = await self._tool(client, family, arguments, session)
        token = (envelope.get("confirmation") or {}).get("token")
        if token is not None:
            params = {**arguments["params"], "confirmation_token": token}
            envelope = await self._tool(client, family, {**arguments, "params": params}, session)
        self.outcomes["OK" if envelope.get("success") else (envelope.get("error") or {}).get("code", "?")] += 1

    async def _tool(
        self, client: httpx2.AsyncClient, family: str, arguments: Mapping[str, Any], session: Mapping[str, str]
    ) -> dict[str, Any]:
        name = f"mcp_aql_{family}"
        params: dict[str, Any] = {"name": name, "arguments": arguments}
        headers = dict(session)
        if not session:
            headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": name}
            if "operation" in arguments:
                headers["mcp-param-operation"] = str(arguments["operation"])
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        answer = await self._post(client, "tools/call", params, headers)
        result: dict[str, Any] = answer.json().get("result", {}).get("structuredContent", {})
        if not result:
            self.outcomes[f"status {answer.status_code}"] += 1
        return result

    async def _post(
        self, client: httpx2.AsyncClient, method: str, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        accepted = {"accept": "application/json, text/event-stream", **headers}
        return await client.post(self._url, json=body, headers=accepted)


def usage(process: int) -> tuple[float, int]:
    """Return the resident megabytes of a process, and how many handles it has open."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20, len(os.listdir(f"/proc/{process}/fd"))


def probe(url: str, stopped: Event, answered: SimpleQueue[list[float]]) -> None:
    """Ask for /healthz until it is stopped, and give the seconds that each answer took."""
    seconds = []
    with httpx2.Client(timeout=60) as client:
        while not stopped.wait(PROBE):
            began = monotonic()
            client.get(url.replace("/mcp", "/healthz")).raise_for_status()
            seconds.append(monotonic() - began)
    answered.put(seconds)


async def load(
    url: str,
    process: int,
    api: StatefulApi | None,
    calls: Sequence[tuple[str, dict[str, Any]]],
    options: argparse.Namespace,
) -> tuple[Counter[str], list[tuple[float, int]]]:
    """Run the callers; return the outcomes of their calls, and the samples."""
    ends = monotonic() + options.minutes * 60
    callers = [Caller(url, MODERN if number % 2 else LEGACY, calls, number) for number in range(options.callers)]
    samples: list[tuple[float, int]] = []

    async def watch() -> None:
        forgotten = monotonic()
        while monotonic() < ends:
            await asyncio.sleep(SAMPLE)
            samples.append(usage(process))
            if api is not None and monotonic() - forgotten > FORGET:
                api.reset()
                forgotten = monotonic()

    await asyncio.gather(watch(), *(caller.run(ends) for caller in callers))
    return sum((caller.outcomes for caller in callers), Counter()), samples


def report(outcomes: Counter[str], samples: Sequence[tuple[float, int]], seconds: float) -> list[str]:
    """Return the lines of the result."""
    fifth = max(1, len(samples) // 5)
    early, late = samples[fifth : 2 * fifth], samples[-fifth:]
    calls = outcomes.total()
    lines = [f"{calls} calls, {calls / seconds:.0f} a second: {dict(outcomes.most_common())}"]
    for index, unit in ((0, "MB"), (1, "handles")):
        first, last = (median(sample[index] for sample in part) for part in (early, late))
        most = max(sample[index] for sample in samples)
        lines.append(f"{unit}: {first:.0f} in the second fifth, {last:.0f} in the last, at most {most:.0f}")
    return lines


def attack(options: argparse.Namespace) -> int:
    """Have all attacks run at once, and print how long /healthz took meanwhile and how the memory grew."""
    with tempfile.TemporaryDirectory() as home:
        calls = hostile(Path(home) / "package")
        serve = SERVE.format(cli=load_runtime("cli").__name__)
        command = [sys.executable, "-c", serve, str(Path(home) / "package"), "--mock"]  # it may answer what is valid
        settings = {"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_AUDIT_PATH": os.devnull, "MCP_AQL_LOG_LEVEL": "error"}
        with started(command, settings) as (url, process):
            asyncio.run(load(url, process, None, [calls[0]], argparse.Namespace(minutes=2 / 60, callers=2)))
            before, stopped, answered = usage(process)[0], processes.Event(), processes.SimpleQueue()
            asking = processes.Process(target=probe, args=(url, stopped, answered))
            asking.start()
            outcomes, samples = asyncio.run(load(url, process, None, calls, options))
            stopped.set()
            seconds = answered.get()
            asking.join()
    most, grown = max(seconds), max(sample[0] for sample in samples) - before
    p50, p99 = median(seconds) * 1000, quantiles(seconds, n=100)[98] * 1000
    print("\n".join(report(outcomes, samples, options.minutes * 60)))
    print(f"/healthz: {len(seconds)} answers, p50 {p50:.0f}, p99 {p99:.0f}, at most {most * 1000:.0f} ms")
    print(f"memory: {before:.0f} MB before, {grown:+.0f} MB at most")
    return 1 if most >= LATE or grown >= LARGE or outcomes["INTERNAL_ERROR"] else 0


def main(argv: Sequence[str]) -> int:
    """Print how many calls were answered, and the memory and handles of the adapter on the way."""
    options = parser(__name__, __doc__)
    options.add_argument("--minutes", type=float, default=10.0)
    options.add_argument("--callers", type=int, default=64)
    options.add_argument("--project", type=Path, help="an adapter's project (default: the petstore)")
    options.add_argument("--attack", action="store_true", help="calls that are costly to refuse")
    arguments = options.parse_args(argv)
    if arguments.attack:
        return attack(arguments)
    with adapters([arguments.project] if arguments.project else []) as projects, tempfile.TemporaryDirectory() as home:
        project = next(iter(projects.values()))
        api = StatefulApi(package_of(project), {}, {})
        with serve(api) as base:
            command, variables = adapter_command(project)
            command = [part for part in command if part != "--mock"]
            names = json.loads((package_of(project) / "adapter.json").read_bytes()).get("security_schemes", {})
            credentials = {name: "x" * 20 for scheme in names.values() for name in scheme.get("variables", ())}
            settings = {"MCP_AQL_BASE_URL": base, "XDG_STATE_HOME": home, "MCP_AQL_CONFIRMATION_RATE": "10000"}
            with started(command, {**variables, **credentials, **settings}) as (url, process):
                outcomes, samples = asyncio.run(load(url, process, api, mixed(project), arguments))
    print("\n".join(report(outcomes, samples, arguments.minutes * 60)))
    return 0


@contextmanager
def started(command: Sequence[str], variables: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Run an adapter over HTTP; yield its URL and the number of its process."""
    port = free_port()
    arguments = [*command, "--transport", "http", "--port", str(port)]
    running = subprocess.Popen(arguments, env=environment(**variables))
    try:
        url = f"http://127.0.0.1:{port}/mcp"
        _wait(url)
        yield url, running.pid
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(60)


def _wait(url: str) -> None:
    ends = monotonic() + 30
    while True:
        try:
            httpx2.get(url.replace("/mcp", "/healthz"))
        except httpx2.TransportError:
            if monotonic() > ends:
                raise
            sleep(0.05)
        else:
            return
