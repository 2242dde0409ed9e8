"""A pool of processes that judge mutants, in which one that hangs or dies is replaced."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from bench.mutate.bases import Bases
from bench.mutate.watched import Verdict, Watched

SECONDS, MEGABYTES = 10.0, 1500
GRACE = 3.0


@dataclass
class Worker:
    """A process, the number of the mutant that it judges, and since when."""

    process: BaseProcess
    pipe: Connection
    number: int = -1
    since: float = field(default_factory=time.monotonic)


def work(pipe: Connection, corpus: Path, seed: int, scratch: Path) -> None:
    """Receive numbers and send verdicts: the worker process."""
    bases = Bases(corpus)
    watched = Watched(scratch, SECONDS, MEGABYTES)
    pipe.send(None)
    while (number := pipe.recv()) is not None:
        mutant = bases.mutant(seed, number)
        pipe.send(watched.judge(mutant, whole=number % 12 == 0))
    pipe.close()


class Pool:
    """The worker processes."""

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
        """End a worker that hangs and start another in its place."""
        worker.process.kill()
        worker.process.join()
        worker.pipe.close()
        self.workers[self.workers.index(worker)] = self._start()

    def run(self, numbers: range) -> Iterator[tuple[int, Verdict]]:
        """Yield (number, verdict) for each number."""
        remaining, sent, done = iter(numbers), 0, 0
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
                worker.number, worker.since = (next(remaining) if sent < len(numbers) else -1), time.monotonic()
                sent += 1
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
