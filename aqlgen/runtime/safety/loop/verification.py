"""Verification of an agent by a person, outside of everything that the agent can read (specification, 8.8; R-LOOP-5).

A challenge is shown to operators, who alone see its code. The agent has the id. Whether the id is unknown, the
challenge has expired, or the code is wrong, the answer is the same.

Ten verifications of an agent may fail in a minute, then a lockout follows that doubles (8.8.5). A try is counted before
its code is looked at, so that of many at once no more than ten are. What is counted is in the store, and survives a
restart. A day without a failure ends it.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ...errors import Code, Failure
from ...session import current_caller
from ..questions import Challenge, QuestionStore
from .agents import Block, Board
from .lookalikes import agent_key
from .reports import refused

if TYPE_CHECKING:
    from ...hooks import Step, StepVerdict
    from ...protocol_operations import Person
    from ...session import Session
    from ...state.custody import Custody
    from .executions import Execution

Tier: TypeAlias = Literal["verify", "danger_zone"]
_TRIES = "loop.tries"
_MOST, _WINDOW = 10, 60.0
_LONGEST, _DAY = 6 * 3600.0, 86_400.0
_NO_TRIES: dict[str, Any] = {"failed": [], "locked": 0.0, "level": 0}


_MOST_KNOWN = 10_000


class Tries:
    """The tries of each agent. Every method raises StoreAway when the store cannot be reached.

    A row that is gone, or older than what this process knows, frees nobody here: then what it knows counts.
    """

    def __init__(self, custody: Custody, clock: Callable[[], float] = time.time) -> None:
        self._custody = custody
        self._clock = clock
        self._known: dict[str, dict[str, Any]] = {}

    async def locked(self, key: str) -> float:
        """Return for how many seconds no try is taken; 0 for none."""
        values = self._latest(key, await self._custody.kept(_TRIES, key))
        return max(0.0, float(values["locked"]) - self._clock())

    async def begin(self, key: str) -> float:
        """Count a try as failed, and return 0; if none is taken now, return for how many seconds."""
        wait, counted = 0.0, _NO_TRIES

        def count(values: dict[str, Any] | None) -> tuple[dict[str, Any], float] | None:
            nonlocal wait, counted
            now = self._clock()
            values = self._latest(key, values)
            wait = max(0.0, float(values["locked"]) - now)
            if wait > 0:
                return None
            failed = [moment for moment in values["failed"] if now - moment < _WINDOW] + [now]
            level, locked = int(values["level"]), 0.0
            if len(failed) >= _MOST:
                locked, level, failed = now + min(_LONGEST, _WINDOW * 2**level), level + 1, []
            tries = int(values.get("tries", 0)) + 1
            counted = {"failed": failed, "locked": locked, "level": level, "tries": tries, "at": now}
            return counted, _DAY

        if await self._custody.change(_TRIES, key, count):
            self._remember(key, counted)
        return wait

    async def succeeded(self, key: str) -> None:
        """Forget the failures: a person has given the right code."""
        forgotten = _NO_TRIES

        def forget(values: dict[str, Any] | None) -> tuple[dict[str, Any], float]:
            nonlocal forgotten
            tries = int(self._latest(key, values).get("tries", 0)) + 1
            forgotten = {**_NO_TRIES, "tries": tries, "at": self._clock()}
            return forgotten, _DAY

        await self._custody.change(_TRIES, key, forget)
        self._remember(key, forgotten)

    def _latest(self, key: str, stored: dict[str, Any] | None) -> dict[str, Any]:
        """Return the stored values, or this process's own if they are later and less than a day old."""
        stored, known = stored or _NO_TRIES, self._known.get(key)
        if known is None or known["tries"] <= stored.get("tries", 0) or self._clock() - known["at"] > _DAY:
            return stored
        return known

    def _remember(self, key: str, values: dict[str, Any]) -> None:
        known = self._known.pop(key, values)
        self._known[key] = max(known, values, key=lambda either: int(either["tries"]))
        if len(self._known) > _MOST_KNOWN:
            del self._known[next(iter(self._known))]


_MARK = "loop.verified"
_MARK_SECONDS = 86_400.0
_LONGEST_CODE = 200
_LONGEST_ACTION = 2000


