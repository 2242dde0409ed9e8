"""Make calls as models get them wrong, and compare what the API receives with what it receives of the right call.

Valid calls of the corpus' operations (the project's own examples, with further parameters that samples are made for)
are mutated (`mutations`) and performed in mock mode, without a network. A mutated call is right if its requests are
those of the call that was meant. It is told if it is refused with the right next call: `details.try`, made as it
stands, sends what was meant, or the message names the value to give. It is as given if it is valid as it stands, by the
document, and so was sent. Else it is unhelpful, if it was refused, or wrong. A write that is wrong ends with exit code
1, as does a share of right and told calls below 98 %. The second share counts what is as given as a failure.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.client.mock import MockTransport
from aqlgen.runtime.errors import Failure
from aqlgen.runtime.session import Session
from aqlgen.runtime.table import Row
from aqlgen.table.example_calls import Checker
from aqlgen.table.sample_values import ValueMaker
from bench.support.arguments import add_corpus, add_only, parser
from bench.support.documents import entries, package_of
from bench.support.processes import generate
from bench.wire.mutations import MUTATIONS, Case, Mutated

ENOUGH = 98.0
SETTINGS = {
    "MCP_AQL_CONFIG": os.devnull,
    "MCP_AQL_STATE_URL": "memory:",
    "MCP_AQL_AUDIT_PATH": os.devnull,
    "MCP_AQL_POLICY": "open",
    "MCP_AQL_LOG_LEVEL": "error",
}
VERDICTS = ("right", "told", "as given", "unhelpful", "wrong", "wrong write")
BOUNDARY = re.compile(rb"[-=]{2,20}[0-9a-zA-Z_'()+,./:=?-]{16,70}")
MOST_ADDED = 6
SKIPPED = frozenset({"dry_run", "fields", "preset", "if_match", "first", "after", "last", "before"})


class Adapter:
    """One adapter in mock mode, whose requests are kept."""

    def __init__(self, project: Path) -> None:
        package = package_of(project)
        self.parts = assemble(package, environ=SETTINGS, mock=True)
        self.table = self.parts.table
        self.requests: list[Any] = []
        self._api: Any = self.parts.dispatcher.api
        self._maker, self._checker = ValueMaker(self.table.types), Checker(self.table.types)
        self._cases: dict[str, dict[str, Any] | None] = {}
        self._watch()

    def _watch(self) -> None:
        send, requests = MockTransport.send, self.requests

        async def sending(transport: MockTransport, request: Any, row: Row) -> Any:
            requests.append(normalised(request))
            return await send(transport, request, row)

        transport: Any = self._api._transport
        transport.send = sending.__get__(transport)

    async def sent(self, row: Row, params: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        """Return the envelope of a call and the requests that it made."""
        self.requests.clear()
        arguments = {"operation": row.name, "params": copy.deepcopy(params)}
        envelope = await self.parts.dispatcher.handle(None, arguments, Session())
        return envelope, list(self.requests)

    def valid(self, row: Row, params: dict[str, Any]) -> bool:
        """Return True if parameters are valid as they stand, and a request can be made of them."""
        try:
            validated = self._api.validate(row, copy.deepcopy(params))
            sent = {name: value for name, value in validated.items() if name not in row.adapter_parameters}
            self._api.build(row, sent)
        except Failure:
            return False
        return True

    def call(self, row: Row) -> dict[str, Any] | None:
        """Return valid parameters of an operation, with some that are optional; None if there are none."""
        if row.name not in self._cases:
            self._cases[row.name] = self._completed(row)
        return self._cases[row.name]

    def _completed(self, row: Row) -> dict[str, Any] | None:
        params = copy.deepcopy(dict(row.example or {}))
        if not self.valid(row, params):
            return None
        for name, parameter in row.shown_parameters.items():
            if len(params) >= len(row.example or {}) + MOST_ADDED:
                break
            richer = parameter.location == "body" and isinstance(params.get(name), dict)
            if name in SKIPPED or (name in params and not richer):
                continue
            for least in (4, 1):
                value = next(self._maker.candidates(parameter.schema, least), None)
                if value is None or not self._checker.valid(parameter.schema, value):
                    continue
                if self.valid(row, {**params, name: value}):
                    params[name] = value
                    break
        return params


def normalised(request: Any) -> tuple[Any, ...]:
    """Return what of a request can be compared: boundaries and keys that are drawn are left out."""
    headers = sorted(
        (name.lower(), BOUNDARY.sub(b"", value.encode()))
        for name, value in request.headers
        if name.lower() not in ("idempotency-key", "content-length")
    )
    content = request.content
    try:
        content = json.dumps(json.loads(content), sort_keys=True).encode()
    except (ValueError, TypeError):
        if isinstance(content, bytes):
            content = b"&".join(sorted(BOUNDARY.sub(b"", content).split(b"&")))
    return request.method, request.url, tuple(headers), content


async def judged(adapter: Adapter, row: Row, mutated: Mutated) -> tuple[str, dict[str, Any]]:
    """Return the verdict on a mutated call, and its envelope."""
    right, wanted = await adapter.sent(row, mutated.base)
    if not right["success"] or not wanted:
        return "", right
    envelope, requests = await adapter.sent(row, mutated.params)
    if requests == wanted:
        return "right", envelope
    if requests:
        if adapter.valid(row, mutated.params):
            return "as given", envelope
        return ("wrong" if row.family == "read" else "wrong write"), envelope
    error = envelope.get("error", {})
    attempt = error.get("details", {}).get("try")
    if attempt is not None:
        _, tried = await adapter.sent(row, attempt["params"])
        if tried == wanted:
            return "told", envelope
    texts = [error.get("message", ""), *(item["message"] for item in error.get("details", {}).get("problems", ()))]
    advice = f"Give {json.dumps(mutated.meant, ensure_ascii=False)}"
    if mutated.meant is None:
        advice = "Leave it out"
    return ("told" if any(advice in text for text in texts) else "unhelpful"), envelope


@contextmanager
def projects(options: Any) -> Iterator[dict[str, Path]]:
    """Yield a project for each document: those of a folder, or generated for as long as needed."""
    chosen = entries(options.corpus, options.only)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.projects or Path(scratch)
        generated = {}
        for entry in chosen:
            project = folder / entry.name / "p"
            if not project.is_dir():
                project.parent.mkdir(parents=True, exist_ok=True)
                generate(entry.path, project)
            generated[entry.name] = project
        yield generated


async def measure(name: str, project: Path, count: int, seed: int, show: int) -> Counter[tuple[str, str]]:
    """Mutate `count` calls of one adapter; print up to `show` that fail."""
    adapter = Adapter(project)
    random = Random(f"{seed} {name}")
    names = sorted(name for name, _ in adapter.table.names())
    verdicts: Counter[tuple[str, str]] = Counter()
    kinds = list(MUTATIONS)
    for _ in range(count * 40):
        if verdicts.total() >= count:
            break
        row = adapter.table.find(random.choice(names))
        params = None if row is None else adapter.call(row)
        if row is None or params is None:
            continue
        kind = random.choice(kinds)
        mutated = MUTATIONS[kind](Case(adapter.table, row, params, random))
        if mutated is None or not adapter.valid(row, mutated.base):
            continue
        verdict, envelope = await judged(adapter, row, mutated)
        if not verdict:
            continue
        verdicts[kind, verdict] += 1
        if verdict not in ("right", "told") and show > 0:
            show -= 1
            line = {"document": name, "operation": row.name, "kind": kind, "verdict": verdict}
            answer = {key: value for key, value in envelope.items() if key not in ("data", "_meta")}
            line |= {"params": mutated.params, "meant": mutated.base, "answer": answer}
            print(json.dumps(line, ensure_ascii=False, default=str), flush=True)
    return verdicts


def report(verdicts: Counter[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each mistake, and one for all."""
    yield (
        f"{'mistake':18}{'calls':>7}" + "".join(f"{verdict:>13}" for verdict in VERDICTS) + f"{'share':>9}{'of all':>9}"
    )
    for kind in (*MUTATIONS, "all"):
        counts = {
            verdict: sum(count for (name, got), count in verdicts.items() if got == verdict and kind in (name, "all"))
            for verdict in VERDICTS
        }
        yield (
            f"{kind:18}{sum(counts.values()):7}"
            + "".join(f"{counts[verdict]:13}" for verdict in VERDICTS)
            + f"{share(counts):8.2f}%{100 * (counts['right'] + counts['told']) / max(1, sum(counts.values())):8.2f}%"
        )


