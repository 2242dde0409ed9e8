"""Measure what people would use instead on the same document: FastMCP's `from_openapi`, and a generated SDK.

`--fastmcp PYTHON` names a Python that has `fastmcp[code-mode]`, `--sdk PYTHON` one that has `openapi-python-client`;
without them only aqlgen is measured. Each server runs over stdio before an API on this machine that answers at once:
tokens (o200k) of what a model sees of the tools, MB held after the calls, and its processor time in milliseconds until
the first answer and for a call that reads one thing. Of the SDK: seconds to generate, files, lines, how many findings
it prints, and the tokens of the module that makes the same call.
"""

from __future__ import annotations

import compileall
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

from bench.support.arguments import parser
from bench.support.documents import package_of, samples
from bench.support.processes import generate, run
from bench.support.stdio import ERAS, RawClient, adapter_command
from bench.tokens import compact, count

SERVER = Path(__file__).parent / "support" / "fastmcp_server.py"
FORMS = ("plain", "search", "code")
STARTS, WARM, CALLS = 3, 30, 200
SHOWN = ("name", "description", "inputSchema")
"""What a client tells a model of a tool."""
THING = {
    "id": 7,
    "name": "Hedy",
    "title": "A thing",
    "labels": ["a", "b"],
    "state": "open",
    "size": 12,
    "note": "x" * 400,
}


class Thing(BaseHTTPRequestHandler):
    """An API that answers every request with the same thing."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer a read."""
        body = json.dumps(THING).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _serve(connection: Connection) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Thing)
    connection.send(server.server_port)
    server.serve_forever()


@contextmanager
def api() -> Iterator[str]:
    """Run the API in a process of its own, and yield its address."""
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}"
    finally:
        process.terminate()


@dataclass(frozen=True, slots=True)
class Read:
    """The read that is called: its name for agents, the API's own name, and its parameters by both spellings."""

    name: str
    operation_id: str
    params: dict[str, Any]
    wire: dict[str, Any]


def read_of(project: Path) -> Read:
    """Return the read of one thing with the fewest parameters, all of them in its path."""
    rows = json.loads((package_of(project) / "operations" / "read.json").read_bytes())
    reads = []
    for name, row in rows.items():
        required = {key: entry for key, entry in row["parameters"].items() if entry.get("required")}
        answers = [answer.get("content_type") for answer in row.get("responses", {}).values()]
        in_path = bool(required) and all(entry["in"] == "path" for entry in required.values())
        if row["method"] == "GET" and in_path and "application/json" in answers and "operation_id" in row:
            params = {key: row["example"][key] for key in required}
            wire = {entry.get("name", key): row["example"][key] for key, entry in required.items()}
            reads.append((len(required), name, Read(name, row["operation_id"], params, wire)))
    return min(reads, key=lambda entry: entry[:2])[2]


def memory(client: RawClient) -> float:
    """Return the megabytes that a server holds."""
    held = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{client.pid}/status").read_text(encoding="ascii"))
    return int(held[1]) / 1024 if held else 0.0


def processor(client: RawClient) -> float:
    """Return the processor time that a server has used, in milliseconds."""
    fields = Path(f"/proc/{client.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def measured(
    command: list[str], variables: dict[str, str], call: Callable[[list[dict[str, Any]]], tuple[str, dict[str, Any]]]
) -> str:
    """Return the line of a server: `call` chooses the tool and its arguments by the list of tools."""
    starts = []
    for _ in range(STARTS):
        with RawClient(command, ERAS[0], variables) as client:
            starts.append(processor(client))
    with RawClient(command, ERAS[0], variables) as client:
        tools = client.ask("tools/list", {})["result"]["tools"]
        shown = [{key: tool[key] for key in SHOWN if key in tool} for tool in tools]
        tool, arguments = call(tools)
        for number in range(WARM + CALLS):
            if number == WARM:
                before = processor(client)
            answer = client.exchange(client.line("tools/call", {"name": tool, "arguments": arguments}))
            if b"Hedy" not in answer:
                raise SystemExit(f"{tool} {arguments}: {answer[:1000].decode()}")
        each = (processor(client) - before) / CALLS
        held = memory(client)
    return (
        f"first answer {median(starts):6.0f} ms   {len(tools):5} tools {count(compact(shown)):8,} tokens   "
        f"{held:4.0f} MB   a call {each:5.2f} ms"
    )


