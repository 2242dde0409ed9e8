# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What an operator sees beside the desk: agents that run, those that are blocked, approvals that hold (R-OPS-1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..state.custody import Custody

__all__ = ["Agent", "Block", "Board", "Reported"]


@dataclass(frozen=True, slots=True)
class Reported:
    """A step as it was reported and decided. `at` is in seconds since the epoch; `outcome` is of the step before."""

    at: float
    action: str
    operation: str
    outcome: str
    decision: str
    risk: int
    tier: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Agent:
    """An execution with its last steps, the newest last."""

    execution: str
    name: str
    caller: str
    session: str
    status: str
    mode: str
    started: str
    seen: float
    goal: str = ""
    paused: str = ""
    verification: str = ""
    number: int = 0
    steps: tuple[Reported, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A block. `since` and `expires` are in seconds since the epoch; its challenge ends then, and it does not."""

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


class Board:
    """The agents and blocks of one adapter. Every method raises StoreAway when the store cannot be reached."""

    def __init__(self, custody: Custody) -> None:
        self._custody = custody

    async def agents(self) -> list[Agent]:
        """Return the executions."""
        return []

    async def blocks(self) -> list[Block]:
        """Return the blocks, the oldest first."""
        return []

    async def unblock(self, block_id: str) -> Block | None:  # noqa: ARG002
        """Lift a block by the word of an operator, and return it; None if it is gone."""
        return None