def share(counts: dict[str, int]) -> float:
    """Return the share of right and told calls among those that are not valid as they stand, in per cent."""
    judged_calls = sum(counts.values()) - counts["as given"]
    return 100 * (counts["right"] + counts["told"]) / max(1, judged_calls)


def main(argv: Sequence[str]) -> int:
    """Print the shares of each mistake."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    add_only(arguments)
    arguments.add_argument("--calls", type=int, default=10_000, metavar="N", help="how many calls; default: 10,000")
    arguments.add_argument("--seed", type=int, default=1, metavar="N")
    arguments.add_argument("--show", type=int, default=0, metavar="N", help="print N failures of each document")
    arguments.add_argument("--projects", type=Path, metavar="DIR", help="keep the generated projects there")
    options = arguments.parse_args(argv)
    verdicts: Counter[tuple[str, str]] = Counter()
    with projects(options) as generated:
        left = len(generated)
        for name, project in generated.items():
            count = -(-(options.calls - verdicts.total()) // left)
            verdicts += asyncio.run(measure(name, project, count, options.seed, options.show))
            left -= 1
    print("\n".join(report(verdicts)))
    totals = Counter[str]()
    for (_, verdict), number in verdicts.items():
        totals[verdict] += number
    return 1 if totals["wrong write"] or share({**dict.fromkeys(VERDICTS, 0), **totals}) < ENOUGH else 0
