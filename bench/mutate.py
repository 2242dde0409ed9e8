"""Feed mutated documents to the command line, thousands of them, seeded and repeatable, and look for what must not be.

The bases are the torture set and the small and medium documents of the corpus. Each mutant is written to a scratch
folder and goes through `explain`, each twelfth through `from-openapi` too, which writes a project that is read back.
What must not be: an exit code other than 0 and 2 (a traceback is 1), a document that takes longer than its time, a file
opened, a connection made or a process started that the command does not need (an audit hook sees them), a character
that acts on a terminal in what is printed or generated, a project whose data cannot be read, memory past the limit.

usage: mutate.py [CORPUS] [--seed N] [--count N] [--jobs N] [--first N] [--keep FOLDER]
A finding is repeated with the same --seed, `--first NUMBER --count 1`; --keep stores the documents of all findings.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from mutants import Bases
from watched import Verdict, Watched

SECONDS, MEGABYTES = 10.0, 1500
GRACE = 3.0


@dataclass
class Worker:
    """One process, the number of the document it has at hand, and since when."""

    process: BaseProcess
    pipe: Connection
    number: int = -1
    since: float = field(default_factory=time.monotonic)


def work(pipe: Connection, corpus: Path, seed: int, scratch: Path) -> None:
    """Take numbers, give verdicts: the worker process."""
    bases = Bases(corpus)
    watched = Watched(scratch, SECONDS, MEGABYTES)
    pipe.send(None)
    while (number := pipe.recv()) is not None:
        mutant = bases.mutant(seed, number)
        pipe.send(watched.judge(mutant, whole=number % 12 == 0))
    pipe.close()


class Pool:
    """Workers that are started anew when one hangs or dies."""

    def __init__(self, corpus: Path, seed: int, scratch: Path, jobs: int) -> None:
        self._corpus, self._seed, self._scratch = corpus, seed, scratch
        self._started = 0
        self.workers = [self._start() for _ in range(jobs)]

    def _start(self) -> Worker:
        ours, theirs = multiprocessing.get_context("spawn").Pipe()
        self._started += 1
        place = self._scratch / f"worker-{self._started}"
        place.mkdir()
        process = multiprocessing.get_context("spawn").Process(
            target=work, args=(theirs, self._corpus, self._seed, place), daemon=True
        )
        process.start()
        theirs.close()
        return Worker(process, ours)

    def replace(self, worker: Worker) -> None:
        """End a worker that hangs, and start another in its place."""
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        self.workers[self.workers.index(worker)] = self._start()

    def run(self, numbers: range) -> Any:
        """Yield (number, verdict) for each number."""
        left, given, done = iter(numbers), 0, 0
        while done < len(numbers):
            ready = wait([worker.pipe for worker in self.workers], timeout=1.0)
            for worker in list(self.workers):
                late = time.monotonic() - worker.since > SECONDS * GRACE + 30
                if worker.pipe not in ready and not (late and worker.number >= 0):
                    continue
                verdict = self._answer(worker, hung=worker.pipe not in ready)
                if worker.number >= 0 and verdict is not None:
                    done += 1
                    yield worker.number, verdict
                if verdict is not None and verdict.fatal:
                    self.replace(worker)
                    continue
                worker.number, worker.since = (next(left) if given < len(numbers) else -1), time.monotonic()
                given += 1
                if worker.number >= 0:
                    worker.pipe.send(worker.number)

    def stop(self) -> None:
        """Let the workers end."""
        for worker in self.workers:
            worker.pipe.send(None)
            worker.process.join(5)

    @staticmethod
    def _answer(worker: Worker, *, hung: bool) -> Verdict | None:
        if hung:
            return Verdict(problems=("hangs, not to be interrupted",), fatal=True)
        try:
            answer: Verdict | None = worker.pipe.recv()
        except EOFError:
            return Verdict(problems=(f"the process died: {worker.process.exitcode}",), fatal=True)
        return answer


def main() -> int:
    """Print findings as they come, and the figures at the end; the exit code says whether there were any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", default=os.environ.get("AQLGEN_CORPUS"), type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    if given.corpus is None:
        parser.error("give the corpus, or set AQLGEN_CORPUS")
    begin = time.monotonic()
    exits: Counter[Any] = Counter()
    codes: Counter[str] = Counter()
    findings: Counter[str] = Counter()
    slowest: list[tuple[float, int]] = []
    peak = 0
    bases = Bases(given.corpus) if given.keep else None
    with tempfile.TemporaryDirectory() as place:
        pool = Pool(given.corpus, given.seed, Path(place), given.jobs)
        for number, verdict in pool.run(range(given.first, given.first + given.count)):
            exits[verdict.code] += 1
            if exits.total() % 1000 == 0:
                print(f"{exits.total():,} of {given.count:,}", file=sys.stderr, flush=True)
            codes.update(verdict.codes)
            peak = max(peak, verdict.megabytes)
            slowest = sorted([*slowest, (verdict.seconds, number)])[-5:]
            for problem in verdict.problems:
                findings[problem.splitlines()[0][:90]] += 1
                print(f"{number}: {verdict.base}: {problem}", flush=True)
            if verdict.problems and bases is not None:
                bases.mutant(given.seed, number).write(given.keep / str(number))
        pool.stop()
    spent = time.monotonic() - begin
    print(f"{given.count:,} documents, seed {given.seed}, {spent:.0f} s, {spent / given.count * 1000:.0f} ms each")
    print(f"exit codes {dict(exits)}; codes {dict(codes.most_common())}")
    print(f"peak memory {peak} MB; slowest {', '.join(f'{one:.1f} s (number {number})' for one, number in slowest)}")
    print(
        f"{sum(findings.values())} findings"
        + "".join(f"\n  {count:5} × {what}" for what, count in findings.most_common())
    )
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
