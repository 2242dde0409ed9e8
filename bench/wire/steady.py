"""Send every operation's request to Steady, a server that another project makes of the same document.

For each document a project is generated and Steady (npm `@stdy/cli`) serves the same document, upgraded from Swagger
2.0 by `swagger2openapi` and bundled into one file by `@redocly/cli` where it has to be. Every operation is called over
MCP with its required parameters and with all, each value generated from introspection alone (`calling`). A call is
valid if the server finds every exchange of it valid; what it refuses belongs to a class of `explained`, which is proved
by the document and the request, or counts as unexplained. `--output` keeps every line; `--again` counts the lines of
such a folder, without calling anything.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.support.arguments import add_corpus, add_only, add_sample, parser
from bench.support.documents import Entry, entries
from bench.support.processes import environment, free_port, generate, served
from bench.wire.documents import LIMIT, Node, load, repaired
from bench.wire.explained import CLASSES, Class, explain
from bench.wire.refusals import Refusal, resolved

PARAMETERS = ("required", "all")
AWS = {"AWS_ACCESS_KEY_ID": "secret", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}
"""Credentials that are AWS's own, which it looks for in the environment of the process."""
HEADING = "document\tcalls\trequired %\tall %\tadmitted required %\tadmitted all %\texplained\tothers\trepaired\terror"
Why = Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[tuple[str, bool]]]
STARTS = 6
"""How often a document is repaired before its server is abandoned."""


@dataclass(frozen=True)
class Sample:
    """No more than `most` operations of a document (0: all), chosen by a seed."""

    most: int
    seed: int


@dataclass
class Count:
    """The result of a document's calls: how many, how many were valid, and why the others were not."""

    calls: Counter[str] = field(default_factory=Counter)
    valid: Counter[str] = field(default_factory=Counter)
    explained: dict[str, Counter[str]] = field(
        default_factory=lambda: {parameters: Counter() for parameters in PARAMETERS}
    )
    others: dict[str, Counter[str]] = field(
        default_factory=lambda: {parameters: Counter() for parameters in PARAMETERS}
    )
    repaired: int = 0
    error: str = ""

    def add(self, parameters: str, whys: Sequence[tuple[str, bool]]) -> None:
        """Count one call, with why it is not valid: each reason with whether it is explained."""
        self.calls[parameters] += 1
        if not whys:
            self.valid[parameters] += 1
        elif all(explained for _, explained in whys):
            self.explained[parameters][whys[0][0]] += 1
        else:
            self.others[parameters][next(name for name, explained in whys if not explained)] += 1

    def share(self, parameters: str, *, admitted: bool = False) -> str:
        """Return the share of valid calls in per cent; with `admitted` of those that are not explained."""
        calls = self.calls[parameters] - (self.explained[parameters].total() if admitted else 0)
        return f"{100 * self.valid[parameters] / max(1, calls):.2f}"

    def gather(self, other: Count) -> None:
        """Add another's numbers."""
        self.calls += other.calls
        self.valid += other.valid
        for parameters in PARAMETERS:
            self.explained[parameters] += other.explained[parameters]
            self.others[parameters] += other.others[parameters]


