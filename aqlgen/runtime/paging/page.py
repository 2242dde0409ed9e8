# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""One page as the agent sees it: `items`, `pageInfo` with cursors, and the API's fields beside the list (R-SEL-3).

A cursor is opaque and URL-safe, and valid only for the operation and parameters that it was made for.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Code, Failure
from ..exact_json import read_float, write_json
from ..fingerprint import fingerprint
from ..text import folded

if TYPE_CHECKING:
    from ..state import State
    from .plan import Plan

__all__ = ["Cursors", "Page", "Place", "beside", "items_hash"]

_MAC = 12
_SPACE, _KEY = "paging", "key"


class Place(NamedTuple):
    """A place in a list: a page of the API, and how many of its items come before the place.

    `position` requests the page: its number, offset, token, or path and query; None is the first one. `begin` counts
    the items before the page, `size` is the requested page size, `full` the length of the longest page so far. `seen`,
    `saved` and `origin` are hashes of earlier pages, to recognize a repeated one; `pages` counts the pages.
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
        text = write_json(place).encode()
        return base64.urlsafe_b64encode(self._mac(operation, filters, text) + text).decode("ascii").rstrip("=")

    def read(self, name: str, cursor: str, operation: str, filters: Mapping[str, Any]) -> Place:
        """Return the place of a cursor. Raises Failure if it belongs to another list, or was changed."""
        try:
            raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise _refused(name) from None
        mac, text = raw[:_MAC], raw[_MAC:]
        if not hmac.compare_digest(mac, self._mac(operation, filters, text)):
            raise _refused(name)
        return Place(*json.loads(text, parse_float=read_float))

    def _mac(self, operation: str, filters: Mapping[str, Any], text: bytes) -> bytes:
        bound = fingerprint(operation, filters).encode()
        return hmac.new(self._key(), bound + b"\0" + text, hashlib.sha256).digest()[:_MAC]

    def _key(self) -> bytes:
        """Return the key, which is kept in the state, or only for this process if the state does not work."""
        if self._secret is None:
            secret = secrets.token_hex(32)
            if self._state is not None:
                try:
                    if self._state.get(_SPACE, _KEY) is None:
                        self._state.put(_SPACE, _KEY, secret)
                    secret = str(self._state.get(_SPACE, _KEY) or secret)
                except Exception:  # noqa: BLE001, S110 - paging works without a state, whatever is wrong with it
                    pass
            self._secret = secret.encode()
        return self._secret


def _refused(name: str) -> Failure:
    return Failure(
        Code.INVALID_VALUE,
        f"Parameter '{name}' is no cursor of this operation with these parameters. Take it from `pageInfo` of a page "
        "asked for with the same ones, or leave it out to begin anew.",
        {"param_name": name},
    )


_BOOKKEEPING = frozenset(
    {
        "count",
        "currentpage",
        "cursor",
        "cursors",
        "first",
        "hasmore",
        "hasnext",
        "hasnextpage",
        "href",
        "last",
        "limit",
        "link",
        "links",
        "more",
        "next",
        "nextcursor",
        "nextpage",
        "nextpagetoken",
        "nexttoken",
        "object",
        "offset",
        "page",
        "pageinfo",
        "pagenumber",
        "pages",
        "pagesize",
        "pagination",
        "paging",
        "perpage",
        "prev",
        "previous",
        "self",
        "size",
        "skip",
        "total",
        "totalcount",
        "totalitems",
        "totalpages",
        "totalresults",
    }
)
"""Fields beside the list that are only about its pages: `pageInfo` replaces them."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: `items` of the API's page, from `place` on."""

    operation: str
    filters: Mapping[str, Any]
    cursors: Cursors
    place: Place
    items: list[Any]
    beside: Mapping[str, Any]
    total: int | None
    following: Place | None
    previous: bool
    more: bool | None = None
    """True if more items come after it, None if `following` decides."""

    def data(self) -> dict[str, Any]:
        """Return what the agent sees."""
        return {"items": self.items, "pageInfo": self.info(len(self.items)), **self.beside}

    def info(self, kept: int) -> dict[str, Any]:
        """Return `pageInfo` of the first `kept` items."""
        whole = kept == len(self.items)
        after = self.place._replace(skip=self.place.skip + kept)
        more = not whole or (self.following is not None if self.more is None else self.more)
        info: dict[str, Any] = {"hasNextPage": more, "hasPreviousPage": self.previous}
        if kept or more:
            info["startCursor"] = self._cursor(self.place._replace(skip=self.place.skip + 1))
            info["endCursor"] = self._cursor(self.following if whole and self.following is not None else after)
        if self.total is not None:
            info["totalCount"] = self.total
        return info

    def _cursor(self, place: Place) -> str:
        return self.cursors.write(self.operation, self.filters, place)


def beside(plan: Plan, data: Any) -> dict[str, Any]:
    """Return the fields beside the list, except those about its pages."""
    if not isinstance(data, Mapping) or not plan.items:
        return {}
    paging_keys = {
        path[0] for path in (plan.items, plan.next, plan.has_more, plan.total) if path and not isinstance(path, str)
    }
    paging_keys |= {"items", "pageInfo"}
    return {key: value for key, value in data.items() if key not in paging_keys and folded(key) not in _BOOKKEEPING}


def items_hash(items: list[Any]) -> str:
    """Return a hash of a page's items, "" if these are scalars only, which may repeat."""
    if not any(isinstance(item, dict) and item for item in items):
        return ""
    text = json.dumps(items, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=6).hexdigest()
