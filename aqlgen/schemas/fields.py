"""The agent's names of an object's properties: snake_case both ways, exact and free of collisions (R-SEL-1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from aqlgen.words import snake

SNAKE = re.compile(r"[a-z][a-z0-9_]*")
WORDS = re.compile(r"[A-Za-z][A-Za-z0-9_. -]*")


def field_name(wire: str) -> str:
    """Give the snake_case of a property's name; names that are not made of words keep their own spelling."""
    if SNAKE.fullmatch(wire) or not WORDS.fullmatch(wire):
        return wire
    return snake(wire) or wire


def field_names(wires: Iterable[str], *, preserve: bool) -> dict[str, str]:
    """Give the agent's name of each property; names that fold to one all keep their own spelling."""
    own = list(wires)
    if preserve:
        return {wire: wire for wire in own}
    folded = {wire: field_name(wire) for wire in own}
    counts = Counter(folded.values())
    return {wire: name if counts[name] == 1 else wire for wire, name in folded.items()}
