"""What an operator and an orchestrator see of an adapter over HTTP: health, metrics, records, traces, a clean stop."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from http_endpoint import MODERN, A
from local import Answer, Asked, serving
from mcp.types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("forked")]

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from aqlgen.runtime.cli import main
sys.exit(main(Path({package!r})))
"""
ROOT = Path(__file__).parents[2]


class Running:
    """An adapter that serves over HTTP in processes of its own."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, log: list[str]) -> None:
        self.process, self.url, self.log = process, url, log

    @property
    def base(self) -> str:
        return self.url.removesuffix("/mcp")

    def records(self, message: str) -> list[dict[str, Any]]:
        parsed = [json.loads(line) for line in self.log if line.startswith("{")]
        return [record for record in parsed if record["message"] == message]

    def is_closed(self) -> bool:
        """Return True once it takes no more connections."""
        address = urlsplit(self.url)
        with socket.socket() as client:
            return client.connect_ex((address.hostname, address.port)) != 0

    def wait_for(self, condition: Callable[[], object]) -> None:
        ends = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < ends, self.log
            time.sleep(0.01)

    def post(self, operation: str, animal: int, token: str = "") -> Any:
        """Call an operation by one request of protocol 2026-07-28, and return the adapter's answer."""
        call = {
            "name": "mcp_aql_read",
            "arguments": {"operation": operation, "params": {"animal_id": animal}},
            "_meta": {PROTOCOL_VERSION_META_KEY: MODERN, CLIENT_CAPABILITIES_META_KEY: {}},
        }
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": MODERN,
            "mcp-method": "tools/call",
            "mcp-name": "mcp_aql_read",
            "mcp-param-operation": operation,
            **({"authorization": f"Bearer {token}"} if token else {}),
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answer = httpx2.post(self.url, json=body, headers=headers, timeout=20)
        return answer.json()["result"]["structuredContent"]


