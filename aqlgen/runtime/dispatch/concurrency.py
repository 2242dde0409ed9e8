"""The calls that may run at the same time, as the owner declares (specification, 9.3.1; R-OPS-5).

A call holds what it needs from its first request to its last: one lock for all calls (`serialized`), one for all that
are no reads (`read-concurrent`), or one for each path, down to its last parameter (`resource-locked`). Within a process
calls get it in the order of their arrival. Where the store is shared a process holds it by a lease that it renews, so
that it ends soon after a process that dies. While the store is away the lock holds for each process by itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Hashable, Mapping
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from ..encode.urls import resource_of
from ..errors import Code, Failure
from ..state import StoreAway
from ..state.locks import Lease, Turns
from . import Extension, Next, ToolCall

if TYPE_CHECKING:
    from ..logs import Logger
    from ..settings.config import Config
    from ..state import Store
    from ..table import Row

_LEASE = 30.0
_RENEWED = 10.0
"""Seconds that a lease lasts, and after which it is renewed."""
_FIRST_POLL, _LONGEST_POLL = 0.005, 0.2


class Concurrency(Extension):
    """Makes calls wait for each other, for `patience` seconds at most."""

    def __init__(self, config: Config, store: Store | None, logger: Logger) -> None:
        self._mode = config.concurrency
        self.patience = config.timeout
        self._store = store if store is not None and store.shared else None
        self._logger = logger
        self._turns = Turns()

    def around(self, call: ToolCall, next: Next) -> Awaitable[Any]:
        """Pass a call on in its turn."""
        resource = self._resource(call.row, call.params)
        return next(call) if resource is None else self._in_turn(call, next, resource)

    async def _in_turn(self, call: ToolCall, next: Next, resource: Hashable) -> Any:
        """Pass a call on in its turn. Raises Failure (RATE_LIMIT_EXCEEDED) if it is late."""
        job = partial(next, call)
        async with AsyncExitStack() as stack:
            lease = None
            try:
                with anyio.fail_after(self.patience):
                    await stack.enter_async_context(self._turns.of(resource))
                    lease = await self._leased(resource)
            except TimeoutError:
                raise self._busy(call.row) from None
            return await job() if lease is None else await self._with_lease(lease, job)

    def _resource(self, row: Row, params: Mapping[str, Any]) -> Hashable:
        """Return the key that a call has to hold, None without one."""
        if self._mode == "serialized":
            return "all"
        if self._mode == "read-concurrent":
            return "changes" if row.family != "read" else None
        return resource_of(row, params)

    async def _leased(self, resource: Hashable) -> Lease | None:
        """Wait for the lease of a resource and return it; None where there is no shared store, or it is away."""
        if self._store is None:
            return None
        digest = hashlib.sha256(ascii(resource).encode()).hexdigest()
        lease, poll = Lease(self._store, digest, _LEASE), _FIRST_POLL
        with suppress(StoreAway):
            while not await lease.take():
                await anyio.sleep(poll * (0.5 + random.random()))  # noqa: S311 - no secret
                poll = min(_LONGEST_POLL, poll * 2)
            return lease
        return None

    async def _with_lease(self, lease: Lease, job: Callable[[], Awaitable[Any]]) -> Any:
        """Do a job while its lease is renewed, and give that back."""
        renewing = asyncio.get_running_loop().create_task(self._renew(lease))
        try:
            return await job()
        finally:
            renewing.cancel()
            with suppress(StoreAway):
                await lease.give_back()

    async def _renew(self, lease: Lease) -> None:
        while True:
            await anyio.sleep(_RENEWED)
            with suppress(StoreAway):
                if not await lease.renew():
                    self._logger.write("warning", "a lease was lost: calls may run together")
                    return

    def _busy(self, row: Row) -> Failure:
        text = (
            f"Operation '{row.name}' did not get its turn within {self.patience:g} seconds: other calls exclude "
            f"it (concurrency: {self._mode}). Nothing was sent; try again."
        )
        details = {"concurrency": self._mode, "waited_seconds": self.patience, "retry_after_seconds": 1, "sent": False}
        return Failure(Code.RATE_LIMIT_EXCEEDED, text, details)
