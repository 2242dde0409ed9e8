# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Approvals for a session: further calls of the same shape run without another question (confirmation tokens, 5.4).

The shape of a call is its operation and everything that it is given, but for the value of the last parameter of the
path: the thing that is acted on. So what a person approved once for one label of a repository holds for other labels of
it, with the same further values, and for nothing else: a policy's conditions, which look at values, see none that the
person has not seen. Of the thing itself the form counts as well: a number stands for numbers, a UUID for UUIDs, another
plain name for plain names; a name with a slash, a blank, a comma or a star stands for itself alone, and so does one
that means everything. The decision counts, too: what is held back by another rule or for other reasons is asked about.

There is none for forbidden operations, for those with a cooldown, for files, and for dangerous operations unless the
owner allows it; and none where there is neither a session nor a known caller. A policy's refusal comes before.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..exact_json import fingerprint
from ..session import TERMINAL
from .desk import Desk, SessionApproval
from .literals import key_literal
from .policy.policy import LEVELS

if TYPE_CHECKING:
    from ..settings.tables import ConfirmationSettings
    from ..state.custody import State
    from .approvals import Pending
    from .confirmation import Binding

__all__ = ["SessionApprovals", "Shape", "cooldown_of"]

_ORDER = LEVELS[:-1]
"""The levels of danger that can be approved for a session, the mildest first."""
_PLACEHOLDER = re.compile(r"\{([^{}]{1,200})\}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}")
_EVERYTHING = frozenset({"all", "any", "everything", "everyone", "default", "me", "self", "current", "root"})


class Shape(NamedTuple):
    """The calls that an approval covers: their digest, and what they are in words.

    With `of_process` they are of a session that no other process knows.
    """

    digest: str
    operation: str
    words: str
    of_process: bool


class SessionApprovals:
    """The approvals of an adapter's sessions, where its operators see them, too."""

    def __init__(self, state: State, settings: ConfirmationSettings, clock: Any = time.time) -> None:
        self._desk = Desk(state.shared, clock)
        self._settings = settings
        self._clock = clock
        self._has_granted = False

    def shape(self, calls: Sequence[Pending], binding: Binding) -> Shape | None:
        """Return the shape of calls, None where they cannot be approved for the session."""
        if binding.session in (None, TERMINAL) and binding.caller is None:
            return None
        if not all(map(self._allows, calls)):
            return None
        shapes = {_shape(call) for call in calls}
        if len(shapes) != 1:
            return None
        call, (parts, free) = calls[0], shapes.pop()
        bound = json.dumps([binding.adapter, binding.session, binding.caller, parts])
        digest = hashlib.sha256(bound.encode("utf-8", "surrogatepass")).hexdigest()
        uses, minutes = self._settings.session_uses, max(1, self._settings.session_seconds // 60)
        same = f"with any {key_literal(free)} and all else as here" if free else "exactly as here"
        words = f"{key_literal(call.row.name)} {same}, {uses} times at most, for {minutes} minutes"
        return Shape(digest, call.row.name, words, binding.of_process)

    async def covers(self, shape: Shape | None) -> bool:
        """Return True if an approval covers a call of this shape. Raises StoreAway."""
        if shape is None or (shape.of_process and not self._has_granted):
            return False
        return await self._desk.approval(shape.digest) is not None

    async def use(self, shape: Shape | None, calls: int) -> SessionApproval | None:
        """Count calls of an approval; None where none covers them. Raises StoreAway."""
        if shape is None or not await self.covers(shape):
            return None
        return await self._desk.spend(shape.digest, calls)

    async def grant(self, shape: Shape, binding: Binding, by: str) -> SessionApproval:
        """Approve calls of a shape for the session. Raises StoreAway."""
        now = self._clock()
        approval = SessionApproval(
            id=secrets.token_hex(4),
            shape=shape.digest,
            operation=shape.operation,
            reach=shape.words,
            by=by,
            granted=now,
            expires=now + self._settings.session_seconds,
            left=self._settings.session_uses,
            caller=binding.caller or "",
            session=binding.session or "",
        )
        self._has_granted = True
        await self._desk.grant(approval)
        return approval

    def _allows(self, call: Pending) -> bool:
        most = self._settings.session_danger
        level = call.decision.danger if call.decision.danger in _ORDER else "forbidden"
        graver = max((level, call.row.danger), key=lambda danger: _ORDER.index(danger) if danger in _ORDER else 9)
        is_mild = most != "none" and graver in _ORDER and _ORDER.index(graver) <= _ORDER.index(most)
        return is_mild and not call.request.files and not cooldown_of([call], self._settings)


def cooldown_of(calls: Sequence[Pending], settings: ConfirmationSettings) -> float:
    """Return the least seconds between the question about calls and their run."""
    return max(call.row.cooldown_seconds or settings.cooldown.get(call.row.danger, 0) for call in calls)


def _shape(call: Pending) -> tuple[str, str]:
    """Return the digest of what calls of a shape share, and the parameter whose value may differ, "" for none."""
    row, params = call.row, call.call.params
    wires = _PLACEHOLDER.findall(row.path.partition("?")[0])
    free = next(
        (name for name, item in row.parameters.items() if wires and item.location == "path" and item.wire == wires[-1]),
        "",
    )
    form = _form(params.get(free)) if free and not row.parameters[free].sensitive else ""
    if not form:
        return fingerprint(row.cache_key, {"given": params, "decision": list(call.decision)}), ""
    rest = {name: value for name, value in params.items() if name != free}
    shape = {"given": rest, "free": free, "form": form, "decision": list(call.decision)}
    return fingerprint(row.cache_key, shape), free


def _form(value: Any) -> str:
    """Return the form of the name of a thing; "" for one that stands for itself alone."""
    text = value if isinstance(value, str) else str(value) if type(value) is int else ""
    if text.isascii() and text.isdigit():
        return "number"
    if _UUID.fullmatch(text):
        return "uuid"
    return "name" if _PLAIN.fullmatch(text) and text.lower() not in _EVERYTHING else ""
