# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Who may use the page: whoever opened the address that the terminal showed, and they alone (R-OPS-1).

The address carries a key in its fragment, which no browser sends to a server and no log holds. The page exchanges it,
once, for two secrets, and every request needs both:

- a cookie that no script reads. Browsers send it to every port of this machine, so a server of an agent's beside
  this one might see it.
- a token that the page keeps for its own origin, which is of this port alone, and sends in a header. No other page can
  send it without this server's leave, which is never given (CSRF).

Secrets are 256 random bits, known here by their digests only, and die with this process.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Admission", "Entry"]

_BYTES = 32
_LONGEST = 200
_MOST_SESSIONS = 8
_KEY_SECONDS = 900.0
_IDLE_SECONDS = 12 * 3600.0


class Entry(NamedTuple):
    """The two secrets of a session, for the browser alone."""

    cookie: str
    token: str


@dataclass(slots=True)
class _Session:
    cookie: bytes
    token: bytes
    used: float


class Admission:
    """The key that opens the page next, and the sessions that keys have opened. `clock` is monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._key: tuple[bytes, float] | None = None
        self._sessions: list[_Session] = []

    def new_key(self) -> str:
        """Return a key that opens the page once, within 15 minutes; the one before it is void."""
        key = secrets.token_urlsafe(_BYTES)
        self._key = _digest(key), self._clock() + _KEY_SECONDS
        return key

    def enter(self, key: object) -> Entry | None:
        """Return the secrets of a new session for a key, None for one that is wrong, was used or has expired."""
        if self._key is None or not isinstance(key, str) or len(key) > _LONGEST:
            return None
        digest, expires = self._key
        if not secrets.compare_digest(digest, _digest(key)) or self._clock() >= expires:
            return None
        self._key = None
        entry = Entry(secrets.token_urlsafe(_BYTES), secrets.token_urlsafe(_BYTES))
        self._sessions = self._live()[1 - _MOST_SESSIONS :]
        self._sessions.append(_Session(_digest(entry.cookie), _digest(entry.token), self._clock()))
        return entry

    def admits(self, cookies: list[str], token: str, *, use: bool = False) -> bool:
        """Return True if one of the cookies and the token are of one session; to `use` it puts its end off."""
        self._sessions = self._live()
        session = self._session(cookies, token)
        if session is not None and use:
            session.used = self._clock()
        return session is not None

    def leave(self, cookies: list[str], token: str) -> None:
        """End a session."""
        session = self._session(cookies, token)
        self._sessions = [other for other in self._sessions if other is not session]

    def _session(self, cookies: list[str], token: str) -> _Session | None:
        if len(token) > _LONGEST or any(len(cookie) > _LONGEST for cookie in cookies):
            return None
        digests, wanted = [_digest(cookie) for cookie in cookies], _digest(token)
        for session in self._sessions:
            if secrets.compare_digest(session.token, wanted) and any(
                secrets.compare_digest(session.cookie, digest) for digest in digests
            ):
                return session
        return None

    def _live(self) -> list[_Session]:
        """Return the sessions that were used of late, those that were used last at the end."""
        begin = self._clock() - _IDLE_SECONDS
        return sorted((session for session in self._sessions if session.used > begin), key=lambda item: item.used)


def _digest(text: str) -> bytes:
    return hashlib.sha256(b"mcp-aql operator\0" + text.encode("utf-8", "surrogatepass")).digest()
