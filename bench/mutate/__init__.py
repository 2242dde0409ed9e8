"""Feed thousands of mutated documents to the command line, seeded and repeatable.

The bases are the torture set and the small and medium documents of the corpus. Each mutant is written to a scratch
folder and goes through `explain`, each twelfth through `from-openapi` too, which writes a project that is read back.
A finding is: an exit code other than 0 and 2 (a traceback is 1), a document that takes longer than its time, a file
opened, a connection made or a process started that the command does not need (an audit hook sees them), a control
character in what is printed or generated, a project whose data cannot be read, memory past the limit. It is repeated
with the same `--seed` and `--first NUMBER --count 1`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.mutate.bases import Bases
from bench.mutate.pool import Pool
from bench.mutate.watched import Verdict
from bench.support.arguments import add_corpus, parser


@dataclass
class Figures:
    """The sums over all mutants."""

    exits: Counter[Any] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    slowest: list[tuple[float, int]] = field(default_factory=list)
    megabytes: int = 0

    def add(self, number: int, verdict: Verdict) -> None:
        """Count the verdict about a mutant."""
        self.exits[verdict.code] += 1
        self.codes.update(verdict.codes)
        self.megabytes = max(self.megabytes, verdict.megabytes)
        self.slowest = sorted([*self.slowest, (verdict.seconds, number)])[-5:]
        self.findings.update(problem.splitlines()[0][:90] for problem in verdict.problems)

    def report(self) -> None:
        """Print the figures."""
        print(f"exit codes {dict(self.exits)}; codes {dict(self.codes.most_common())}")
        slowest = ", ".join(f"{seconds:.1f} s (number {number})" for seconds, number in self.slowest)
        print(f"peak memory {self.megabytes} MB; slowest {slowest}")
        print(f"{self.findings.total()} findings")
        for finding, count in self.findings.most_common():
            print(f"  {count:5} × {finding}")


def main(argv: Sequence[str]) -> int:
    """Print findings as they come, and the figures at the end; return 1 if there are findings."""
    arguments = parser(__name__, __doc__)
    add_corpus(arguments)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--count", type=int, default=20_000)
    arguments.add_argument("--first", type=int, default=0)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("--keep", type=Path, metavar="DIR", help="keep the documents of all findings")
    options = arguments.parse_args(argv)
    begin, figures = time.monotonic(), Figures()
    bases = Bases(options.corpus) if options.keep else None
    with tempfile.TemporaryDirectory() as scratch:
        pool = Pool(options.corpus, options.seed, Path(scratch), options.jobs)
        for number, verdict in pool.run(range(options.first, options.first + options.count)):
            figures.add(number, verdict)
            if figures.exits.total() % 1000 == 0:
                print(f"{figures.exits.total():,} of {options.count:,}", file=sys.stderr, flush=True)
            for problem in verdict.problems:
                print(f"{number}: {verdict.base}: {problem}", flush=True)
            if verdict.problems and bases is not None:
                bases.mutant(options.seed, number).write(options.keep / str(number))
        pool.stop()
    seconds = time.monotonic() - begin
    each = seconds / options.count * 1000
    print(f"{options.count:,} documents, seed {options.seed}, {seconds:.0f} s, {each:.0f} ms each")
    figures.report()
    return 1 if figures.findings else 0
