"""Changes for a terminal: what breaks first, long lists counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from aqlgen.compare.model import Change, Level
from aqlgen.compare.rules import RULES
from aqlgen.compare.wording import Words, chosen
from aqlgen.diagnostics.plain import counted, plain
from aqlgen.diagnostics.report import visible

if TYPE_CHECKING:
    from aqlgen.compare.changes import Changes

__all__ = ["HEADINGS", "LISTED", "NOTHING", "as_text", "headline"]

HEADINGS: Final = {Level.BREAKING: "Breaking", Level.ATTENTION: "To look at", Level.COMPATIBLE: "Compatible"}

NOTHING: Final = "Nothing changed for an agent."

LISTED: Final = frozenset({"operation-removed", "operation-added", "operation-added-grave", "operation-deprecated"})
"""Rules of which the names of the operations are all that there is to say."""

_OF_A_RULE: Final = {Level.BREAKING: 30, Level.ATTENTION: 8, Level.COMPATIBLE: 8}
"""How many changes of one rule are shown."""

_WIDTH: Final = 100
_LONGEST: Final = 100
_FEW, _SEVERAL = 4, 24


def as_text(changes: Changes, *, every: bool) -> str:
    """Give the lines, with no line end at the end."""
    if not changes:
        return NOTHING
    lines = [f"{headline(changes)}:"]
    for level in Level:
        found = changes.of(level)
        if found:
            lines += ["", HEADINGS[level]]
            shown = chosen(found, len(found) if every else _OF_A_RULE[level])
            for one, left in shown:
                lines += _change(one, every=every)
                if left:
                    lines.append(f"  … and {left:,} more: {RULES[one.rule].title.lower()}")
            if len(shown) < len(found):
                lines.append("  (-v shows all)")
    return "\n".join(lines)


def headline(changes: Changes) -> str:
    """Say in a line how many changes of which level there are."""
    numbers = {level: len(changes.of(level)) for level in Level}
    parts = (
        counted(numbers[Level.BREAKING], "breaking change"),
        f"{numbers[Level.ATTENTION]:,} to look at",
        f"{numbers[Level.COMPATIBLE]:,} compatible",
    )
    return ", ".join(parts)


def _change(change: Change, *, every: bool) -> Iterator[str]:
    sentence = Words(_code, 0 if every else 6).sentence(change)
    names = _names(change.operations, 0 if every else _SEVERAL if change.rule in LISTED else _FEW)
    if not names:
        yield f"  {sentence}"
    elif len(sentence) + len(names) < _WIDTH:
        yield f"  {sentence}: {names}"
    else:
        yield f"  {sentence}:"
        yield f"      {names}"


def _names(operations: Sequence[str], most: int) -> str:
    if most and len(operations) > most + 1:
        return f"{counted(len(operations), 'operation')}, {', '.join(map(visible, operations[:most]))} …"
    return ", ".join(map(visible, operations))


def _code(text: str) -> str:
    return f"`{visible(plain(text, _LONGEST))}`"
