"""Hold every operation's request against a server that another project makes of the same document.

    npm install --prefix NODE @stdy/cli swagger2openapi @redocly/cli
    python bench/wire/steady.py CORPUS --node NODE [--only REGEX] [--output DIR] [--again]

For each document a project is generated and Steady (npm `@stdy/cli`) serves the same document, turned from Swagger 2.0
by `swagger2openapi` and brought into one file by `redocly bundle` where it has to be (`documents.py`). Every operation
is called over MCP with its required parameters and with all, each value made from introspection alone (`calling.py`).
Counted is what the server finds to be a valid request, in every exchange of the call; what it refuses falls into a
class of `explained.py`, which is proved by the document and the request, or counts as unexplained. `--output` keeps
every line; `--again` counts the lines of a folder kept so, without calling anything.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE))

from bench.wire.documents import LIMIT, Entry, Node, entries, load, repaired  # noqa: E402
from bench.wire.explained import CLASSES, explain  # noqa: E402
from bench.wire.refusals import Refusal, resolved  # noqa: E402

CALLING = Path(__file__).with_name("calling.py")
GIVEN = ("required", "all")
STARTS = 6
"""How often a document is repaired before its server is given up."""


@dataclass
class Count:
    """What came of a document's calls: how many, how many were found valid, and why the others were not."""

    calls: Counter[str] = field(default_factory=Counter)
    valid: Counter[str] = field(default_factory=Counter)
    explained: dict[str, Counter[str]] = field(default_factory=lambda: {one: Counter() for one in GIVEN})
    others: dict[str, Counter[str]] = field(default_factory=lambda: {one: Counter() for one in GIVEN})
    repaired: int = 0
    error: str = ""

    def add(self, line: Mapping[str, Any], document: Mapping[str, Any]) -> None:
        """Count one call."""
        given = line["given"]
        self.calls[given] += 1
        whys = reasons(line, document)
        if not whys:
            self.valid[given] += 1
        elif all(explained for _, explained in whys):
            self.explained[given][whys[0][0]] += 1
        else:
            self.others[given][next(name for name, explained in whys if not explained)] += 1

    def share(self, given: str, *, admitted: bool = False) -> str:
        """Give the share of valid calls in per cent; with `admitted` of those that are not explained."""
        calls = self.calls[given] - (self.explained[given].total() if admitted else 0)
        return f"{100 * self.valid[given] / max(1, calls):.2f}"

    def gather(self, other: Count) -> None:
        """Add another's numbers."""
        self.calls += other.calls
        self.valid += other.valid
        for one in GIVEN:
            self.explained[one] += other.explained[one]
            self.others[one] += other.others[one]


