"""Call every case of `tests/wire_cases.py` over MCP and compare what arrives on a raw socket, byte for byte.

The requests that are not what the specification says are printed; the exit code is 1 if there are any.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.support.arguments import parser
from bench.support.documents import package_of
from bench.support.processes import generate
from bench.support.runtime import load_generated
from tests.wire_cases import CASES, OLD_CASES, Case, document, old_document

SETTINGS = {
    "MCP_AQL_CONFIG": os.devnull,
    "MCP_AQL_STATE_URL": "memory:",
    "MCP_AQL_POLICY": "open",
    "MCP_AQL_LOG_LEVEL": "error",
}
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


@dataclass
class Received:
    """A request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Recorder:
    """A server that records each request."""

    requests: list[Received] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one request, answer it."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip(" ") for name, _, value in (line.partition(":") for line in head[1:-2])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.requests.append(Received(method, target, headers, body))
        writer.write(ANSWER)
        await writer.drain()
        writer.close()


def differences(number: int, case: Case, received: Received | None, envelope: dict[str, Any]) -> list[str]:
    """Return what in a request differs from its case."""
    if case.refused:
        code = envelope.get("error", {}).get("code")
        return [] if received is None and code == case.refused else [f"refused with {code}, sent {received}"]
    if received is None:
        return [f"not sent: {json.dumps(envelope)[:400]}"]
    faults = []
    if received.method != case.method:
        faults.append(f"method {received.method}")
    if received.target != f"/c{number}{case.target}":
        faults.append(f"target {received.target}, not /c{number}{case.target}")
    boundary = re.search("boundary=(.+)", received.headers.get("content-type", ""))
    mark = boundary[1] if boundary else "{B}"
    for name, value in case.headers.items():
        wanted = value and value.replace("{B}", mark)
        if received.headers.get(name.lower()) != wanted:
            faults.append(f"header {name}: {received.headers.get(name.lower())!r}, not {wanted!r}")
    wanted_body = case.body.replace(b"{B}", mark.encode())
    if received.body != wanted_body:
        faults.append(f"body {received.body!r}, not {wanted_body!r}")
    return faults


def text_of(result: Any) -> str:
    """Return the text of a tool's result."""
    return str(result.content[0].text)


async def run(package: Path, cases: tuple[Case, ...], only: str) -> int:
    """Call the cases; return how many differ."""
    from mcp import Client

    recorder = Recorder()
    server = await asyncio.start_server(recorder.serve, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    assembly = load_generated("assembly", package)
    build_server = load_generated("server", package).build_server
    parts = assembly.assemble(package, environ={**SETTINGS, "MCP_AQL_BASE_URL": base})
    rows = {
        row["operation_id"]: (name, path.stem)
        for path in package.glob("operations/*.json")
        for name, row in json.loads(path.read_bytes()).items()
    }
    differing = called = 0
    async with Client(build_server(parts.dispatcher), mode="auto") as client:
        for number, case in enumerate(cases):
            if only not in case.title:
                continue
            called += 1
            recorder.requests.clear()
            name, family = rows.get(f"case{number}", ("", "read"))
            arguments = {"operation": name, "params": dict(case.call)}
            result = await client.call_tool(f"mcp_aql_{family}", arguments)
            envelope = json.loads(text_of(result))
            faults = differences(number, case, recorder.requests[0] if recorder.requests else None, envelope)
            if faults:
                differing += 1
                print(f"{number} {case.title}\n   " + "\n   ".join(faults))
    server.close()
    print(f"{called} cases, {called - differing} as specified, {differing} not")
    return differing


def main(argv: Sequence[str]) -> int:
    """Generate the adapters of the cases and call them; return 1 if a request differs."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("--only", default="", metavar="TEXT", help="cases whose title holds TEXT")
    options = arguments.parse_args(argv)
    differing = 0
    for spec, cases in ((document(), CASES), (old_document(), OLD_CASES)):
        with tempfile.TemporaryDirectory() as folder:
            file, project = Path(folder) / "wire.json", Path(folder) / "project"
            file.write_text(json.dumps(spec), encoding="utf-8")
            generate(file, project)
            differing += asyncio.run(run(package_of(project), cases, options.only))
    return 1 if differing else 0
