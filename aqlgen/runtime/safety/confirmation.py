# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Confirmations of grave calls: the tokens that stand for one, and what they are good for (R-SAFE-3).

A token is good for one call of one operation with the same parameters and the same request, or for several calls that
were listed together, each with its request. It is a sealed ticket: it says itself to whom and for what it was issued,
and until when, so that any replica can check it. That it is unused, and that it is approved, are sealed rows in the
store, and its use takes them: of several calls that race with one token, at whatever replicas, only one goes on, and
nothing goes on because a row is missing. It is bound to the caller as well, so that another's call is not confirmed by
it. Where there is neither a session nor a known caller (HTTP with protocol 2026-07-28 and no authentication), whoever
learns it within its time may use it, for the same call, once.
While the store is away nothing is confirmed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Code, Failure
from ..session import TERMINAL
from ..state.store import Counter, StoreAway
from ..state.tickets import Holder, Tickets, Token
from ..table import Row
from .refusals import too_early

if TYPE_CHECKING:
    from ..state.custody import Custody, State

__all__ = ["Asked", "Binding", "ConfirmationTokens"]

_PREFIX, _KIND = "conf_", "confirmation"
_ASKED, _APPROVED = "asked", "approved"
_WINDOW = 60
_CALL = 8
"""Bytes of the mark of the call."""
_AGAIN = "Call the operation again without a token to get a new one."


class Binding(NamedTuple):
    """The call that a token is good for."""

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
        return _text(self.operation, self.fingerprint)

    @property
    def digest(self) -> str:
        """The key of everything that the token is bound to."""
        return hashlib.sha256(_text(*self).encode("utf-8", "surrogatepass")).hexdigest()


class Asked(NamedTuple):
    """What was asked when a token was issued: its operations, the question, and the digest of its binding.

    `when` is in seconds since the epoch.
    """

    operation: str
    operations: Sequence[str]
    message: str
    digest: str
    when: float = 0.0