def reasons(line: Mapping[str, Any], document: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """Return why a call is not valid, each reason with whether it is explained; none if it is valid."""
    if not line["exchanges"] and switches(line, document):
        return [("switching protocols", True)]
    if not line["exchanges"] and line["given"] == "all" and excludes(line, document):
        return [("alternatives at once", True)]
    is_broken = not line["exchanges"] and line.get("error", {}).get("code") == "INTERNAL_ERROR"
    if is_broken and "#" in line["row"][1]:  # the server breaks the connection over what it does not route
        return [("path with a fragment", True)]
    if is_broken and set("<> |^`") & set(line["row"][1]):
        return [("encoded path", True)]
    if not line["exchanges"] and "service of AWS is not known" in line.get("error", {}).get("message", ""):
        return [("signature at another address", True)]
    if not line["exchanges"] and "did not answer within" in line.get("error", {}).get("message", ""):
        return [("no answer in time", True)]
    if not line["exchanges"]:
        return [(f"adapter {line.get('error', {}).get('code')}", False)]
    why = []
    method, path = line["row"]
    for index, exchange in enumerate(line["exchanges"]):
        before = line["exchanges"][index - 1] if index else None
        verdict = exchange["verdict"]
        if verdict.get("x-steady-request-valid") == "true":
            continue
        if "x-steady-request-valid" not in verdict:
            why.append((f"no verdict, status {exchange['status']}", False))
            continue
        count = int(verdict.get("x-steady-error-count", 1))
        for number in range(1, count + 1):
            code, place, message = (
                verdict.get(f"x-steady-error-{number}-{key}", "") for key in ("code", "path", "message")
            )
            if not code or code.startswith("E4") or code == "E3015":
                continue  # about the answer, or a credential that the conversion from 2.0 left undeclared
            name = explain(Refusal(document, method, path, exchange, code, place, message, before))
            why.append((name or code, name is not None))
        if not why:
            why.append(("unknown", False))
    return why


def switches(line: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Return True if the only success of an operation is another protocol."""
    method, path = line["row"]
    answers = document.get("paths", {}).get(path, {}).get(method.lower(), {}).get("responses", {})
    return "101" in answers and not any(str(status).startswith("2") for status in answers)


def excludes(line: Mapping[str, Any], document: Mapping[str, Any]) -> bool:
    """Return True if the body is one of several objects that are closed to one another's fields."""
    method, path = line["row"]
    operation = document.get("paths", {}).get(path, {}).get(method.lower(), {})
    for media in resolved(document, operation.get("requestBody", {})).get("content", {}).values():
        body = resolved(document, media.get("schema", {}))
        branches = [resolved(document, branch) for branch in body.get("oneOf", body.get("anyOf", ()))]
        fields = {tuple(sorted(branch.get("properties", {}))) for branch in branches}
        if len(fields) > 1 and all(branch.get("additionalProperties") is False for branch in branches):
            return True
    return False


@contextmanager
def steady(node: Node, document: Path, scratch: Path, count: Count) -> Iterator[tuple[str, Path]]:
    """Serve a document, repaired where the server stops for it; yield the address and what is served."""
    for _ in range(STARTS):
        port = free_port()
        options = ("--no-color", "--log=false", "--reject-on-sdk-error=false", "--generator-array-size=1")
        server = served(node.command("steady", "-p", str(port), *options, str(document)), port, scratch / "log")
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


def measure(entry: Entry, node: Node, lines: Path, sample: Sample) -> Count:
    """Call every operation of one document."""
    count = Count()
    kept = lines.with_suffix(".served.json")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        try:
            generate(entry.path, scratch / "project", limit=LIMIT)
            with steady(node, node.one_file(entry, scratch), scratch, count) as (base, document):
                kept.write_text(json.dumps(load(document), default=str), "utf-8")
                call(scratch / "project", base, lines, sample)
        except subprocess.CalledProcessError as error:
            count.error = (error.stderr or b"").decode("utf-8", "replace").strip()[-300:] or str(error)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            count.error = str(error)
    return recount(lines, count)


def recount(lines: Path, count: Count, why: Why | None = None) -> Count:
    """Count the lines that were kept; `why` returns the reasons for which a call is not valid."""
    why = why or reasons
    kept = lines.with_suffix(".served.json")
    document = json.loads(kept.read_bytes()) if kept.exists() else {}
    for text in lines.read_text("utf-8").splitlines() if lines.exists() else ():
        line = json.loads(text)
        count.add(line["given"], why(line, document))
    return count


def call(project: Path, base: str, lines: Path, sample: Sample) -> None:
    """Call every operation of a project, a line of JSON each. Raises CalledProcessError."""
    options = (f"--sample={sample.most}", f"--seed={sample.seed}")
    command = [sys.executable, "-m", "bench.wire.calling", str(project), base, *options]
    with lines.open("wb") as output:
        subprocess.run(
            command, check=True, stdout=output, stderr=subprocess.PIPE, timeout=LIMIT, env=environment(**AWS)
        )


def report(name: str, count: Count) -> None:
    """Print the line of a document."""
    reasons = [
        " ".join(f"{why.replace(' ', '_')}:{n}" for why, n in (of["required"] + of["all"]).most_common()) or "-"
        for of in (count.explained, count.others)
    ]
    cells = [name, count.calls.total(), *(count.share(parameters) for parameters in PARAMETERS)]
    cells += [*(count.share(parameters, admitted=True) for parameters in PARAMETERS), *reasons, count.repaired]
    print(*cells, " ".join(count.error.split()) or "-", sep="\t", flush=True)


def totals(total: Count, classes: Mapping[str, Class] = CLASSES) -> None:
    """Print the sums, and what every refusal comes down to."""
    print(f"\n{total.calls.total()} calls; valid with required {total.share('required')} %, ", end="")
    print(f"with all {total.share('all')} %")
    print("of those that the document admits and the server can judge: ", end="")
    print(f"{total.share('required', admitted=True)} % and {total.share('all', admitted=True)} %\n")
    for name, kind in classes.items():
        times = [total.explained[parameters][name] for parameters in PARAMETERS]
        if any(times):
            print(f"{times[0]:>5} {times[1]:>5}  {kind.fault} at fault, {name}: {kind.text}")
    for why in sorted({*total.others["required"], *total.others["all"]}):
        print(f"{total.others['required'][why]:>5} {total.others['all'][why]:>5}  not explained: {why}")


def main(argv: Sequence[str]) -> int:
    """Print a line for each document, then the sums."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    add_sample(arguments)
    arguments.add_argument("--node", type=Path, default=Path(), metavar="DIR", help="where npm installed the packages")
    arguments.add_argument("--output", type=Path, metavar="DIR", help="keep the lines of every call")
    arguments.add_argument("--again", action="store_true", help="count what --output has kept")
    options = arguments.parse_args(argv)
    output = options.output or Path(tempfile.mkdtemp())
    output.mkdir(parents=True, exist_ok=True)
    total, sample = Count(), Sample(options.sample, options.seed)
    print(HEADING)
    for entry in sorted(entries(options.corpus, options.only), key=lambda entry: entry.size):
        lines = output / (entry.name.replace("/", "_") + ".jsonl")
        if options.again and not lines.exists():
            continue
        count = recount(lines, Count()) if options.again else measure(entry, Node(options.node), lines, sample)
        report(entry.name, count)
        total.gather(count)
    totals(total)
    return 0
