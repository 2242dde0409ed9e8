# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The calls that wait for a confirmation, as operators see them on their desk (R-OPS-1, R-SAFE-4).

A call is one matter as long as session, caller, parameters and request are the same. Matters are in the store that the
adapter shares with its operators; with state in memory there is none.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure
from ..state.store import Counter, StoreAway
from .approvals import reasons_of
from .desk import Desk, Matter
from .policy.policy import LEVELS

if TYPE_CHECKING:
    from ..session import Session
    from ..settings.tables import ConfirmationSettings
    from ..state.custody import State
    from .approvals import Pending
    from .confirmation import Binding
    from .session_approvals import Shape

__all__ = ["FORBIDDEN_SECONDS", "Waiting", "gravest"]

FORBIDDEN_SECONDS = 120
"""Seconds for which the confirmation of a forbidden operation is good at most."""
_WINDOW = 60
_SESSION = "waiting"
_MOST_REASONS = 20
_MOST_OF_SESSION = 1000
"""Matters and approvals that end with a session; others end by themselves, and are no other session's."""


def gravest(calls: Sequence[Pending]) -> Pending:
    """Return the call whose operation is the most dangerous."""
    return max(calls, key=lambda call: LEVELS.index(call.row.danger) if call.row.danger in LEVELS else len(LEVELS))


class Waiting:
    """The matters of an adapter's calls. Every method raises StoreAway when the store cannot be reached."""

    def __init__(
        self,
        state: State,
        settings: ConfirmationSettings,
        masked: Callable[[Any], Any] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.available = state.shared.store.shared
        self.desk = Desk(state.shared, clock)
        self._custody = state.shared
        self._settings = settings
        self._masked = masked
        self._clock = clock
        self._has_put = False
        self._ended: set[tuple[str, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def matter(self, binding: Binding) -> Matter | None:
        """Return the matter of calls, decided or not; None if there is none."""
        if not self.available or (binding.of_process and not self._has_put):
            return None
        matter = await self.desk.matter(await self.desk.id_of(binding.digest))
        return matter if matter is not None and matter.digest == binding.digest else None

    async def put(
        self,
        binding: Binding,
        calls: Sequence[Pending],
        question: str,
        session: Session,
        *,
        shape: Shape | None,
        cooldown: float,
    ) -> Matter | None:
        """Put calls on the desk; None where there is no desk. `question` begins with its line in words.

        Raises Failure (RATE_LIMIT_EXCEEDED) when the caller has put too many there.
        """
        if not self.available:
            return None
        await self.flush()
        matter_id, now = await self.desk.id_of(binding.digest), self._clock()
        if await self.desk.matter(matter_id) is None:
            await self._count(binding)
        question = question if self._masked is None else str(self._masked(question))
        first = gravest(calls)
        matter = Matter(
            id=matter_id,
            kind="call" if len(calls) == 1 else "plan",
            title=question.partition("\n")[0],
            question=question,
            operations=tuple(dict.fromkeys(call.row.name for call in calls)),
            danger=first.row.danger,
            asked=now,
            expires=now + self.seconds(calls) + self._settings.skew,
            reasons=tuple(reasons_of(calls)[:_MOST_REASONS]),
            caller=binding.caller or "",
            session=binding.session or "",
            reach="" if shape is None else shape.words,
            digest=binding.digest,
            cooldown=cooldown,
        )
        self._has_put = True
        await self.desk.ask(matter)
        self._at_end(session, "matter", matter_id)
        return await self.desk.matter(matter_id) or matter

    async def show(self, binding: Binding, *rest: Any, **more: Any) -> None:
        """Put calls on the desk that can be confirmed elsewhere: if it cannot be, they do without."""
        with suppress(Failure):
            await self.put(binding, *rest, **more)

    async def use(self, binding: Binding) -> Matter | None:
        """Use up an operator's approval of calls; None if another call has."""
        return await self.desk.use(await self.desk.id_of(binding.digest), binding.digest)

    async def withdraw(self, binding: Binding) -> None:
        """Take calls off the desk that were decided elsewhere; an operator's denial stays."""
        with suppress(StoreAway):
            matter = await self.matter(binding)
            if matter is not None and matter.verdict != "denied":
                await self.desk.withdraw(matter.id)

    def seconds(self, calls: Sequence[Pending]) -> int:
        """Return for how long calls can be confirmed."""
        forbidden = any(call.row.danger == "forbidden" for call in calls)
        return min(self._settings.ttl, FORBIDDEN_SECONDS) if forbidden else self._settings.ttl

    def ends_with(self, session: Session, shape: Shape) -> None:
        """Have the approval of a shape end with its session."""
        self._at_end(session, "approval", shape.digest)

    async def flush(self) -> None:
        """Withdraw the matters of sessions that have ended, and their approvals."""
        while self._ended:
            kind, key = self._ended.pop()
            with suppress(StoreAway):
                await (self.desk.withdraw(key) if kind == "matter" else self.desk.end(key))

    async def close(self) -> None:
        """Withdraw them for good."""
        while self._tasks:
            await asyncio.wait(self._tasks)
            await asyncio.sleep(0)
        await self.flush()

    async def _count(self, binding: Binding) -> None:
        most = self._settings.per_minute
        counter = Counter(f"desk matters:{binding.holder.owner}", _WINDOW, 1, most)
        spent = await self._custody.store.spend([counter])
        if not spent.admitted:
            wait = max(1, min(_WINDOW, round(spent.counts[0].ends - time.time())))
            raise Failure(
                Code.RATE_LIMIT_EXCEEDED,
                f"Too many calls wait for an operator: {most} a minute is the most. Wait {wait} seconds.",
                {"operation": binding.operation, "limit": most, "retry_after_seconds": wait},
            )

    def _at_end(self, session: Session, kind: str, key: str) -> None:
        if session.id is None:
            return
        if _SESSION not in session.state:
            session.state[_SESSION] = set()
            session.on_close(lambda: self._end(session))
        if len(session.state[_SESSION]) < _MOST_OF_SESSION:
            session.state[_SESSION].add((kind, key))

    def _end(self, session: Session) -> None:
        """Withdraw what a session has there: now if something still runs, else before the adapter ends."""
        self._ended |= session.state[_SESSION]
        with suppress(RuntimeError):
            task = asyncio.get_running_loop().create_task(self.flush())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
