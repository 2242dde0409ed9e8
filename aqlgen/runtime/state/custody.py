"""What callers bring back: sealed tickets, each used once, and values kept for them, sealed too (R-OPS-3, R-SAFE-3).

A ticket says itself what it is for and until when, so any replica that has the key can tell. That it was not used yet
is a sealed row of the store, and using it takes the row. Without the row a ticket is good for nothing: not in another
store, nor in one that has lost its data. Nothing can be used twice by forgetting.

A seal is AES-SIV (RFC 5297) over the value and the time at which it expires, with a nonce. It is bound to its kind
and to what else it is for, such as the caller and the call: opened for anything else it is as good as forged. No one
can read or change it, and any replica opens it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import random
import re
import secrets
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from ..session import TERMINAL, current_caller
from . import StoreAway
from .sqlite import SqliteState, SqliteStore

if TYPE_CHECKING:
    from . import Store

_SPACE, _KEY, _UNUSED = "seal", "key", "unused"
_SALT, _TIME = 16, 4
_MOST_TRIES = 50
_GRACE = 600.0
"""Seconds after its end for which the row of a ticket stays and a row counts, for clocks that differ."""
_MOST_TAKEN = 10_000
"""How many tickets a process remembers to have taken, so that a row that is put back is good for nothing there."""


# Seals

_NONCE, _KEY_MARK, _KEY_BYTES, _SEALED_TIME, _TAG = 12, 2, 64, 5, 16
_LONGEST = 1_000_000


class Opened(NamedTuple):
    """What was sealed, and when it expires, in seconds since the epoch."""

    value: Any
    expires: float


class Sealer:
    """Seals with the first of its keys, and opens with any: a new key is put first, and the old one goes later.

    A key is text of 32 characters or more that cannot be guessed. `name` is the adapter's: one adapter's seals are not
    another's, whatever keys they have.
    """

    def __init__(self, keys: Sequence[str], name: str, *, clock: Callable[[], float] = time.time) -> None:
        from cryptography.hazmat.primitives.ciphers.aead import AESSIV  # here, since most processes seal nothing

        derived = [_derived(key, name) for key in keys]
        self._ciphers = [(key[:_KEY_MARK], AESSIV(key[_KEY_MARK:])) for key in derived]
        self._clock = clock

    def seal(self, kind: str, value: Any, seconds: float, bound: str = "") -> str:
        """Return a value of JSON as text, URL-safe, that is good for so many seconds."""
        expires = int((self._clock() + seconds) * 8)  # eighths of a second
        content = expires.to_bytes(_SEALED_TIME, "big") + json.dumps(value, separators=(",", ":")).encode()
        key_id, cipher = self._ciphers[0]
        nonce = os.urandom(_NONCE)
        return _encode(key_id + nonce + cipher.encrypt(content, [_data(kind, bound), nonce]))

    def open(self, kind: str, text: object, bound: str = "") -> Opened | None:
        """Return the value that was sealed as this kind and bound to this, expired or not; None for anything else."""
        from cryptography.exceptions import InvalidTag

        raw = _decode(text)
        begin = _KEY_MARK + _NONCE
        for key_id, cipher in self._ciphers:
            if raw[:_KEY_MARK] == key_id and len(raw) > begin + _SEALED_TIME:
                try:
                    content = cipher.decrypt(raw[begin:], [_data(kind, bound), raw[_KEY_MARK:begin]])
                except (InvalidTag, ValueError):
                    continue
                return Opened(json.loads(content[_SEALED_TIME:]), int.from_bytes(content[:_SEALED_TIME], "big") / 8)
        return None

    def wrap(self, kind: str, content: bytes, bound: str = "") -> str:
        """Return bytes as the shortest text, URL-safe: equal content gives equal text, and nothing says when it ends.

        It has 16 bytes more than the content.
        """
        return _encode(self._ciphers[0][1].encrypt(content, [_data(f"short {kind}", bound)]))

    def unwrap(self, kind: str, text: object, bound: str = "") -> bytes | None:
        """Return the bytes that were wrapped as this kind and bound to this; None for anything else."""
        from cryptography.exceptions import InvalidTag

        raw = _decode(text)
        for _, cipher in self._ciphers if len(raw) > _TAG else ():
            try:
                return cipher.decrypt(raw, [_data(f"short {kind}", bound)])
            except (InvalidTag, ValueError):
                continue
        return None


def _derived(key: str, name: str) -> bytes:
    """Return a key of the cipher with its id before it."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(SHA256(), _KEY_MARK + _KEY_BYTES, salt=None, info=f"mcp-aql seal {name}".encode()).derive(key.encode())


def _data(kind: str, bound: str) -> bytes:
    return hashlib.sha256(kind.encode() + b"\0" + bound.encode("utf-8", "surrogatepass")).digest()


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode("ascii").rstrip("=")


def _decode(text: object) -> bytes:
    if not isinstance(text, str) or len(text) > _LONGEST:
        return b""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""


