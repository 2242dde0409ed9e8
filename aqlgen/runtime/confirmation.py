# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Confirmation tokens (R-SAFE-3): random, kept here, for one call of one operation with the same parameters.

A token says nothing by itself: it is a key to what is kept in memory, and goes with the session. All checks are made,
and the token is used up, without giving way to another call in between, so that of calls that race with one token only
one goes on. Where there is no session (HTTP with protocol 2026-07-28) a token is bound to everything else, and to there
being none: whoever learns it within its time may use it, for the same call, once.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from .errors import Code, Failure
from .table import Row

__all__ = ["Binding", "Token", "Tokens", "digest"]

MOST = 10_000
_WINDOW = 60.0
_REMEMBERED = 600.0
_AGAIN = "Call the operation again without a token to get a new one."


def digest(operation: str, params: Mapping[str, Any]) -> str:
    """Give the SHA-256 of an operation with its parameters, the same however they are ordered or written."""
    text = json.dumps([operation, _canonical(params)], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _canonical(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_canonical(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Binding(NamedTuple):
    """What a token is good for."""

    operation: str
    digest: str
    adapter: str
    session: str | None


class Token:
    """A token that was issued. `approved` is set by confirm_operation."""

    __slots__ = ("approved", "binding", "expires", "id", "question", "row", "used")

    def __init__(self, binding: Binding, row: Row, question: str, expires: float) -> None:
        self.id = f"conf_{secrets.token_hex(32)}"
        self.binding = binding
        self.row = row
        self.question = question
        self.expires = expires
        self.used = False
        self.approved = False

    @property
    def short(self) -> str:
        """Enough of it to find it in a log, too little to use it."""
        return shorten(self.id)

    @property
    def expires_at(self) -> str:
        """When it expires, in ISO 8601."""
        return moment(self.expires)


class Tokens:
    """The tokens of an adapter. `per_minute` bounds how many a session is given; `skew` is added to each expiry."""

    def __init__(self, *, per_minute: int, skew: float, clock: Callable[[], float] = time.time) -> None:
        self._tokens: dict[str, Token] = {}
        self._approved: dict[Binding, Token] = {}
        self._issued: dict[str | None, deque[float]] = {}
        self._per_minute = per_minute
        self._skew = skew
        self._clock = clock

    def issue(self, binding: Binding, row: Row, question: str, seconds: float) -> Token:
        """Make a token. Raises Failure (RATE_LIMIT_EXCEEDED) when the session was given too many."""
        now = self._clock()
        times = self._issued.setdefault(binding.session, deque())
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
        self._purge(now)
        token = Token(binding, row, question, now + seconds)
        self._tokens[token.id] = token
        return token

    def redeem(self, id: object, binding: Binding, *, approved: bool = False) -> Token:
        """Use a token up; with `approved` only one that was confirmed. Raises Failure when a check fails."""
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

    def find(self, id: object, binding: Binding) -> Token:
        """Give a token that can still be used in this session. Raises Failure."""
        token = self._tokens.get(id) if isinstance(id, str) else None
        if token is None:
            raise _refused(Code.TOKEN_INVALID, "is not valid", binding)
        if token.binding.session != binding.session or token.binding.adapter != binding.adapter:
            raise _refused(Code.TOKEN_SCOPE_MISMATCH, "was issued in another session", binding)
        now = self._clock()
        if now > token.expires + self._skew:
            raise _refused(
                Code.TOKEN_EXPIRED, "has expired", binding, expired_at=token.expires_at, current_time=moment(now)
            )
        if token.used:
            raise _refused(Code.TOKEN_ALREADY_USED, "was used before", binding)
        return token

    def approve(self, token: Token) -> None:
        """Let the call of a token through once, with or without the token."""
        token.approved = True
        self._approved[token.binding] = token

    def redeem_approved(self, binding: Binding) -> Token | None:
        """Use up the confirmation that was given to this very call, if one was."""
        token = self._approved.get(binding)
        if token is None or token.used or self._clock() > token.expires + self._skew:
            return None
        self._use(token)
        return token

    def forget(self, session: str) -> int:
        """Drop everything of a session; give how many tokens could still have been used."""
        gone = [one for one in self._tokens.values() if one.binding.session == session]
        for one in gone:
            del self._tokens[one.id]
            self._approved.pop(one.binding, None)
        self._issued.pop(session, None)
        return sum(1 for one in gone if not one.used)

    def _use(self, token: Token) -> None:
        token.used = True
        if self._approved.get(token.binding) is token:
            del self._approved[token.binding]

    def _purge(self, now: float) -> None:
        """Drop the oldest: those that expired some time ago, until when they are told from unknown ones."""
        for one in list(self._tokens.values()):
            if now <= one.expires + self._skew + _REMEMBERED and len(self._tokens) < MOST:
                break
            del self._tokens[one.id]
            self._approved.pop(one.binding, None)


def shorten(token: object) -> str:
    """Give enough of a token to find it in a log."""
    return f"{token[:12]}…" if isinstance(token, str) else "no text"


def moment(seconds: float) -> str:
    """Give a time in ISO 8601."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _refused(code: Code, what: str, binding: Binding, **more: str) -> Failure:
    return Failure(code, f"Confirmation token {what}. {_AGAIN}", {"operation": binding.operation, **more})
