"""Hold every operation's request against a server that another project makes of the same document.

    npm install --prefix NODE @stdy/cli swagger2openapi @redocly/cli
    python bench/wire/steady.py CORPUS --node NODE [--only TEXT] [--output DIR]

For each document a project is generated and Steady (npm `@stdy/cli`) serves the same document, turned from Swagger 2.0
by `swagger2openapi` and brought into one file by `redocly bundle` where it has to be. Every operation is called over
MCP with its required parameters and with all, each value made from introspection alone (`calling.py`). Counted is what
the server finds to be a valid request; refusals are listed by code. `--output` keeps every line.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

TREE = Path(__file__).resolve().parents[2]
CALLING = Path(__file__).with_name("calling.py")
LIMIT = 900
GIVEN = ("required", "all")
CLASSES = {
    "adapter": "the adapter refuses: what introspection cannot say (`not`, alternatives across fields), or a document "
    "that contradicts itself (an enumeration that its own type forbids)",
    "no verdict": "the server redirects, and the answer is of the place that it names",
    "E3001": "a template within a segment, whose rest the server takes for the value",
    "E2001": "a path that only its fragment or unencoded signs tell from others, which the server does not route",
    "E3002": "an object of no properties, exploded: of it nothing is sent",
    "E3003": "the same: an exploded object, which the server looks for under the parameter's own name",
    "E3005": "two templates that match one URL, of which the server takes the other",
    "E3006": "paths that differ in their fragment only, of which the server sees one",
    "E3007": "a required field that is read-only, which the server asks for, or two templates that match one URL",
    "E3008": "a value of JSON in a form or a part, which the server does not read as JSON",
    "E3009": "a part of `allOf` that is closed to the fields of the others, so that the document admits no request",
    "E3010": "an array of objects in a query, for which no style is defined",
    "E3016": "an enumeration that is empty, or contradicts another rule of the same value",
}
"""What the refusals come down to; E3009 is none of a request's faults, so a second sum leaves it out."""


@dataclass
class Count:
    """What came of a document's calls: how many, how many were found valid, and the reasons of the others."""

    calls: Counter[str] = field(default_factory=Counter)
    valid: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, Counter[str]] = field(default_factory=lambda: {one: Counter() for one in GIVEN})
    error: str = ""

    def add(self, line: dict[str, Any]) -> None:
        """Count one call."""
        given = line["given"]
        self.calls[given] += 1
        why = reason(line)
        if why:
            self.reasons[given][why] += 1
        else:
            self.valid[given] += 1


def reason(line: dict[str, Any]) -> str:
    """Give why a call is not found valid; empty when it is."""
    verdict = line.get("verdict")
    if verdict is None:
        return f"adapter {line.get('error', {}).get('code')}"
    if verdict.get("x-steady-request-valid") == "true":
        return ""
    if "x-steady-request-valid" not in verdict:
        return f"no verdict, status {line['status']}"
    return str(verdict.get("x-steady-error-1-code", "unknown"))


