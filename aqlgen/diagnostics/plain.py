"""Text of a document for people: without characters that act on a terminal or hide from a reviewer.

These are control characters, marks of direction (which show a text in another order than a program reads it) and
characters that are not shown at all, tags among them, in which whole sentences can be hidden.
"""

from __future__ import annotations

from collections.abc import Sequence

from aqlgen.runtime.text import escaped, visible, without_unseen

__all__ = ["counted", "escaped", "few", "plain"]


def plain(text: str, most: int = 0) -> str:
    """Return one line without such characters, cut to `most` characters when a number is given."""
    text = " ".join(without_unseen(text).split())
    return text if not most or len(text) <= most else text[: most - 1].rstrip() + "…"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun in the right form: `1 operation`, `1,223 operations`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def few(names: Sequence[str], most: int = 10) -> str:
    """Return the first of many names, and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(visible, names[:most])) + more
