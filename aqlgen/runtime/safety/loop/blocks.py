# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Blocks of agents in the store, which restarts and replicas do not lift (specification, 8.8.3; R-LOOP-4).

A block is of an agent, by its name in any spelling, and of the caller who is known: then of everything of that caller.
Without a known caller it is of every unknown caller's agent of that name. A block that cannot be read, since its key is
gone, is one of everybody: nothing is unblocked by losing a key.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from .lookalikes import agent_key

if TYPE_CHECKING:
    from ...state.custody import Custody

__all__ = ["Block", "Blocks", "blocking", "new_block_id"]

_KIND = "loop.block"
_SECONDS = 10 * 365 * 86_400.0
_UNREADABLE = "?"


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


class Blocks:
    """The blocks of one adapter. Every method raises StoreAway when the store cannot be reached."""

    def __init__(self, custody: Custody) -> None:
        self._custody = custody

    async def standing(self) -> list[Block]:
        """Return the blocks, the oldest first."""
        items = await self._custody.store.items(_KIND)
        if not items:
            return []
        sealer = await self._custody.sealer()
        opened = [(name, sealer.open(_KIND, text, name)) for name, text in items]
        blocks = [_unreadable(name) if value is None else _block(value.value) for name, value in opened]
        return sorted(blocks, key=lambda block: block.since)

    async def add(self, block: Block) -> None:
        """Block an agent."""
        await self._custody.keep(_KIND, block.id, asdict(block), _SECONDS)

    async def challenged(self, block: Block, verification: str, expires: float) -> bool:
        """Record another challenge of a block; False if it has another one by now, or is lifted."""

        def write(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            if values is None or values["verification"] != block.verification:
                return None
            return asdict(replace(_block(values), verification=verification, expires=expires)), _SECONDS

        return await self._custody.change(_KIND, block.id, write)

    async def lift(self, block_id: str) -> Block | None:
        """Lift a block and return it; None if it is gone."""
        block = next((block for block in await self.standing() if block.id == block_id), None)
        if block is not None and not block.readable:
            return block if await self._custody.store.take(_KIND, block_id) is not None else None
        return block if block is not None and await self._custody.remove(_KIND, block_id) else None


def new_block_id() -> str:
    """Return an id for a block."""
    return str(uuid.uuid4())


def _block(values: dict[str, Any]) -> Block:
    return Block(**{**values, "factors": tuple(values["factors"])})


def _unreadable(name: str) -> Block:
    """Return a block that nobody can read: its id is the key in the store."""
    reason = "An unreadable block: the key of the state has changed"
    return Block(name, _UNREADABLE, "", "", "", "", reason, (), 100, time.time(), "", 0.0)
