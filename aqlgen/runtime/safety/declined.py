# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The noes of persons: what one has declined is refused for a while, without another question (R-SAFE-4).

A no is kept for the caller, or the session of one who is not known. A call is known again by its parameters and by its
request: another name of the operation, a default that is spelled out, another key of idempotency or another order make
no other call. Several calls that were declined together are known again together, in any order, and a call that was
declined alone is declined among others, too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..exact_json import fingerprint
from ..state.tickets import Holder
from .approvals import request_digest

if TYPE_CHECKING:
    from ..state.custody import State
    from .approvals import Pending

__all__ = ["Declined", "keys_of"]

_SECONDS = 1800
_SPACE = "declined"


class Declined:
    """What persons have declined. Every method raises StoreAway when the store cannot be reached."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def keep(self, session_id: str | None, keys: Iterable[str]) -> None:
        """Remember a person's no, so that what has one of the keys is not asked about again."""
        store, owner = self._state.of(session_id).store, Holder.of("", session_id).owner
        for key in keys:
            await store.put(_SPACE, f"{owner}:{_hash([key])}", 1, _SECONDS)

    async def holds(self, session_id: str | None, keys: Iterable[str]) -> bool:
        """Return True if a person has said no to what has one of the keys."""
        store, owner = self._state.of(session_id).store, Holder.of("", session_id).owner
        for key in dict.fromkeys(keys):
            if await store.get(_SPACE, f"{owner}:{_hash([key])}") is not None:
                return True
        return False


def keys_of(calls: Sequence[Pending]) -> Iterator[str]:
    """Yield the keys of calls that are asked about together: of their parameters, and of their requests."""
    for marks in zip(*map(_marks, calls), strict=True):
        yield _hash(sorted(marks))


def _marks(pending: Pending) -> tuple[str, str]:
    row, request, key = pending.row, pending.request, pending.row.idempotency
    params = dict(pending.call.params)
    for name in params.keys() & row.parameters.keys():
        parameter = row.parameters[name]
        is_key = key is not None and parameter.wire == key.parameter
        if is_key or parameter.location == "adapter" or params[name] == parameter.schema.get("default", ...):
            del params[name]
    if key is not None and key.header is not None:
        kept = [header for header in request.headers if header[0].lower() != key.header.lower()]
        request = replace(request, headers=type(request.headers)(kept))
    return fingerprint(row.name, params), request_digest(request)


def _hash(texts: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(texts).encode("utf-8", "surrogatepass")).hexdigest()
