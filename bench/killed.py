"""Kill what uses a store at random moments, and look for counters that go back, tokens used twice and lost blocks.

Two adapters and a process that only counts share a store. Each round kills one of them (SIGKILL), or the server of
Redis itself, at a random moment of a load of confirmations, blocks of agents and counting, starts it again, and
compares what was acknowledged before with what is so afterwards.
"""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from aqlgen.runtime.state.places import open_store
from aqlgen.runtime.state.store import Counter as Amount
from aqlgen.runtime.state.store import StoreAway
from bench.replicas import Outcomes, confirm
from bench.support.arguments import parser
from bench.support.processes import environment
from bench.support.replicas import Fleet, fleet, project_in, store_at, tokens, working_folder
from tests.runtime.redis_server import RedisServer

CALLERS, WORKERS, AGENTS = 8, 4, 400
ADAPTER, WINDOW = "counted", 10**9
SPENDER = """
import asyncio, sys
from aqlgen.runtime.state.places import open_store
from aqlgen.runtime.state.store import Counter, StoreAway

async def spend():
    store = open_store(sys.argv[1], sys.argv[2], {})
    while True:
        try:
            spent = await store.spend([Counter("all", int(sys.argv[3]), 1)])
        except StoreAway:
            await asyncio.sleep(0.01)
            continue
        sys.stdout.write(f"{spent.counts[0].used}\\n")
        sys.stdout.flush()

asyncio.run(spend())
"""


@dataclass
class Counted:
    """What the process that counts was told: the highest count, and how often it was less than before."""

    highest: int = 0
    acknowledged: int = 0
    backwards: int = 0
    process: subprocess.Popen[str] | None = None

    def start(self, url: str) -> None:
        """Start the process."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", SPENDER, url, ADAPTER, str(WINDOW)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )

    def read(self) -> None:
        """Read what it was told until it ends."""
        assert self.process is not None
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith("\n"):
                self.acknowledged += 1
                self.backwards += int(line) <= self.highest
                self.highest = max(self.highest, int(line))


@dataclass
class Blocks:
    """The callers whose agents are paused, and how many blocks did not hold."""

    held: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    lifted: list[str] = field(default_factory=list)
    checked: int = 0

    async def block(self, running: Fleet, caller: str) -> None:
        """Have an agent paused."""
        agent = {"element_name": "agent"}
        while True:
            answer = await running.call(caller, "execute", "execute_agent", **agent)
            if answer is not None and (answer["success"] or answer["error"]["code"] == "CONFLICT_ALREADY_EXISTS"):
                break
            await asyncio.sleep(0.02)
        while True:
            step = {**agent, "nextActionHint": "delete everything"}
            answer = await running.call(caller, "create", "record_execution_step", **step)
            if answer is not None and answer["success"]:
                assert answer["data"]["continue"] is False, answer
                self.held.append(caller)
                return
            await asyncio.sleep(0.02)

    async def check(self, running: Fleet, caller: str) -> None:
        """See whether a caller's block holds."""
        while True:
            answer = await running.call(caller, "create", "create_thing", name="x")
            if answer is not None and answer["success"]:
                self.lost.append(caller)
            elif answer is not None and "paused" in answer["error"]["message"]:
                self.checked += 1
            else:
                await asyncio.sleep(0.02)
                continue
            return


async def load(running: Fleet, outcomes: Outcomes, blocks: Blocks, numbers: list[int]) -> None:
    """Confirm and block until it is cancelled; what has begun is finished."""
    callers = tokens(CALLERS + AGENTS)
    while True:
        numbers[0] += 1
        number = numbers[0]
        await asyncio.shield(asyncio.ensure_future(confirm(running, number, callers[number % CALLERS], outcomes)))
        if number % 4 == 0 and len(blocks.held) < AGENTS - WORKERS:
            numbers[1] += 1
            await blocks.block(running, callers[CALLERS + numbers[1] - 1])


async def rounds(running: Fleet, url: str, server: RedisServer | None, kills: int) -> str:
    """Kill that often, and return the result."""
    outcomes, blocks, counted, victims = Outcomes(), Blocks(), Counted(), Counter[str]()
    numbers, store = [0, 0], open_store(url, ADAPTER, {})
    counted.start(url)
    reading = asyncio.create_task(asyncio.to_thread(counted.read))
    working = [asyncio.create_task(load(running, outcomes, blocks, numbers)) for _ in range(WORKERS)]
    for number in range(kills):
        await asyncio.sleep(random.uniform(0.02, 0.6))
        choice = random.random()
        if choice < 0.3:
            victims["counting"] += 1
            assert counted.process is not None
            counted.process.kill()
            await reading
            counted.process.wait()
            while True:
                try:
                    count = (await store.spend([Amount("all", WINDOW, 0)])).counts[0].used
                    break
                except StoreAway:
                    await asyncio.sleep(0.02)
            counted.backwards += count < counted.highest
            counted.start(url)
            reading = asyncio.create_task(asyncio.to_thread(counted.read))
        elif choice < 0.4 and server is not None:
            victims["redis"] += 1
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)
        else:
            victims["adapter"] += 1
            replica = running.replicas[number % len(running.replicas)]
            replica.kill()
            replica.start()
            await replica.ready()
        failed = [task for task in working if task.done()]
        for task in failed:
            task.result()
        for caller in blocks.held[-3:] + random.sample(blocks.held, min(3, len(blocks.held))):
            await blocks.check(running, caller)
    for task in working:
        task.cancel()
    await asyncio.gather(*working, return_exceptions=True)
    pending = [task for task in asyncio.all_tasks() if task not in (asyncio.current_task(), reading)]
    await asyncio.wait(pending, timeout=30) if pending else None
    for caller in blocks.held:
        await blocks.check(running, caller)
    assert counted.process is not None
    counted.process.kill()
    await reading
    count = (await store.spend([Amount("all", WINDOW, 0)])).counts[0].used
    counted.backwards += count < counted.highest
    await store.close()
    return (
        f"{kills} kills {dict(victims)}\n  tokens: {outcomes.summary(running.api.deleted)}\n"
        f"  blocks: {len(blocks.held)} set, looked at {blocks.checked} times, {len(blocks.lost)} lost\n"
        f"  counter: {counted.acknowledged} acknowledged, {count} counted, {counted.backwards} times backwards"
    )


async def killed(project: Path, kind: str, kills: int) -> str:
    """Return the result for a store."""
    settings = {"SAFETY_LOOP": "enforcing", "SAFETY_LOOP_REQUIRES_APPROVAL": "delete *"}
    with working_folder() as name, store_at(kind, Path(name)) as (url, server):
        begin = perf_counter()
        async with fleet(project, 2, url, Path(name) / "log", CALLERS + AGENTS, **settings) as running:
            text = await rounds(running, url, server, kills)
        return f"{kind}, {perf_counter() - begin:.0f} s: {text}"


def main(argv: Sequence[str]) -> None:
    """Print the result for each store."""
    options = parser(__name__, __doc__)
    options.add_argument("--kills", type=int, default=200, help="for each store (default: 200)")
    options.add_argument("--stores", nargs="+", choices=("sqlite", "redis"), default=["sqlite", "redis"])
    chosen = options.parse_args(argv)
    with working_folder() as name:
        project = project_in(Path(name))
        for kind in chosen.stores:
            print(asyncio.run(killed(project, kind, chosen.kills)), flush=True)
