"""Checks one adapter, in mock mode, with clients that are not ours; `run` brings Node and the packages.

usage: check.py ADAPTER_DIR [typescript|inspector|conformance ...]
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from lines import adapter, example  # noqa: E402

BIN = HERE / "node_modules" / ".bin"
SCENARIOS = {
    "2025-06-18": ("server-initialize", "ping", "tools-list", "server-session-lifecycle"),
    "2025-11-25": ("server-initialize", "ping", "tools-list", "server-session-lifecycle", "dns-rebinding-protection"),
    "2026-07-28": (
        "server-stateless",
        "tools-list",
        "dns-rebinding-protection",
        "http-header-validation",
        "caching",
    ),
}
INAPPLICABLE = {
    "sep-2575-server-rejects-undeclared-capability",  # calls the suite's own tool test_missing_capability
    "sep-2549-prompts-list-caching-hints",  # asks for prompts, of which an adapter has none and declares none
    "sep-2549-resources-list-caching-hints",  # the same for resources
    "sep-2549-resources-templates-list-caching-hints",
}
"""Checks that fail for every server that was not made for the suite, beside those that say so themselves."""


class Target:
    """An adapter: its command, what it needs in its environment, and a call to make."""

    def __init__(self, folder: Path) -> None:
        self.command, self.environment = adapter(folder)
        self.family = "read"
        self.operation, self.params = example(folder)

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve over HTTP for as long as the context lasts; gives the address."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [*self.command, "--transport", "http", "--port", str(port)]
        process = subprocess.Popen(command, env=os.environ | self.environment)
        try:
            _wait(port, process)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()
            process.wait(10)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    end = monotonic() + 20
    while monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        sleep(0.05)
    raise SystemExit(f"the server did not open its port; exit code {process.poll()}")


def run(label: str, command: list[str], expect: str = "") -> bool:
    """Run a command and print one line, with its output when it failed or lacks `expect`."""
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE, timeout=180, stdin=subprocess.DEVNULL)
    good = done.returncode == 0 and expect in done.stdout
    print(f"{'ok    ' if good else 'FAILED'} {label}", flush=True)
    if not good:
        print("\n".join(f"       {line}" for line in (done.stdout + done.stderr).splitlines()[-40:]))
    return good


def typescript(target: Target) -> Iterator[bool]:
    """Both eras of the official TypeScript client, over stdio and HTTP."""
    call: dict[str, Any] = {"operation": target.operation, "family": target.family, "params": target.params}
    stdio = {"command": target.command[0], "args": target.command[1:], "env": target.environment}
    with target.served() as url:
        for era in ("legacy", "auto"):
            for name, place in (("stdio", stdio), ("http", {"url": url})):
                order = json.dumps({"era": era, **place, **call})
                yield run(f"typescript {era} {name}", ["node", "client.mjs", order])


def inspector(target: Target) -> Iterator[bool]:
    """List and call by the Inspector's command line, over stdio and HTTP."""
    base = [str(BIN / "mcp-inspector"), "--cli", "--format", "json", "--quiet"]
    variables = [part for name, value in target.environment.items() for part in ("-e", f"{name}={value}")]
    arguments = json.dumps({"operation": target.operation, "params": target.params})
    call = ["--method", "tools/call", "--tool-name", "mcp_aql_read", "--tool-args-json", arguments]
    with target.served() as url:
        places = {"stdio": [*variables, "--", *target.command], "http": ["--transport", "http", "--server-url", url]}
        for era in ("legacy", "modern"):
            for name, place in places.items():
                lead = [*base, "--protocol-era", era]
                yield run(f"inspector {era} {name} tools/list", [*lead, "--method", "tools/list", "--strict", *place])
                yield run(f"inspector {era} {name} tools/call", [*lead, *call, *place], '"success":')


def conformance(target: Target) -> Iterator[bool]:
    """Run the scenarios of the official suite that apply to any server; one passes when every check of it does."""
    with target.served() as url:
        for version, scenarios in SCENARIOS.items():
            for scenario in scenarios:
                yield _scenario(url, scenario, version)


def _scenario(url: str, scenario: str, version: str) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(BIN / "conformance"), "server", "--url", url, "--scenario", scenario]
        options = ["--spec-version", version, "--output-dir", folder]
        subprocess.run([*command, *options], capture_output=True, timeout=180, stdin=subprocess.DEVNULL, check=False)
        results = [json.loads(file.read_text("utf-8")) for file in Path(folder).glob("*/checks.json")]
    checks = [check for result in results for check in result if check["status"] in ("SUCCESS", "FAILURE", "WARNING")]
    failed = [one for one in checks if one["status"] != "SUCCESS"]
    bad = [one for one in failed if one["id"] not in INAPPLICABLE and not (one.get("details") or {}).get("untestable")]
    good = bool(checks) and not bad
    left = len(failed) - len(bad)
    note = f", {left} that need a server made for the suite left out" if left else ""
    print(
        f"{'ok    ' if good else 'FAILED'} conformance {version} {scenario}: {len(checks) - left} checks{note}",
        flush=True,
    )
    for one in bad:
        print(f"       {one['id']}: {one.get('errorMessage', one.get('description', ''))}")
    return good


def main() -> int:
    """Run the chosen checks, all by default; the exit code is 1 when one fails."""
    checks = {"typescript": typescript, "inspector": inspector, "conformance": conformance}
    folder, *chosen = sys.argv[1:]
    target = Target(Path(folder).resolve())
    results = [good for name in chosen or checks for good in checks[name](target)]
    print(f"{sum(results)} of {len(results)} passed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
