# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Halted plans, kept for a while in the adapter's state, so that they can go on (R-STEP-2).

A plan is kept for the caller and the session that sent it, and forgotten with the session. Their number and size and
the time are bounded. Where there is neither a session nor a known caller, whoever learns the random token may go on.
"""

from __future__ import annotations

import json
import secrets
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import Code, Failure
from ..exact_json import read_float, write_json
from ..session import current_caller
from ..state.sqlite import SqliteState

if TYPE_CHECKING:
    from ..session import Session

__all__ = ["SECONDS", "KeptPlans"]

SECONDS = 900
_SPACE = "plan"
_LARGEST = 1_000_000
_MOST_OF_ONE = 20
_MOST = 200
_SESSION = "plans"


class KeptPlans:
    """The halted plans of an adapter; `state` is where they are, None for memory."""

    def __init__(self, state: SqliteState | None) -> None:
        self._state = state or SqliteState(None)
        self._owners: dict[str, str] = {}

    def put(self, plan: Mapping[str, Any], session: Session) -> str | None:
        """Keep a plan and return its token; None if it is too large."""
        try:
            text = write_json(plan)
        except ValueError:  # what JSON cannot carry
            return None
        if len(text) > _LARGEST:
            return None
        token = f"plan_{secrets.token_hex(16)}"
        owner = current_caller() or session.id or ""
        self._make_room(owner)
        self._owners[token] = owner
        self._forget_at_end(session)
        kept = {"plan": text, "session": session.id, "caller": current_caller()}
        self._state.put(_SPACE, token, kept, SECONDS)
        return token

    def get(self, token: str, session: Session) -> dict[str, Any]:
        """Return a plan, which stays. Raises Failure if there is none for this caller in this session."""
        kept = self._state.get(_SPACE, token)
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

    def take(self, token: str) -> bool:
        """Remove a plan; False if it was taken before."""
        self._owners.pop(token, None)
        return self._state.take(_SPACE, token) is not None

    def _make_room(self, owner: str) -> None:
        """Drop the oldest plan of one who has too many, or of whoever has the most."""
        counts = Counter(self._owners.values())
        if counts[owner] < _MOST_OF_ONE:
            if len(self._owners) < _MOST:
                return
            owner = counts.most_common(1)[0][0]
        self.take(next(token for token, other in self._owners.items() if other == owner))

    def _forget_at_end(self, session: Session) -> None:
        """Drop the plans of a session when it ends."""
        if session.id is None or _SESSION in session.state:
            return
        session.state[_SESSION] = True
        owner, session_id = current_caller() or session.id, session.id

        def forget() -> None:
            for token in [token for token, other in self._owners.items() if other == owner]:
                plan = self._state.get(_SPACE, token)
                if plan is None or plan["session"] == session_id:
                    self.take(token)

        session.on_close(forget)
