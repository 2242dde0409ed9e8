# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Confirmations of grave calls: the tokens that stand for one, and what they are good for (R-SAFE-3).

A token is good for one call of one operation with the same parameters and the same request, or for several calls that
were listed together, each with its request. It is a sealed ticket: it says itself to whom and for what it was issued,
and until when, so that any replica can check it. Its use is one step in the store, so that of several calls that race
with one token, at whatever replicas, only one goes on. It is bound to the
caller as well, so that another's call is not confirmed by it. Where there is neither a session nor a known caller (HTTP
with protocol 2026-07-28 and no authentication), whoever learns it within its time may use it, for the same call, once.
While the store is away nothing is confirmed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from ..errors import Code, Failure
from ..state.store import Counter
from ..table import Row

if TYPE_CHECKING:
    from ..state.custody import Custody, State, Ticket

__all__ = ["Asked", "Binding", "ConfirmationToken", "ConfirmationTokens", "danger_reasons", "shorten"]

_PREFIX, _KIND = "conf_", "confirmation"
_ASKED, _APPROVED = "asked", "approved"
_WINDOW = 60
_HOLDER, _CALL = 4, 8
"""Bytes of the marks of whom a token is for, and of the call."""
_AGAIN = "Call the operation again without a token to get a new one."

_BY_DANGER = {
    "destructive": ("May not be undone",),
    "dangerous": ("May concern many things together", "May not be undone"),
    "forbidden": ("May concern everything there is", "Cannot be undone"),
}
_BY_FAMILY = {"delete": "Removes data", "update": "Overwrites data", "execute": "Has effects of its own"}


def danger_reasons(row: Row) -> tuple[str, ...]:
    """Return why an operation of its level of danger is held back."""
    by_danger = _BY_DANGER.get(row.danger, ())
    return (_BY_FAMILY.get(row.family, "Adds data"), *by_danger) if by_danger else ()


class Binding(NamedTuple):
    """The call that a token is good for."""

    operation: str
    fingerprint: str
    adapter: str
    session: str | None
    caller: str | None = None

    @property
    def owner(self) -> str:
        """The caller, or the session of one who is not known."""
        return _text(self.caller, None if self.caller else self.session)

    @property
    def holder(self) -> str:
        """The adapter, session and caller that the token is for."""
        return _text(self.adapter, self.session, self.caller)

    @property
    def call(self) -> str:
        """The operation and request that the token is for."""
        return _text(self.operation, self.fingerprint)

    @property
    def digest(self) -> str:
        """The key of everything that the token is bound to."""
        return hashlib.sha256(_text(*self).encode("utf-8", "surrogatepass")).hexdigest()


class ConfirmationToken(NamedTuple):
    """A token as the caller has it."""

    text: str
    ticket: Ticket

    @property
    def short(self) -> str:
        """Enough of the token to find it in a log, too little to use it."""
        return shorten(self.text)

    @property
    def expires_at(self) -> str:
        """The time when the token expires, in ISO 8601."""
        return _iso_time(self.ticket.expires)


class Asked(NamedTuple):
    """What was asked when a token was issued: its operations, the question, and the digest of its binding."""

    operation: str
    operations: Sequence[str]
    message: str
    digest: str


