"""Nouns without the verb that the name begins with: an assignment preview is previewed, so its assignment is."""

from __future__ import annotations

from typing import Final

from aqlgen.words import singular, split

from .chain import Chain, join
from .facts import Facts
from .verbs import CANONICAL, derived, find

__all__ = ["unrepeated"]

_THINGS_TOO: Final = frozenset("get list create delete add remove set view".split())
"""Verbs whose noun is a thing as well: a list of lists."""
_SHORTEST: Final = 3


def unrepeated(facts: Facts, links: Chain, shown: str, thing: tuple[str, ...]) -> tuple[str, ...]:
    """Leave the verb out of the last noun, where something is left: `/orders/{id}/amountUpdates`, `/deletedocument`."""
    last = links.nouns[-1]
    at = len(thing) - len(last.words)
    if len(last.words) > 1 and at >= 0 and _same(thing[at], shown) and _acts_on(facts, thing[at], last.words[1:]):
        return join(thing[:at], thing[at + 1 :])
    if last.words == (shown,) and len(thing) > 1 and facts.phrase is not None and shown not in _THINGS_TOO:
        return thing[:-1]
    if last.parameters or shown in _THINGS_TOO or len(thing) < 2 or len(thing[-2]) < _SHORTEST:
        return thing
    one = singular(thing[-1])
    made = derived(one)
    return thing[:-1] if shown in (one, made.word if made else "") else thing


def _same(verb: str, shown: str) -> bool:
    """Whether a verb is shown by itself, by its canonical one, or as one of the two that read."""
    known = find(verb)
    if verb == shown or known is None or not known.strong:
        return verb == shown
    return CANONICAL.get(verb) == shown or {verb, shown} == {"get", "list"}


def _acts_on(facts: Facts, verb: str, rest: tuple[str, ...]) -> bool:
    """Whether people say that the verb is done to the rest, or call the operation so in one word."""
    if (facts.operation.operation_id or "").lower() == "".join((verb, *rest)):
        return True
    said = ((*facts.phrase.lead, *facts.phrase.object) if facts.phrase else (), split(facts.operation.summary[:80]))
    ones = (verb, *map(singular, rest))
    return any(tuple(map(singular, words[: len(ones)])) == ones for words in said)
