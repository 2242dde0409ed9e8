"""Verbs that take each other back (R-EFF-2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

__all__ = ["SWITCHING", "may_undo", "undoes"]

_SWITCHES: Final = (
    "start stop, enable disable, activate deactivate, pause resume, suspend resume, suspend activate, attach detach"
    ", allow deny, up down, on off, lock unlock, block unblock, publish unpublish"
)
"""Actions that take each other back, and put something out of work until then."""
SWITCHING: Final = frozenset(_SWITCHES.replace(",", "").split()) - {"attach"}
"""Those that do so; what something is attached to goes on."""
_PAIRS: Final = (
    f"{_SWITCHES}, open close, close reopen, add remove, assign remove, hide show, join leave, hold release"
    ", archive restore, trash restore, grant revoke, complete reopen, increase decrease"
    ", show unhide, register unregister, set clear, rename rename"
)
"""Actions that take each other back; beside them, `un…`, `de…` and `dis…` take back what follows."""
_INVERSES: Final[dict[str, set[str]]] = defaultdict(set)
for _pair in _PAIRS.split(", "):
    _first, _second = _pair.split()
    _INVERSES[_first].add(_second)
    _INVERSES[_second].add(_first)
_UNDOING: Final = ("un", "de", "dis")


def may_undo(words: Sequence[str]) -> bool:
    """Return True if words begin with a verb that may take another back."""
    return bool(words) and (words[0] in _INVERSES or words[0].startswith(_UNDOING))


@lru_cache(maxsize=16384)
def undoes(verb: str, other: str) -> bool:
    """Return True if two verbs take each other back."""
    return other in _INVERSES.get(verb, ()) or any(
        second.startswith(prefix) and second.removeprefix(prefix) in (first, first[2:])
        for prefix in _UNDOING
        for first, second in ((verb, other), (other, verb))
        if first != second
    )