# Tickets, and values that are kept


class Ticket(NamedTuple):
    """A ticket that was opened. `expires` is in seconds since the epoch; `marks` are of what it is bound to."""

    text: str
    id: str
    expires: int
    marks: bytes

    def fits(self, text: str, begin: int, end: int) -> bool:
        """Return True if the marks from `begin` to `end` are of this text."""
        return secrets.compare_digest(self.marks[begin:end], _mark(bytes.fromhex(self.id), text, end - begin))


class Custody:
    """A store with the seals of what callers bring back to it.

    `keys` returns the owner's keys, the first of which seals; without any, one is kept in the store.
    """

    def __init__(self, store: Store, name: str, keys: Callable[[], Sequence[str]] = tuple) -> None:
        self.store = store
        self._name = name
        self._keys = keys
        self._stored_key = ""
        self._spare_key = ""
        self._taken: dict[str, None] = {}
        self._sealer: tuple[Sequence[str], Sealer] | None = None

    async def sealer(self) -> Sealer:
        """Return the sealer. Raises StoreAway if the key is in the store, and that is away.

        A store that others use may lose its key and be given another, so it is asked each time.
        """
        if not self._keys() and (self.store.shared or not self._stored_key):
            self._stored_key = await self._agreed(_KEY)
        return self._sealer_at_hand()

    async def prepare(self) -> None:
        """Get the key that is in the store, if one is; while that is away, `spare_sealer` does without it."""
        with suppress(StoreAway):
            await self.sealer()

    def spare_sealer(self) -> Sealer:
        """Return a sealer at once: with a key of this process, which also opens later, if the store's is not known."""
        if not self._keys() and not self._stored_key and not self._spare_key:
            self._spare_key = secrets.token_hex(32)
        return self._sealer_at_hand()

    @property
    def owner_keys(self) -> bool:
        """True if the owner has set keys."""
        return bool(self._keys())

    def _sealer_at_hand(self) -> Sealer:
        keys = tuple(self._keys()) or tuple(key for key in (self._stored_key, self._spare_key) if key)
        if self._sealer is None or self._sealer[0] != keys:
            self._sealer = (keys, Sealer(keys, self._name))
        return self._sealer[1]

    async def _agreed(self, name: str) -> str:
        """Return the random text that all who share the store have under a name."""
        value = await self.store.get(_SPACE, name)
        if value is None:
            await self.store.add(_SPACE, name, secrets.token_hex(32))
            value = await self.store.get(_SPACE, name)
        if not isinstance(value, str):
            raise StoreAway("the store does not keep its data")
        return value

    # Tickets

    async def issue(
        self, kind: str, bound: Sequence[tuple[str, int]], seconds: float, now: float, note: Any = True
    ) -> Ticket:
        """Return a new ticket that is bound to texts, each by a mark of so many bytes. Raises StoreAway.

        `note` is kept while the ticket is unused.
        """
        salt, expires = secrets.token_bytes(_SALT), int(now + seconds)
        marks = b"".join(_mark(salt, text, size) for text, size in bound)
        content = salt + expires.to_bytes(_TIME, "big") + marks
        text = (await self.sealer()).wrap(kind, content)
        await self.keep(_UNUSED, salt.hex(), note, seconds + _GRACE)
        return Ticket(text, salt.hex(), expires, marks)

    async def open(self, kind: str, text: object) -> Ticket | None:
        """Return a ticket of this kind, expired, used or not; None for anything else. Raises StoreAway."""
        content = (await self.sealer()).unwrap(kind, text)
        if content is None or len(content) < _SALT + _TIME:
            return None
        begin = _SALT + _TIME
        expires = int.from_bytes(content[_SALT:begin], "big")
        return Ticket(str(text), content[:_SALT].hex(), expires, content[begin:])

    async def note(self, ticket_id: str) -> Any:
        """Return the note of a ticket that can be used; None for one that was used, or is lost. Raises StoreAway."""
        return None if ticket_id in self._taken else await self.kept(_UNUSED, ticket_id)

    async def use(self, ticket_id: str) -> bool:
        """Use a ticket up; False if it was used before, or nothing says that it was not. Raises StoreAway."""
        if ticket_id in self._taken or await self.take(_UNUSED, ticket_id) is None:
            return False
        self._taken[ticket_id] = None
        if len(self._taken) > _MOST_TAKEN:
            del self._taken[next(iter(self._taken))]
        return True

    # Values

    async def keep(self, kind: str, key: str, value: Any, seconds: float) -> None:
        """Store a value of JSON, sealed. Raises StoreAway."""
        name = row_name(key)
        await self.store.put(kind, name, (await self.sealer()).seal(kind, value, seconds, name), seconds)

    async def kept(self, kind: str, key: str) -> Any:
        """Return a value, None if there is none. Raises StoreAway."""
        name = row_name(key)
        text = await self.store.get(kind, name)
        return None if text is None else _value(await self.sealer(), kind, name, text)

    async def all_kept(self, kind: str) -> list[Any]:
        """Return every value of a kind; what somebody else put there is left out. Raises StoreAway."""
        items, sealer = await self.store.items(kind), await self.sealer()
        return [value for name, text in items if (value := _value(sealer, kind, name, text)) is not None]

    async def change(self, kind: str, key: str, step: Callable[[Any], tuple[Any, float] | None]) -> bool:
        """Replace a value, None for none, by what a step makes of it: the new one and the seconds it is kept.

        It is one atomic step also between replicas, so `step` may be called several times. A step that returns None
        leaves everything as it is. Returns True if the value was replaced. Raises StoreAway.
        """
        name, sealer = row_name(key), await self.sealer()
        for number in range(_MOST_TRIES):
            text = await self.store.get(kind, name)
            result = step(None if text is None else _value(sealer, kind, name, text))
            if result is None:
                return False
            value, seconds = result
            if await self.store.swap(kind, name, text, sealer.seal(kind, value, seconds, name), seconds):
                return True
            await anyio.sleep(random.uniform(0, 0.002 * min(number + 1, 20)))  # noqa: S311 - it only spreads them
        raise StoreAway("a value changes all the time")

    async def take(self, kind: str, key: str) -> Any:
        """Remove a value and return it; None if there is none, or it cannot be opened. Raises StoreAway."""
        name = row_name(key)
        text = await self.store.take(kind, name)
        return None if text is None else _value(await self.sealer(), kind, name, text)

    async def remove(self, kind: str, key: str) -> bool:
        """Remove a value; False if somebody else has, or it expired. Raises StoreAway."""
        return await self.take(kind, key) is not None


