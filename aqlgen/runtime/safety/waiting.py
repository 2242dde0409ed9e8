# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The calls that wait for a confirmation, and what was decided about them (R-OPS-1, R-SAFE-4).

A call is one question as long as session, caller, parameters and request are the same. Questions are in the store that
the adapter shares with its operators; with state in memory no operator sees them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ..errors import Failure
from ..state.store import StoreAway
from ..state.tickets import count_of_minute
from .approvals import reasons_of
from .policy.policy import LEVELS
from .questions import Question, QuestionStore
from .session_approvals import cooldown_of

if TYPE_CHECKING:
    from ..session import Session
    from ..settings.tables import ConfirmationSettings
    from ..state.custody import State
    from .approvals import Pending
    from .confirmation import Binding

__all__ = ["Waiting", "gravest"]

_FORBIDDEN_SECONDS = 120
"""Seconds for which the confirmation of a forbidden operation is good at most."""
_SESSION = "waiting"
_MOST_REASONS = 20
_MOST_OF_SESSION = 1000
"""Questions and approvals that end with a session; others end by themselves, and are no other session's."""


def gravest(calls: Sequence[Pending]) -> Pending:
    """Return the call whose operation is the most dangerous."""
    return max(calls, key=lambda call: LEVELS.index(call.row.danger) if call.row.danger in LEVELS else len(LEVELS))


