"""Call every case of `tests/wire_cases.py` over MCP and see, on a raw socket, what arrives.

    python bench/wire/record.py [--only TEXT]

Prints the cases whose request is not what the specification says, byte for byte, and how many are; 1 when any differs.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE))

from tests.wire_cases import CASES, OLD_CASES, Case, document, old_document  # noqa: E402

SETTINGS = {
    "MCP_AQL_CONFIG": os.devnull,
    "MCP_AQL_STATE_URL": "memory:",
    "MCP_AQL_POLICY": "open",
    "MCP_AQL_LOG_LEVEL": "error",
}
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


@dataclass
class Seen:
    """A request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Recorder:
    """A server that keeps each request."""

    seen: list[Seen] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one request, answer it."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip(" ") for name, _, value in (line.partition(":") for line in head[1:-2])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.seen.append(Seen(method, target, headers, body))
        writer.write(ANSWER)
        await writer.drain()
        writer.close()


def differences(number: int, case: Case, seen: Seen | None, envelope: dict[str, Any]) -> list[str]:
    """Tell what is not as it must be."""
    if case.refused:
        code = envelope.get("error", {}).get("code")
        return [] if seen is None and code == case.refused else [f"refused with {code}, sent {seen}"]
    if seen is None:
        return [f"not sent: {json.dumps(envelope)[:400]}"]
    found = []
    if seen.method != case.method:
        found.append(f"method {seen.method}")
    if seen.target != f"/c{number}{case.target}":
        found.append(f"target {seen.target}, not /c{number}{case.target}")
    boundary = re.search("boundary=(.+)", seen.headers.get("content-type", ""))
    mark = boundary[1] if boundary else "{B}"
    for name, value in case.headers.items():
        wanted = value and value.replace("{B}", mark)
        if seen.headers.get(name.lower()) != wanted:
            found.append(f"header {name}: {seen.headers.get(name.lower())!r}, not {wanted!r}")
    wanted_body = case.body.replace(b"{B}", mark.encode())
    if seen.body != wanted_body:
        found.append(f"body {seen.body!r}, not {wanted_body!r}")
    return found


def text_of(result: Any) -> str:
    """Give the text of a tool's result."""
    return str(result.content[0].text)


async def run(package: Path, cases: tuple[Case, ...], only: str) -> int:
    """Call the cases; give how many differ."""
    from mcp import Client

    recorder = Recorder()
    server = await asyncio.start_server(recorder.serve, "127.0.0.1", 0)
    base = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    sys.path.insert(0, str(package.parent))
    assembly = importlib.import_module(f"{package.name}.runtime.assembly")
    build_server = importlib.import_module(f"{package.name}.runtime.server").build_server
    parts = assembly.assemble(package, environ={**SETTINGS, "MCP_AQL_BASE_URL": base})
    rows = {
        row["operation_id"]: (name, path.stem)
        for path in package.glob("operations/*.json")
        for name, row in json.loads(path.read_bytes()).items()
    }
    bad = called = 0
    async with Client(build_server(parts.dispatcher), mode="auto") as client:
        for number, case in enumerate(cases):
            if only not in case.title:
                continue
            called += 1
            recorder.seen.clear()
            name, family = rows.get(f"case{number}", ("", "read"))
            arguments = {"operation": name, "params": dict(case.call)}
            result = await client.call_tool(f"mcp_aql_{family}", arguments)
            envelope = json.loads(text_of(result))
            found = differences(number, case, recorder.seen[0] if recorder.seen else None, envelope)
            if found:
                bad += 1
                print(f"{number} {case.title}\n   " + "\n   ".join(found))
    server.close()
    print(f"{called} cases, {called - bad} as specified, {bad} not")
    return bad


def main() -> int:
    """Generate the adapter of the cases and call them."""
    parser = argparse.ArgumentParser(description="Record requests.")
    parser.add_argument("--only", default="", help="cases whose title holds this")
    options = parser.parse_args()
    bad = 0
    for spec, cases in ((document(), CASES), (old_document(), OLD_CASES)):
        with tempfile.TemporaryDirectory() as folder:
            file, project = Path(folder) / "wire.json", Path(folder) / "project"
            file.write_text(json.dumps(spec), encoding="utf-8")
            command = [sys.executable, "-m", "aqlgen", "from-openapi", str(file), "-o", str(project), "-q"]
            subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": str(TREE)}, stdout=subprocess.DEVNULL)
            bad += asyncio.run(run(next(project.glob("src/*")), cases, options.only))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
