"""Text of a document for people: without characters that act on a terminal or hide from a reviewer.

These are control characters, marks of direction (which show a text in another order than a program reads it) and
characters that are not shown at all, tags among them, in which whole sentences can be hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

from aqlgen.runtime.text import escaped, visible, without_unseen

__all__ = ["counted", "escaped", "few", "nearest", "plain"]

_LONGEST: Final = 160
_MOST_NAMES: Final = 320
"""The most characters of names that a hint lists."""


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


def nearest(text: str, known: Iterable[str], what: str) -> str:
    """Return a hint at the known name that was probably meant.

    Of `METHOD /path` it is one of that method: with that end behind a base path, else of that depth.
    """
    known = list(known)
    method, _, path = text[:_LONGEST].lower().rstrip("/").rpartition(" ")
    by_path = {}
    for name in known:
        of_method, _, of_path = name.lower().rstrip("/").rpartition(" ")
        if of_method == method:
            by_path[of_path] = name
    ends = [each for each in by_path if each.startswith("/") and path.endswith(each)]
    alike = [each for each in by_path if each.count("/") == path.count("/")]
    if close := sorted(ends, key=len)[-1:] or get_close_matches(path, alike, n=1):
        return f"Did you mean `{by_path[close[0]]}`?"
    names = ", ".join(known)
    return f"Choose one of {names}." if 0 < len(names) <= _MOST_NAMES else f"No {what} comes near."
