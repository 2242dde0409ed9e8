"""Changes for a pull request: a table of what there is, what breaks first, the long rest folded away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from aqlgen.compare.model import Change, Level
from aqlgen.compare.rules import RULES
from aqlgen.compare.text import HEADINGS, LISTED, NOTHING
from aqlgen.compare.wording import Words, chosen
from aqlgen.diagnostics.plain import counted, plain
from aqlgen.render.operations_md import code

if TYPE_CHECKING:
    from aqlgen.compare.changes import Changes

__all__ = ["MOST", "as_markdown"]

MOST: Final = 60_000
"""Bytes of the whole text: GitHub takes 65,536 characters."""

_TAIL: Final = 400
_LONGEST: Final = 100
_OPEN: Final = {Level.BREAKING: 60, Level.ATTENTION: 30, Level.COMPATIBLE: 8}
"""Up to how many changes a level stands open."""

_OF_A_RULE: Final = {Level.BREAKING: 100, Level.ATTENTION: 20, Level.COMPATIBLE: 20}
"""How many changes of one rule are shown."""

_FEW, _SEVERAL = 5, 40


def as_markdown(changes: Changes) -> str:
    """Give the text, under 60,000 bytes; what had to be cut is counted."""
    if not changes:
        return f"{NOTHING}\n"
    text = _summary(changes)
    for level in Level:
        found = changes.of(level)
        if found:
            text += _section(level, found, MOST - len(text.encode()))
    return text


def _summary(changes: Changes) -> str:
    old, new = changes.old, changes.new
    versions = [_cell(side.version) or "–" for side in (old, new)]
    numbers = [f"{len(side.operations):,}" for side in (old, new)]
    rows = [("", "before", "now"), ("---", "---", "---"), ("operations", *numbers)]
    if versions[0] != versions[1]:
        rows.append(("version of the API", *versions))
    counts = ", ".join(f"**{len(found):,}** {_WORDS[level]}" for level in Level if (found := changes.of(level)))
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"{table}\n\nFor an agent: {counts}.\n"


_WORDS: Final = {Level.BREAKING: "breaking", Level.ATTENTION: "to look at", Level.COMPATIBLE: "compatible"}


def _section(level: Level, found: Sequence[Change], room: int) -> str:
    """Give a level's changes, folded away when they are many, and no more than there is room for."""
    heading = f"{HEADINGS[level]} ({len(found):,})"
    folded = len(found) > _OPEN[level]
    before = f"\n<details><summary>{heading}</summary>\n\n" if folded else f"\n### {heading}\n\n"
    after = "\n</details>\n" if folded else ""
    room -= len((before + after).encode()) + _TAIL
    shown = chosen(found, _OF_A_RULE[level])
    lines = _fitting((_line(one, left) for one, left in shown), room)
    if len(lines) < len(shown):
        lines.append("- … and more, for which there is no room here\n")
    if len(lines) < len(found):
        lines.append("\n`aqlgen diff --output-format json` has all of them.\n")
    return before + "".join(lines) + after if room > 0 else ""


def _line(change: Change, left: int) -> str:
    return f"- {_change(change)}\n" + (f"- … and {left:,} more: {RULES[change.rule].title.lower()}\n" if left else "")


def _fitting(lines: Iterable[str], room: int) -> list[str]:
    fitting: list[str] = []
    for line in lines:
        room -= len(line.encode())
        if room < 0:
            break
        fitting.append(line)
    return fitting


def _change(change: Change) -> str:
    sentence = Words(_code, 8).sentence(change)
    names = _names(change.operations, _SEVERAL if change.rule in LISTED else _FEW)
    return f"{sentence}: {names}" if names else sentence


def _names(operations: Sequence[str], most: int) -> str:
    if len(operations) > most + 1:
        return f"{counted(len(operations), 'operation')}, {', '.join(map(_code, operations[:most]))} …"
    return ", ".join(map(_code, operations))


def _code(text: str) -> str:
    return code(plain(text, _LONGEST), cell=False) if plain(text) else "“”"


def _cell(text: str) -> str:
    return code(plain(text, _LONGEST)) if plain(text) else ""
