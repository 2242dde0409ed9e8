"""The rules of what a write does until it is taken back (R-EFF-2).

Structure proves that the old state returns. It says nothing of the time between: a security policy is off, a site is
down, visitors and data go elsewhere. So each of these findings is a doubt.
"""

from __future__ import annotations

from typing import Final

from aqlgen.decide.decision import Category, Danger, Effect
from aqlgen.decide.effects.inverses import SWITCHING
from aqlgen.decide.effects.reading import Finding, Reading
from aqlgen.words import singular

_LEADING_OUT: Final = frozenset("webhook hook callback drain forward forwarding".split())
_ADDRESSES: Final = frozenset("url uri endpoint callback".split())
_LED_TO: Final = _ADDRESSES | {"address", "target"}
_LEADING: Final = frozenset("callback webhook hook endpoint base api server target token event status forward".split())
"""Words before an address that the API calls, or sends its data to; an address alone is one, too."""
_GUARDS: Final = frozenset("policy firewall security protection".split())
"""Things that hold somebody or something off."""


def switch(reading: Reading) -> Finding | None:
    """Find an update that puts something out of work, or back: its inverse does not undo what happens until then."""
    verbs = reading.verb_words & SWITCHING if reading.category is Category.UPDATE else ()
    return Finding(Effect.UNKNOWN, Danger.REVERSIBLE, f"its name says {min(verbs)}") if verbs else None


def guard(reading: Reading) -> Finding | None:
    """Find a create or an update of a guard, such as a firewall."""
    things = {*reading.thing, *reading.object, *reading.path_things[-2:]} & _GUARDS
    is_changed = things and reading.category in (Category.CREATE, Category.UPDATE)
    return Finding(Effect.UNKNOWN, Danger.REVERSIBLE, f"it mentions {min(things)}") if is_changed else None


def address(reading: Reading) -> Finding | None:
    """Find an address or DNS record in the request that sends the API's data, or its visitors, elsewhere."""
    if reading.category not in (Category.CREATE, Category.UPDATE, Category.EXECUTE):
        return None
    is_record = reading.noun == "record" and reading.category is Category.UPDATE
    sent = reading.sends(frozenset({"ttl"}) if is_record else _LED_TO if reading.heads & _LEADING_OUT else frozenset())
    near = (name for name, depth in reading.fields.items() if name and depth <= 1)
    led = (name for name in near if singular(name[-1]) in _ADDRESSES and _LEADING.issuperset(name[:-1]))
    sent = sent or "_".join(next(led, ()))
    return Finding(Effect.PEOPLE, Danger.REVERSIBLE, f"its request has {sent}", "field") if sent else None
