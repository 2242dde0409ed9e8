"""Play calls over real servers that others wrote, and look past the adapter at what each write left behind.

Each server is installed by pip, npm or apt in a cache, started on loopback, and called by an adapter that is generated
from its own document: its YAML file says how it starts, and what must be true of each call. A call is right, the
document's fault (an override cures it), or wrong.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter

from bench.servers.installing import cache, installed
from bench.servers.learning import learned, table, taken
from bench.servers.model import Server, load
from bench.servers.playing import playing
from bench.support.arguments import parser

SERVERS = ("kinto", "pdns", "jupyter", "todo", "files", "wiremock", "gns3", "chroma", "label_studio")


@dataclass
class Result:
    """What came of a server's calls; `problems` has a line for each that was wrong."""

    server: str
    calls: int = 0
    right: int = 0
    faults: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def line(self) -> str:
        """Return the result as a row of the table."""
        figures = f"{self.calls:5} {self.right:5} {len(self.faults):8} {len(self.problems):5} {self.seconds:6.0f} s"
        return f"{self.server:10} {figures}"


def play(name: str, server: Server, home: Path, show: bool) -> Result:
    """Play the calls of a server, one after the other."""
    result, begin = Result(name), perf_counter()
    with tempfile.TemporaryDirectory() as scratch, playing(server, home, Path(scratch)) as player:
        for number, call in enumerate(server.calls, 1):
            try:
                problem, answer = player.problem(call)
            except (KeyError, IndexError, TypeError, ValueError) as error:
                problem, answer = f"the answer has another form: {error!r}", {}
            result.calls += 1
            title = f"{name} {number} {call.call} {json.dumps(call.params)[:120]}"
            if show:
                print(f"{title}\n    {json.dumps(answer)[:900]}", flush=True)
            if problem:
                result.problems.append(f"{title}: {problem}")
            elif call.fault:
                result.faults.append(f"{title}: {call.fault}")
            else:
                result.right += 1
    result.seconds = perf_counter() - begin
    return result


def main(argv: Sequence[str]) -> int:
    """Print a row for each server and a line for each call that was wrong; return 1 if one was."""
    arguments = parser(__name__, __doc__)
    arguments.add_argument("--only", choices=SERVERS, action="append", help="only this server; may be repeated")
    arguments.add_argument("--cache", type=Path, default=cache(), metavar="DIR", help="where servers are installed")
    arguments.add_argument("--output", choices=("text", "json"), default="text", help="for people or for programs")
    arguments.add_argument("--learn", action="store_true", help="play with what `learn` proposes in place of overrides")
    arguments.add_argument("--show", action="store_true", help="print every call with its answer")
    options = arguments.parse_args(argv)
    results = []
    if options.output == "text":
        print(f"{'server':10} calls right document wrong")
    for name in options.only or SERVERS:
        server = load(name)
        home = installed(name, server, options.cache.resolve())
        if options.learn:
            proposed = learned(server, home)
            print("\n".join(table(name, server, proposed)), flush=True)
            server = taken(server, proposed)
        result = play(name, server, home, options.show)
        results.append(result)
        if options.output == "text":
            print("\n".join([result.line(), *(f"    wrong: {line}" for line in result.problems)]), flush=True)
    if options.output == "json":
        print(json.dumps([asdict(result) for result in results], indent=2))
    return int(any(result.problems for result in results))
