"""While a refusal is explained to an agent, an adapter over HTTP answers its probes at once, and does not grow."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY

from tests.attacks.test_explaining import ATTACKS, TYPES
from tests.runtime.api.hand_made import make_package, operation
from tests.runtime.http_endpoint import MODERN

pytestmark = pytest.mark.long

LONGEST = 0.25
MOST_GROWTH = 50
PROGRAM = (
    "import sys; from pathlib import Path; from aqlgen.runtime.cli import main; sys.exit(main(Path(sys.argv.pop(1))))"
)


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, int]]:
    """Serve an adapter that creates one thing of each type, and yield its origin and the id of its process."""
    rows, types = {}, {}
    for name, schema in TYPES.items():
        types[name] = json.loads(json.dumps(schema).replace("#/types/Filter", f"#/types/{name}"))
        parameters = {"filter": {"in": "body", "schema": {"$ref": f"#/types/{name}"}}}
        rows[name.lower()] = operation("POST", f"/{name}", verb="create", parameters=parameters)
    make_package(folder, rows, types, family="create", adapter={"counts": {"create": len(rows)}})
    (folder / "mock.json").write_text("{}")
    command = [sys.executable, "-c", PROGRAM, str(folder), "--mock", "--transport", "http", "--port", "0"]
    environ = {**os.environ, "MCP_AQL_CONFIG": os.devnull, "MCP_AQL_STATE_URL": "memory:"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environ, cwd=Path(__file__).parents[2]) as process:
        assert process.stderr is not None
        lines = (re.search(rb"http://127\.0\.0\.1:\d+", line) for line in process.stderr)
        yield next(match[0].decode() for match in lines if match), process.pid
        process.kill()


def create(origin: str, name: str, value: Any) -> Any:
    """Send a value as the filter of what is created, and return the answer."""
    arguments = {"operation": name.lower(), "params": {"filter": value}}
    meta = {PROTOCOL_VERSION_META_KEY: MODERN, CLIENT_CAPABILITIES_META_KEY: {}}
    call = {"name": "mcp_aql_create", "arguments": arguments, "_meta": meta}
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": MODERN,
        "mcp-method": "tools/call",
        "mcp-name": "mcp_aql_create",
        "mcp-param-operation": name.lower(),
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return httpx2.post(f"{origin}/mcp", json=body, headers=headers, timeout=60).json()


def longest_wait(origin: str, attack: Callable[[], Any]) -> float:
    """Ask whether an adapter is alive, again and again while it is attacked, and return how long it took at most."""
    waits = [0.0]
    with ThreadPoolExecutor(1) as thread, httpx2.Client() as probe:
        attacked = thread.submit(attack)
        while not attacked.done():
            begin = time.perf_counter()
            assert probe.get(f"{origin}/healthz").text == "ok\n"
            waits.append(time.perf_counter() - begin)
            time.sleep(0.005)
        attacked.result()
    return max(waits)


def test_no_refusal_keeps_a_probe_waiting_or_memory(tmp_path: Path) -> None:
    """R-TRUST-4, R-OPS-4: on a machine at rest; what waited longer is tried again, since others may have had a turn."""
    with served(tmp_path / "adapter") as (origin, process):
        status = Path(f"/proc/{process}/status")

        def memory() -> float:
            text = status.read_text() if status.exists() else "VmRSS: 0"
            return int(re.findall(r"VmRSS:\s+(\d+)", text)[0]) / 1024

        for name in TYPES:
            assert create(origin, name, 5)["result"]["structuredContent"]["success"] in (True, False)
        before = memory()
        waiting = list(ATTACKS)
        for _ in range(5):
            waiting = [
                attack
                for attack in waiting
                if longest_wait(origin, lambda attack=attack: create(origin, *attack)) > LONGEST
            ]
        assert waiting == []
        assert memory() - before < MOST_GROWTH
