"""Measure how much there is to hold: lines, statements, complexity, the petstore's project, and a session's way.

Lines are those of Python files, statements `ast.stmt` without docstrings, complexity is radon's. A session lists,
searches, reads, creates and deletes with a confirmation, against an HTTP server that answers each request.
"""

from __future__ import annotations

import ast
import json
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from radon.complexity import cc_visit_ast

from bench.support.arguments import parser
from bench.support.documents import package_of
from bench.support.processes import ROOT, generate
from bench.support.size import project_size
from bench.support.stdio import ERAS, RawClient

COMPLEX = 15
OBSERVED = """
import atexit, inspect, json, os, runpy, sys
path, package = sys.argv[1:]
sys.argv[1:] = []
deepest = 0
def depth(frame):
    count = 0
    while frame is not None:
        count += bool(frame.f_code.co_flags & inspect.CO_COROUTINE) and "/runtime/" in frame.f_code.co_filename
        frame = frame.f_back
    return count
def profile(frame, event, argument):
    global deepest
    if event == "call" and frame.f_code.co_flags & inspect.CO_COROUTINE:
        deepest = max(deepest, depth(frame))
def report():
    sys.setprofile(None)
    modules = [name for name in sys.modules if name.startswith(f"{package}.runtime")]
    with open(path, "w") as file:
        json.dump({"modules": len(modules), "coroutines": deepest}, file)
atexit.register(report)
if os.environ.get("BENCH_DEPTH"):
    sys.setprofile(profile)
runpy.run_module(package, run_name="__main__")
"""


Call = tuple[str, str, dict[str, Any]]
READ: Call = ("read", "get_pet", {"pet_id": 7})
SESSION: tuple[Call, ...] = (
    ("read", "introspect", {"query": "operations"}),
    ("read", "introspect", {"query": "operations", "search": "create a pet"}),
    READ,
    ("read", "list_pets", {}),
    ("create", "create_pet", {"name": "Rosa", "kind": "cat", "home_address": {"street": "Quay 3", "city": "Harbour"}}),
    ("delete", "delete_pet", {"pet_id": 7}),
)


def lines(folder: Path) -> int:
    """Count the lines of a folder's Python."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))


def statements_and_complex(folder: Path) -> tuple[int, int]:
    """Count the statements of a folder's Python, and its complex functions."""
    statements = complex_ = 0
    for path in folder.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        statements += sum(isinstance(node, ast.stmt) and not _is_text(node) for node in ast.walk(tree))
        complex_ += sum(block.letter in "FM" and block.complexity > COMPLEX for block in cc_visit_ast(tree))
    return statements, complex_


def session(project: Path, calls: Sequence[Call], *, deep: bool) -> dict[str, int]:
    """Make calls of a project's adapter; return the runtime's modules it loaded, and, if `deep`, nested coroutines."""
    package = package_of(project).name
    report = project / "session.json"
    with answering() as url:
        command = [sys.executable, "-c", OBSERVED, str(report), package]
        variables = {"PYTHONPATH": str(project / "src"), "BENCH_DEPTH": "1" if deep else "", "MCP_AQL_AUTH": "none"}
        with RawClient(command, ERAS[0], variables | {"MCP_AQL_BASE_URL": url}) as client:
            for family, operation, params in calls:
                answer = _call(client, family, operation, params)
                if "confirmation_token" in str(answer):
                    token = answer["error"]["details"]["confirmation_token"]
                    answer = _call(client, family, operation, params | {"confirmation_token": token})
                if not answer["success"]:
                    raise SystemExit(f"{operation}: {answer}")
    figures: dict[str, int] = json.loads(report.read_text(encoding="utf-8"))
    report.unlink()
    return figures


@contextmanager
def answering() -> Iterator[str]:
    """Serve an API that answers each request; give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


class _Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pet = {"id": 7, "name": "Rosa", "kind": "cat", "status": "available"}
        body = json.dumps(
            [pet] if self.path.split("?")[0].endswith("/pets") and self.command == "GET" else pet
        ).encode()
        self.send_response(201 if self.command == "POST" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer  # noqa: N815 - the names of http.server

    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""


def _call(client: RawClient, family: str, operation: str, params: dict[str, Any]) -> dict[str, Any]:
    arguments = {"operation": operation, "params": params}
    answer: dict[str, Any] = client.ask("tools/call", {"name": f"mcp_aql_{family}", "arguments": arguments})
    content: dict[str, Any] = answer["result"]["structuredContent"]
    return content


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def house() -> dict[str, int]:
    """Return the figures of the code, by what they count; `tests/test_budget.py` bounds them."""
    aqlgen = ROOT / "aqlgen"
    runtime = lines(aqlgen / "runtime")
    statements, complex_ = statements_and_complex(aqlgen)
    return {
        "aqlgen/ without runtime, lines": lines(aqlgen) - runtime,
        "aqlgen/runtime/, lines": runtime,
        "aqlgen/, statements": statements,
        f"aqlgen/, functions over a complexity of {COMPLEX}": complex_,
        "tests, lines": lines(ROOT / "tests"),
        "bench, lines": lines(ROOT / "bench"),
    }


def main(argv: Sequence[str]) -> None:
    """Print a line for each figure."""
    parser(__name__, __doc__).parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        petstore = Path(scratch) / "petstore"
        generate(ROOT / "fixtures" / "petstore.yaml", petstore)
        size = project_size(petstore)
        modules = session(petstore, SESSION, deep=False)["modules"]
        coroutines = session(petstore, [READ] * 3, deep=True)["coroutines"]
    figures = house() | {
        "petstore, files": size.files,
        "petstore, lines of text without the document": size.total,
        "runtime modules of an ordinary session": modules,
        "nested coroutines of a warm read": coroutines,
    }
    for name, figure in figures.items():
        print(f"{name:50} {figure:7,}")
