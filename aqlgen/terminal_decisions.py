"""The decisions of `aqlgen explain` as text: for a terminal of any width, or a line each for other programs."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import typer

from aqlgen.commands.explain import counts
from aqlgen.decisions import Danger, Decision
from aqlgen.diagnostics.plain import counted
from aqlgen.diagnostics.report import visible
from aqlgen.pipeline import Prepared

__all__ = ["columns", "decisions"]

_HEADINGS: Final = ("operation", "category", "danger", "conf", "why", "was")
_LONGEST_NAME: Final = 40
"""A longer name pushes the rest of its line to the right, instead of the others' all."""

_COLOURS: Final = {Danger.DESTRUCTIVE: "31", Danger.DANGEROUS: "31", Danger.FORBIDDEN: "31"}


def decisions(prepared: Prepared) -> None:
    """Print the decisions, and what they come to."""
    width = columns()
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    lines = [*_table(prepared.decisions, width, colour=colour)]
    total = _counted(counts(prepared))
    lines += ["", *(textwrap.wrap(total, width) if width else [total])]
    typer.echo("\n".join(lines if len(lines) > 2 else lines[1:]), color=colour)


def columns() -> int:
    """Give the width of the terminal; 0 where the output is read by a program."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def _table(shown: Sequence[Decision], width: int, *, colour: bool) -> Iterator[str]:
    """Give a line or more for each decision; a width of 0 is one line each, however long."""
    if not shown:
        return
    rows = [_cells(one) for one in shown]
    wide = [max(map(len, column)) for column in zip(_HEADINGS, *rows, strict=True)]
    beside = not width or sum(wide) + 2 * len(wide) <= width
    wide[0], wide[-1] = min(wide[0], _LONGEST_NAME), 0
    chosen = range(len(_HEADINGS)) if beside else [index for index, name in enumerate(_HEADINGS) if name != "was"]
    heading = _joined(_HEADINGS, wide, chosen)
    yield f"\x1b[1m{heading}\x1b[0m" if colour else heading
    for one, cells in zip(shown, rows, strict=True):
        line = _joined(cells, wide, chosen)
        paint = _COLOURS.get(one.danger) if colour else None
        review = f"review {'; '.join(map(visible, one.review_reasons))}" if one.review_reasons else ""
        if not width:
            yield f"{line}  {review}".rstrip()
            continue
        yield from _wrapped(line, width, "", paint)
        if not beside:
            yield from _wrapped(visible(one.operation.key), width, "  ", "2" if colour else None)
        if review:
            yield from _wrapped(review, width, "  ", "33" if colour else None)


def _cells(one: Decision) -> tuple[str, ...]:
    was = f"{one.operation.key} / {one.operation.operation_id}" if one.operation.operation_id else one.operation.key
    danger = one.danger_reason.rule
    why = one.category_reason.rule + (f"; danger: {danger}" if danger not in ("category", "override") else "")
    return (visible(one.name), one.category.value, one.danger.value, f"{one.confidence:.2f}", why, visible(was))


def _joined(cells: Iterable[str], wide: Sequence[int], chosen: Iterable[int]) -> str:
    texts = tuple(cells)
    return "  ".join(f"{texts[index]:<{wide[index]}}" for index in chosen).rstrip()


def _wrapped(text: str, width: int, indent: str, paint: str | None) -> Iterator[str]:
    """Break a text where it is longer than the terminal is wide, and colour it."""
    lines = [indent + text]
    if len(lines[0]) > width:
        lines = textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=f"{indent}  ")
    for line in lines:
        yield f"\x1b[{paint}m{line}\x1b[0m" if paint else line


def _counted(found: Mapping[str, Any]) -> str:
    """Say in a line how many there are of each kind."""
    every = counted(found["operations"], "operation")
    shown = f"{found['shown']:,} of {every}" if found["shown"] != found["operations"] else every
    parts = [
        ", ".join(f"{number} {name}" for name, number in found["categories"].items()),
        ", ".join(f"{number} {name}" for name, number in found["dangers"].items()),
        f"{found['review']} to review",
        f"{found['skipped']} skipped",
    ]
    return f"{shown}: {'; '.join(part for part in parts if part)}."
