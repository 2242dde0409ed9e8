"""Send requests, with and without their credentials, to Prism, a second server that another project makes.

As `wire.steady`: every operation is called over MCP with its required parameters and with all. Prism (npm
`@stoplight/prism-cli`) reports in `sl-violations` what it finds wrong with a request. What it accepted of an operation
that needs a credential is sent once more without it: then it must answer 401. So the credential is sent, where the
document says, and the server looks for it.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2

from bench.support.arguments import add_corpus, add_only, add_sample, parser
from bench.support.documents import Entry, entries
from bench.support.processes import free_port, generate, served
from bench.wire.documents import LIMIT, Node
from bench.wire.steady import PARAMETERS, Sample, call

SECRETS = ("secret", "c2VjcmV0OnNlY3JldA==")
"""The value of every credential that `calling` sets, and of user and password."""


@dataclass
class Count:
    """The findings of Prism: calls by the parameters sent, valid ones, faults by kind, statuses without credential."""

    calls: Counter[str] = field(default_factory=Counter)
    valid: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    without: Counter[str] = field(default_factory=Counter)
    error: str = ""


def fault(line: Mapping[str, Any]) -> str:
    """Return what was found wrong with the requests of a call; '' if nothing was."""
    if not line["exchanges"]:
        return f"adapter {line['error']['code']}"
    for exchange in line["exchanges"]:
        try:
            violations = json.loads(exchange["verdict"].get("sl-violations") or "[]")
        except ValueError:
            return "violations that are no JSON"
        of_request = [item for item in violations if item.get("location", [""])[0] == "request"]
        error = next((item for item in of_request if item.get("severity") == "Error"), None)
        if error:
            return f"{'.'.join(map(str, error['location'][1:3]))}: {error.get('code')}"
        problem = "stoplight.io/prism/errors#" in exchange.get("answer", "")
        if problem and exchange["status"] in (401, 404, 405, 406, 415, 422):
            return str(exchange["answer"]).partition("errors#")[2].partition('"')[0]
    return ""


def without_credential(exchange: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return a request without its credential; None if it has none."""
    parts = urlsplit(exchange["url"])
    pairs = [pair for pair in parts.query.split("&") if pair]
    kept = [pair for pair in pairs if pair.partition("=")[2] not in SECRETS]
    headers = {
        name: value for name, value in exchange["headers"].items() if not any(secret in value for secret in SECRETS)
    }
    if len(kept) == len(pairs) and len(headers) == len(exchange["headers"]):
        return None
    headers.pop("content-length", None)
    url = urlunsplit(parts._replace(query="&".join(kept)))
    content = exchange["body"].encode("latin-1")
    return {"method": exchange["method"], "url": url, "headers": headers, "content": content}


def calls(lines: Path) -> Iterator[dict[str, Any]]:
    """Yield the calls of a document."""
    for line in lines.read_text("utf-8").splitlines() if lines.exists() else ():
        yield json.loads(line)


def measure(entry: Entry, node: Node, prism: Node, lines: Path, replays: int, sample: Sample) -> Count:
    """Call every operation of one document, and some of them without their credential."""
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        try:
            generate(entry.path, scratch / "project", limit=LIMIT)
            document, port = node.one_file(entry, scratch), free_port()
            command = prism.command("prism", "mock", "-p", str(port), "--verboseLevel", "silent", str(document))
            with served(command, port, scratch / "log"):
                call(scratch / "project", f"http://127.0.0.1:{port}", lines, sample)
                for line in calls(lines):
                    if replays and line["given"] == "required" and not fault(line):
                        again = without_credential(line["exchanges"][0])
                        if again is not None:
                            replays -= 1
                            answer = httpx2.request(**again, timeout=20)
                            count.without[str(answer.status_code)] += 1
        except subprocess.CalledProcessError as error:
            count.error = (error.stderr or b"").decode("utf-8", "replace").strip()[-300:] or str(error)
        except (RuntimeError, subprocess.TimeoutExpired, httpx2.HTTPError) as error:
            count.error = str(error)[-300:]
    for line in calls(lines):
        why = fault(line)
        count.calls[line["given"]] += 1
        count.valid[line["given"]] += not why
        if why:
            count.faults[why] += 1
    return count


def main(argv: Sequence[str]) -> int:
    """Print a line for each document, then the sums."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    add_sample(arguments)
    arguments.add_argument("--node", type=Path, required=True, metavar="DIR", help="where npm installed @redocly/cli …")
    arguments.add_argument("--prism", type=Path, required=True, metavar="DIR", help="… and where Prism")
    arguments.add_argument("--replays", type=int, default=20, metavar="N", help="without the credential, a document")
    arguments.add_argument("--output", type=Path, metavar="DIR", help="keep the lines of every call")
    options = arguments.parse_args(argv)
    output = options.output or Path(tempfile.mkdtemp())
    output.mkdir(parents=True, exist_ok=True)
    total, sample = Count(), Sample(options.sample, options.seed)
    print("document\tcalls\trequired valid\tall valid\tfaults\twithout the credential\terror")
    for entry in sorted(entries(options.corpus, options.only), key=lambda entry: entry.size):
        lines = output / (entry.name.replace("/", "_") + ".jsonl")
        count = measure(entry, Node(options.node), Node(options.prism), lines, options.replays, sample)
        sums = [" ".join(f"{key}:{n}" for key, n in of.most_common()) or "-" for of in (count.faults, count.without)]
        valid = [f"{count.valid[parameters]}/{count.calls[parameters]}" for parameters in PARAMETERS]
        cells = [entry.name, count.calls.total(), *valid, *sums, count.error.replace("\n", " ") or "-"]
        print(*cells, sep="\t", flush=True)
        total.calls += count.calls
        total.valid += count.valid
        total.faults += count.faults
        total.without += count.without
    print(
        "\n",
        *(f"{parameters}: {total.valid[parameters]} of {total.calls[parameters]} valid;" for parameters in PARAMETERS),
        sep=" ",
    )
    print("without the credential:", *(f"{status}: {times}" for status, times in total.without.most_common()))
    for why, times in total.faults.most_common():
        print(f"{times:>5}  {why}")
    return 0