def reasons(line: Mapping[str, Any], document: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Give why a call is not found valid, each reason with whether it is explained; none when it is valid."""
    if not line["exchanges"] and switches(line, document):
        return [("switching protocols", True)]
    if not line["exchanges"] and line["given"] == "all" and excludes(line, document):
        return [("alternatives at once", True)]
    if not line["exchanges"] and "#" in line["row"][1]:  # the server breaks the connection over what it does not route
        return [("path with a fragment", True)]
    if not line["exchanges"] and set("<> |^`") & set(line["row"][1]):
        return [("encoded path", True)]
    if not line["exchanges"]:
        return [(f"adapter {line.get('error', {}).get('code')}", False)]
    found = []
    method, path = line["row"]
    for index, exchange in enumerate(line["exchanges"]):
        before = line["exchanges"][index - 1] if index else None
        verdict = exchange["verdict"]
        if verdict.get("x-steady-request-valid") == "true":
            continue
        if "x-steady-request-valid" not in verdict:
            found.append((f"no verdict, status {exchange['status']}", False))
            continue
        count = int(verdict.get("x-steady-error-count", 1))
        for number in range(1, count + 1):
            code, place, message = (
                verdict.get(f"x-steady-error-{number}-{key}", "") for key in ("code", "path", "message")
            )
            if not code or code.startswith("E4") or code == "E3015":
                continue  # about the answer, or a credential that the conversion from 2.0 left undeclared
            name = explain(Refusal(document, method, path, exchange, code, place, message, before))
            found.append((name or code, name is not None))
        if not found:
            found.append(("unknown", False))
    return found


def switches(line: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Whether the only success of an operation is another protocol."""
    method, path = line["row"]
    answers = document.get("paths", {}).get(path, {}).get(method.lower(), {}).get("responses", {})
    return "101" in answers and not any(str(one).startswith("2") for one in answers)


def excludes(line: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Whether the body is one of several objects that are closed to one another's fields."""
    method, path = line["row"]
    operation = document.get("paths", {}).get(path, {}).get(method.lower(), {})
    for media in resolved(document, operation.get("requestBody", {})).get("content", {}).values():
        body = resolved(document, media.get("schema", {}))
        branches = [resolved(document, one) for one in body.get("oneOf", body.get("anyOf", ()))]
        fields = {tuple(sorted(one.get("properties", {}))) for one in branches}
        if len(fields) > 1 and all(one.get("additionalProperties") is False for one in branches):
            return True
    return False


@contextmanager
def served(command: list[str], log: Path) -> Iterator[None]:
    """Run a server for as long as the context lasts, `{port}` in its command replaced. Raises RuntimeError."""
    port = int(command[command.index("-p") + 1])
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, stdin=subprocess.DEVNULL)
        try:
            end = monotonic() + 180
            while monotonic() < end and process.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                sleep(0.1)
            if process.poll() is not None:
                raise RuntimeError(log.read_text("utf-8", "replace"))
            yield
        finally:
            process.terminate()
            process.wait(20)


def free_port() -> int:
    """Give a port that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


@contextmanager
def steady(node: Node, document: Path, scratch: Path, count: Count) -> Iterator[tuple[str, Path]]:
    """Serve a document, repaired where the server stops for it; gives the address and what is served."""
    for _ in range(STARTS):
        port = free_port()
        options = ("--no-color", "--log=false", "--reject-on-sdk-error=false", "--generator-array-size=1")
        server = served(node.command("steady", "-p", str(port), *options, str(document)), scratch / "log")
        try:
            server.__enter__()
        except RuntimeError as error:
            content = load(document)
            places = repaired(content, str(error))
            if not places:
                raise RuntimeError(str(error)[-300:]) from None
            count.repaired += places
            document = scratch / "repaired.json"
            document.write_text(json.dumps(content), "utf-8")
            continue
        try:
            yield f"http://127.0.0.1:{port}", document
        finally:
            server.__exit__(None, None, None)
        return
    raise RuntimeError("the server stops for it however often it is repaired")


def generate(entry: Entry, project: Path) -> None:
    """Generate the project of a document. Raises CalledProcessError."""
    command = [sys.executable, "-m", "aqlgen", "from-openapi", str(entry.path), "-o", str(project), "-q"]
    environ = os.environ | {"PYTHONPATH": str(TREE)}
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT, env=environ)


def measure(entry: Entry, node: Node, lines: Path) -> Count:
    """Call every operation of one document."""
    count = Count()
    kept = lines.with_suffix(".served.json")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        try:
            generate(entry, scratch / "project")
            with steady(node, node.one_file(entry, scratch), scratch, count) as (base, document):
                kept.write_text(json.dumps(load(document), default=str), "utf-8")
                call(scratch / "project", base, lines)
        except subprocess.CalledProcessError as error:
            count.error = (error.stderr or b"").decode("utf-8", "replace").strip()[-300:] or str(error)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            count.error = str(error)
    return recount(lines, count)


def recount(lines: Path, count: Count) -> Count:
    """Count the lines that were kept."""
    kept = lines.with_suffix(".served.json")
    document = json.loads(kept.read_bytes()) if kept.exists() else {}
    for line in lines.read_text("utf-8").splitlines() if lines.exists() else ():
        count.add(json.loads(line), document)
    return count


def call(project: Path, base: str, lines: Path) -> None:
    """Call every operation of a project, a line of JSON each. Raises CalledProcessError."""
    command = [sys.executable, str(CALLING), str(project), base]
    environ = os.environ | {"PYTHONPATH": str(TREE)}
    with lines.open("wb") as output:
        subprocess.run(command, check=True, stdout=output, stderr=subprocess.PIPE, timeout=LIMIT, env=environ)


def report(name: str, count: Count) -> None:
    """Print the line of a document."""
    told = [
        " ".join(f"{why.replace(' ', '_')}:{n}" for why, n in (of["required"] + of["all"]).most_common()) or "-"
        for of in (count.explained, count.others)
    ]
    cells = [name, count.calls.total(), *(count.share(one) for one in GIVEN)]
    cells += [*(count.share(one, admitted=True) for one in GIVEN), *told, count.repaired]
    print(*cells, " ".join(count.error.split()) or "-", sep="\t", flush=True)


def totals(total: Count) -> None:
    """Print the sums, and what every refusal comes down to."""
    print(f"\n{total.calls.total()} calls; valid with required {total.share('required')} %, ", end="")
    print(f"with all {total.share('all')} %")
    print("of those that the document admits and the server can judge: ", end="")
    print(f"{total.share('required', admitted=True)} % and {total.share('all', admitted=True)} %\n")
    for name, one in CLASSES.items():
        times = [total.explained[given][name] for given in GIVEN]
        if any(times):
            print(f"{times[0]:>5} {times[1]:>5}  {one.fault} at fault, {name}: {one.text}")
    for why in sorted({*total.others["required"], *total.others["all"]}):
        print(f"{total.others['required'][why]:>5} {total.others['all'][why]:>5}  not explained: {why}")


def main() -> int:
    """Print a line for each document, then the sums."""
    parser = argparse.ArgumentParser(description="Hold requests against Steady.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--node", type=Path)
    parser.add_argument("--only", default="", help="documents whose name matches this regular expression")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--again", action="store_true", help="count what --output holds already")
    options = parser.parse_args()
    output = options.output or Path(tempfile.mkdtemp())
    output.mkdir(parents=True, exist_ok=True)
    total = Count()
    print("document\tcalls\trequired %\tall %\tadmitted required %\tadmitted all %\texplained\tothers\trepaired\terror")
    for entry in entries(options.corpus, options.only):
        lines = output / (entry.name.replace("/", "_") + ".jsonl")
        if options.again and not lines.exists():
            continue
        count = recount(lines, Count()) if options.again else measure(entry, Node(options.node), lines)
        report(entry.name, count)
        total.gather(count)
    totals(total)
    return 0


if __name__ == "__main__":
    sys.exit(main())
