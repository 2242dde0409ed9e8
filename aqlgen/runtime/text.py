# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Text that people and agents read: cleaned, bounded, and without traces of the implementation (R-ENV-4).

`folded`, `letters` and `words` make names and words comparable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from .unseen import visible, without_unseen

__all__ = [
    "bounded",
    "clean",
    "counted",
    "folded",
    "leaks",
    "letters",
    "line",
    "listed",
    "shown",
    "without_trace",
    "words",
]

_SPACE = re.compile(r"\s+")
_LEAK = re.compile(r"at\s+\S+|typeerror|referenceerror|syntaxerror|/src/|/node_modules/|\.[tj]s:\d+", re.IGNORECASE)
_TRACE = re.compile(r"\n[^\S\n]+(?:at\s|File \")|Traceback \(most recent")
_WORD = re.compile(r"[a-z]+|[0-9]+|[^\W\d_a-z]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_STOP_WORDS = frozenset(
    ("a", "an", "the", "of", "for", "to", "in", "on", "by", "with", "and", "or", "from", "is", "be", "as", "that")
)


def clean(text: str, most: int = 2000) -> str:
    """Remove what is not seen, keep line breaks, and cut the text to `most` characters."""
    text = without_unseen(text).strip()
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def line(text: str, most: int) -> str:
    """Return a text as one clean line of at most `most` characters."""
    return clean(_SPACE.sub(" ", without_unseen(text)), most)


def bounded(text: str, limit: int = 500) -> str:
    """Return a foreign text as one line of at most `limit` characters, without its stack trace."""
    text = " ".join(without_trace(text).split())
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def without_trace(text: str) -> str:
    """Return a foreign text up to its stack trace, without what is not seen."""
    text = without_unseen(text)
    trace = _TRACE.search(text)
    return text if trace is None else text[: trace.start()].rstrip()


def leaks(text: str) -> bool:
    """Return True if the protocol's check of messages would take a text for a stack trace or a path."""
    return _LEAK.search(text) is not None


def shown(value: Any) -> str:
    """Return a value as it is written in a sentence: a text in quotes, anything else as JSON."""
    return visible(f"'{value}'" if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def listed(values: Iterable[Any], limit: int = 20) -> str:
    """Return values as `'a', 'b', 'c'`; those above `limit` are only counted."""
    texts = [shown(value) for value in values]
    more = len(texts) - limit
    return ", ".join(texts) if more <= 0 else ", ".join(texts[:limit]) + f" and {more} more"


def counted(number: int, what: str) -> str:
    """Return a number with its noun: `1 operation`, `1,200 operations`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def folded(name: str) -> str:
    """Return a name without what spellings differ in: case, hyphens, underscores."""
    return name.replace("-", "").replace("_", "").lower()


def letters(name: str) -> str:
    """Return only the letters and digits of a name or a word, without their case."""
    return "".join(filter(str.isalnum, name)).casefold()


def words(text: str) -> list[str]:
    """Return the stems of a text's words, in order."""
    return [_stem(word) for word in _WORD.findall(_CAMEL.sub(" ", text).lower()) if word not in _STOP_WORDS]


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
