# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Agents and blocks as an operator sees them, from another process, by the store alone (R-OPS-1, R-LOOP-4).

While the loop is on, the adapter publishes each execution with its last steps here, sealed like everything else in the
store. `Board` takes the custody that an operator's process has opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ...text import line
from ..desk import Desk
from .blocks import Block, Blocks
from .executions import IDLE
from .lookalikes import agent_key

if TYPE_CHECKING:
    from ...state.custody import Custody

__all__ = ["Agent", "Board", "Reported"]

_KIND = "loop.agent"
_ENDED = 600.0
_MOST_STEPS = 20
_LONGEST = 200


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
    """An execution with its last steps, the newest last. `seen` is when it was last heard of.

    `paused` is why it waits for a person, "" if it does not; `verification` the challenge that it waits for.
    """

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


class Board:
    """The agents and blocks of one adapter. Every method raises StoreAway when the store cannot be reached."""

    def __init__(self, custody: Custody) -> None:
        self._custody = custody
        self._blocks = Blocks(custody)
        self._desk = Desk(custody)

    # For the adapter

    async def publish(self, agent: Agent, step: Reported | None = None) -> None:
        """Show an execution as it is now, in place of the agent's last one, with one more step; texts are cut."""

        def write(values: dict[str, Any] | None) -> tuple[dict[str, Any], float]:
            known = values if values is not None and values["execution"] == agent.execution else None
            before = () if known is None else _agent(known).steps
            goal = agent.goal if known is None or agent.goal else known["goal"]
            steps = before if step is None else (*before, _cut(step))[-_MOST_STEPS:]
            shown = replace(agent, goal=line(goal, _LONGEST), paused=line(agent.paused, _LONGEST), steps=steps)
            return asdict(shown), IDLE if agent.status == "running" else _ENDED

        key = "\n".join([agent.caller, agent.session, agent_key(agent.name)])
        await self._custody.change(_KIND, key, write)

    # For the operator

    async def agents(self) -> list[Agent]:
        """Return the executions, those that were heard of last first; one that ended stays for ten minutes."""
        agents = [_agent(values) for values in await self._custody.all_kept(_KIND)]
        return sorted(agents, key=lambda agent: agent.seen, reverse=True)

    async def blocks(self) -> list[Block]:
        """Return the blocks, the oldest first."""
        return await self._blocks.standing()

    async def unblock(self, block_id: str) -> Block | None:
        """Lift a block by the word of an operator, and return it; None if it is gone.

        Its challenge is void from here on. Who lifts it is recorded by the caller.
        """
        block = await self._blocks.lift(block_id)
        if block is not None and block.verification:
            await self._desk.drop_challenge(block.verification)
        return block


def _cut(step: Reported) -> Reported:
    return replace(
        step,
        action=line(step.action, _LONGEST),
        operation=line(step.operation, 100),
        reason=line(step.reason, _LONGEST),
    )


def _agent(values: dict[str, Any]) -> Agent:
    steps: Sequence[dict[str, Any]] = values["steps"]
    return Agent(**{**values, "steps": tuple(Reported(**step) for step in steps)})
