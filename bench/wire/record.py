"""Call every case of `tests/wire_cases` over MCP and compare what arrives on a raw socket, and what comes back.

Requests are compared byte for byte, answers as data. What is not as the specification says is printed; the exit code is
1 if there is any.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.support.arguments import parser
from bench.support.documents import package_of
from bench.support.processes import generate
from bench.support.runtime import load_generated
from tests.wire_cases import ANSWERS, CASES, EARLIER, HOST, OLD_CASES, Answer, Case, answering, document, old_document

__all__ = ["TABLES", "Received", "Recorder", "Table", "differences", "main"]

SETTINGS = {
    "MCP_AQL_CONFIG": os.devnull,
    "MCP_AQL_STATE_URL": "memory:",
    "MCP_AQL_POLICY": "open",
    "MCP_AQL_LOG_LEVEL": "error",
    "MCP_AQL_RETRIES": "0",
}
OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"


@dataclass(frozen=True)
class Table:
    """One of the tables: its name, its cases, and its document for a server's address."""

    name: str
    cases: Sequence[Case | Answer]
    document: Callable[[str], dict[str, Any]]

    def numbered(self, only: str) -> Iterator[tuple[int, Case | Answer]]:
        """Yield the cases that a socket can tell, with their numbers: not those of servers at another host."""
        for number, case in enumerate(self.cases):
            elsewhere = isinstance(case, Case) and any(
                server["url"].startswith(("{", "https://{")) for server in case.servers
            )
            if only in case.title and not elsewhere:
                yield number, case


TABLES = (
    Table("requests", CASES, lambda server: document(CASES, server=server)),
    Table("OpenAPI 3.0", EARLIER, lambda server: document(EARLIER, server=server, version="3.0.4")),
    Table(
        "Swagger 2.0", OLD_CASES, lambda server: {**old_document(server=urlsplit(server).netloc), "schemes": ["http"]}
    ),
    Table("answers", ANSWERS, lambda server: answering(ANSWERS, server=server)),
)


@dataclass
class Received:
    """A request as it arrived."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Recorder:
    """A server that records each request, and gives the answers of the table."""

    requests: list[Received] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one request, answer it."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip(" ") for name, _, value in (line.partition(":") for line in head[1:-2])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        self.requests.append(Received(method, target, headers, body))
        number = re.fullmatch(r"/a(\d+)", target)
        writer.write(written(ANSWERS[int(number[1])]) if number else OK)
        await writer.drain()
        writer.close()

    async def opened(self) -> tuple[asyncio.Server, str]:
        """Serve at a free port; return the server and its address."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        return server, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def written(answer: Answer) -> bytes:
    """Return an answer as it is sent."""
    headers = {**answer.headers, "Connection": "close"} | ({"Content-Type": answer.kind} if answer.kind else {})
    if answer.status not in (204, 205, 304):
        headers["Content-Length"] = str(len(answer.content))
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {answer.status} Status\r\n{lines}\r\n".encode("latin-1") + answer.content


def differences(number: int, case: Case, received: Received | None, refusal: str) -> list[str]:
    """Return what in a request differs from its case. `refusal` is the code of the refusal, if there was one."""
    if case.refused:
        return [] if received is None and refusal == case.refused else [f"refused with {refusal!r}, sent {received}"]
    if received is None:
        return [f"not sent: {refusal}"]
    faults = []
    target = f"{urlsplit(case.base.replace(HOST, 'http://host')).path}/c{number}{case.target}"
    if received.method != case.method:
        faults.append(f"method {received.method}")
    if received.target != target:
        faults.append(f"target {received.target}, not {target}")
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


def misread(answer: Answer, envelope: Mapping[str, Any]) -> list[str]:
    """Return what in an envelope differs from an answer."""
    if answer.refused:
        code = envelope.get("error", {}).get("code")
        return [] if code == answer.refused else [f"{code}, not {answer.refused}"]
    data = envelope.get("data")
    if isinstance(answer.data, list) and isinstance(data, Mapping) and "items" in data:
        data = data["items"]
    return [] if json.dumps(data) == json.dumps(answer.data) else [f"{json.dumps(envelope)[:300]}, not {answer.data!r}"]


async def run(table: Table, only: str) -> tuple[int, int]:
    """Call the cases of a table; return how many were called and how many differ."""
    from mcp import Client

    recorder = Recorder()
    listener, base = await recorder.opened()
    with tempfile.TemporaryDirectory() as folder:
        file, project = Path(folder) / "wire.json", Path(folder) / "project"
        titled = {**table.document(base), "info": {"title": f"Wire {table.name}", "version": "1"}}
        file.write_text(json.dumps(titled), encoding="utf-8")
        generate(file, project)
        package = package_of(project)
        parts = load_generated("assembly", package).assemble(package, environ=SETTINGS)
        rows = {
            row["operation_id"]: (name, path.stem)
            for path in package.glob("operations/*.json")
            for name, row in json.loads(path.read_bytes()).items()
        }
        differing = called = 0
        async with Client(load_generated("server", package).build_server(parts.dispatcher), mode="auto") as client:
            for number, case in table.numbered(only):
                called += 1
                recorder.requests.clear()
                is_answer = isinstance(case, Answer)
                name, family = rows.get(f"{'answer' if is_answer else 'case'}{number}", ("", "read"))
                arguments = {"operation": name, "params": {} if isinstance(case, Answer) else dict(case.call)}
                result = await client.call_tool(f"mcp_aql_{family}", arguments)
                envelope = json.loads(result.content[0].text)  # type: ignore[union-attr]
                refusal = envelope.get("error", {}).get("code", "")
                received = recorder.requests[0] if recorder.requests else None
                faults = (
                    misread(case, envelope)
                    if isinstance(case, Answer)
                    else differences(number, case, received, refusal)
                )
                if faults:
                    differing += 1
                    print(f"{table.name} {number} {case.title} ({case.rule})\n   " + "\n   ".join(faults))
    listener.close()
    return called, differing


def main(argv: Sequence[str]) -> int:
    """Generate the adapters of the tables and call their cases; return 1 if a request or an answer differs."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("--only", default="", metavar="TEXT", help="cases whose title holds TEXT")
    options = arguments.parse_args(argv)
    print("table\tcases\tas specified")
    results = {table.name: asyncio.run(run(table, options.only)) for table in TABLES}
    results["all"] = (sum(called for called, _ in results.values()), sum(faults for _, faults in results.values()))
    for name, (called, differing) in results.items():
        print(name, called, called - differing, sep="\t")
    return 1 if results["all"][1] else 0
