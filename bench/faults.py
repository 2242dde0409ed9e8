"""Call an adapter in a process of its own while the API fails in every way of `tests/runtime/faulty.py`.

For each call it prints the code, the seconds and the largest memory of the process, and it looks for a planted
credential in all that came back, was logged, and was left in files. The exit code is 1 if an envelope is wrong, a call
outlasts its time-out by more than a second, a process needs too much memory, or the credential shows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from bench.support.arguments import parser
from bench.support.runtime import load, location
from bench.support.stdio import CLIENT, ERAS
from tests.runtime import faulty

SERVE = "import sys, pathlib; from {cli} import main; sys.exit(main(pathlib.Path(sys.argv[1]), None, []))"
INITIALIZE = {"protocolVersion": ERAS[0], "capabilities": {}, "clientInfo": CLIENT}
TOOLS = {"GET": "mcp_aql_read", "POST": "mcp_aql_execute", "PUT": "mcp_aql_update"}
LATE = 1.0


class Outcome(NamedTuple):
    """The result of a call; `spilled` tells that the credential was seen."""

    code: str
    seconds: float
    megabytes: float
    spilled: bool


class Adapter:
    """An adapter's process; its standard error goes to a file in its home."""

    def __init__(self, package: Path, home: Path, timeout: float) -> None:
        self._home = home
        self._stderr = (home / "stderr").open("wb")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": str(location()[0]),
            faulty.VARIABLE: faulty.SECRET,
            "MCP_AQL_TIMEOUT": str(timeout),
            "MCP_AQL_LOG_LEVEL": "debug",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE.format(cli=load("cli").__name__), str(package)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment,
        )
        self.received = b""
        self.ask("initialize", INITIALIZE)
        self._write({"method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer."""
        self._write({"id": 1, "method": method, "params": params})
        assert self._process.stdout is not None
        while True:
            line = self._process.stdout.readline()
            self.received += line
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == 1:
                return message

    def megabytes(self) -> float:
        """Return the peak memory of the process."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def close(self) -> bytes:
        """End the process; return all that it answered, logged and left in files."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._stderr.close()
        return self.received + b"".join(file.read_bytes() for file in self._home.rglob("*") if file.is_file())

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()


def call(package: Path, name: str, timeout: float) -> Outcome:
    """Make one call in a new process."""
    with tempfile.TemporaryDirectory() as home:
        adapter = Adapter(package, Path(home), timeout)
        begin = monotonic()
        tool = TOOLS[faulty.FAULTS[name].method]
        answer = adapter.ask("tools/call", {"name": tool, "arguments": {"operation": name, "params": {}}})
        seconds = monotonic() - begin
        megabytes = adapter.megabytes()
        left = adapter.close()
    envelope = answer.get("result", {}).get("structuredContent", {"success": False, "error": {"code": "no envelope"}})
    code = faulty.FINE if envelope["success"] else envelope["error"]["code"]
    return Outcome(code, seconds, megabytes, faulty.SECRET.encode() in left)


def main(argv: Sequence[str]) -> int:
    """Print a line for each fault, then the sums."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("--timeout", type=float, default=5.0, metavar="SECONDS")
    arguments.add_argument("--megabytes", type=float, default=250.0, metavar="MB", help="allowed above an idle process")
    arguments.add_argument("faults", nargs="*", metavar="FAULT", help="default: all")
    options = arguments.parse_args(argv)
    failed = []
    with tempfile.TemporaryDirectory() as folder, faulty.serving(Path(folder)) as seen:
        package = Path(folder) / "faulty_adapter"
        names = options.faults or [
            name for name in faulty.FAULTS if name != "tls_invalid" or (Path(folder) / "both.pem").exists()
        ]
        idle = call(package, "echo", options.timeout).megabytes
        outcomes: dict[str, Outcome] = {}
        for name in names:
            outcomes[name] = outcome = call(package, name, options.timeout)
            fine = (
                outcome.code == faulty.FAULTS[name].expected
                and outcome.seconds < options.timeout + LATE
                and outcome.megabytes - idle < options.megabytes
                and not outcome.spilled
            )
            failed += [] if fine else [name]
            mark = "ok   " if fine else "WRONG"
            spilled = "  SECRET" if outcome.spilled else ""
            print(
                f"{mark} {name:26} {outcome.code:29} {outcome.seconds:6.2f} s {outcome.megabytes:6.0f} MB{spilled}",
                flush=True,
            )
    too_many = [name for name in names if seen.get(name, 0) > faulty.FAULTS[name].most + (name == "echo")]
    slowest, largest = (
        max(column) for column in zip(*((o.seconds, o.megabytes) for o in outcomes.values()), strict=True)
    )
    print(
        f"{len(names) - len(failed)} of {len(names)} right; slowest {slowest:.2f} s of {options.timeout:g} s; "
        f"memory {idle:.0f} MB idle, {largest:.0f} MB at most; "
        f"credential seen in {sum(outcome.spilled for outcome in outcomes.values())}; "
        f"asked too often: {too_many or 'none'}"
    )
    return 1 if failed or too_many else 0