class ConfirmationTokens:
    """The tokens of an adapter. `per_minute` bounds how many a caller gets; `skew` is added to each expiry."""

    def __init__(self, state: State, *, per_minute: int, skew: float, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._per_minute = per_minute
        bounds: dict[str, Any] = {"per_minute": per_minute, "skew": skew, "clock": clock}
        self._tickets = Tickets(_KIND, _PREFIX, name="confirmation token", advice=_AGAIN, **bounds)

    async def issue(self, binding: Binding, rows: Sequence[Row], message: str, seconds: float) -> Token:
        """Issue a token. Raises Failure (RATE_LIMIT_EXCEEDED) when the caller was given too many, and StoreAway."""
        custody = self._custody(binding)
        token = await self._tickets.issue(custody, binding.holder, [(binding.call, _CALL)], seconds, _details(binding))
        names = list(dict.fromkeys(row.name for row in rows))
        asked = Asked(binding.operation, names, message, binding.digest, self.clock())
        await custody.keep(_ASKED, token.ticket.id, asked, seconds + self._tickets.skew)
        return token

    def clock(self) -> float:
        """Return the time, in seconds since the epoch."""
        return self._tickets.clock()

    async def redeem(self, text: object, binding: Binding, *, approved: bool = False, cooldown: float = 0.0) -> Token:
        """Use up a token; with `approved` only a confirmed one. Raises Failure when a check fails, and StoreAway.

        A token that comes back sooner than `cooldown` seconds after the question is refused, and stays good.
        """
        custody, details = self._custody(binding), _details(binding)
        token = await self._tickets.open(custody, text, binding.holder, details)
        if not token.fits(binding.call, _CALL):
            problem = "was issued for another operation or other parameters"
            raise self._tickets.refused(Code.TOKEN_SCOPE_MISMATCH, problem, details)
        if approved and not await self._is_approved(custody, binding.digest, token.ticket.id):
            raise Failure(
                Code.PERMISSION_DENIED,
                "Permission denied: an agent under the safety loop cannot confirm its own call. "
                "Use confirm_operation with this token, so a person is asked.",
                details,
            )
        if cooldown and await custody.is_unused(token.ticket.id):
            left = (await self.asked(token, binding)).when + cooldown - self.clock()
            if left > 0:
                raise too_early(binding.operation, left, token)
        await self._tickets.use(custody, token, details)
        return token

    async def find(self, text: object, binding: Binding) -> Token:
        """Return a token that can still be used in this session. Raises Failure if it cannot, and StoreAway."""
        custody, details = self._custody(binding), _details(binding)
        token = await self._tickets.open(custody, text, binding.holder, details)
        if not await custody.is_unused(token.ticket.id):
            raise self._tickets.used(details)
        return token

    async def asked(self, token: Token, binding: Binding) -> Asked:
        """Return what was asked when a token was issued. Raises Failure if that is no longer known, and StoreAway."""
        asked = await self._custody(binding).kept(_ASKED, token.ticket.id)
        if asked is None:
            raise self._tickets.refused(Code.TOKEN_INVALID, "is not valid", _details(binding))
        return Asked(*asked)

    async def approve(self, token: Token, asked: Asked, binding: Binding) -> None:
        """Let the call of a token run once, with or without the token. Raises StoreAway."""
        seconds = max(1.0, token.ticket.expires + self._tickets.skew - self._tickets.clock())
        approval = [token.ticket.id, token.ticket.expires, token.short, asked.when]
        await self._custody(binding).keep(_APPROVED, asked.digest, approval, seconds)

    async def redeem_approved(self, binding: Binding, *, cooldown: float = 0.0) -> str | None:
        """Use up the confirmation of this very call and return its token, shortened; None if there is none.

        Raises Failure, and uses nothing up, sooner than `cooldown` seconds after the question; and StoreAway.
        """
        custody = self._custody(binding)
        if cooldown:
            early = await custody.kept(_APPROVED, binding.digest)
            left = 0.0 if early is None else early[3] + cooldown - self.clock()
            if left > 0:
                raise too_early(binding.operation, left)
        approval = await custody.take(_APPROVED, binding.digest)
        if approval is None:
            return None
        ticket_id, expires, short, _ = approval
        if self._tickets.clock() > expires + self._tickets.skew or not await custody.use(ticket_id):
            return None
        return str(short)

    async def is_approved(self, binding: Binding) -> bool:
        """Return True if confirm_operation has confirmed this very call, and it has not run. Raises StoreAway."""
        custody = self._custody(binding)
        approval = await custody.kept(_APPROVED, binding.digest)
        return approval is not None and await custody.is_unused(approval[0])

    # Revocation (confirmation tokens, 5.3)

    async def count_revocation(self, binding: Binding) -> None:
        """Raise Failure (RATE_LIMIT_EXCEEDED) when a caller revokes too often, and StoreAway."""
        counter = Counter(f"revoked tokens:{binding.holder.owner}", _WINDOW, 1, self._per_minute)
        spent = await self._custody(binding).store.spend([counter])
        if not spent.admitted:
            wait = max(1, min(_WINDOW, round(spent.counts[0].ends - time.time())))
            raise Failure(
                Code.RATE_LIMIT_EXCEEDED,
                f"Too many tokens were revoked: {self._per_minute} a minute is the most. Wait {wait} seconds.",
                {"limit": self._per_minute, "retry_after_seconds": wait},
            )

    async def revoke(self, token: Token, asked: Asked, binding: Binding) -> None:
        """Make a token void, and what it has confirmed. Raises Failure if it was used meanwhile, and StoreAway."""
        custody = self._custody(binding)
        await self._tickets.use(custody, token, _details(binding))
        if await self._is_approved(custody, asked.digest, token.ticket.id):
            await custody.remove(_APPROVED, asked.digest)

    async def void(self, text: object, binding: Binding) -> bool:
        """Make a token of these calls void; False for one that is not theirs or was used. Raises StoreAway."""
        try:
            token = await self.find(text, binding)
            fits = token.fits(binding.call, _CALL)
            if fits:
                await self._tickets.use(self._custody(binding), token, _details(binding))
        except StoreAway:
            raise
        except Failure:
            return False
        return fits

    def unknown(self, binding: Binding) -> Failure:
        """Return the refusal of a token that is not known, or is another caller's: the two answer alike."""
        return self._tickets.refused(Code.TOKEN_INVALID, "is not valid", _details(binding))

    def _custody(self, binding: Binding) -> Custody:
        return self._state.of(binding.session)

    @staticmethod
    async def _is_approved(custody: Custody, digest: str, ticket_id: str) -> bool:
        approval = await custody.kept(_APPROVED, digest)
        return approval is not None and approval[0] == ticket_id


def _text(*parts: str | None) -> str:
    return json.dumps(parts)


def _details(binding: Binding) -> dict[str, str]:
    return {"operation": binding.operation}
