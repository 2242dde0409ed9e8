"""Check an adapter, in mock mode, with MCP clients that are not ours and with the official conformance suite.

Over stdio and HTTP, with a tool for each family and with a single one: both majors of the TypeScript client, releases
of the Python client for each older version of MCP, the Inspector, mcporter, the suite, and calls in the form of the
clients that the authors of MCP-AQL publish (`authors`). The packages are installed by npm and pip; Node 22.19 or newer
is taken from the path, or installed into the user's cache.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.support.arguments import parser
from bench.support.node import installed, require_node
from bench.support.processes import free_port, served
from bench.support.stdio import adapter_command, example

HERE = Path(__file__).resolve().parent
BIN = HERE / "node_modules" / ".bin"
FAMILIES = ("create", "read", "update", "delete", "execute")
MODES = ("semantic", "single")
PYTHON = {"2024-11-05": "1.2.1", "2025-03-26": "1.9.4", "2025-06-18": "1.13.1", "2025-11-25": "1.30.0"}
"""A release of `mcp` for each version of MCP that it asks for; the adapter's own is the newest."""
OF_THAT_TIME = "pydantic<2.12"
OLDEST_WITH_HTTP = "2025-03-26"
SCENARIOS = {
    "2025-03-26": ("server-session-lifecycle",),
    "2025-06-18": ("server-initialize", "ping", "tools-list", "server-session-lifecycle", "logging-set-level"),
    "2025-11-25": (
        "server-initialize",
        "ping",
        "tools-list",
        "server-session-lifecycle",
        "logging-set-level",
        "dns-rebinding-protection",
        "server-sse-multiple-streams",
    ),
    "2026-07-28": (
        "server-stateless",
        "tools-list",
        "dns-rebinding-protection",
        "http-header-validation",
        "http-custom-header-server-validation",
        "server-sse-multiple-streams",
        "input-required-result-unsupported-methods",
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


@dataclass(frozen=True)
class Place:
    """The place of an adapter for a client: a command with variables, or a URL."""

    mode: str
    command: tuple[str, ...]
    environment: dict[str, str]
    url: str = ""

    @property
    def transport(self) -> str:
        """The name of the transport."""
        return "http" if self.url else "stdio"

    @property
    def tools(self) -> dict[str, str]:
        """The tool of each family."""
        return {family: "mcp_aql" if self.mode == "single" else f"mcp_aql_{family}" for family in FAMILIES}

    def order(self, **more: Any) -> str:
        """Return what the scripts of this folder are told."""
        stdio = {"command": self.command[0], "args": self.command[1:], "env": self.environment}
        return json.dumps({**({"url": self.url} if self.url else stdio), "tools": self.tools, **more})


class Target:
    """An adapter: its command, the variables that it needs, a call to make, and one that is confirmed first."""

    def __init__(self, folder: Path) -> None:
        command, environment = adapter_command(folder)
        self._command = tuple(command)
        self._environment = environment | {"MCP_AQL_POLICY": "standard", "MCP_AQL_APPROVAL": "agent"}
        self.operation, self.params = example(folder)
        changed, params = example(folder, "delete")
        self.call: dict[str, Any] = {"operation": self.operation, "family": "read", "params": self.params}
        self.changed: dict[str, Any] = {"operation": changed, "family": "delete", "params": params}

    def stdio(self, mode: str) -> Place:
        """Return the adapter as a command."""
        return Place(mode, self._command, self._environment | {"MCP_AQL_ENDPOINT_MODE": mode})

    @contextmanager
    def http(self, mode: str) -> Iterator[Place]:
        """Serve over HTTP for as long as the context lasts."""
        port, place = free_port(), self.stdio(mode)
        command = [*self._command, "--transport", "http", "--port", str(port)]
        with tempfile.TemporaryDirectory() as scratch, served(command, port, Path(scratch) / "log", place.environment):
            yield Place(mode, place.command, place.environment, f"http://127.0.0.1:{port}/mcp")

    def places(self) -> Iterator[Place]:
        """Yield every transport in every mode, served for as long as each is used."""
        for mode in MODES:
            yield self.stdio(mode)
            with self.http(mode) as place:
                yield place


@dataclass(frozen=True)
class Outcome:
    """A row of the table: what was done by which client, and whether it passed."""

    client: str
    place: Place
    done: str
    passed: bool

    def __str__(self) -> str:
        mark = "ok    " if self.passed else "FAILED"
        return f"{mark} {self.client:24} {self.place.transport:5} {self.place.mode:8} {self.done}"


def run(client: str, place: Place, done: str, command: list[str], expect: str = "", **variables: str) -> Outcome:
    """Run a command and print its row, with its output when it failed or lacks `expect`, which has no spaces."""
    finished = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=HERE,
        timeout=180,
        stdin=subprocess.DEVNULL,
        env=os.environ | variables,
        check=False,
    )
    outcome = Outcome(client, place, done, finished.returncode == 0 and expect in re.sub(r"\s", "", finished.stdout))
    print(outcome, flush=True)
    if not outcome.passed:
        print("\n".join(f"       {line}" for line in (finished.stdout + finished.stderr).splitlines()[-40:]))
    return outcome


BASICS = "list, introspect, call, refuse"


def typescript(target: Target) -> Iterator[Outcome]:
    """Call by the official TypeScript client: its first major, and both eras of its second."""
    for place in target.places():
        for sdk, era in ((1, "legacy"), (2, "legacy"), (2, "auto")):
            order = place.order(sdk=sdk, era=era, **target.call)
            yield run(f"typescript {sdk} {era}", place, BASICS, ["node", "client.mjs", order])


def authors(target: Target) -> Iterator[Outcome]:
    """Call as the protocol's authors' clients do: names of tools, places of parameters, batches, confirmations."""
    for place in target.places():
        order = place.order(sdk=1, **target.call, changed=target.changed)
        yield run("authors' form", place, "calls, batch, confirmation", ["node", "authors.mjs", order])


def python(target: Target) -> Iterator[Outcome]:
    """Call by older releases of the Python client, one for each version of MCP."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "aqlgen-mcp"
    for release in PYTHON.values():
        if not (cache / release).exists():
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(cache / release)]
            subprocess.run([*pip, f"mcp=={release}", OF_THAT_TIME], check=True, capture_output=True)
    for place in target.places():
        for version, release in PYTHON.items():
            if place.transport == "http" and version < OLDEST_WITH_HTTP:
                continue
            command = [sys.executable, "older.py", place.order(**target.call)]
            expect = f'"version":"{version}"'
            yield run(f"python {release} {version}", place, BASICS, command, expect, PYTHONPATH=str(cache / release))


def inspector(target: Target) -> Iterator[Outcome]:
    """List and call by the Inspector's command line."""
    base = [str(BIN / "mcp-inspector"), "--cli", "--format", "json", "--quiet"]
    arguments = json.dumps({"operation": target.operation, "params": target.params})
    for place in target.places():
        variables = [part for name, value in place.environment.items() for part in ("-e", f"{name}={value}")]
        stdio = [*variables, "--", *place.command]
        where = ["--transport", "http", "--server-url", place.url] if place.url else stdio
        call = ["--method", "tools/call", "--tool-name", place.tools["read"], "--tool-args-json", arguments]
        for era in ("legacy", "modern"):
            lead = [*base, "--protocol-era", era]
            yield run(f"inspector {era}", place, "list", [*lead, "--method", "tools/list", "--strict", *where])
            yield run(f"inspector {era}", place, "call", [*lead, *call, *where], '"success":true')


def mcporter(target: Target) -> Iterator[Outcome]:
    """List by mcporter, and call by its two ways to give arguments."""
    for place in target.places():
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder) / "mcporter.json"
            command = {"command": place.command[0], "args": place.command[1:], "env": place.environment}
            server = {"baseUrl": place.url} if place.url else command
            config.write_text(json.dumps({"mcpServers": {"adapter": server}, "imports": []}), encoding="utf-8")
            base = [str(BIN / "mcporter"), "--config", str(config)]
            tool = place.tools["read"]
            yield run("mcporter", place, "list", [*base, "list", "adapter", "--schema", "--json"], f'"{tool}"')
            call = [*base, "call", f"adapter.{tool}", "--output", "json"]
            arguments = json.dumps({"operation": target.operation, "params": target.params})
            yield run("mcporter", place, "call --args", [*call, "--args", arguments], '"success":true')
            pairs = [f"operation={target.operation}", f"params={json.dumps(target.params)}"]
            yield run("mcporter", place, "call key=value", [*call, *pairs], '"success":true')


