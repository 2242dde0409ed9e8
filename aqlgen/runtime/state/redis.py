"""The store in Redis or Valkey, for several replicas (R-OPS-3). Extra `redis`.

A key is `mcp-aql:{adapter}:space:key`; the braces keep the keys of an adapter in one slot of a cluster. What must be
one step is a script, which runs at the server, by the server's clock.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

from . import Count, Counter, Spent, Store, StoreAway, canonical

Value = TypeVar("Value")

MISSING = "the library redis is missing; install the adapter with its extra `redis`"
_TIMEOUT = 2.0
"""Seconds to wait for a connection, and for an answer: a call of an agent waits so long at most for each step."""
_PROTOCOL = 2
"""With RESP3 the library does not look whether the server has closed a connection, and the next step on it fails."""

_SWAP = """
local value = redis.call('GET', KEYS[1])
if ARGV[1] == '' then
    if value then return 0 end
elseif value ~= ARGV[1] then
    return 0
end
if ARGV[2] == '' then
    redis.call('DEL', KEYS[1])
elseif ARGV[3] == '' then
    redis.call('SET', KEYS[1], ARGV[2])
else
    redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return 1
"""

_SPEND = """
local now = tonumber(redis.call('TIME')[1])
local admitted, used, ends, lost, keys = 1, {}, {}, {}, {}
for index, key in ipairs(KEYS) do
    local window = tonumber(ARGV[5 * index - 4])
    local amount, limit = tonumber(ARGV[5 * index - 3]), tonumber(ARGV[5 * index - 2])
    ends[index] = (math.floor(now / window) + 1) * window
    keys[index] = key .. ':' .. window .. ':' .. string.format('%d', ends[index])
    used[index] = tonumber(string.match(redis.call('GET', keys[index]) or '', '^%d+$') or '0')
    lost[index] = 0
    if ends[index] == tonumber(ARGV[5 * index]) then
        lost[index] = math.max(0, tonumber(ARGV[5 * index - 1]) - used[index])
        used[index] = used[index] + lost[index]
    end
    if amount > 0 and limit >= 0 and used[index] + amount > limit then admitted = 0 end
end
if admitted == 1 then
    for index, key in ipairs(keys) do
        local amount = tonumber(ARGV[5 * index - 3])
        if amount > 0 then
            used[index] = used[index] + amount
            redis.call('SET', key, string.format('%d', used[index]))
            redis.call('EXPIREAT', key, string.format('%d', ends[index] + 60))
        end
    end
end
return {admitted, used, ends, lost}
"""


def is_installed() -> bool:
    """Return True if the library is there."""
    return find_spec("redis") is not None


class RedisStore(Store):
    """The store of an adapter in a server of Redis or Valkey; connections are opened at the first use."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        self._prefix = f"mcp-aql:{{{name}}}:"
        self._client: Any = None
        self._scripts: dict[str, Any] = {}

    async def get(self, space: str, key: str) -> Any:
        """Return the value, or None."""
        return _value(await self._asked(self._opened().get(self._key(space, key))))

    async def put(self, space: str, key: str, value: Any, seconds: float | None = None) -> None:
        """Store a value."""
        await self._asked(self._opened().set(self._key(space, key), canonical(value), px=_milliseconds(seconds)))

    async def add(self, space: str, key: str, value: Any, seconds: float | None = None) -> bool:
        """Store a value if there is none."""
        name, expiry = self._key(space, key), _milliseconds(seconds)
        return bool(await self._asked(self._opened().set(name, canonical(value), px=expiry, nx=True)))

    async def take(self, space: str, key: str) -> Any:
        """Remove the value and return it."""
        return _value(await self._asked(self._opened().getdel(self._key(space, key))))

    async def swap(self, space: str, key: str, old: Any, new: Any, seconds: float | None = None) -> bool:
        """Store `new` if the value is `old`."""
        texts = ["" if value is None else canonical(value) for value in (old, new)]
        arguments = [*texts, _milliseconds(seconds) or ""]
        return bool(await self._run(_SWAP, [self._key(space, key)], arguments))

    async def drop(self, space: str, key: str) -> None:
        """Remove a value."""
        await self._asked(self._opened().delete(self._key(space, key)))

    async def items(self, space: str) -> list[tuple[str, Any]]:
        """Return the keys and values of a space, by key."""
        begin = self._key(space, "")
        return sorted(await self._asked(self._pairs(begin)), key=lambda item: item[0])

    async def spend(self, counters: Sequence[Counter]) -> Spent:
        """Add all amounts if none of them exceeds its limit, else none."""
        arguments: list[int] = []
        for counter in counters:
            known = counter.known or Count(0, 0)
            arguments += [counter.window, counter.amount, -1 if counter.limit is None else counter.limit]
            arguments += [known.used, int(known.ends)]
        keys = [self._key("count", counter.key) for counter in counters]
        admitted, *counted = await self._run(_SPEND, keys, arguments)
        counts = (Count(int(used), float(ends), int(lost)) for used, ends, lost in zip(*counted, strict=True))
        return Spent(bool(admitted), tuple(counts))

    async def close(self) -> None:
        """Close the connections; a later use opens them again."""
        client, self._client = self._client, None
        self._scripts.clear()
        if client is not None:
            await client.aclose()

    async def _pairs(self, begin: str) -> list[tuple[str, Any]]:
        client = self._opened()
        pairs: dict[str, Any] = {}  # a scan may give a key several times
        pattern = "".join(f"\\{sign}" if sign in "\\*?[]^-" else sign for sign in begin)
        async for name in client.scan_iter(match=f"{pattern}*", count=500):
            value = _value(await client.get(name))
            if value is not None:
                pairs[name.decode()[len(begin) :]] = value
        return list(pairs.items())

    async def _run(self, script: str, keys: Sequence[str], arguments: Sequence[Any]) -> Any:
        client = self._opened()
        if script not in self._scripts:
            self._scripts[script] = client.register_script(script)
        return await self._asked(self._scripts[script](keys=list(keys), args=list(arguments)))

    async def _asked(self, answer: Awaitable[Value]) -> Value:
        try:
            return await answer
        except (import_module("redis.exceptions").RedisError, OSError, ValueError, RecursionError) as problem:
            raise StoreAway(f"the store does not answer: {type(problem).__name__}") from None

    def _opened(self) -> Any:
        if self._client is None:
            self._client = import_module("redis.asyncio").Redis.from_url(
                self._url,
                socket_timeout=_TIMEOUT,
                socket_connect_timeout=_TIMEOUT,
                # What may have been counted is not counted a second time.
                retry=import_module("redis.asyncio.retry").Retry(import_module("redis.backoff").NoBackoff(), 0),
                health_check_interval=15,
                protocol=_PROTOCOL,
            )
        return self._client

    def _key(self, space: str, key: str) -> str:
        return f"{self._prefix}{space}:{key}"


def _value(text: bytes | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        raise StoreAway("the store does not keep its data") from None


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else max(1, round(seconds * 1000))