class Node:
    """The folder where the packages are installed."""

    def __init__(self, folder: Path) -> None:
        self._bin = folder.resolve() / "node_modules" / ".bin"

    def run(self, tool: str, *arguments: str) -> None:
        """Run a tool to its end. Raises CalledProcessError."""
        command = [str(self._bin / tool), *arguments]
        subprocess.run(command, check=True, capture_output=True, timeout=LIMIT)

    def one_file(self, document: Path, openapi: str, scratch: Path) -> Path:
        """Give a document as Steady reads it: OpenAPI 3 in one file."""
        if document.parent.parent.name == "corpus" or "multifile" in str(document):
            bundled = scratch / "bundled.json"
            self.run("redocly", "bundle", str(document), "-o", str(bundled), "--ext", "json")
            document = bundled
        if openapi.startswith("2"):
            turned = scratch / "openapi3.json"
            self.run("swagger2openapi", "--patch", "--warnOnly", str(document), "-o", str(turned))
            document = turned
        return document

    @contextmanager
    def served(self, document: Path, log: Path) -> Iterator[str]:
        """Serve a document for as long as the context lasts; gives the address."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        with log.open("wb") as output:
            command = [str(self._bin / "steady"), "-p", str(port), "--no-color", "--log=false", str(document)]
            process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
            try:
                end = monotonic() + 120
                while monotonic() < end and process.poll() is None:
                    with socket.socket() as probe:
                        if probe.connect_ex(("127.0.0.1", port)) == 0:
                            break
                    sleep(0.1)
                if process.poll() is not None:
                    raise RuntimeError(log.read_text("utf-8", "replace")[-300:])
                yield f"http://127.0.0.1:{port}"
            finally:
                process.terminate()
                process.wait(20)


def measure(document: Path, openapi: str, node: Node, output: Path) -> Count:
    """Call every operation of one document."""
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        project = scratch / "project"
        command = [sys.executable, "-m", "aqlgen", "from-openapi", str(document), "-o", str(project), "-q"]
        environ = os.environ | {"PYTHONPATH": str(TREE)}
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=LIMIT, env=environ)
            single = node.one_file(document, openapi, scratch)
            with node.served(single, scratch / "log") as base:
                _call(project, base, output, environ)
        except subprocess.CalledProcessError as error:
            count.error = (error.stderr or b"").decode("utf-8", "replace").strip()[-300:] or str(error)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            count.error = str(error)
    for line in output.read_text("utf-8").splitlines() if output.exists() else ():
        count.add(json.loads(line))
    return count


def _call(project: Path, base: str, output: Path, environ: dict[str, str]) -> None:
    command = [sys.executable, str(CALLING), str(project), base]
    with output.open("wb") as lines:
        subprocess.run(command, check=True, stdout=lines, stderr=subprocess.PIPE, timeout=LIMIT, env=environ)


def open_share(count: Count, given: str) -> str:
    """Give the share without what the document itself closes to every request."""
    closed = count.reasons[given]["E3009"]
    return f"{100 * count.valid[given] / max(1, count.calls[given] - closed):.2f}"


def share(count: Count, given: str) -> str:
    """Give the share of valid calls in per cent."""
    return f"{100 * count.valid[given] / max(1, count.calls[given]):.2f}"


def main() -> int:
    """Print a line for each document, then the sums."""
    parser = argparse.ArgumentParser(description="Hold requests against Steady.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--node", type=Path, required=True)
    parser.add_argument("--only", default="", help="documents whose name matches this regular expression")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    output = options.output or Path(tempfile.mkdtemp())
    output.mkdir(parents=True, exist_ok=True)
    node, total = Node(options.node), Count()
    print("document\tcalls\trequired %\tall %\treasons required\treasons all\terror")
    with (options.corpus / "INDEX.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for row in rows:
        if not re.search(options.only, row["name"]):
            continue
        lines = output / (row["name"].replace("/", "_") + ".jsonl")
        count = measure(options.corpus / row["name"], row["openapi"], node, lines)
        told = [" ".join(f"{why}:{n}" for why, n in count.reasons[one].most_common()) or "-" for one in GIVEN]
        cells = [row["name"], sum(count.calls.values()), share(count, "required"), share(count, "all"), *told]
        print(*cells, count.error.replace("\n", " ") or "-", sep="\t", flush=True)
        total.calls += count.calls
        total.valid += count.valid
        for one in GIVEN:
            total.reasons[one] += count.reasons[one]
    print(f"\n{sum(total.calls.values())} calls; valid with required {share(total, 'required')} %, ", end="")
    print(f"with all {share(total, 'all')} %")
    print(f"without E3009: {open_share(total, 'required')} % and {open_share(total, 'all')} %\n")
    for why, times in (total.reasons["required"] + total.reasons["all"]).most_common():
        known = next((text for key, text in CLASSES.items() if why.startswith(key)), "not explained")
        print(f"{times:>5}  {why}: {known}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
