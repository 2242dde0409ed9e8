# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The tokens of an agent, and what they are good for (R-SAFE-3).

A token is good for one call of one operation with the same parameters and the same request, or for several calls that
were listed together, each with its request. It is a sealed ticket: it says itself to whom and for what it was issued,
and until when, so that any replica can check it. That it is unused is a sealed row in the store, which names its
question, and its use takes the row: of several calls that race with one token, at whatever replicas, only one goes on,
and nothing goes on because a row is missing. Where there is neither a session nor a known caller (HTTP with protocol
2026-07-28 and no authentication), whoever learns it within its time may use it, for the same call, once.
While the store is away nothing is confirmed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Code, Failure
from ..session import TERMINAL
from ..state.store import StoreAway
from ..state.tickets import Holder, Tickets, Token, count_of_minute

if TYPE_CHECKING:
    from ..state.custody import State

__all__ = ["Binding", "ConfirmationTokens"]

_PREFIX, _KIND = "conf_", "confirmation"
_CALL = 8
"""Bytes of the mark of the call."""
_AGAIN = "Call the operation again without a token to get a new one."


class Binding(NamedTuple):
    """The call that an approval or a token is good for."""

    operation: str
    fingerprint: str
    adapter: str
    session: str | None
    caller: str | None = None

    @property
    def of_process(self) -> bool:
        """True for the session of nobody in particular: what belongs to it is known to its process."""
        return self.session not in (None, TERMINAL) and self.caller is None

    @property
    def holder(self) -> Holder:
        """The caller that the token is for, with the session."""
        return Holder(self.adapter, self.session, self.caller)

    @property
    def call(self) -> str:
        """The operation and request that the token is for."""
        return json.dumps([self.operation, self.fingerprint])

    @property
    def digest(self) -> str:
        """The key of everything that an approval is bound to."""
        return hashlib.sha256(json.dumps(self).encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def details(self) -> dict[str, str]:
        """The details of a refusal."""
        return {"operation": self.operation}


class ConfirmationTokens:
    """The tokens of an adapter. `per_minute` bounds how many a caller gets; `skew` is added to each expiry."""

    def __init__(self, state: State, *, per_minute: int, skew: float, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._per_minute = per_minute
        bounds: dict[str, Any] = {"per_minute": per_minute, "skew": skew, "clock": clock}
        self._tickets = Tickets(_KIND, _PREFIX, name="confirmation token", advice=_AGAIN, **bounds)

    def clock(self) -> float:
        """Return the time, in seconds since the epoch."""
        return self._tickets.clock()

    async def issue(self, binding: Binding, seconds: float) -> Token:
        """Issue a token. Raises Failure (RATE_LIMIT_EXCEEDED) when the caller was given too many, and StoreAway."""
        custody, bound, note = (
            self._state.of(binding.session),
            [(binding.call, _CALL)],
            [binding.digest, binding.operation],
        )
        return await self._tickets.issue(custody, binding.holder, bound, seconds, binding.details, note)

    async def opened(self, text: object, binding: Binding) -> Token:
        """Return the token of a call, used or not. Raises Failure when a check fails, and StoreAway."""
        token = await self._tickets.open(self._state.of(binding.session), text, binding.holder, binding.details)
        if not token.fits(binding.call, _CALL):
            problem = "was issued for another operation or other parameters"
            raise self._tickets.refused(Code.TOKEN_SCOPE_MISMATCH, problem, binding.details)
        return token

    async def use(self, token: Token, binding: Binding) -> None:
        """Use a token up. Raises Failure if it was used before, and StoreAway."""
        await self._tickets.use(self._state.of(binding.session), token, binding.details)

    async def take(self, ticket: str, session: str | None) -> bool:
        """Use up the ticket of a token by which a call was confirmed; False if it was used. Raises StoreAway."""
        return await self._state.of(session).use(ticket)

    async def find(self, text: object, binding: Binding) -> tuple[Token, str, str]:
        """Return a token of any call that can still be used, the digest of its question, and its operation.

        Raises Failure if it cannot, and StoreAway.
        """
        token = await self._tickets.open(self._state.of(binding.session), text, binding.holder, binding.details)
        note = await self.note(token, binding)
        if note is None:
            raise self._tickets.used(binding.details)
        return token, note[0], note[1]

    async def note(self, token: Token, binding: Binding) -> list[str] | None:
        """Return the digest of a token's question and its operation; None for one that was used. Raises StoreAway."""
        note: list[str] | None = await self._state.of(binding.session).note(token.ticket.id)
        return note

    def until(self, token: Token) -> float:
        """Return the end of a token, in seconds since the epoch."""
        return token.ticket.expires + self._tickets.skew

    async def count_revocation(self, binding: Binding) -> None:
        """Raise Failure (RATE_LIMIT_EXCEEDED) when a caller revokes too often, and StoreAway (5.3)."""
        name = f"revoked tokens:{binding.holder.owner}"
        custody = self._state.of(binding.session)
        await count_of_minute(custody, name, self._per_minute, "Too many tokens were revoked", {})

    async def void(self, text: object, binding: Binding) -> bool:
        """Make a token of these calls void; False for one that is not theirs or was used. Raises StoreAway."""
        try:
            await self.use(await self.opened(text, binding), binding)
        except StoreAway:
            raise
        except Failure:
            return False
        return True

    def unknown(self, binding: Binding) -> Failure:
        """Return the refusal of a token that is not known, or is another caller's: the two answer alike."""
        return self._tickets.refused(Code.TOKEN_INVALID, "is not valid", binding.details)
