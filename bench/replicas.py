"""Count confirmations that are doubled or lost by replicas over one store, while replicas and the store go away.

Each confirmation is asked for at one replica and used at the next; every tenth is used at two at once. Replicas are
killed (SIGKILL) and started again, and Redis is stopped for a while in the middle. `doubled` are calls that the API got
twice, `lost` are confirmations that were refused though they were never used, and successes that the API never got.
`broken off` are those whose connection or store broke while they were used: the client does not know what became of
them, and is told that the token was used. Then it measures the throughput of 1, 2 and 4 replicas without kills.

With `--losses` it takes something away from three replicas over Redis instead, and tells what is lost beyond that.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from aqlgen.runtime.safety.audit import verify
from bench.support.arguments import parser
from bench.support.replicas import UNREACHED, Fleet, fleet, project_in, store_at, tokens, working_folder
from tests.runtime.redis_server import RedisServer

CALLERS, WORKERS = 8, 16
CALLER = tokens(1)[0]
Loss = Callable[[Fleet, RedisServer | None, Path], Awaitable[str]]
AWAY = "the store is down"


@dataclass
class Outcomes:
    """What became of the confirmations: their numbers by outcome."""

    succeeded: set[int] = field(default_factory=set)
    broken_off: set[int] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)

    def summary(self, deleted: Counter[int]) -> str:
        """Return the counts, which the API's own counts have confirmed."""
        doubled = sum(1 for count in deleted.values() if count > 1)
        lost = sum(1 for number in self.succeeded if not deleted[number]) + sum(self.refused.values())
        performed = sum(1 for number in self.broken_off if deleted[number])
        refused = f" ({dict(self.refused)})" if self.refused else ""
        return (
            f"{len(self.succeeded)} succeeded, {doubled} doubled, {lost} lost{refused}, "
            f"{len(self.broken_off)} broken off ({performed} of them performed); "
            f"{self.seen['broken']} connections broke, {self.seen['away']} answers that the store is away"
        )


async def confirm(running: Fleet, number: int, caller: str, outcomes: Outcomes) -> None:
    """Delete one thing: ask, and use the token until it is known what became of it."""
    token = ""
    while not token:
        asked = await running.call(caller, "delete", "delete_thing", id=number)
        token = await _token_of(asked, outcomes)
    in_doubt, at_once = False, 2 if number % 10 == 0 else 1
    while True:
        more = {"id": number, "confirmation_token": token}
        calls = [running.call(caller, "delete", "delete_thing", **more) for _ in range(at_once)]
        answers = await asyncio.gather(*calls)
        codes = ["broken" if answer is None else _code(answer) for answer in answers]
        outcomes.seen.update(codes)
        if "" in codes:
            outcomes.succeeded.add(number)
            return
        in_doubt = in_doubt or "broken" in codes or "away" in codes
        rest = [code for code in codes if code not in ("broken", "away", UNREACHED)]
        if rest:
            if in_doubt and set(rest) == {"TOKEN_ALREADY_USED"}:
                outcomes.broken_off.add(number)
            else:
                outcomes.refused.update(rest)
            return
        await asyncio.sleep(0.05)


async def _token_of(asked: object, outcomes: Outcomes) -> str:
    if isinstance(asked, dict) and "confirmation" in asked:
        return str(asked["confirmation"]["token"])
    code = "broken" if not isinstance(asked, dict) else _code(asked)
    outcomes.seen[code] += 1
    if code not in ("broken", "away", UNREACHED, "RATE_LIMIT_EXCEEDED"):
        raise RuntimeError(str(asked))
    await asyncio.sleep(0.05)
    return ""


def _code(answer: dict[str, object]) -> str:
    error = answer.get("error")
    if not isinstance(error, dict):
        return ""
    return "away" if error.get("details", {}).get("reason") == AWAY else str(error["code"])


async def disturb(running: Fleet, server: RedisServer | None, pause: float, outage: float, kills: list[int]) -> None:
    """Kill a replica every few seconds and start it again; stop the store once for a while. Ends when cancelled."""
    number = 0
    while True:
        await asyncio.sleep(random.uniform(0.5, 1.5) * pause)
        number += 1
        if number == 3 and server is not None and outage:
            await asyncio.to_thread(server.stop)
            await asyncio.sleep(outage)
            await asyncio.to_thread(server.start)
            continue
        replica = random.choice(running.replicas)
        replica.kill()
        kills.append(replica.port)
        replica.start()
        await replica.ready()


async def confirmations(running: Fleet, count: int, outcomes: Outcomes) -> float:
    """Make so many confirmations by several workers; return the seconds."""
    numbers = iter(range(1, count + 1))
    callers = tokens(CALLERS)

    async def work() -> None:
        for number in numbers:
            await confirm(running, number, callers[number % CALLERS], outcomes)

    begin = perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(WORKERS):
            group.create_task(work())
    return perf_counter() - begin