def _value(sealer: Sealer, kind: str, name: str, text: object) -> Any:
    """Return the value of a row, None for one that is forged, or that somebody left in the store after its end."""
    opened = sealer.open(kind, text, name)
    return None if opened is None or opened.expires + _GRACE < time.time() else opened.value


class State:
    """The state of an adapter: what its replicas share, and what dies with this process.

    What is bound to a session of nobody in particular stays in the process, since the session does; what is typed as
    commands has a process for each, and one user.
    """

    def __init__(self, store: Store | None = None, name: str = "", keys: Callable[[], Sequence[str]] = tuple) -> None:
        self.local = Custody(SqliteStore(SqliteState(None)), name)
        self.shared = self.local if store is None else Custody(store, name, keys)

    def of(self, session_id: str | None) -> Custody:
        """Return where what belongs to the present caller and a session is."""
        is_of_process = session_id not in (None, TERMINAL) and current_caller() is None
        return self.local if is_of_process else self.shared

    async def close(self) -> None:
        """Close the store, if it is more than this process's memory; a later use opens it again."""
        if self.shared.store.shared:
            await self.shared.store.close()


def _mark(salt: bytes, text: str, size: int) -> bytes:
    """Return a mark of a text that nobody can prepare another text for, since the salt is sealed."""
    return hashlib.sha256(salt + text.encode("utf-8", "surrogatepass")).digest()[:size]


def row_name(key: str) -> str:
    """Return the key under which a value is stored: what a caller brings back cannot be read in the store."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]


# Where the state of an adapter is, by the URL of a setting

MEMORY = "memory:"
_SQLITE = re.compile(r"sqlite:///(.+)", re.DOTALL)
_REDIS = ("redis://", "rediss://")


def is_redis(url: str) -> bool:
    """Return True for the URL of a Redis or Valkey server."""
    return url.startswith(_REDIS)


def open_state(url: str, name: str, environ: Mapping[str, str]) -> SqliteState:
    """Return the state of the adapter `name` that stays on this machine, at the URL that a setting gives.

    Several adapters may share a file, unless it is the default one: no value of one is a value of another.
    """
    path = state_file(url, name, environ)
    return SqliteState(path, "" if path == state_file("", name, environ) else f"{name} ")


def open_store(url: str, name: str, environ: Mapping[str, str], state: SqliteState | None = None) -> Store:
    """Return the store of the adapter `name` at the URL that a setting gives; `state` is opened already."""
    if is_redis(url):
        from .redis import RedisStore

        return RedisStore(url, name)
    return SqliteStore(open_state(url, name, environ) if state is None else state)


def state_file(url: str, name: str, environ: Mapping[str, str]) -> Path | None:
    """Return the file of a state's URL, None for memory; else, also with Redis, it is in the user's state folder."""
    if url == MEMORY:
        return None
    match = _SQLITE.fullmatch(url)
    return Path(match[1]) if match else states_folder(environ) / f"{name}-adapter" / "state.sqlite3"


def states_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder in which the adapters of a user have their states, each in a folder of its own."""
    if environ.get("XDG_STATE_HOME"):
        return Path(environ["XDG_STATE_HOME"])
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    return Path.home() / ".local" / "state"
