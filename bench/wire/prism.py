"""Send requests, with and without their credentials, to Prism, a second server that another project makes.

As `wire.steady`: every operation is called over MCP with its required parameters and with all. Prism (npm
`@stoplight/prism-cli`) reports in `sl-violations` what it finds wrong with a request; what it refuses belongs to a
class of `prism_faults` or counts as unexplained. References that lead nowhere are taken out of the document, because
Prism stops for them. What it accepted of an operation that needs a credential is sent once more without it: then it
must answer 401. So the credential is sent, where the document says, and the server looks for it.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2

from bench.support.arguments import add_corpus, add_only, add_sample, parser
from bench.support.documents import Entry, entries
from bench.support.processes import free_port, generate, served
from bench.wire.documents import LIMIT, Node, load, without_dangling
from bench.wire.prism_faults import CLASSES, reasons, violations
from bench.wire.steady import HEADING, Count, Sample, call, recount, report, totals

SECRETS = ("secret", "c2VjcmV0OnNlY3JldA==")
"""The value of every credential that `calling` sets, and of user and password."""


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


def replay(lines: Path, most: int) -> Counter[str]:
    """Send what was accepted once more without its credential, at most so many times; return the statuses."""
    statuses: Counter[str] = Counter()
    for text in lines.read_text("utf-8").splitlines():
        line = json.loads(text)
        if statuses.total() < most and line["given"] == "required" and line["exchanges"]:
            again = None if violations(line["exchanges"][0]) else without_credential(line["exchanges"][0])
            if again is not None:
                statuses[str(httpx2.request(**again, timeout=20).status_code)] += 1
    return statuses


def measure(
    entry: Entry, node: Node, prism: Node, lines: Path, replays: int, sample: Sample
) -> tuple[Count, Counter[str]]:
    """Call every operation of one document, and some of them without their credential."""
    count, without = Count(), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        try:
            generate(entry.path, scratch / "project", limit=LIMIT)
            document, port = load(node.one_file(entry, scratch)), free_port()
            count.repaired = without_dangling(document)
            for file in (scratch / "served.json", lines.with_suffix(".served.json")):
                file.write_text(json.dumps(document, default=str), "utf-8")
            command = prism.command(
                "prism", "mock", "-p", str(port), "--verboseLevel", "silent", str(scratch / "served.json")
            )
            with served(command, port, scratch / "log"):
                call(scratch / "project", f"http://127.0.0.1:{port}", lines, sample)
                without = replay(lines, replays)
        except subprocess.CalledProcessError as error:
            count.error = (error.stderr or b"").decode("utf-8", "replace").strip()[-300:] or str(error)
        except (RuntimeError, subprocess.TimeoutExpired, httpx2.HTTPError) as error:
            count.error = str(error)[-300:]
    return recount(lines, count, reasons), without


def main(argv: Sequence[str]) -> int:
    """Print a line for each document, then the sums."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    add_sample(arguments)
    arguments.add_argument(
        "--node", type=Path, default=Path(), metavar="DIR", help="where npm installed @redocly/cli …"
    )
    arguments.add_argument("--prism", type=Path, default=Path(), metavar="DIR", help="… and where Prism")
    arguments.add_argument("--replays", type=int, default=20, metavar="N", help="without the credential, a document")
    arguments.add_argument("--output", type=Path, metavar="DIR", help="keep the lines of every call")
    arguments.add_argument("--again", action="store_true", help="count what --output has kept")
    options = arguments.parse_args(argv)
    output = options.output or Path(tempfile.mkdtemp())
    output.mkdir(parents=True, exist_ok=True)
    total, statuses, sample = Count(), Counter[str](), Sample(options.sample, options.seed)
    print(HEADING)
    for entry in sorted(entries(options.corpus, options.only), key=lambda entry: entry.size):
        lines = output / (entry.name.replace("/", "_") + ".jsonl")
        if options.again:
            count, without = recount(lines, Count(), reasons), Counter[str]()
        else:
            count, without = measure(entry, Node(options.node), Node(options.prism), lines, options.replays, sample)
        report(entry.name, count)
        total.gather(count)
        statuses += without
    totals(total, CLASSES)
    print("without the credential:", *(f"{status}: {times}" for status, times in statuses.most_common()))
    return 0
