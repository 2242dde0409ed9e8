"""Check an adapter, in mock mode, with MCP clients that are not ours and with the official conformance suite.

The packages are installed by npm; Node 22.19 or newer is taken from the path, or installed into the user's cache.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.support.arguments import parser
from bench.support.node import installed, require_node
from bench.support.processes import free_port, served
from bench.support.stdio import adapter_command, example

HERE = Path(__file__).resolve().parent
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
"""Checks that fail for every server that is not made for the suite, beside those that say so themselves."""


class Target:
    """An adapter: its command, the variables that it needs, and a call to make."""

    def __init__(self, folder: Path) -> None:
        self.command, self.environment = adapter_command(folder)
        self.family = "read"
        self.operation, self.params = example(folder)

    @contextmanager
    def over_http(self) -> Iterator[str]:
        """Serve over HTTP for as long as the context lasts; yield the address."""
        port = free_port()
        command = [*self.command, "--transport", "http", "--port", str(port)]
        with tempfile.TemporaryDirectory() as scratch, served(command, port, Path(scratch) / "log", self.environment):
            yield f"http://127.0.0.1:{port}/mcp"


def run(label: str, command: list[str], expect: str = "") -> bool:
    """Run a command and print one line, with its output when it failed or lacks `expect`."""
    finished = subprocess.run(command, capture_output=True, text=True, cwd=HERE, timeout=180, stdin=subprocess.DEVNULL)
    passed = finished.returncode == 0 and expect in finished.stdout
    print(f"{'ok    ' if passed else 'FAILED'} {label}", flush=True)
    if not passed:
        print("\n".join(f"       {line}" for line in (finished.stdout + finished.stderr).splitlines()[-40:]))
    return passed


def typescript(target: Target) -> Iterator[bool]:
    """Call by both eras of the official TypeScript client, over stdio and HTTP."""
    call: dict[str, Any] = {"operation": target.operation, "family": target.family, "params": target.params}
    stdio = {"command": target.command[0], "args": target.command[1:], "env": target.environment}
    with target.over_http() as url:
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
    with target.over_http() as url:
        places = {"stdio": [*variables, "--", *target.command], "http": ["--transport", "http", "--server-url", url]}
        for era in ("legacy", "modern"):
            for name, place in places.items():
                lead = [*base, "--protocol-era", era]
                yield run(f"inspector {era} {name} tools/list", [*lead, "--method", "tools/list", "--strict", *place])
                yield run(f"inspector {era} {name} tools/call", [*lead, *call, *place], '"success":')


def conformance(target: Target) -> Iterator[bool]:
    """Run the scenarios of the official suite that apply to any server; one passes when every check of it does."""
    with target.over_http() as url:
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
    failed = [check for check in checks if check["status"] != "SUCCESS"]
    faults = [check for check in failed if applicable(check)]
    passed = bool(checks) and not faults
    left_out = len(failed) - len(faults)
    note = f", {left_out} that need a server made for the suite left out" if left_out else ""
    print(
        f"{'ok    ' if passed else 'FAILED'} conformance {version} {scenario}: {len(checks) - left_out} checks{note}",
        flush=True,
    )
    for check in faults:
        print(f"       {check['id']}: {check.get('errorMessage', check.get('description', ''))}")
    return passed


def applicable(check: dict[str, Any]) -> bool:
    """Return True if a check of the suite can pass for a server that is not made for it."""
    return check["id"] not in INAPPLICABLE and not (check.get("details") or {}).get("untestable")


CHECKS = {"typescript": typescript, "inspector": inspector, "conformance": conformance}


def main(argv: Sequence[str]) -> int:
    """Run the chosen checks; return 1 if one fails."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("adapter", type=Path, help="the adapter's project")
    arguments.add_argument("checks", nargs="*", metavar="CHECK", help=f"of {', '.join(CHECKS)}; default: all")
    options = arguments.parse_args(argv)
    if unknown := set(options.checks) - CHECKS.keys():
        arguments.error(f"there is no check {', '.join(sorted(unknown))}")
    require_node()
    installed(HERE)
    target = Target(options.adapter.resolve())
    results = [passed for name in options.checks or CHECKS for passed in CHECKS[name](target)]
    print(f"{sum(results)} of {len(results)} passed")
    return 0 if all(results) else 1