class Verification:
    """The challenges and blocks of one adapter. Methods raise StoreAway when the store cannot be reached.

    `record` writes into the audit log; no code ever goes there. `seconds` is how long a challenge is good for.
    """

    def __init__(
        self, custody: Custody, questions: QuestionStore, record: Callable[[str, dict[str, Any]], None], seconds: float
    ) -> None:
        self.board = Board(custody)
        self._custody = custody
        self._questions = questions
        self._tries = Tries(custody)
        self._record = record
        self._seconds = seconds

    async def begin(self, step: Step, verdict: StepVerdict, execution: Execution, reported: str) -> tuple[str, float]:
        """Challenge the agent that reports a step, and block it if the verdict says so.

        `reported` is the operation that it reports, in words.
        Return the number of the challenge, which is the block's too, and the time at which it expires.
        """
        tier: Tier = "danger_zone" if verdict.outcome == "block" else "verify"
        reason, caller = verdict.reason or "", current_caller() or ""
        action = step.action[:_LONGEST_ACTION] + (f" - calls {reported}" if reported else "")
        challenge = await self._challenged(step.agent, caller, tier, action, reason, verdict.factors)
        about = {
            "challenge_id": challenge.id,
            "element_name": step.agent,
            "tier": tier,
            "execution_id": execution.id,
            "reason": reason,
        }
        self._record("VERIFICATION_CHALLENGED", about)
        if tier == "danger_zone":
            block = Block(
                id=challenge.id,
                agent=step.agent,
                caller=caller,
                execution=execution.id,
                action=action,
                operation=step.operation or "",
                reason=reason,
                factors=verdict.factors,
                risk=verdict.risk,
                since=challenge.asked,
                verification=challenge.id,
                expires=challenge.expires,
            )
            await self.board.add(block)
            self._record("AGENT_BLOCKED", about)
        return challenge.id, challenge.expires

    async def _challenged(
        self, agent: str, caller: str, tier: Tier, action: str, reason: str, factors: tuple[str, ...]
    ) -> Challenge:
        now = time.time()
        challenge = Challenge(str(uuid.uuid4()), agent, caller, tier, action, reason, now, now + self._seconds, factors)
        await self._questions.keep(challenge)
        return challenge

    async def drop(self, challenge_id: str) -> None:
        """Take a challenge back of which no agent has learned."""
        await self._questions.drop_challenge(challenge_id)

    async def renewed(self, block: Block) -> Block:
        """Return a block with a challenge that has not expired: a new one if it has."""
        if not block.readable or block.expires > time.time():
            return block
        agent, caller, action = block.agent, block.caller, block.action
        challenge = await self._challenged(agent, caller, "danger_zone", action, block.reason, block.factors)
        if not await self.board.challenged(block, challenge.id, challenge.expires):
            await self._questions.drop_challenge(challenge.id)
        standing = await self.board.blocks()
        return next((other for other in standing if other.id == block.id), block)

    async def take_verified(self, challenge_id: str) -> bool:
        """Return True, once, if a person has met the challenge, or that of the block, with this id."""
        known = await self._custody.kept(_MARK, challenge_id)
        return known is not None and await self._custody.remove(_MARK, challenge_id)

    async def verify(self, params: dict[str, Any], session: Session, person: Person | None) -> dict[str, Any]:
        """Answer verify_challenge. Raises Failure for a code that is not right, and when no try is taken now."""
        challenge_id, code = params["challenge_id"], params.get("code")
        challenge = await self._challenge(challenge_id)
        caller = current_caller() or ""
        key = f"{caller} {agent_key(challenge.agent) if challenge else ''}"
        wait = await self._tries.locked(key)
        if wait > 0:
            raise self._locked(challenge_id, challenge, session, wait)
        if code is None:
            code = await _typed(person, challenge_id)
        wait = await self._tries.begin(key)
        if wait > 0:
            raise self._locked(challenge_id, challenge, session, wait)
        met = await self._questions.verify(challenge_id if challenge else str(uuid.uuid4()), code[:_LONGEST_CODE])
        if not met or challenge is None:
            self._record("VERIFICATION_FAILED", self._of(challenge_id, challenge, session))
            raise refused(
                "verification failed: the challenge is unknown or has expired, or this is not the code shown for it "
                "last. A code is good for one try: an operator shows another one. Nothing is unblocked."
            )
        await self._tries.succeeded(key)
        await self._met(challenge)
        self._record("VERIFICATION_SUCCEEDED", self._of(challenge_id, challenge, session))
        return {
            "challenge_id": challenge_id,
            "element_name": challenge.agent,
            "verified": True,
            "message": "Verified. Report the action again with record_execution_step: it may run once, unchanged",
        }

    async def _met(self, challenge: Challenge) -> None:
        marked = challenge.id
        for block in await self.board.blocks():
            if block.verification == challenge.id:
                marked = block.id
        await self._custody.keep(_MARK, marked, 1, _MARK_SECONDS)
        if challenge.tier == "danger_zone":
            await self.board.lift(marked)

    async def _challenge(self, challenge_id: str) -> Challenge | None:
        """Return a challenge of the present caller."""
        caller = current_caller() or ""
        challenges = await self._questions.challenges()
        return next((item for item in challenges if item.id == challenge_id and item.caller in ("", caller)), None)

    def _locked(self, challenge_id: str, challenge: Challenge | None, session: Session, wait: float) -> Failure:
        self._record("VERIFICATION_LOCKED", self._of(challenge_id, challenge, session))
        seconds = max(1, round(wait))
        return Failure(
            Code.RATE_LIMIT_EXCEEDED,
            f"Too many failed verifications: no code is taken for {seconds} seconds. An operator can still lift a "
            "block.",
            {"retry_after_seconds": seconds},
        )

    def _of(self, challenge_id: str, challenge: Challenge | None, session: Session) -> dict[str, Any]:
        agent = None if challenge is None else challenge.agent
        return {"challenge_id": challenge_id[:64], "element_name": agent, "session_id": session.id}


async def _typed(person: Person | None, challenge_id: str) -> str:
    """Return the code that the person behind the client types into a form, which the agent does not see."""
    if person is None or not person.reachable:
        raise Failure(
            Code.MISSING_PARAM,
            "Missing required parameter 'code': the person has it from the operator's page or terminal, and this "
            "client has no way to ask for it",
            {"param_name": "code", "operation": "verify_challenge"},
        )
    text = await person.ask_text(f"Type the code, as an operator sees it, for challenge {challenge_id[:64]}", "code")
    if text is None:
        raise refused("the person who was asked gave no code")
    return text