async def reads(running: Fleet, count: int) -> float:
    """Make so many reads; return the seconds."""
    numbers = iter(range(count))
    caller = tokens(1)[0]

    async def work() -> None:
        for number in numbers:
            answer = None
            while answer is None:  # a connection that was idle may have been closed
                answer = await running.call(caller, "read", "get_thing", id=number)
            assert answer["success"], answer

    begin = perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(WORKERS):
            group.create_task(work())
    return perf_counter() - begin


async def disturbed(project: Path, kind: str, replicas: int, count: int, pause: float, outage: float) -> str:
    """Return the line of a run with kills."""
    with working_folder() as name, store_at(kind, Path(name)) as (url, server):
        async with fleet(project, replicas, url, Path(name) / "log", CALLERS) as running:
            outcomes, kills = Outcomes(), list[int]()
            disturbing = asyncio.create_task(disturb(running, server, pause, outage, kills))
            seconds = await confirmations(running, count, outcomes)
            disturbing.cancel()
            await asyncio.gather(disturbing, return_exceptions=True)
            return (
                f"{kind:7} {replicas} replicas, {len(kills)} kills, {count} confirmations in {seconds:.0f} s: "
                f"{outcomes.summary(running.api.deleted)}"
            )


async def throughput(project: Path, kind: str, replicas: int, count: int) -> str:
    """Return the line of a run without kills."""
    with working_folder() as name, store_at(kind, Path(name)) as (url, _):
        async with fleet(project, replicas, url, Path(name) / "log", CALLERS) as running:
            await reads(running, 200)
            read_seconds = await reads(running, count)
            outcomes = Outcomes()
            seconds = await confirmations(running, count // 2, outcomes)
            return (
                f"{kind:7} {replicas} replica(s): {count / read_seconds:5.0f} reads/s, {count // 2 / seconds:5.0f} "
                f"confirmations/s (two calls each); {outcomes.summary(running.api.deleted)}"
            )


async def _asked(running: Fleet, number: int, token: str = "") -> str:
    """Return the code of a call that deletes a thing, "" for one that succeeded."""
    more = {"confirmation_token": token} if token else {}
    answer = await running.call(CALLER, "delete", "delete_thing", id=number, **more)
    return "broken" if answer is None else _code(answer)


async def _confirmed(running: Fleet, numbers: Iterable[int]) -> int:
    """Return how many of these confirmations, each asked for at one replica and used at the next, succeed."""
    done = 0
    for number in numbers:
        asked = await running.call(CALLER, "delete", "delete_thing", id=number)
        token = asked["confirmation"]["token"] if asked is not None and "confirmation" in asked else "none"
        done += not await _asked(running, number, token)
    return done


async def torn_line(running: Fleet, _: RedisServer | None, log: Path) -> str:
    """Tear the last line of an audit log, as a crash does; the entries behind it should still be verified."""
    await _confirmed(running, range(3))
    for replica in running.replicas:
        replica.kill()
    log.write_bytes(log.read_bytes()[:-100])
    for replica in running.replicas:
        replica.start()
        await replica.ready()
    await _confirmed(running, range(3))
    verdict = verify(log)
    return f"{verdict.entries} of {log.read_bytes().count(b'event')} entries verified: {verdict.problem or 'whole'}"


async def lost_data(running: Fleet, server: RedisServer | None, log: Path) -> str:
    """Let the store forget everything, and restart one replica."""
    await _confirmed(running, range(3))
    if server is not None:
        await asyncio.to_thread(server.flush)
    for file in log.parent.glob("state.sqlite3*"):
        file.unlink()
    running.close()
    running.replicas[0].kill()
    running.replicas[0].start()
    await running.replicas[0].ready()
    refused = 12 - await _confirmed(running, range(12))
    _, ready = await running.get_at(running.replicas[0], "/readyz")
    return f"{refused} of 12 new confirmations refused, /readyz: {ready}"


async def quota_away(running: Fleet, server: RedisServer | None, _: Path) -> str:
    """Make 540 requests under a quota of 150 a day while the store is away."""
    assert server is not None
    await running.call(CALLER, "read", "list_things")
    await asyncio.to_thread(server.stop)
    before = running.api.asked.total()
    answers = [await running.call(CALLER, "read", "list_things") for _ in range(540)]
    codes = Counter("broken" if answer is None else _code(answer) or "success" for answer in answers)
    return f"{running.api.asked.total() - before} requests sent of 540 under a limit of 150: {dict(codes)}"


async def quota_flushed(running: Fleet, server: RedisServer | None, _: Path) -> str:
    """Use up a quota of 150 a day, and let the store forget its counts on the way, three times."""
    assert server is not None
    for _round in range(4):
        for _number in range(100):
            await running.call(CALLER, "read", "list_things")
        await asyncio.to_thread(server.flush)
    return f"{running.api.asked.total()} requests sent of 400 under a limit of 150, the store emptied after each 100"


async def back_again(running: Fleet, server: RedisServer | None, _: Path) -> str:
    """Stop the store while nobody calls, start it, and make the first calls of each replica."""
    assert server is not None
    failed = []
    for kind in ("stopped", "killed", "hung up on"):
        await asyncio.gather(*(_asked(running, number) for number in range(12)))
        if kind == "hung up on":
            await asyncio.to_thread(server.ask, b"CLIENT KILL TYPE normal\r\n")
        else:
            await asyncio.to_thread(server.stop if kind == "stopped" else server.kill)
            await asyncio.to_thread(server.start)
        codes = [await _asked(running, number) for number in range(6)]
        failed.append(f"{kind}: {sum(code != 'CONFIRMATION_REQUIRED' for code in codes)} of 6")
    await asyncio.to_thread(server.stop)
    codes = [await _asked(running, number) for number in range(3)]
    await asyncio.to_thread(server.start)
    codes = [await _asked(running, number) for number in range(3)]
    failed.append(f"called meanwhile: {sum(code != 'CONFIRMATION_REQUIRED' for code in codes)} of 3")
    return "first calls failed, " + ", ".join(failed)


async def hanging(running: Fleet, _: RedisServer | None, __: Path) -> str:
    """Make 120 calls of one operation that hangs at one replica, and another call beside them."""
    replica = running.replicas[0]
    await running.call_at(replica, CALLER, "read", "list_things")
    running.api.hanging = "/things/"
    held = [
        asyncio.create_task(running.call_at(replica, CALLER, "read", "get_thing", id=number)) for number in range(120)
    ]
    await asyncio.sleep(2)
    begin = perf_counter()
    other = await running.call_at(replica, CALLER, "read", "list_things")
    seconds = perf_counter() - begin
    answers = await asyncio.gather(*held)
    codes = Counter("broken" if answer is None else _code(answer) or "success" for answer in answers)
    outcome = "broken" if other is None else _code(other) or "success"
    return f"another operation took {seconds:.2f} s ({outcome}) beside 120 calls that hang: {dict(codes)}"


async def scraped(running: Fleet, _: RedisServer | None, __: Path) -> str:
    """Ask for the metrics as Prometheus does, by the address of the pod."""
    replica = running.replicas[0]
    statuses = [(await running.get_at(replica, "/metrics", "10.42.0.7:8000", token))[0] for token in (CALLER, "")]
    return f"/metrics under 10.42.0.7:8000: {statuses[0]} with a token, {statuses[1]} without"


LOSSES: Mapping[str, tuple[str, Loss, dict[str, str]]] = {
    "torn_line": ("redis", torn_line, {}),
    "lost_data": ("redis", lost_data, {}),
    "lost_file": ("sqlite", lost_data, {"STATE_KEY": ""}),
    "quota_away": ("redis", quota_away, {"QUOTA_PER_DAY": "150", "QUOTA_PAUSE_PERCENT": "100"}),
    "quota_flushed": ("redis", quota_flushed, {"QUOTA_PER_DAY": "150", "QUOTA_PAUSE_PERCENT": "100"}),
    "back_again": ("redis", back_again, {}),
    "hanging": ("redis", hanging, {"TIMEOUT": "20"}),
    "scraped": ("redis", scraped, {"HTTP_METRICS": "true", "HTTP_URL": "https://mcp.example.com/mcp"}),
}


async def lost(project: Path, kind: str, loss: Loss, settings: dict[str, str]) -> str:
    """Return what is lost beyond what is taken away."""
    with working_folder() as name, store_at(kind, Path(name)) as (url, server):
        log = Path(name) / "audit.jsonl"
        settings = {**settings, "AUDIT_PATH": str(log)}
        async with fleet(project, 3, url, Path(name) / "log", CALLERS, **settings) as running:
            return await loss(running, server, log)


def main(argv: Sequence[str]) -> None:
    """Print a line for each store and number of replicas."""
    options = parser(__name__, __doc__)
    options.add_argument("--confirmations", type=int, default=10_000, help="of each run with kills (default: 10000)")
    options.add_argument("--every", type=float, default=4.0, help="seconds between kills, about (default: 4)")
    options.add_argument("--outage", type=float, default=3.0, help="seconds for which Redis is stopped (default: 3)")
    options.add_argument("--replicas", type=int, nargs="*", default=[2, 4], help="of the runs with kills")
    options.add_argument("--stores", nargs="+", choices=("sqlite", "redis"), default=["redis", "sqlite"])
    options.add_argument("--calls", type=int, default=4000, help="of each measurement of throughput; 0 for none")
    options.add_argument("--losses", nargs="*", choices=LOSSES, help="measure these alone")
    chosen = options.parse_args(argv)
    with working_folder() as name:
        project = project_in(Path(name))
        if chosen.losses is not None:
            for loss in chosen.losses or LOSSES:
                measured = asyncio.run(lost(project, *LOSSES[loss]))
                print(f"{loss:14} {measured}", flush=True)
            return
        for kind in chosen.stores:
            for count in chosen.replicas:
                line = disturbed(project, kind, count, chosen.confirmations, chosen.every, chosen.outage)
                print(asyncio.run(line), flush=True)
        for kind in chosen.stores if chosen.calls else ():
            for count in (1, 2, 4):
                print(asyncio.run(throughput(project, kind, count, chosen.calls)), flush=True)
