"""The log of an adapter at work: at level info no logger shows what calls, requests and answers hold (R-OPS-4)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from api.hand_made import STRING, make_package, operation
from local import Answer, Asked, serving

from aqlgen.runtime.table import FAMILIES

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("forked")]

MARK = "PATIENT4711"
PROGRAM = """
import logging, sys, warnings
from pathlib import Path
sys.path.insert(0, {root!r})
from aqlgen.runtime.cli import main
class Hooks:
    @staticmethod
    def before_send(request, call):
        if call.params.get("path") == "hook-{mark}":
            warnings.warn("a warning about " + call.params["path"], stacklevel=1)
            raise ValueError(call.params["path"])
sys.exit(main(Path({package!r}), Hooks))
"""
ANSWERS: dict[str, Answer] = {
    "ok": Answer({"name": MARK}),
    "refused": Answer({"error": {"message": f"no {MARK}", "field": MARK}}, 400),
    "failed": Answer({"error": MARK}, 500, {"X-Debug": MARK}),
    "busy": Answer({"error": MARK}, 503, {"Retry-After": "0"}),
    "limited": Answer({"error": MARK}, 429, {"Retry-After": "0", "X-RateLimit-Resource": MARK}),
    "elsewhere": Answer(None, 302, {"Location": f"https://elsewhere.example/{MARK}?q={MARK}"}),
    "circle": Answer(None, 307, {"Location": f"/things/circle-{MARK}?again={MARK}"}),
    "broken": Answer(b'{"name": "' + MARK.encode(), 200, {"Content-Encoding": "gzip"}),
    "unreadable": Answer(b"{" + MARK.encode(), 200, {"Set-Cookie": f"a={MARK}", "Content-Disposition": MARK}),
}
HOW = (*ANSWERS, "late", "hook")


def answer(asked: Asked) -> Answer:
    how = asked.path.rpartition("/")[2].partition("-")[0]
    if how == "late":
        time.sleep(1.5)
    return ANSWERS.get(how, ANSWERS["ok"])


def package(folder: Path, url: str) -> Path:
    """Write an adapter of a read and of writes with parameters in every place."""
    parameters = {
        "path": {"in": "path", "required": True, "schema": STRING},
        "query": {"in": "query", "schema": STRING},
        "header": {"in": "header", "name": "X-Header", "schema": STRING},
        "count": {"in": "query", "schema": {"type": "integer"}},
    }
    body = {"content_type": "application/json", "shape": "fields"}
    make = {"parameters": {**parameters, "note": {"in": "body", "schema": STRING}}, "body": body}
    rows = {
        "read": {"read_thing": operation("GET", "/things/{path}", parameters=parameters)},
        "create": {"make_thing": operation("POST", "/things/{path}", danger="reversible", **make)},
        "delete": {"drop_thing": operation("DELETE", "/things/{path}", danger="destructive", parameters=parameters)},
    }
    about = {"servers": [{"url": url}], "counts": {name: len(rows.get(name, {})) for name in FAMILIES}}
    make_package(folder, {}, adapter=about)
    for family, operations in rows.items():
        (folder / "operations" / f"{family}.json").write_text(json.dumps(operations))
    return folder


def calls() -> Iterator[dict[str, Any]]:
    """Yield the arguments of calls that show the mark in every place where one may stand."""
    for how in HOW:
        params = {"path": f"{how}-{MARK}", "query": MARK, "header": MARK}
        yield {"operation": "read_thing", "params": params}
        yield {"operation": "make_thing", "params": {**params, "note": MARK}}
    yield {"operation": "drop_thing", "params": {"path": MARK}}
    yield {"operation": "drop_thing", "params": {"path": MARK, "confirmation_token": MARK}}
    yield {"operation": "read_thing", "params": {"path": MARK, "count": MARK}}
    yield {"operation": "read_thing", "params": {"path": MARK, MARK: 1}}
    yield {"operation": f"read_{MARK}", "params": {}}
    yield {"operation": "read_thing", "params": {"path": MARK, "fields": [MARK]}}
    yield {"operations": [{"operation": "read_thing", "params": {"path": MARK}}, {"operation": MARK}]}
    yield {"operation": "run_steps", "params": {"steps": [{"operation": "make_thing", "params": {"path": MARK}}]}}


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], list[str]]]:
    """Run the adapter at level info, and collect its standard error."""
    settings = {
        "MCP_AQL_LOG_LEVEL": "info",
        "MCP_AQL_ENDPOINT_MODE": "single",
        "MCP_AQL_TIMEOUT": "1",
        "MCP_AQL_AUDIT_PATH": "off",
        "MCP_AQL_CONFIG": os.devnull,
        "XDG_STATE_HOME": str(folder.parent / "state"),
    }
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MCP_AQL")}
    program = PROGRAM.format(root=str(Path(__file__).parents[2]), package=str(folder), mark=MARK)
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=kept | settings,
    )  # fmt: skip
    log: list[str] = []
    stream = process.stderr
    assert stream is not None
    reader = threading.Thread(target=lambda: log.extend(line.decode() for line in stream), daemon=True)
    reader.start()
    try:
        yield process, log
    finally:
        process.terminate()
        process.wait(20)
        reader.join(20)
        for pipe in (process.stdin, process.stdout, stream):
            if pipe is not None:
                pipe.close()


def is_quiet(log: list[str]) -> None:
    """Assert that the log is that of the calls, and shows no mark."""
    records = [json.loads(line) for line in log if line.startswith("{")]
    messages = {record["message"] for record in records}
    assert {"call", "call failed", "unexpected failure", "request to the API sent again"} <= messages
    assert any("raised ValueError" in str(record.get("data", {}).get("error")) for record in records)
    assert [line for line in log if MARK.lower() in line.lower()] == []


def request(number: int, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": "mcp_aql", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": MARK, "version": "1"}},
}
ODD: tuple[dict[str, Any], ...] = (
    {"jsonrpc": "2.0", "id": 901, "method": "tools/call", "params": {"name": MARK, "arguments": {MARK: MARK}}},
    {"jsonrpc": "2.0", "id": 902, "method": "tools/call", "params": {"name": [MARK]}},
    {"jsonrpc": "2.0", "id": 903, "method": f"x/{MARK}", "params": {"a": MARK}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": MARK}},
)


def test_over_standard_input_the_log_at_info_shows_no_value_of_a_call(tmp_path: Path) -> None:
    """R-OPS-4"""
    with serving(answer) as api, running(package(tmp_path / "a", api.url)) as (process, log):
        assert process.stdin is not None
        assert process.stdout is not None
        messages = [HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, *ODD]
        messages += [request(number, arguments) for number, arguments in enumerate(calls(), 1)]
        for message in messages:
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.write(f'{{"broken": "{MARK}\n'.encode())
        process.stdin.flush()
        left = {message["id"] for message in messages if "id" in message}
        while left:
            left.discard(json.loads(process.stdout.readline()).get("id"))
    is_quiet(log)


def test_over_http_the_log_at_info_shows_no_value_of_a_call(tmp_path: Path) -> None:
    """R-OPS-4"""
    with serving(answer) as api:
        arguments = ("--transport", "http", "--port", "0")
        with running(package(tmp_path / "a", api.url), *arguments) as (_, log):
            ends = time.monotonic() + 20
            while not (match := re.search(r"http://127\.0\.0\.1:\d+/mcp", "".join(log))):
                assert time.monotonic() < ends, log
                time.sleep(0.01)
            headers = {"accept": "application/json, text/event-stream", "x-mark": MARK}
            with httpx2.Client(timeout=30, headers=headers) as client:
                session = client.post(match[0], json=HELLO).headers["mcp-session-id"]
                client.headers["mcp-session-id"] = session
                for message in (*ODD, *(request(number, call) for number, call in enumerate(calls(), 1))):
                    client.post(match[0], json=message)
                client.post(match[0], content=f'{{"broken": "{MARK}', headers={"content-type": "application/json"})
                client.post(match[0], params={"q": MARK}, json=ODD[0])
                client.post(match[0], json=ODD[0], headers={"host": f"{MARK}.example"})
                client.post(match[0], json=ODD[0], headers={"origin": f"https://{MARK}.example"})
                client.post(match[0], json=ODD[0], headers={"mcp-session-id": MARK})
                client.post(match[0], json=ODD[0], headers={"mcp-protocol-version": MARK})
    is_quiet(log)