@contextmanager
def adapter(package: Path, api: str, **environ: str) -> Iterator[Running]:
    """Run an adapter whose API is at a URL."""
    settings = {
        "MCP_AQL_BASE_URL": api,
        "ZOO_API_KEY": "the-key-of-the-zoo",
        "XDG_STATE_HOME": str(package.parent / "state"),
        "MCP_AQL_LOG_LEVEL": "info",
        **environ,
    }
    program = PROGRAM.format(root=str(ROOT), package=str(package))
    arguments = [sys.executable, "-c", program, "--transport", "http", "--port", "0"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MCP_AQL", "OTEL"))}
    process = subprocess.Popen(arguments, stderr=subprocess.PIPE, env={**kept, **settings})
    log: list[str] = []
    try:
        assert process.stderr is not None
        stream = process.stderr
        match = None
        while match is None:
            line = stream.readline().decode()
            assert line, log
            log.append(line)
            match = re.search(r"http://127\.0\.0\.1:\d+/mcp", line)
        threading.Thread(target=lambda: log.extend(line.decode() for line in stream), daemon=True).start()
        yield Running(process, match[0], log)
    finally:
        process.kill()
        process.wait()


def animals(request: Asked) -> Answer:
    return Answer({"id": int(request.path.rpartition("/")[2]), "name": "Ada"})


def test_probes_and_metrics_and_records_tell_of_the_adapter_at_work(package: Path) -> None:
    """R-OPS-4"""
    settings = {"MCP_AQL_HTTP_METRICS": "true", "MCP_AQL_HTTP_TOKEN": A}
    with serving(animals) as api, adapter(package, api.url, **settings) as running:
        anywhere = {"host": "10.1.2.3:8000"}
        assert httpx2.get(f"{running.base}/healthz", headers=anywhere).text == "ok\n"
        ready = httpx2.get(f"{running.base}/readyz", headers=anywhere)
        assert (ready.status_code, ready.json()["status"]) == (200, "ready")
        for hosts in (anywhere, {}, {"host": "evil.example"}):
            assert httpx2.get(f"{running.base}/metrics", headers=hosts).status_code == 401

        assert running.post("get_animal", 7, A)["data"]["name"] == "Ada"
        assert running.post("no_such_operation", 7, A)["success"] is False
        shown = {"authorization": f"Bearer {A}"}
        scraped = httpx2.get(f"{running.base}/metrics", headers={**shown, **anywhere})  # as Prometheus asks a pod
        assert (scraped.status_code, "mcp_aql_info" in scraped.text) == (200, True)
        text = httpx2.get(f"{running.base}/metrics", headers=shown).text
        assert 'mcp_aql_calls_total{operation="get_animal",family="read",outcome="OK"} 1' in text
        assert 'mcp_aql_calls_total{operation="unknown",family="unknown",outcome="NOT_FOUND_OPERATION"} 1' in text
        assert 'mcp_aql_api_requests_total{method="GET",status="200"} 1' in text
        assert 'mcp_aql_call_duration_seconds_bucket{family="read",le="+Inf"} 1' in text
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        assert all(re.fullmatch(r'\w+(\{(\w+="[^"]*",?)+\})? [0-9.e+-]+', line) for line in lines)

        running.wait_for(lambda: len(running.records("call")) == 1)
        (started,) = running.records("started")
        assert started["data"]["settings"]["http.metrics"] == "True"
        (call_record,) = running.records("call")
        assert call_record["data"].keys() == {"operation", "family", "outcome", "ms", "request_id"}
        assert A not in "".join(running.log)


def test_metrics_that_need_no_token_are_shown_under_the_adapters_own_hosts_alone(package: Path) -> None:
    """R-OPS-4: a page that rebinds its name shows no token either."""
    with serving(animals) as api, adapter(package, api.url, MCP_AQL_HTTP_METRICS="true") as running:
        assert httpx2.get(f"{running.base}/metrics").status_code == 200
        assert httpx2.get(f"{running.base}/metrics", headers={"host": "10.1.2.3:8000"}).status_code == 421


def test_an_adapter_that_lacks_its_credential_is_not_ready(package: Path) -> None:
    with serving(animals) as api, adapter(package, api.url, ZOO_API_KEY="") as running:
        ready = httpx2.get(f"{running.base}/readyz")
        assert ready.status_code == 503
        assert ready.json() == {
            "status": "not ready",
            "checks": {"operations": "ok", "credentials": "failed"},
        }
        assert httpx2.get(f"{running.base}/healthz").status_code == 200
        assert httpx2.get(f"{running.base}/metrics").status_code == 404


def test_a_stop_lets_what_runs_end(package: Path) -> None:
    stopping = threading.Event()

    def slow(request: Asked) -> Answer:
        assert stopping.wait(20)
        return animals(request)

    with serving(slow) as api, adapter(package, api.url) as running:
        answers: list[Any] = []
        call = threading.Thread(target=lambda: answers.append(running.post("get_animal", 13)))
        call.start()
        running.wait_for(lambda: api.asked)
        running.process.send_signal(signal.SIGTERM)
        running.wait_for(running.is_closed)
        stopping.set()
        call.join(20)
        assert answers[0]["data"]["name"] == "Ada"
        assert running.process.wait(10) == 0


@pytest.mark.parametrize("propagate", [False, True])
def test_traces_go_where_the_owner_says(package: Path, propagate: bool) -> None:
    """The spans arrive at a real collector's address; the API learns of the trace only if the owner says so."""
    spans: list[bytes] = []

    def collect(request: Asked) -> Answer:
        spans.append(request.body)
        return Answer({})

    with serving(animals) as api, serving(collect) as collector:
        settings = {
            "MCP_AQL_OTEL": "true",
            "MCP_AQL_OTEL_PROPAGATE": str(propagate).lower(),
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "20",
        }
        with adapter(package, api.url, **settings) as running:
            assert running.post("get_animal", 7)["data"]["name"] == "Ada"
            running.wait_for(lambda: b"mcp_aql.operation" in b"".join(spans) and b"tools/call" in b"".join(spans))
    (request,) = api.asked
    assert ("traceparent" in request.headers) is propagate
    sent = b"".join(spans)
    assert b"get_animal" in sent
    assert b"http.request.method" in sent
    assert b"zoo-adapter" in sent
    assert b"the-key-of-the-zoo" not in sent
    collected = {entry.path for entry in collector.asked}
    assert collected == {"/v1/traces"}
