"""Call APIs that throttle, each in its own way, as agents that wait when they are told to.

Every API is a local server. Agents call its throttled operations as fast as they may; each calls again after the
seconds that a refusal of the adapter tells. Meanwhile another agent calls an operation that is not throttled. A line
for each API tells how many requests it refused (429), how many of those that it allows were made, and how long the
unthrottled operation took. The exit code is 1 if an API refused 1 % or more, or if the adapter held the other operation
back.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from math import ceil
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from aqlgen.runtime.assembly import assemble
from aqlgen.runtime.session import Session
from bench.support.arguments import parser
from tests.runtime.tiny_zoo import ADAPTER, write_package

MOST_REFUSED = 0.01
Headers = Mapping[str, str]


@dataclass
class Window:
    """So many requests in each window of some seconds; `tell` writes the headers of limit, rest and reset."""

    limit: int
    seconds: float
    tell: Callable[[int, int, float], Headers]
    _begin: float = 0.0
    _used: int = 0

    @property
    def rate(self) -> float:
        """Requests a second that are allowed."""
        return self.limit / self.seconds

    def take(self, now: float) -> tuple[bool, Headers]:
        """Return whether a request is admitted, and what its response says."""
        begin = now - now % self.seconds
        if begin != self._begin:
            self._begin, self._used = begin, 0
        admitted = self._used < self.limit
        self._used += admitted
        wait = begin + self.seconds - now
        headers = dict(self.tell(self.limit, self.limit - self._used, wait))
        after = headers.pop("retry-after", "")
        return admitted, headers if admitted or not after else {**headers, "retry-after": after}


@dataclass
class Bucket:
    """A leaky bucket: so many requests a second, and a few at once; it says nothing but 429 and Retry-After."""

    rate: float
    size: int
    says: bool = True
    _level: float = 0.0
    _since: float = 0.0

    def take(self, now: float) -> tuple[bool, Headers]:
        """Return whether a request is admitted, and what its response says."""
        self._level = max(0.0, self._level - (now - self._since) * self.rate)
        self._since = now
        admitted = self._level + 1 <= self.size
        self._level += admitted
        return admitted, {} if admitted or not self.says else {"retry-after": str(ceil(1 / self.rate))}


def only_seconds(_: int, __: int, wait: float) -> Headers:
    """Retry-After in seconds."""
    return {"retry-after": str(ceil(wait))}


def only_date(_: int, __: int, wait: float) -> Headers:
    """Retry-After as a date."""
    return {"retry-after": formatdate(round(time.time() + wait), usegmt=True)}


def old_headers(limit: int, left: int, wait: float) -> Headers:
    """X-RateLimit with the time of the reset."""
    return {
        "x-ratelimit-limit": str(limit),
        "x-ratelimit-remaining": str(left),
        "x-ratelimit-reset": str(round(time.time() + wait)),
    }


def draft_headers(limit: int, left: int, wait: float) -> Headers:
    """RateLimit-Limit and its kin of the older drafts."""
    return {"ratelimit-limit": str(limit), "ratelimit-remaining": str(left), "ratelimit-reset": str(ceil(wait))}


def structured_headers(limit: int, left: int, wait: float) -> Headers:
    """RateLimit and RateLimit-Policy of the newer drafts."""
    return {"ratelimit-policy": f'"default";q={limit};w=5', "ratelimit": f'"default";r={left};t={ceil(wait)}'}


def named(bucket: str) -> Callable[[int, int, float], Headers]:
    """X-RateLimit with the name of the bucket."""
    return lambda *state: {**old_headers(*state), "x-ratelimit-bucket": bucket}


def apis() -> dict[str, dict[str, Window | Bucket]]:
    """Return the limits of the throttled operations of every API, which may share one."""
    shared = Bucket(10, 10)
    window = Window(50, 5, old_headers)
    return {
        "no limit, for comparison": {"first": Window(10**9, 5, lambda *_: {})},
        "Retry-After in seconds": {"first": Window(50, 5, only_seconds)},
        "Retry-After as a date": {"first": Window(50, 5, only_date)},
        "429 and nothing else": {"first": Bucket(10, 10, says=False)},
        "X-RateLimit": {"first": window, "second": window},
        "RateLimit-Limit": {"first": Window(50, 5, draft_headers)},
        "RateLimit, RateLimit-Policy": {"first": Window(50, 5, structured_headers)},
        "named buckets by route": {"first": Window(50, 5, named("a")), "second": Window(20, 5, named("b"))},
        "leaky buckets by route": {"first": Bucket(10, 10), "second": Bucket(4, 4)},
        "leaky bucket of 10/s": {"first": Bucket(10, 10)},
        "the same, two at once": {"first": Bucket(10, 2)},
        "the same for all operations": {"first": shared, "second": shared, "third": shared},
    }


@dataclass
class Server:
    """An API with its limits by path; it counts what it admits and refuses."""

    limits: Mapping[str, Window | Bucket]
    admitted: int = 0
    refused: int = 0
    late: int = 0
    began: float = field(default_factory=time.time)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of a connection."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                status, headers = self._answer(head.split(b" ", 2)[1].decode().strip("/").partition("?")[0])
                lines = [f"{name}: {value}" for name, value in headers.items()]
                lines = [f"HTTP/1.1 {status}", "content-type: application/json", "content-length: 2", *lines]
                writer.write("\r\n".join(lines).encode() + b"\r\n\r\n[]")
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _answer(self, path: str) -> tuple[str, Headers]:
        limit = self.limits.get(path)
        if limit is None:
            return "200 OK", {}
        admitted, headers = limit.take(time.time())
        self.admitted += admitted
        self.refused += not admitted
        self.late += not admitted and time.time() > self.began + 30
        return ("200 OK" if admitted else "429 Too Many Requests"), headers


@dataclass
class Result:
    """What the agents of one API saw."""

    calls: int = 0
    held_back: int = 0
    failed: int = 0
    other: list[float] = field(default_factory=list)
    other_failed: int = 0


async def agent(
    handle: Callable[..., Any], limits: Mapping[str, Window | Bucket], number: int, ends: float, result: Result
) -> None:
    """Call the operations in turn, and wait when told to."""
    session, count, operations = Session(f"session_{number}"), number, list(limits)
    unlimited = any(limit.rate > 1000 for limit in limits.values())
    while time.time() < ends:
        count += 1
        answer = await handle(None, {"operation": operations[count % len(operations)], "params": {}}, session)
        if answer["success"]:
            result.calls += 1
            await asyncio.sleep(0.5 if unlimited else 0)
            continue
        error = answer["error"]
        wait = error.get("details", {}).get("retry_after_seconds")
        result.held_back += error.get("details", {}).get("sent") is False
        result.failed += error.get("details", {}).get("sent") is not False
        await asyncio.sleep(0.2 if wait is None else wait)


async def bystander(handle: Callable[..., Any], ends: float, result: Result) -> None:
    """Call what is not throttled, and measure."""
    session = Session("session_other")
    while time.time() < ends:
        begin = time.perf_counter()
        answer = await handle(None, {"operation": "other", "params": {}}, session)
        result.other.append(time.perf_counter() - begin)
        result.other_failed += not answer["success"]
        await asyncio.sleep(0.05)


async def measure(limits: Mapping[str, Window | Bucket], agents: int, seconds: float) -> tuple[Server, Result]:
    """Serve an API, and have its adapter called for some seconds."""
    server, result = Server(limits), Result()
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    with tempfile.TemporaryDirectory() as folder:
        environ = {"MCP_AQL_STATE_URL": "memory:", "MCP_AQL_CONFIG": os.devnull, "MCP_AQL_AUDIT_PATH": os.devnull}
        rows = {name: row(name) for name in (*limits, "other")}
        families = {"create": {}, "read": rows, "update": {}, "delete": {}, "execute": {}}
        adapter = {**ADAPTER, "security": [], "servers": [{"url": url}]}
        parts = assemble(write_package(Path(folder) / "zoo", adapter, families, {}), environ=environ)
        handle, ends = parts.dispatcher.handle, time.time() + seconds
        await asyncio.gather(
            bystander(handle, ends, result),
            *(agent(handle, limits, number, ends, result) for number in range(agents)),
        )
        await parts.transport.aclose()
    listening.close()
    return server, result


def row(name: str) -> dict[str, Any]:
    """Return the row of a read at a path of the same name."""
    return {
        "summary": "Read it",
        "method": "GET",
        "path": f"/{name}",
        "resource": name,
        "verb": "list",
        "danger": "safe",
        "parameters": {},
        "responses": {"200": {"content_type": "application/json", "schema": {}}},
        "returns": {"name": "array", "kind": "scalar"},
        "example": {},
    }


async def run(agents: int, seconds: float, wanted: str) -> int:
    """Measure all APIs at the same time and print a line for each."""
    chosen = {name: limits for name, limits in apis().items() if wanted in name}
    outcomes = await asyncio.gather(*(measure(limits, agents, seconds) for limits in chosen.values()))
    print(f"{agents} agents on each API for {seconds:g} s")
    failed = 0
    for (name, limits), (server, result) in zip(chosen.items(), outcomes, strict=True):
        requests = server.admitted + server.refused
        share = server.refused / max(1, requests)
        allowed = sum({id(limit): limit.rate for limit in limits.values()}.values()) * seconds
        bad = share >= MOST_REFUSED or result.other_failed
        failed += bool(bad)
        p50, p99 = median(result.other) * 1000, quantiles(result.other, n=100)[98] * 1000
        print(
            f"{'WRONG' if bad else 'ok   '} {name:28} {requests:5} requests, refused {server.refused:3} = {share:6.2%}"
            f" ({server.late} after 30 s); used {server.admitted / allowed:4.0%} of what is allowed; held back "
            f"{result.held_back:4}, failed {result.failed:2}; other p50 {p50:4.1f} p99 {p99:5.1f} ms, "
            f"refused {result.other_failed}",
            flush=True,
        )
    return 1 if failed else 0


def main(argv: Sequence[str]) -> int:
    """Print a line for each API."""
    options = parser(__name__, __doc__)
    options.add_argument("--agents", type=int, default=8, metavar="N")
    options.add_argument("--seconds", type=float, default=300.0, metavar="S")
    options.add_argument("--only", default="", metavar="TEXT", help="APIs with this in their names")
    chosen = options.parse_args(argv)
    return asyncio.run(run(chosen.agents, chosen.seconds, chosen.only))
