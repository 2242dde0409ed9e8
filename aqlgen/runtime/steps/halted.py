"""Halted plans: kept for a while in the adapter's state, so that they can go on, and how an agent does that (R-STEP-2).

A plan is kept, sealed, for the caller and the session that sent it: what its steps hold would cost an agent too much to
send it back. The agent gets a random token; any replica goes on with the plan, and only one does. Their number and
size and the time are bounded. Where there is neither a session nor a known caller, whoever learns the token may go on.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import IF_AGREED, UNKNOWN_OUTCOME, Code, Failure
from ..exact_json import read_float, write_json
from ..protocol_operations import RUN_STEPS
from ..session import current_caller
from ..state import StoreAway
from ..text import ended

if TYPE_CHECKING:
    from ..session import Session
    from ..state.custody import Custody, State

SECONDS = 900
_KIND = "plan"
_LARGEST = 1_000_000
_MOST_OF_ONE = 20
_MOST = 200


class _Kept(NamedTuple):
    """Whose a kept plan is, and where."""

    owner: str
    session: str | None
    custody: Custody


class KeptPlans:
    """The halted plans of an adapter; those of a session that has ended are dropped with the next one."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._plans: dict[str, _Kept] = {}
        self._ended: dict[str, _Kept] = {}

    async def put(self, plan: Mapping[str, Any], session: Session) -> str | None:
        """Keep a plan and return its token; None if it is too large, or the store is away."""
        try:
            text = write_json(plan)
        except ValueError:  # what JSON cannot carry
            return None
        if len(text) > _LARGEST:
            return None
        token = f"plan_{secrets.token_hex(16)}"
        kept = {"plan": text, "session": session.id, "caller": current_caller()}
        where = _Kept(current_caller() or session.id or "", session.id, self._state.of(session.id))
        try:
            await self._make_room(where.owner)
            await where.custody.keep(_KIND, token, kept, SECONDS)
        except StoreAway:
            return None
        self._plans[token] = where
        session.hold("plans", token, self._forget)
        return token

    async def get(self, token: str, session: Session) -> dict[str, Any]:
        """Return a plan, which stays. Raises Failure if this caller has none in this session, and StoreAway."""
        kept = await self._state.of(session.id).kept(_KIND, token)
        if not isinstance(kept, dict):
            raise Failure(
                Code.TOKEN_INVALID,
                f"The token of 'continue' is not valid: it is good once, and for {SECONDS // 60} minutes. Send the "
                "other steps as a new plan.",
                {"param_name": "continue"},
            )
        if kept["session"] != session.id or kept["caller"] != current_caller():
            raise Failure(
                Code.TOKEN_SCOPE_MISMATCH,
                "The token of 'continue' was given to another caller or session",
                {"param_name": "continue"},
            )
        plan: dict[str, Any] = json.loads(kept["plan"], parse_float=read_float)
        return plan

    async def take(self, token: str, session: Session) -> bool:
        """Remove a plan; False if it was taken before. Raises StoreAway."""
        self._plans.pop(token, None)
        return await self._state.of(session.id).remove(_KIND, token)

    async def _make_room(self, owner: str) -> None:
        """Drop the plans of sessions that ended, and the oldest of one who has too many, or of whoever has the most."""
        dropped, self._ended = self._ended, {}
        counts = Counter(kept.owner for kept in self._plans.values())
        if counts[owner] >= _MOST_OF_ONE or len(self._plans) >= _MOST:
            if counts[owner] < _MOST_OF_ONE:
                owner = counts.most_common(1)[0][0]
            oldest = next(token for token, kept in self._plans.items() if kept.owner == owner)
            dropped[oldest] = self._plans.pop(oldest)
        for token, kept in dropped.items():
            await kept.custody.remove(_KIND, token)

    def _forget(self, tokens: set[str]) -> None:
        """Drop the plans of a session once it has ended."""
        self._ended.update((token, self._plans.pop(token)) for token in tokens & self._plans.keys())


def is_final(failure: Failure) -> bool:
    """Return True if a plan fails at the same place whenever it goes on: its steps are wrong, and cannot change."""
    is_wrong = failure.code.value.startswith("VALIDATION") and failure.code is not Code.PAYLOAD_TOO_LARGE
    return (is_wrong and "http_status" not in failure.details) or failure.details.get("limit_type") == "references"


def advised(failure: Failure, token: str | None, later: Iterable[str] = ()) -> str:
    """Return a failure's message with how to go on, and the operations that may be asked about later."""
    message = failure.message.partition(IF_AGREED)[0].rstrip()
    if is_final(failure):
        return f"{ended(message)} This plan would fail here again: send its other steps as a new plan."
    if token is None:
        return message
    name = "_quota_continue" if failure.code is Code.QUOTA_PAUSE else "confirmation_token"
    beside = f", {name}" if "confirmation_token" in failure.details else ""
    advice = f"To continue: {RUN_STEPS} with continue{beside}; it begins with the failed call."
    if failure.details.get("outcome") == UNKNOWN_OUTCOME:
        advice = (
            f"To continue: find out if it was carried out, then {RUN_STEPS} with continue and unknown: 'skip' if it "
            "was, 'repeat' if it was not."
        )
    elif failure.code in (Code.CONFIRMATION_REQUIRED, Code.QUOTA_PAUSE):
        advice = f"To continue: {RUN_STEPS} with continue{beside}; only if your user wants this."
        advice += f" Another confirmation may be needed later for {names}." if (names := ", ".join(later)) else ""
    return f"{ended(message)} {advice}"
