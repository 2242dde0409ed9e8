"""Every fault of `tests/runtime/faulty.py` against an adapter in a process of its own, as a client starts it.

Of each call it tells the code, the seconds and the largest memory of the process, and it looks for a planted credential
in all that came back, was logged, and was left in files. Exit code 1 when an envelope is wrong, a call outlasts its
time-out by more than a second, a process needs more memory than --megabytes above an idle one, or the credential shows.

usage: nice python bench/faults.py [--timeout SECONDS] [--megabytes MB] [FAULT ...]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RUNTIME = ROOT / "templates/project/src/{{package}}"
sys.path.insert(0, str(ROOT / "tests/runtime"))

import faulty  # noqa: E402

SERVE = "import sys, pathlib; from runtime.cli import main; sys.exit(main(pathlib.Path(sys.argv[1]), None, []))"
INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}
TOOLS = {"GET": "mcp_aql_read", "POST": "mcp_aql_execute", "PUT": "mcp_aql_update"}
LATE = 1.0


class Outcome(NamedTuple):
    """What came of one call."""

    code: str
    seconds: float
    megabytes: float
    spilled: bool


class Adapter:
    """An adapter's process; standard error goes to a file in its home."""

    def __init__(self, package: Path, home: Path, timeout: float) -> None:
        self._home = home
        self._stderr = (home / "stderr").open("wb")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "PYTHONPATH": str(RUNTIME),
            faulty.VARIABLE: faulty.SECRET,
            "MCP_AQL_TIMEOUT": str(timeout),
            "MCP_AQL_LOG_LEVEL": "debug",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(package)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment,
        )
        self.said = b""
        self.ask("initialize", INITIALIZE)
        self._write({"method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request and give its result."""
        self._write({"id": 1, "method": method, "params": params})
        assert self._process.stdout is not None
        while True:
            line = self._process.stdout.readline()
            self.said += line
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == 1:
                return message

    def megabytes(self) -> float:
        """Give the most memory that the process has had."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024

    def close(self) -> bytes:
        """End it, and give all that it said, logged and left."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._stderr.close()
        return self.said + b"".join(one.read_bytes() for one in self._home.rglob("*") if one.is_file())

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()


def call(package: Path, name: str, timeout: float) -> Outcome:
    """Make one call in a fresh process."""
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


def main() -> int:
    """Print a line for each fault, then the worst of all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--timeout", type=float, default=5.0)
    parser.add_argument("--megabytes", type=float, default=250.0)
    parser.add_argument("faults", nargs="*")
    options = parser.parse_args()
    wrong = []
    with tempfile.TemporaryDirectory() as folder, faulty.serving(Path(folder)) as seen:
        package = Path(folder) / "faulty_adapter"
        names = options.faults or [
            name for name in faulty.FAULTS if name != "tls_invalid" or (Path(folder) / "both.pem").exists()
        ]
        idle = call(package, "echo", options.timeout).megabytes
        outcomes: dict[str, Outcome] = {}
        for name in names:
            outcomes[name] = found = call(package, name, options.timeout)
            fine = (
                found.code == faulty.FAULTS[name].expected
                and found.seconds < options.timeout + LATE
                and found.megabytes - idle < options.megabytes
                and not found.spilled
            )
            wrong += [] if fine else [name]
            mark = "ok   " if fine else "WRONG"
            spilled = "  SECRET" if found.spilled else ""
            print(
                f"{mark} {name:26} {found.code:29} {found.seconds:6.2f} s {found.megabytes:6.0f} MB{spilled}",
                flush=True,
            )
    too_many = [name for name in names if seen.get(name, 0) > faulty.FAULTS[name].most + (name == "echo")]
    slowest, largest = max(one.seconds for one in outcomes.values()), max(one.megabytes for one in outcomes.values())
    print(
        f"{len(names) - len(wrong)} of {len(names)} right; slowest {slowest:.2f} s of {options.timeout:g} s; "
        f"memory {idle:.0f} MB idle, {largest:.0f} MB at most; "
        f"credential seen in {sum(one.spilled for one in outcomes.values())}; asked too often: {too_many or 'none'}"
    )
    return 1 if wrong or too_many else 0


if __name__ == "__main__":
    sys.exit(main())
