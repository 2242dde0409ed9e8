"""The blocks of agents in the store, which an operator lifts from another process (R-OPS-1, R-LOOP-4).

A block is not lifted by restarts and replicas (specification, 8.8.3). It is of an agent, by its name in any spelling,
and of the caller who is known: then of everything of that caller. Without a known caller it is of every unknown
caller's agent of that name. A block that cannot be read, since its key is gone, is one of everybody: nothing is
unblocked by losing a key. Which blocks stand is listed beside them, so nobody is unblocked by losing a row either: one
that is listed and is not there, and a list that is gone, hold everybody until an operator lifts them.

`Board` takes the custody that an operator's process has opened.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ...state.custody import row_name
from ..questions import QuestionStore
from .executions import IDLE
from .lookalikes import agent_key

if TYPE_CHECKING:
    from ...state.custody import Custody

_KIND = "loop.block"
_SECONDS = 10 * 365 * 86_400.0
_UNREADABLE = "?"
_LIST, _LOST = "loop.standing", "the list of blocks"
_AGENTS = "loop.agent"


@dataclass(frozen=True, slots=True)
class Block:
    """A block. `since` and `expires` are in seconds since the epoch; the challenge ends then, and the block does not.

    `verification` is the id of the challenge, `caller` "" for one who is not known.
    """

    id: str
    agent: str
    caller: str
    execution: str
    action: str
    operation: str
    reason: str
    factors: tuple[str, ...]
    risk: int
    since: float
    verification: str
    expires: float

    @property
    def readable(self) -> bool:
        """False for a block of which nothing is known but that it is there."""
        return self.agent != _UNREADABLE or bool(self.execution)

    def holds(self, agent: str | None, caller: str | None) -> bool:
        """Return True if it holds an agent of a caller; an agent of None stands for whatever the caller does."""
        if not self.readable:
            return True
        if self.caller and caller:
            return self.caller == caller
        return agent is not None and agent_key(agent) == agent_key(self.agent)


def blocking(blocks: Sequence[Block], agent: str | None, caller: str | None) -> Block | None:
    """Return a block that holds an agent of a caller, None if none does."""
    return next((block for block in blocks if block.holds(agent, caller)), None)


def _block(values: dict[str, Any]) -> Block:
    return Block(**{**values, "factors": tuple(values["factors"])})


def _unreadable(name: str) -> Block:
    """Return a block that nobody can read: its id is the key in the store."""
    reason = "An unreadable block: the key of the state has changed, or a row of the store is gone"
    return Block(name, _UNREADABLE, "", "", "", "", reason, (), 100, time.time(), "", 0.0)


class Board:
    """The blocks of one adapter. Every method raises StoreAway when the store cannot be reached."""

    def __init__(self, custody: Custody) -> None:
        self._custody = custody
        self._is_listed = False

    async def blocks(self) -> list[Block]:
        """Return the blocks, the oldest first."""
        items, listed = await self._custody.store.items(_KIND), await self._listed()
        if not items and not listed:
            return []
        sealer = await self._custody.sealer()
        opened = [(name, sealer.open(_KIND, text, name)) for name, text in items]
        blocks = [_unreadable(name) if value is None else _block(value.value) for name, value in opened]
        known = {name for name, _ in items}
        blocks += [_unreadable(name) for name in listed if name not in known]
        return sorted(blocks, key=lambda block: block.since)

    async def open(self, agent: str) -> None:
        """Begin the list of the blocks in a store that has none yet, and leave a sign that an agent runs here."""
        if not self._is_listed and not await self._listed():
            await self._list(lambda names: names)
        await self._custody.keep(_AGENTS, agent_key(agent), 1, IDLE)

    async def add(self, block: Block) -> None:
        """Block an agent."""
        await self._list(lambda names: [*names, row_name(block.id)])
        await self._custody.keep(_KIND, block.id, asdict(block), _SECONDS)

    async def _listed(self) -> list[str]:
        """Return the rows of the blocks that stand, with one that holds everybody where the list is lost.

        It is, if this process has seen it, or agents have run here, which the list was begun for.
        """
        names = await self._custody.kept(_LIST, _LIST)
        if names is not None:
            self._is_listed = True
            return list(names)
        store = self._custody.store
        return [_LOST] if self._is_listed or await store.items(_LIST) or await store.items(_AGENTS) else []

    async def _list(self, change: Callable[[list[str]], list[str]]) -> None:
        missing = await self._listed()
        await self._custody.change(_LIST, _LIST, lambda names: (change(missing if names is None else names), _SECONDS))
        self._is_listed = True

    async def challenged(self, block: Block, verification: str, expires: float) -> bool:
        """Record another challenge of a block; False if it has another one by now, or is lifted."""

        def write(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            if values is None or values["verification"] != block.verification:
                return None
            return asdict(replace(_block(values), verification=verification, expires=expires)), _SECONDS

        return await self._custody.change(_KIND, block.id, write)

    async def lift(self, block_id: str) -> Block | None:
        """Lift a block and return it; None if it is gone."""
        block = next((block for block in await self.blocks() if block.id == block_id), None)
        if block is None:
            return None
        if block.readable:
            taken = await self._custody.remove(_KIND, block_id)
        else:
            taken = await self._custody.store.take(_KIND, block_id) is not None or block_id in await self._listed()
        gone = {row_name(block_id)} if block.readable else {block_id, _LOST}
        await self._list(lambda names: [name for name in names if name not in gone])
        return block if taken else None

    async def unblock(self, block_id: str) -> Block | None:
        """Lift a block by the word of an operator, and return it; None if it is gone.

        Its challenge is void from here on. Who lifts it is recorded by the caller.
        """
        block = await self.lift(block_id)
        if block is not None and block.verification:
            await QuestionStore(self._custody).drop_challenge(block.verification)
        return block
