"""Tokens that callers send back, of a call or of a quota: each good once, for its caller (R-SAFE-3, R-RATE-1).

A token is good for the texts that it is bound to, such as the digest of a question. It is a sealed ticket: it says
itself to whom and for what it was issued, and until when, so that any replica can check it. That it is unused is a
sealed row in the store, and its use takes the row: of several calls that race with one token, at whatever replicas,
only one goes on, and nothing goes on because a row is missing. Where there is neither a session nor a known caller
(HTTP with protocol 2026-07-28 and no authentication), whoever learns it within its time may use it, for the same call,
once.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Code, Failure
from ..session import current_caller
from ..text import iso_time
from . import Counter

if TYPE_CHECKING:
    from .custody import Custody, Ticket

_WINDOW = 60
_HOLDER, _MARK = 4, 8
"""Bytes of the mark of whom a ticket is for, which is the first, and of each of the others."""


def owner_of(session_id: str | None) -> str:
    """Return an id of the present caller, or of the session of one who is not known; it tells nothing about them."""
    caller = current_caller()
    owner = json.dumps([caller, None if caller else session_id])
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


class Tokens:
    """The tokens of one kind, which `name` calls in messages. `prefix` begins the text of each.

    `custody` returns where those of a session are. A caller gets `per_minute` at most; `skew` (seconds) is added to
    each expiry. `scope` says of a token that it was issued for something else, and `advice` ends each refusal. Methods
    raise StoreAway; `details` are those of a refusal.
    """

    def __init__(
        self,
        custody: Callable[[str | None], Custody],
        adapter: str,
        prefix: str,
        *,
        name: str,
        scope: str,
        advice: str,
        per_minute: int,
        skew: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._custody = custody
        self._adapter = adapter
        self._prefix = prefix
        self._name = name
        self._scope = scope
        self._advice = advice
        self._per_minute = per_minute
        self.skew = skew
        self.clock = clock

    async def issue(
        self, session_id: str | None, bound: Sequence[str], seconds: float, details: Mapping[str, Any], note: Any = True
    ) -> Token:
        """Issue a token bound to texts. Raises Failure (RATE_LIMIT_EXCEEDED) when the caller was given too many."""
        custody, name = self._custody(session_id), f"{self._name}s:{owner_of(session_id)}"
        problem, advice = f"Too many {self._name}s were asked for", ", and use the tokens already given"
        await count_of_minute(custody, name, self._per_minute, problem, details, advice)
        marks = [(self._holder(session_id), _HOLDER), *((text, _MARK) for text in bound)]
        ticket = await custody.issue(self._prefix, marks, seconds, self.clock(), note)
        return Token(self._prefix + ticket.text, ticket)

    async def open(
        self, session_id: str | None, text: object, details: Mapping[str, Any], bound: Sequence[str] = ()
    ) -> Token:
        """Return a token of this caller for these texts, used or not. Raises Failure when a check fails."""
        ticket = None
        if isinstance(text, str) and text.startswith(self._prefix):
            ticket = await self._custody(session_id).open(self._prefix, text.removeprefix(self._prefix))
        if ticket is None:
            raise self.unknown(details)
        if not ticket.fits(self._holder(session_id), 0, _HOLDER):
            problem = "was issued to another caller or in another session"
            raise self._refused(Code.TOKEN_SCOPE_MISMATCH, problem, details)
        now, begins = self.clock(), range(_HOLDER, len(ticket.marks), _MARK)
        if now > ticket.expires + self.skew:
            times = {"expired_at": iso_time(ticket.expires), "current_time": iso_time(now)}
            raise self._refused(Code.TOKEN_EXPIRED, "has expired", {**details, **times})
        if not all(any(ticket.fits(each, begin, begin + _MARK) for begin in begins) for each in bound):
            raise self._refused(Code.TOKEN_SCOPE_MISMATCH, f"was issued for {self._scope}", details)
        return Token(str(text), ticket)

    async def note(self, session_id: str | None, token: Token, details: Mapping[str, Any]) -> Any:
        """Return the note of a token that can be used. Raises Failure for one that was used."""
        note = await self._custody(session_id).note(token.ticket.id)
        if note is None:
            raise self._used(details)
        return note

    async def use(self, session_id: str | None, token: Token, details: Mapping[str, Any]) -> None:
        """Use up a token. Raises Failure if it was used before or the store does not know it."""
        if not await self._custody(session_id).use(token.ticket.id):
            raise self._used(details)

    def unknown(self, details: Mapping[str, Any]) -> Failure:
        """Return the refusal of a token that is not known, or is another caller's: the two answer alike."""
        return self._refused(Code.TOKEN_INVALID, "is not valid", details)

    def _used(self, details: Mapping[str, Any]) -> Failure:
        return self._refused(Code.TOKEN_ALREADY_USED, "was used before, or its store has lost it", details)

    def _refused(self, code: Code, problem: str, details: Mapping[str, Any]) -> Failure:
        return Failure(code, f"{self._name[:1].upper()}{self._name[1:]} {problem}. {self._advice}", dict(details))

    def _holder(self, session_id: str | None) -> str:
        """Return the text by which a ticket is a caller's, in a session if there is one, of an adapter."""
        return json.dumps([self._adapter, session_id, current_caller()])


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