def conformance(target: Target) -> Iterator[Outcome]:
    """Run the scenarios of the official suite that apply to any server; one passes when every check of it does."""
    for mode in MODES:
        with target.http(mode) as place:
            for version, scenarios in SCENARIOS.items():
                for scenario in scenarios:
                    yield _scenario(place, scenario, version)


def _scenario(place: Place, scenario: str, version: str) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(BIN / "conformance"), "server", "--url", place.url, "--scenario", scenario]
        options = ["--spec-version", version, "--output-dir", folder]
        subprocess.run([*command, *options], capture_output=True, timeout=180, stdin=subprocess.DEVNULL, check=False)
        results = [json.loads(file.read_text("utf-8")) for file in Path(folder).glob("*/checks.json")]
    checks = [check for result in results for check in result if check["status"] in ("SUCCESS", "FAILURE", "WARNING")]
    failed = [check for check in checks if check["status"] != "SUCCESS"]
    faults = [check for check in failed if applicable(check)]
    left_out = len(failed) - len(faults)
    note = f", {left_out} that need a server made for the suite left out" if left_out else ""
    done = f"{scenario}: {len(checks) - left_out} checks{note}"
    outcome = Outcome(f"conformance {version}", place, done, bool(checks) and not faults)
    print(outcome, flush=True)
    for check in faults:
        print(f"       {check['id']}: {check.get('errorMessage', check.get('description', ''))}")
    return outcome


def applicable(check: dict[str, Any]) -> bool:
    """Return True if a check of the suite can pass for a server that is not made for it."""
    return check["id"] not in INAPPLICABLE and not (check.get("details") or {}).get("untestable")


CHECKS = {
    "typescript": typescript,
    "python": python,
    "authors": authors,
    "inspector": inspector,
    "mcporter": mcporter,
    "conformance": conformance,
}


def main(argv: Sequence[str]) -> int:
    """Run the chosen checks, print a row for each; return 1 if one fails."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("adapter", type=Path, help="the adapter's project, with an operation that deletes")
    arguments.add_argument("checks", nargs="*", metavar="CHECK", help=f"of {', '.join(CHECKS)}; default: all")
    options = arguments.parse_args(argv)
    if unknown := set(options.checks) - CHECKS.keys():
        arguments.error(f"there is no check {', '.join(sorted(unknown))}")
    require_node()
    installed(HERE)
    target = Target(options.adapter.resolve())
    outcomes = [outcome for name in options.checks or CHECKS for outcome in CHECKS[name](target)]
    print(f"{sum(outcome.passed for outcome in outcomes)} of {len(outcomes)} passed")
    return 0 if all(outcome.passed for outcome in outcomes) else 1
