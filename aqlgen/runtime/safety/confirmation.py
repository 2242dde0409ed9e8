# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Confirmations of grave calls: the tokens that stand for one, and what they are good for (R-SAFE-3).

A token is random and good for one call of one operation with the same parameters and the same request, or for several
calls that were listed together, each with its request. It holds no
data: it is a key to what is kept in memory, and goes with the session. All checks and the use of the token happen
without an `await` in between, so that of several calls that race with one token only one goes on. It is bound to the
caller as well, so that another's call is not confirmed by it. Where there is neither a session nor a known caller (HTTP
with protocol 2026-07-28 and no authentication), whoever learns it within its time may use it, for the same call, once.
"""

from __future__ import annotations

import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from ..errors import Code, Failure
from ..table import Row

__all__ = ["Binding", "ConfirmationToken", "ConfirmationTokens", "danger_reasons", "shorten"]

MOST = 10_000
_WINDOW = 60.0
_REMEMBERED = 600.0
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
    def owner(self) -> str | None:
        """The caller, or the session of one who is not known."""
        return self.caller or self.session


class ConfirmationToken:
    """An issued token. `approved` is set by confirm_operation."""

    __slots__ = ("approved", "binding", "expires", "id", "message", "rows", "used")

    def __init__(self, binding: Binding, rows: Sequence[Row], message: str, expires: float) -> None:
        self.id = f"conf_{secrets.token_hex(32)}"
        self.binding = binding
        self.rows = rows
        self.message = message
        self.expires = expires
        self.used = False
        self.approved = False

    @property
    def short(self) -> str:
        """Enough of the token to find it in a log, too little to use it."""
        return shorten(self.id)

    @property
    def expires_at(self) -> str:
        """The time when the token expires, in ISO 8601."""
        return _iso_time(self.expires)


class ConfirmationTokens:
    """The tokens of an adapter. `per_minute` bounds how many a caller gets; `skew` is added to each expiry."""

    def __init__(self, *, per_minute: int, skew: float, clock: Callable[[], float] = time.time) -> None:
        self._tokens: dict[str, ConfirmationToken] = {}
        self._approved: dict[Binding, ConfirmationToken] = {}
        self._issued: dict[str | None, deque[float]] = {}
        self._per_minute = per_minute
        self._skew = skew
        self._clock = clock

    def issue(self, binding: Binding, rows: Sequence[Row], message: str, seconds: float) -> ConfirmationToken:
        """Issue a token. Raises Failure (RATE_LIMIT_EXCEEDED) when the caller was given too many."""
        now = self._clock()
        times = self._issued.setdefault(binding.owner, deque())
        while times and times[0] <= now - _WINDOW:
            times.popleft()
        if len(times) >= self._per_minute:
            wait = max(1, round(times[0] + _WINDOW - now))
            raise Failure(
                Code.RATE_LIMIT_EXCEEDED,
                f"Too many confirmations were asked for: {self._per_minute} a minute is the most. "
                f"Wait {wait} seconds, and use the tokens already given.",
                {"operation": binding.operation, "limit": self._per_minute, "retry_after_seconds": wait},
            )
        times.append(now)
        self._make_room(now)
        token = ConfirmationToken(binding, rows, message, now + seconds)
        self._tokens[token.id] = token
        return token

    def redeem(self, id: object, binding: Binding, *, approved: bool = False) -> ConfirmationToken:
        """Use up a token; with `approved` only a confirmed one. Raises Failure when a check fails."""
        token = self.find(id, binding)
        if token.binding != binding:
            raise _refused(Code.TOKEN_SCOPE_MISMATCH, "was issued for another operation or other parameters", binding)
        if approved and not token.approved:
            raise Failure(
                Code.PERMISSION_DENIED,
                "Permission denied: an agent under the safety loop cannot confirm its own call. "
                "Use confirm_operation with this token, so a person is asked.",
                {"operation": binding.operation},
            )
        self._use(token)
        return token

    def find(self, id: object, binding: Binding) -> ConfirmationToken:
        """Return a token that can still be used in this session. Raises Failure if it cannot."""
        token = self._tokens.get(id) if isinstance(id, str) else None
        if token is None:
            raise _refused(Code.TOKEN_INVALID, "is not valid", binding)
        if token.binding.caller != binding.caller:
            raise _refused(Code.TOKEN_SCOPE_MISMATCH, "was issued to another caller", binding)
        if token.binding.session != binding.session or token.binding.adapter != binding.adapter:
            raise _refused(Code.TOKEN_SCOPE_MISMATCH, "was issued in another session", binding)
        now = self._clock()
        if now > token.expires + self._skew:
            raise _refused(
                Code.TOKEN_EXPIRED, "has expired", binding, expired_at=token.expires_at, current_time=_iso_time(now)
            )
        if token.used:
            raise _refused(Code.TOKEN_ALREADY_USED, "was used before", binding)
        return token

    def approve(self, token: ConfirmationToken) -> None:
        """Let the call of a token run once, with or without the token."""
        token.approved = True
        self._approved[token.binding] = token

    def redeem_approved(self, binding: Binding) -> ConfirmationToken | None:
        """Use up the confirmation of this very call and return its token, or None if there is none."""
        if not self.is_approved(binding):
            return None
        token = self._approved[binding]
        self._use(token)
        return token

    def is_approved(self, binding: Binding) -> bool:
        """Return True if confirm_operation has confirmed this very call, and it has not run."""
        token = self._approved.get(binding)
        return token is not None and not token.used and self._clock() <= token.expires + self._skew

    def forget(self, session: str) -> int:
        """Drop everything of a session; return how many of its tokens were unused."""
        dropped = [token for token in self._tokens.values() if token.binding.session == session]
        for token in dropped:
            self._drop(token)
        self._issued.pop(session, None)
        return sum(1 for token in dropped if not token.used)

    def _use(self, token: ConfirmationToken) -> None:
        token.used = True
        if self._approved.get(token.binding) is token:
            del self._approved[token.binding]

    def _make_room(self, now: float) -> None:
        """Drop tokens that expired some time ago, until when they are known as expired; if there are still too many,
        the oldest of whoever holds the most.
        """
        for token in list(self._tokens.values()):
            if now <= token.expires + self._skew + _REMEMBERED:
                break
            self._drop(token)
        if len(self._tokens) >= MOST:
            owners = Counter(token.binding.owner for token in self._tokens.values())
            largest = owners.most_common(1)[0][0]
            self._drop(next(token for token in self._tokens.values() if token.binding.owner == largest))
        if len(self._issued) > MOST:
            self._issued = {
                owner: times for owner, times in self._issued.items() if times and times[-1] > now - _WINDOW
            }

    def _drop(self, token: ConfirmationToken) -> None:
        del self._tokens[token.id]
        self._approved.pop(token.binding, None)


def shorten(token: object) -> str:
    """Return enough of a token to find it in a log."""
    return f"{token[:12]}…" if isinstance(token, str) else "no text"


def _iso_time(seconds: float) -> str:
    """Return a time in ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _refused(code: Code, problem: str, binding: Binding, **more: str) -> Failure:
    return Failure(code, f"Confirmation token {problem}. {_AGAIN}", {"operation": binding.operation, **more})