def _plain(read: Read, tools: list[dict[str, Any]]) -> str:
    """Return FastMCP's name of the tool for a read."""
    wanted = re.sub(r"[^a-z0-9]", "", read.operation_id.lower())
    return next(str(tool["name"]) for tool in tools if re.sub(r"[^a-z0-9]", "", tool["name"].lower()) == wanted)


def fastmcp(python: Path, document: Path, base: str, read: Read) -> Iterator[str]:
    """Yield the lines of FastMCP's forms."""
    name = ""

    def plain(tools: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        nonlocal name
        name = _plain(read, tools)
        return name, read.wire

    def proxied(_: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        return "call_tool", {"name": name, "arguments": read.wire}

    def coded(_: list[dict[str, Any]]) -> tuple[str, dict[str, Any]]:
        return "execute", {"code": f"return await call_tool({name!r}, {read.wire!r})"}

    for form, call in zip(FORMS, (plain, proxied, coded), strict=True):
        yield f"FastMCP, {form:8}{measured([str(python), str(SERVER), str(document), base, form], {}, call)}"


def sdk(python: Path, document: Path, read: Read, folder: Path) -> str:
    """Return the line of the SDK that openapi-python-client generates."""
    target = folder / "sdk"
    command = [str(python), "-m", "openapi_python_client", "generate", "--path", str(document)]
    done = run([*command, "--output-path", str(target), "--meta", "none"])
    files = sorted(target.rglob("*.py"))
    if not files:
        return f"SDK              none: {done.output.strip().splitlines()[-1][:200]}"
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    left_out = len(re.findall(r"(?m)^\s*WARNING parsing", done.output))
    wanted = re.sub(r"[^a-z0-9]", "", read.operation_id.lower())
    module = next(file for file in files if file.parent.parent.name == "api" and file.stem.replace("_", "") == wanted)
    tokens = count(module.read_text(encoding="utf-8"))
    return (
        f"SDK              {done.seconds:.1f} s, {len(files):,} files, {lines:,} lines, {left_out} findings; "
        f"{module.name}: {tokens:,} tokens"
    )


def main(argv: Sequence[str]) -> None:
    """Print a line for each server, and one for the SDK, of each document."""
    options = parser(__name__, __doc__)
    options.add_argument("documents", type=Path, nargs="*", help="default: the petstore, and GitHub's of the corpus")
    options.add_argument("--fastmcp", type=Path, metavar="PYTHON", help="a Python that has fastmcp[code-mode]")
    options.add_argument("--sdk", type=Path, metavar="PYTHON", help="a Python that has openapi-python-client")
    arguments = options.parse_args(argv)
    documents = {path.name: path for path in arguments.documents} or samples()
    with tempfile.TemporaryDirectory() as scratch, api() as base:
        for title, document in documents.items():
            folder = Path(scratch) / title
            generate(document.resolve(), folder)
            compileall.compile_dir(folder / "src", quiet=2)
            read = read_of(folder)
            print(f"{title}: {read.name}", flush=True)
            command, variables = adapter_command(folder)
            command.remove("--mock")
            variables |= {"MCP_AQL_BASE_URL": base, "PETSTORE_API_KEY": "key"}
            for mode in ("semantic", "single"):
                tool = "mcp_aql_read" if mode == "semantic" else "mcp_aql"
                request = {"operation": read.name, "params": read.params}
                line = measured(
                    command, variables | {"MCP_AQL_ENDPOINT_MODE": mode}, lambda _, t=tool, r=request: (t, r)
                )
                print(f"  aqlgen, {mode:9}{line}", flush=True)
            if arguments.fastmcp:
                for line in fastmcp(arguments.fastmcp, document.resolve(), base, read):
                    print(f"  {line}", flush=True)
            if arguments.sdk:
                print(f"  {sdk(arguments.sdk, document.resolve(), read, folder)}", flush=True)
