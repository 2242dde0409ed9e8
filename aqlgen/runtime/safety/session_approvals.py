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
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..exact_json import fingerprint
from ..session import TERMINAL
from .literals import key_literal
from .policy.policy import LEVELS
from .questions import Question

if TYPE_CHECKING:
    from ..settings.tables import ConfirmationSettings
    from .approvals import Pending
    from .confirmation import Binding

__all__ = ["cooldown_of", "session_approval"]

_ORDER = LEVELS[:-1]
"""The levels of danger that can be approved for a session, the mildest first."""
_PLACEHOLDER = re.compile(r"\{([^{}]{1,200})\}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@-]{0,127}")
_EVERYTHING = frozenset({"all", "any", "everything", "everyone", "default", "me", "self", "current", "root"})


def session_approval(calls: Sequence[Pending], binding: Binding, settings: ConfirmationSettings) -> Question | None:
    """Return the approval for the session that would cover calls, not given yet; None where there is none."""
    if binding.session in (None, TERMINAL) and binding.caller is None:
        return None
    shapes = {_shape(call) for call in calls} if all(_allows(call, settings) for call in calls) else set()
    if len(shapes) != 1:
        return None
    row, (parts, free) = calls[0].row, shapes.pop()
    bound = json.dumps([binding.adapter, binding.session, binding.caller, parts])
    uses, minutes = settings.session_uses, max(1, settings.session_seconds // 60)
    same = f"with any {key_literal(free)} and all else as here" if free else "exactly as here"
    return Question(
        id="",
        kind="session",
        title=row.name,
        question="",
        operations=(row.name,),
        danger=row.danger,
        asked=0.0,
        expires=0.0,
        caller=binding.caller or "",
        session=binding.session or "",
        reach=f"{key_literal(row.name)} {same}, {uses} times at most, for {minutes} minutes",
        digest=hashlib.sha256(bound.encode("utf-8", "surrogatepass")).hexdigest(),
        left=uses,
    )


def cooldown_of(calls: Sequence[Pending], settings: ConfirmationSettings) -> float:
    """Return the least seconds between the question about calls and their run."""
    return max(call.row.cooldown_seconds or settings.cooldown.get(call.row.danger, 0) for call in calls)


def _allows(call: Pending, settings: ConfirmationSettings) -> bool:
    most = settings.session_danger
    level = call.decision.danger if call.decision.danger in _ORDER else "forbidden"
    graver = max((level, call.row.danger), key=lambda danger: _ORDER.index(danger) if danger in _ORDER else 9)
    is_mild = most != "none" and graver in _ORDER and _ORDER.index(graver) <= _ORDER.index(most)
    return is_mild and not call.request.files and not cooldown_of([call], settings)


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
