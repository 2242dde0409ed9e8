"""Hold requests, and their credentials, against Prism, a second server that another project makes of a document.

    npm install --prefix NODE @stoplight/prism-cli
    python bench/wire/prism.py CORPUS --node NODE --prism NODE [--only REGEX] [--replays N] [--output DIR]

As `steady.py`: every operation is called over MCP with its required parameters and with all. Prism tells in
`sl-violations` what it finds wrong with a request. What it accepted of an operation that asks for a credential is sent
once more without the credential (`--replays` of each document): then it must answer 401. So the credential is sent,
where the document says, and the server looks for it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE))

from bench.wire.documents import Entry, Node, entries  # noqa: E402
from bench.wire.steady import GIVEN, call, free_port, generate, served  # noqa: E402

SECRETS = ("secret", "c2VjcmV0OnNlY3JldA==")
"""What `calling.py` gives as every credential, and as user and password."""


@dataclass
class Count:
    """What Prism found: calls and valid ones by what was given, faults by kind, and what it said without credential."""

    calls: Counter[str] = field(default_factory=Counter)
    valid: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    without: Counter[str] = field(default_factory=Counter)
    error: str = ""


def fault(line: Mapping[str, Any]) -> str:
    """Give what was found wrong with the requests of a call; empty when nothing was."""
    if not line["exchanges"]:
        return f"adapter {line['error']['code']}"
    for exchange in line["exchanges"]:
        told = exchange["verdict"].get("sl-violations")
        found = json.loads(told) if told else []
        wrong = [one for one in found if one.get("location", [""])[0] == "request" and one.get("severity") == "Error"]
        if wrong:
            place = ".".join(map(str, wrong[0]["location"][1:3]))
            return f"{place}: {wrong[0].get('code')}"
        problem = "stoplight.io/prism/errors#" in exchange.get("answer", "")
        if problem and exchange["status"] in (401, 404, 405, 406, 415, 422):
            return str(exchange["answer"]).partition("errors#")[2].partition('"')[0]
    return ""


def bare(exchange: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give a request without its credential; None when it has none."""
    parts = urlsplit(exchange["url"])
    pairs = [pair for pair in parts.query.split("&") if pair]
    kept = [pair for pair in pairs if pair.partition("=")[2] not in SECRETS]
    headers = {name: value for name, value in exchange["headers"].items() if not any(one in value for one in SECRETS)}
    if len(kept) == len(pairs) and len(headers) == len(exchange["headers"]):
        return None
    headers.pop("content-length", None)
    url = urlunsplit(parts._replace(query="&".join(kept)))
    content = exchange["body"].encode("latin-1")
    return {"method": exchange["method"], "url": url, "headers": headers, "content": content}


def told(lines: Path) -> Iterator[dict[str, Any]]:
    """Give the calls of a document."""
    for line in lines.read_text("utf-8").splitlines() if lines.exists() else ():
        yield json.loads(line)


def measure(entry: Entry, node: Node, prism: Node, lines: Path, replays: int) -> Count:
    """Call every operation of one document, and some of them without their credential."""
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        try:
            generate(entry, scratch / "project")
            document, port = node.one_file(entry, scratch), free_port()
            command = prism.command("prism", "mock", "-p", str(port), "--verboseLevel", "silent", str(document))
            with served(command, scratch / "log"):
                call(scratch / "project", f"http://127.0.0.1:{port}", lines)
                for line in told(lines):
                    if replays and line["given"] == "required" and not fault(line):
                        again = bare(line["exchanges"][0])
                        if again is not None:
                            replays -= 1
                            answer = httpx2.request(**again, timeout=20)
                            count.without[str(answer.status_code)] += 1
        except subprocess.CalledProcessError as error:
            count.error = (error.stderr or b"").decode("utf-8", "replace").strip()[-300:] or str(error)
        except (RuntimeError, subprocess.TimeoutExpired, httpx2.HTTPError) as error:
            count.error = str(error)[-300:]
    for line in told(lines):
        why = fault(line)
        count.calls[line["given"]] += 1
        count.valid[line["given"]] += not why
        if why:
            count.faults[why] += 1
    return count


def main() -> int:
    """Print a line for each document, then the sums."""
    parser = argparse.ArgumentParser(description="Hold requests against Prism.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--node", type=Path, required=True)
    parser.add_argument("--prism", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--replays", type=int, default=20)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    output = options.output or Path(tempfile.mkdtemp())
    output.mkdir(parents=True, exist_ok=True)
    total = Count()
    print("document\tcalls\trequired valid\tall valid\tfaults\twithout the credential\terror")
    for entry in entries(options.corpus, options.only):
        lines = output / (entry.name.replace("/", "_") + ".jsonl")
        count = measure(entry, Node(options.node), Node(options.prism), lines, options.replays)
        told_ = [" ".join(f"{why}:{n}" for why, n in of.most_common()) or "-" for of in (count.faults, count.without)]
        valid = [f"{count.valid[one]}/{count.calls[one]}" for one in GIVEN]
        print(
            entry.name, count.calls.total(), *valid, *told_, count.error.replace("\n", " ") or "-", sep="\t", flush=True
        )
        total.calls += count.calls
        total.valid += count.valid
        total.faults += count.faults
        total.without += count.without
    print("\n", *(f"{one}: {total.valid[one]} of {total.calls[one]} valid;" for one in GIVEN), sep=" ")
    print("without the credential:", *(f"{status}: {times}" for status, times in total.without.most_common()))
    for why, times in total.faults.most_common():
        print(f"{times:>5}  {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
