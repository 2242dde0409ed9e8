# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""Cursors of pages: opaque, URL-safe, of use only for the operation and parameters they were given for (R-SEL-3)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Code, Failure
from ..fingerprint import fingerprint

if TYPE_CHECKING:
    from ..state import State

__all__ = ["Cursors", "Place"]

_MAC = 12
_SPACE, _KEY = "paging", "key"


class Place(NamedTuple):
    """A place in a list: a page of the API, and how many of its items come before the place.

    `position` is what asks for the page: its number, offset, token, or path and query; None is the first one. `begin`
    counts the items before the page, `size` is what was asked of the API, `full` the longest page so far. `seen`,
    `saved` and `origin` tell pages that were there already, `pages` how many there were.
    """

    position: int | str | None = None
    begin: int = 0
    skip: int = 0
    size: int | None = None
    full: int = 0
    seen: str = ""
    saved: str = ""
    pages: int = 0
    origin: str = ""


class Cursors:
    """Writes and reads cursors with the key of this installation; one of another is refused."""

    def __init__(self, state: State | None) -> None:
        self._state = state
        self._secret: bytes | None = None

    def write(self, operation: str, filters: Mapping[str, Any], place: Place) -> str:
        """Return the cursor of a place."""
        text = json.dumps(place, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._mac(operation, filters, text) + text).decode("ascii").rstrip("=")

    def read(self, name: str, cursor: str, operation: str, filters: Mapping[str, Any]) -> Place:
        """Return the place of a cursor. Raises Failure when it was given for another list, or was changed."""
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise _refused(name) from None
        mac, text = raw[:_MAC], raw[_MAC:]
        if not hmac.compare_digest(mac, self._mac(operation, filters, text)):
            raise _refused(name)
        return Place(*json.loads(text))

    def _mac(self, operation: str, filters: Mapping[str, Any], text: bytes) -> bytes:
        bound = fingerprint(operation, filters).encode()
        return hmac.new(self._key(), bound + b"\0" + text, hashlib.sha256).digest()[:_MAC]

    def _key(self) -> bytes:
        """Return the key: kept in the state, or, where nothing can be kept, of this process."""
        if self._secret is None:
            made = secrets.token_hex(32)
            if self._state is not None:
                try:
                    if self._state.get(_SPACE, _KEY) is None:
                        self._state.put(_SPACE, _KEY, made)
                    made = str(self._state.get(_SPACE, _KEY) or made)
                except Exception:  # noqa: BLE001, S110 - whatever ails the state, paging goes on without it
                    pass
            self._secret = made.encode()
        return self._secret


def _refused(name: str) -> Failure:
    return Failure(
        Code.INVALID_VALUE,
        f"Parameter '{name}' is no cursor of this operation with these parameters. Take it from `pageInfo` of a page "
        "asked for with the same ones, or leave it out to begin anew.",
        {"param_name": name},
    )
