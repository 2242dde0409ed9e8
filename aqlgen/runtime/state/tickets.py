# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Tokens that callers send back: tickets of a kind, each good once and for its holder (R-SAFE-3, R-RATE-1)."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Code, Failure
from ..session import current_caller
from ..text import iso_time
from .store import Counter

if TYPE_CHECKING:
    from .custody import Custody, Ticket

__all__ = ["Holder", "Tickets", "Token", "count_of_minute", "shorten"]

_WINDOW = 60
_HOLDER = 4
"""Bytes of the mark of whom a ticket is for, which is the first."""


class Holder(NamedTuple):
    """Who may use a ticket: a caller, in a session if there is one, of an adapter."""

    adapter: str
    session: str | None
    caller: str | None

    @classmethod
    def of(cls, adapter: str, session_id: str | None) -> Holder:
        """Return the present caller in a session."""
        return cls(adapter, session_id, current_caller())

    @property
    def text(self) -> str:
        """The text that a ticket is bound to."""
        return json.dumps(self)

    @property
    def owner(self) -> str:
        """An id of the caller, or of the session of one who is not known; it tells nothing about them."""
        owner = json.dumps([self.caller, None if self.caller else self.session])
        return hashlib.sha256(owner.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Token(NamedTuple):
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
        return iso_time(self.ticket.expires)

    def fits(self, text: str, size: int) -> bool:
        """Return True if one of the marks behind that of the holder, each of so many bytes, is of this text."""
        ends = len(self.ticket.marks)
        return any(self.ticket.fits(text, begin, begin + size) for begin in range(_HOLDER, ends, size))


class Tickets:
    """The tickets of a kind. `prefix` begins the text of each, `name` is what messages call them.

    A caller gets `per_minute` at most; `skew` (seconds) is added to each expiry; `advice` ends each refusal.
    """

    def __init__(
        self,
        kind: str,
        prefix: str,
        *,
        name: str,
        advice: str,
        per_minute: int,
        skew: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._kind = kind
        self._prefix = prefix
        self._name = name
        self._advice = advice
        self._per_minute = per_minute
        self.skew = skew
        self.clock = clock

    async def issue(
        self,
        custody: Custody,
        holder: Holder,
        bound: Sequence[tuple[str, int]],
        seconds: float,
        details: Mapping[str, Any],
        note: Any = True,
    ) -> Token:
        """Issue a token bound to texts, each by a mark of so many bytes; `details` are those of a refusal.

        Raises Failure (RATE_LIMIT_EXCEEDED) when the caller was given too many, and StoreAway.
        """
        problem, advice = f"Too many {self._name}s were asked for", ", and use the tokens already given"
        name = f"{self._kind} tokens:{holder.owner}"
        await count_of_minute(custody, name, self._per_minute, problem, details, advice)
        ticket = await custody.issue(self._kind, [(holder.text, _HOLDER), *bound], seconds, self.clock(), note)
        return Token(self._prefix + ticket.text, ticket)

    async def open(self, custody: Custody, text: object, holder: Holder, details: Mapping[str, Any]) -> Token:
        """Return a token of this holder that has not expired. Raises Failure, and StoreAway."""
        ticket = None
        if isinstance(text, str) and text.startswith(self._prefix):
            ticket = await custody.open(self._kind, text.removeprefix(self._prefix))
        if ticket is None:
            raise self.refused(Code.TOKEN_INVALID, "is not valid", details)
        if not ticket.fits(holder.text, 0, _HOLDER):
            problem = "was issued to another caller or in another session"
            raise self.refused(Code.TOKEN_SCOPE_MISMATCH, problem, details)
        now = self.clock()
        if now > ticket.expires + self.skew:
            times = {"expired_at": iso_time(ticket.expires), "current_time": iso_time(now)}
            raise self.refused(Code.TOKEN_EXPIRED, "has expired", {**details, **times})
        return Token(str(text), ticket)

    async def use(self, custody: Custody, token: Token, details: Mapping[str, Any]) -> None:
        """Use up a token. Raises Failure if it was used before or the store does not know it, and StoreAway."""
        if not await custody.use(token.ticket.id):
            raise self.used(details)

    def used(self, details: Mapping[str, Any]) -> Failure:
        """Return the refusal of a token that nothing says is unused."""
        return self.refused(Code.TOKEN_ALREADY_USED, "was used before, or its store has lost it", details)

    def refused(self, code: Code, problem: str, details: Mapping[str, Any]) -> Failure:
        """Return the refusal of a token."""
        return Failure(code, f"{self._name[:1].upper()}{self._name[1:]} {problem}. {self._advice}", dict(details))


async def count_of_minute(
    custody: Custody, name: str, most: int, problem: str, details: Mapping[str, Any], advice: str = ""
) -> None:
    """Raise Failure (RATE_LIMIT_EXCEEDED) for one more than `most` within a minute, and StoreAway."""
    spent = await custody.store.spend([Counter(name, _WINDOW, 1, most)])
    if not spent.admitted:
        wait = max(1, min(_WINDOW, round(spent.counts[0].ends - time.time())))
        text = f"{problem}: {most} a minute is the most. Wait {wait} seconds{advice}."
        raise Failure(Code.RATE_LIMIT_EXCEEDED, text, {**details, "limit": most, "retry_after_seconds": wait})


def shorten(token: object) -> str:
    """Return enough of a token to find it in a log."""
    return f"{token[:12]}…" if isinstance(token, str) else "no text"
