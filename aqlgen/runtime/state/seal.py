# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What callers keep for the adapter, sealed: no one can read or change it, and any replica opens it (R-OPS-3).

A seal is AES-SIV (RFC 5297) over what is kept and the time at which it expires, with a nonce. It is bound to its kind
and to what else it is for, such as the caller and the call: opened for anything else it is as good as forged.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["Opened", "Sealer"]

_NONCE, _KEY_ID, _KEY, _TIME, _TAG = 12, 2, 64, 5, 16
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
        self._ciphers = [(key[:_KEY_ID], AESSIV(key[_KEY_ID:])) for key in derived]
        self._clock = clock

    def seal(self, kind: str, value: Any, seconds: float, bound: str = "") -> str:
        """Return a value of JSON as text, URL-safe, that is good for so many seconds."""
        expires = int((self._clock() + seconds) * 8)  # eighths of a second
        content = expires.to_bytes(_TIME, "big") + json.dumps(value, separators=(",", ":")).encode()
        key_id, cipher = self._ciphers[0]
        nonce = os.urandom(_NONCE)
        return _encode(key_id + nonce + cipher.encrypt(content, [_data(kind, bound), nonce]))

    def open(self, kind: str, text: object, bound: str = "") -> Opened | None:
        """Return what was sealed as this kind and bound to this, expired or not; None for anything else."""
        from cryptography.exceptions import InvalidTag

        raw = _decode(text)
        begin = _KEY_ID + _NONCE
        for key_id, cipher in self._ciphers:
            if raw[:_KEY_ID] == key_id and len(raw) > begin + _TIME:
                try:
                    content = cipher.decrypt(raw[begin:], [_data(kind, bound), raw[_KEY_ID:begin]])
                except (InvalidTag, ValueError):
                    continue
                return Opened(json.loads(content[_TIME:]), int.from_bytes(content[:_TIME], "big") / 8)
        return None

    def wrap(self, kind: str, content: bytes, bound: str = "") -> str:
        """Return bytes as the shortest text, URL-safe: equal content gives equal text, and nothing says when it ends.

        It has 16 bytes more than the content.
        """
        return _encode(self._ciphers[0][1].encrypt(content, [_data(f"short {kind}", bound)]))

    def unwrap(self, kind: str, text: object, bound: str = "") -> bytes | None:
        """Return what was wrapped as this kind and bound to this; None for anything else."""
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

    return HKDF(SHA256(), _KEY_ID + _KEY, salt=None, info=f"mcp-aql seal {name}".encode()).derive(key.encode())


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