class Waiting:
    """The questions and approvals of an adapter's calls. Methods raise StoreAway when the store cannot be reached."""

    def __init__(
        self,
        state: State,
        settings: ConfirmationSettings,
        masked: Callable[[Any], Any] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.for_operators = state.shared.store.shared
        self.shared = QuestionStore(state.shared, clock)
        self._of_process = self.shared
        self._state = state
        self._settings = settings
        self._masked = masked
        self._has_put = False
        self._ended: set[tuple[QuestionStore, str]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def store(self, binding: Binding) -> QuestionStore:
        """Return where the questions about a caller's calls are."""
        return self._of_process if binding.of_process else self.shared

    async def question(self, binding: Binding, digest: str = "") -> Question | None:
        """Return the question about calls, or the one with a digest, decided or not; None if there is none."""
        if binding.of_process and not self._has_put:
            return None
        store, digest = self.store(binding), digest or binding.digest
        question = await store.question(await store.id_of(digest))
        return question if question is not None and question.digest == digest else None

    async def undecided(self, binding: Binding) -> list[Question]:
        """Return the questions about a caller's calls that nobody has decided; none of a caller who is not known."""
        owner, now = (binding.session or "", binding.caller or ""), self.shared.clock()
        if not any(owner) or (binding.of_process and not self._has_put):
            return []
        return [
            question
            for question in await self.store(binding).questions()
            if question.kind in ("call", "plan") and (question.session, question.caller) == owner
            if not (question.verdict or question.is_asked or question.permits(1, now))
        ]

    async def covers(self, approval: Question | None, binding: Binding) -> bool:
        """Return True if an approval for the session was given for a call."""
        granted = None if approval is None else await self.question(binding, approval.digest)
        return granted is not None and granted.permits(1, self.shared.clock())

    async def use(self, approval: Question, binding: Binding, calls: int = 1) -> Question | None:
        """Use an approval for so many calls and return it; None if there is none."""
        if binding.of_process and not self._has_put:
            return None
        store = self.store(binding)
        return await store.use(approval.id or await store.id_of(approval.digest), approval.digest, calls)

    async def put(
        self,
        binding: Binding,
        calls: Sequence[Pending],
        question: str,
        session: Session,
        approval: Question | None,
        *,
        door: Literal["agent", "operator", "person"] = "operator",
    ) -> Question:
        """Put the question about calls, which begins with its line in words.

        `approval` is the one for the session that may be given instead. Raises Failure (RATE_LIMIT_EXCEEDED) when the
        caller has put too many. At the agent's `door` it was given a token, which was counted; there the questions of
        a session of this process stay in it if the store cannot be reached for the first of them.
        """
        await self.flush()
        may_stay = door == "agent" and binding.of_process and not self._has_put
        try:
            return await self._put(binding, calls, question, session, approval, door=door)
        except StoreAway:
            if not may_stay:
                raise
            self._of_process = QuestionStore(self._state.local, self.shared.clock)
            return await self._put(binding, calls, question, session, approval, door=door)

    async def _put(
        self,
        binding: Binding,
        calls: Sequence[Pending],
        question: str,
        session: Session,
        approval: Question | None,
        *,
        door: Literal["agent", "operator", "person"],
    ) -> Question:
        store = self.store(binding)
        question_id, now = await store.id_of(binding.digest), store.clock()
        if door != "agent" and await store.question(question_id) is None:
            name, problem = f"questions of calls:{binding.holder.owner}", "Too many calls wait for an operator"
            await count_of_minute(self._state.shared, name, self._settings.per_minute, problem, binding.details)
        question = question if self._masked is None else str(self._masked(question))
        put = Question(
            id=question_id,
            kind="call" if len(calls) == 1 else "plan",
            title=question.partition("\n")[0],
            question=question,
            operations=tuple(dict.fromkeys(call.row.name for call in calls)),
            danger=gravest(calls).row.danger,
            asked=now,
            expires=now + self.seconds(calls) + self._settings.skew,
            reasons=tuple(reasons_of(calls)[:_MOST_REASONS]),
            caller=binding.caller or "",
            session=binding.session or "",
            reach="" if approval is None else approval.reach,
            digest=binding.digest,
            cooldown=cooldown_of(calls, self._settings),
            is_asked=door == "person",
        )
        self._has_put = True
        await store.ask(put)
        self._at_end(session, store, question_id)
        return await store.question(question_id) or put

    async def show(self, *question: Any) -> None:
        """Put a question that a person is asked elsewhere where operators see it, if it can be."""
        if self.for_operators:
            with suppress(Failure):
                await self.put(*question, door="person")

    async def grant(self, approval: Question, binding: Binding, by: str, session: Session) -> Question:
        """Approve calls for the session."""
        store = self.store(binding)
        now = store.clock()
        granted = replace(
            approval,
            id=await store.id_of(approval.digest),
            asked=now,
            expires=now + self._settings.session_seconds,
            verdict="approved",
            by=by,
        )
        self._has_put = True
        await store.keep(granted)
        self._at_end(session, store, granted.id)
        return granted

    async def withdraw(self, binding: Binding) -> None:
        """Take back the question about calls that were decided elsewhere; an operator's denial stays."""
        with suppress(StoreAway):
            question = await self.question(binding)
            if question is not None and question.verdict != "denied":
                await self.store(binding).withdraw(question.id)

    def seconds(self, calls: Sequence[Pending]) -> int:
        """Return for how long calls can be confirmed."""
        forbidden = any(call.row.danger == "forbidden" for call in calls)
        return min(self._settings.ttl, _FORBIDDEN_SECONDS) if forbidden else self._settings.ttl

    async def flush(self) -> None:
        """Withdraw the questions and approvals of sessions that have ended."""
        while self._ended:
            store, question_id = self._ended.pop()
            with suppress(StoreAway):
                await store.withdraw(question_id)

    async def close(self) -> None:
        """Withdraw them for good."""
        while self._tasks:
            await asyncio.wait(self._tasks)
            await asyncio.sleep(0)
        await self.flush()

    def _at_end(self, session: Session, store: QuestionStore, question_id: str) -> None:
        if session.id is None:
            return
        if _SESSION not in session.state:
            session.state[_SESSION] = set()
            session.on_close(lambda: self._end(session))
        if len(session.state[_SESSION]) < _MOST_OF_SESSION:
            session.state[_SESSION].add((store, question_id))

    def _end(self, session: Session) -> None:
        """Withdraw what a session has there: now if something still runs, else before the adapter ends."""
        self._ended |= session.state[_SESSION]
        with suppress(RuntimeError):
            task = asyncio.get_running_loop().create_task(self.flush())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
