"""Block an agent, and let a person verify it on the operator's page: three real processes and a real browser.

An MCP client over stdio is the agent, the adapter runs with the safety loop enforcing, and `operator --page` beside it.
The agent starts once the start is approved on the page, reports a dangerous step, is blocked, and goes on once the code
that the page shows is given back. Then the whole traffic, the logs and every file are searched for the code. It needs a
Chromium. Every failure is printed, and the exit code is 1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.operator_page import LIVE, click, go, push, wait
from bench.page.browser import Browser
from bench.page.check import Findings
from bench.support.arguments import parser
from tests.runtime.tiny_zoo import ADAPTER, write_package

ROOT = Path(__file__).parent.parent
START = """import pathlib, sys
from aqlgen.runtime.cli.main import main
sys.exit(main(pathlib.Path(sys.argv[1]), None, sys.argv[2:]))"""
AGENT = "cleaner"


class Client:
    """An MCP client over stdio that keeps every byte of its traffic."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._number = 0
        self.traffic: list[str] = []

    def send(self, method: str, params: dict[str, Any], *, answered: bool = True) -> Any:
        """Send a message, and return the result of a request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._number += 1
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if answered:
            message["id"] = self._number
        text = json.dumps(message)
        self.traffic.append(text)
        self._process.stdin.write(text.encode() + b"\n")
        self._process.stdin.flush()
        while answered:
            line = self._process.stdout.readline().decode()
            self.traffic.append(line)
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer["result"]
        return None

    def call(self, tool: str, operation: str, **params: Any) -> dict[str, Any]:
        """Call an operation and return the envelope."""
        arguments = {"operation": operation, "params": params}
        result = self.send("tools/call", {"name": f"mcp_aql_{tool}", "arguments": arguments})
        envelope: dict[str, Any] = result["structuredContent"]
        return envelope


@contextmanager
def started(package: Path, environ: dict[str, str], log: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command of the adapter."""
    with log.open("wb") as stream:
        command = [sys.executable, "-c", START, str(package), *arguments]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": stream}
        process = subprocess.Popen(command, env=environ, **pipes)  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.terminate()
            process.wait(10)


def run(browser: Browser, folder: Path, expect: Callable[[object, str], None], pictures: Path | None) -> None:
    """Go through the whole of it."""
    package = write_package(folder / "src" / "zoo_adapter", {**ADAPTER, "security": []})
    environ = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "XDG_STATE_HOME": str(folder / "state"),
        "MCP_AQL_SAFETY_LOOP": "enforcing",
        "MCP_AQL_LOG_LEVEL": "debug",
        "MCP_AQL_CONFIG": os.devnull,
    }
    address = folder / "address"
    page = ("operator", "--page", "--by", "anna", "--address-file", str(address))
    with (
        started(package, environ, folder / "page.log", *page),
        started(package, environ, folder / "adapter.log") as process,
    ):
        client = Client(process)
        about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        client.send("initialize", about)
        client.send("notifications/initialized", {}, answered=False)
        deadline = time.monotonic() + 30
        while not address.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        go(browser, address.read_text().strip(), LIVE)

        begin(browser, client, expect)
        stopped = client.call("create", "record_execution_step", element_name=AGENT, outcome="success",
                              nextActionHint="rm -rf / and drop the database")  # fmt: skip
        directive = stopped["data"]
        expect(not directive["continue"], f"the agent is stopped: {directive}")
        challenge = next(
            note["metadata"]["verificationId"]
            for note in directive["notifications"]
            if "verificationId" in note["metadata"]
        )
        wait(browser, "document.querySelectorAll('#challenges .card').length === 1")
        wait(browser, "document.querySelectorAll('#blocks .card').length === 1")
        wait(browser, f"document.getElementById('agents').textContent.includes({AGENT!r})")
        refused = client.call("execute", "execute_agent", element_name=AGENT, goal="again")
        expect(not refused["success"], "a blocked agent does not begin again")
        click(browser, push("Show code", f"Verify agent {AGENT}"))
        wait(browser, "document.querySelector('.code') !== null")
        code = browser.run("document.querySelector('.code').textContent")
        if pictures:
            browser.picture(pictures / "blocked.png")
        before = list(client.traffic)
        verified = client.call("create", "verify_challenge", challenge_id=challenge, code=code)
        expect(verified["success"], f"the person's code verifies it: {verified}")
        answers = client.traffic[len(before) + 1 :]
        wait(browser, "document.querySelectorAll('#blocks .card:not([data-settled])').length === 0")
        went = client.call(
            "create", "record_execution_step", element_name=AGENT, outcome="success", nextActionHint="reading the list"
        )
        expect(went["data"]["continue"], "the agent goes on")
        if pictures:
            browser.picture(pictures / "goes-on.png")
        searched(code, before + answers, folder, expect)


def begin(browser: Browser, client: Client, expect: Callable[[object, str], None]) -> None:
    """Start the agent: it waits for a person, who approves the start on the page."""
    waits = client.call("execute", "execute_agent", element_name=AGENT, goal="tidy up")
    expect(not waits["success"], "a start waits for a person")
    button = "[...document.querySelectorAll('#matters button')].find((e) => e.textContent === 'Approve once')"
    wait(browser, f"{button} !== undefined && !{button}.parentElement.hidden")
    click(browser, button)
    wait(browser, "document.querySelector('#matters .card[data-decided=approved]') !== null")
    runs = client.call("execute", "execute_agent", element_name=AGENT, goal="tidy up")
    expect(runs["success"], f"an approved agent starts: {runs}")
    wait(browser, "document.querySelector('#matters .card:not([data-settled])') === null")


def searched(code: str, traffic: list[str], folder: Path, expect: Callable[[object, str], None]) -> None:
    """Search everything but the message in which the person gives the code for it."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    for spelling in {code, code.replace("-", ""), code.lower(), code.replace("-", "").lower(), code.replace("-", " ")}:
        expect(not [text for text in traffic if spelling in text], "the code is in no message to or from the agent")
        for file in files:
            expect(spelling.encode() not in file.read_bytes(), f"the code is not in {file.name}")
    written = (folder / "state" / "zoo-adapter" / "audit.jsonl").read_text(encoding="utf-8")
    for event in ("OPERATOR_DECISION", "OPERATOR_CODE_SHOWN", "VERIFICATION_SUCCEEDED", "AGENT_BLOCKED"):
        expect(event in written, f"{event} is in the audit log")
    sizes = sum(file.stat().st_size for file in files)
    print(f"  {len(traffic)} messages, {len(files)} files, {sizes:,} bytes searched for the code")


def main(argv: Sequence[str]) -> int:
    """Run it; return 1 if an expectation fails."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("--browser", help="the Chromium to use")
    arguments.add_argument("--pictures", type=Path, help="where to put pictures of the page")
    options = arguments.parse_args(argv)
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    findings = Findings()
    with tempfile.TemporaryDirectory() as folder, Browser.started(options.browser) as browser:
        browser.size(1280, 900)
        run(browser, Path(folder), findings.expect, options.pictures)
    print("all holds" if not findings.count else f"{findings.count} failed")
    return 1 if findings.count else 0