class ConfirmationTokens:
    """The tokens of an adapter. `per_minute` bounds how many a caller gets; `skew` is added to each expiry."""

    def __init__(self, state: State, *, per_minute: int, skew: float, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._per_minute = per_minute
        self._skew = skew
        self._clock = clock

    async def issue(self, binding: Binding, rows: Sequence[Row], message: str, seconds: float) -> ConfirmationToken:
        """Issue a token. Raises Failure (RATE_LIMIT_EXCEEDED) when the caller was given too many, and StoreAway."""
        custody, now = self._custody(binding), self._clock()
        await self._count(custody, binding)
        bound = ((binding.holder, _HOLDER), (binding.call, _CALL))
        ticket = await custody.issue(_KIND, bound, seconds, now)
        names = list(dict.fromkeys(row.name for row in rows))
        asked = Asked(binding.operation, names, message, binding.digest)
        await custody.keep(_ASKED, ticket.id, asked, seconds + self._skew)
        return ConfirmationToken(f"{_PREFIX}{ticket.text}", ticket)

    async def redeem(self, text: object, binding: Binding, *, approved: bool = False) -> ConfirmationToken:
        """Use up a token; with `approved` only a confirmed one. Raises Failure when a check fails, and StoreAway."""
        token, custody = await self._opened(text, binding), self._custody(binding)
        if not token.ticket.fits(binding.call, _HOLDER, _HOLDER + _CALL):
            raise _refused(Code.TOKEN_SCOPE_MISMATCH, "was issued for another operation or other parameters", binding)
        if approved and not await self._is_approved(custody, binding, token.ticket.id):
            raise Failure(
                Code.PERMISSION_DENIED,
                "Permission denied: an agent under the safety loop cannot confirm its own call. "
                "Use confirm_operation with this token, so a person is asked.",
                {"operation": binding.operation},
            )
        if await custody.is_lost():
            raise _refused(Code.TOKEN_INVALID, "is not valid", binding)
        if not await custody.use(token.ticket.id, token.ticket.expires + self._skew):
            raise _refused(Code.TOKEN_ALREADY_USED, "was used before", binding)
        return token

    async def find(self, text: object, binding: Binding) -> ConfirmationToken:
        """Return a token that can still be used in this session. Raises Failure if it cannot, and StoreAway."""
        token, custody = await self._opened(text, binding), self._custody(binding)
        if await custody.is_used(token.ticket.id):
            raise _refused(Code.TOKEN_ALREADY_USED, "was used before", binding)
        return token

    async def asked(self, token: ConfirmationToken, binding: Binding) -> Asked:
        """Return what was asked when a token was issued. Raises Failure if that is no longer known, and StoreAway."""
        asked = await self._custody(binding).kept(_ASKED, token.ticket.id)
        if asked is None:
            raise _refused(Code.TOKEN_INVALID, "is not valid", binding)
        return Asked(*asked)

    async def approve(self, token: ConfirmationToken, asked: Asked, binding: Binding) -> None:
        """Let the call of a token run once, with or without the token. Raises StoreAway."""
        seconds = max(1.0, token.ticket.expires + self._skew - self._clock())
        approval = [token.ticket.id, token.ticket.expires, token.short]
        await self._custody(binding).store.put(_APPROVED, asked.digest, approval, seconds)

    async def redeem_approved(self, binding: Binding) -> str | None:
        """Use up the confirmation of this very call and return its token, shortened; None if there is none.

        Raises StoreAway.
        """
        custody = self._custody(binding)
        approval = await custody.store.take(_APPROVED, binding.digest)
        if approval is None:
            return None
        ticket_id, expires, short = approval
        if self._clock() > expires + self._skew or not await custody.use(ticket_id, expires + self._skew):
            return None
        return str(short)

    async def is_approved(self, binding: Binding) -> bool:
        """Return True if confirm_operation has confirmed this very call, and it has not run. Raises StoreAway."""
        custody = self._custody(binding)
        approval = await custody.store.get(_APPROVED, binding.digest)
        return approval is not None and not await custody.is_used(approval[0])

    def _custody(self, binding: Binding) -> Custody:
        return self._state.of(binding.session)

    async def _opened(self, text: object, binding: Binding) -> ConfirmationToken:
        """Return a token of this caller and session that has not expired."""
        ticket = None
        if isinstance(text, str) and text.startswith(_PREFIX):
            ticket = await self._custody(binding).open(_KIND, text.removeprefix(_PREFIX))
        if ticket is None:
            raise _refused(Code.TOKEN_INVALID, "is not valid", binding)
        if not ticket.fits(binding.holder, 0, _HOLDER):
            raise _refused(Code.TOKEN_SCOPE_MISMATCH, "was issued to another caller or in another session", binding)
        now = self._clock()
        if now > ticket.expires + self._skew:
            times = {"expired_at": _iso_time(ticket.expires), "current_time": _iso_time(now)}
            raise _refused(Code.TOKEN_EXPIRED, "has expired", binding, **times)
        return ConfirmationToken(str(text), ticket)

    @staticmethod
    async def _is_approved(custody: Custody, binding: Binding, ticket_id: str) -> bool:
        approval = await custody.store.get(_APPROVED, binding.digest)
        return approval is not None and approval[0] == ticket_id

    async def _count(self, custody: Custody, binding: Binding) -> None:
        owner = hashlib.sha256(binding.owner.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        spent = await custody.store.spend([Counter(f"tokens:{owner}", _WINDOW, 1, self._per_minute)])
        if not spent.admitted:
            wait = max(1, min(_WINDOW, round(spent.counts[0].ends - time.time())))
            raise Failure(
                Code.RATE_LIMIT_EXCEEDED,
                f"Too many confirmations were asked for: {self._per_minute} a minute is the most. "
                f"Wait {wait} seconds, and use the tokens already given.",
                {"operation": binding.operation, "limit": self._per_minute, "retry_after_seconds": wait},
            )


def _text(*parts: str | None) -> str:
    return json.dumps(parts)


def shorten(token: object) -> str:
    """Return enough of a token to find it in a log."""
    return f"{token[:12]}…" if isinstance(token, str) else "no text"


def _iso_time(seconds: float) -> str:
    """Return a time in ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _refused(code: Code, problem: str, binding: Binding, **more: str) -> Failure:
    return Failure(code, f"Confirmation token {problem}. {_AGAIN}", {"operation": binding.operation, **more})
