"""The events of a YAML parser, the positions of values among them, and the loader of what is not a document.

The only place that chooses between libyaml and PyYAML's own parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, Final, TypeAlias

from yaml import events

try:
    from yaml import CSafeLoader as SafeLoader
    from yaml._yaml import CParser as _Parser
except ImportError:  # PyYAML built without libyaml: the same events and nodes, more slowly
    from yaml import SafeLoader  # type: ignore[assignment]
    from yaml import SafeLoader as _Parser  # type: ignore[assignment]

__all__ = ["SLIPS", "SafeLoader", "parser_events", "scan"]

SLIPS: Final = "Check this line and the one above for a missing `:`, a missing quote, and uneven indentation."
"""The help for a syntax error that says no more: the parser often notices a slip a line later."""

_TABS: Final = re.compile(r"^ *+\t[ \t]*+(?=#|\r?$)", re.MULTILINE)

_Wanted: TypeAlias = dict[str, "_Wanted"]


def parser_events(text: str) -> Iterator[Any]:
    """Yield the parser's events. Raises yaml.YAMLError.

    Tabs before a comment or in an empty line, which YAML 1.2.2 allows (6.6 and 6.7) and the parser rejects, are spaces
    to it; no position changes.
    """
    if "\t" in text:
        text = _TABS.sub(lambda match: match[0].replace("\t", " "), text)
    get_event = _Parser(text).get_event
    while (event := get_event()) is not None:
        yield event


def scan(text: str, wanted: _Wanted, offsets: dict[tuple[str, ...], int]) -> None:
    """Add the character offset of each wanted path to `offsets`, in one pass over the first document of the text.

    `depth` counts the open collections without wanted values.
    """
    stack: list[_Open] = []
    depth = 0
    # The rest of a Markdown file is not YAML.
    document = takewhile(lambda event: type(event) is not events.DocumentEndEvent, parser_events(text))
    for event in document:
        kind = type(event)
        change = _DEPTHS.get(kind, 0)
        if depth:
            depth += change
        elif change < 0:
            stack.pop()
        elif change or kind in _SCALARS:
            if stack:
                inside, path = stack[-1].enter(event, offsets)
            else:
                inside, path = wanted, ()
                offsets[()] = event.start_mark.index
            if change and inside:
                stack.append(_Open(inside, path, is_object=kind is events.MappingStartEvent))
            else:
                depth = change
            if not wanted:
                return


class _Open:
    """An open collection that holds wanted values, with the key or the index of the next value."""

    __slots__ = ("_count", "_is_object", "_key", "_path", "_wanted")

    def __init__(self, wanted: _Wanted, path: tuple[str, ...], *, is_object: bool) -> None:
        self._wanted = wanted
        self._path = path
        self._is_object = is_object
        self._key: str | None = None
        self._count = 0

    def enter(self, event: Any, offsets: dict[tuple[str, ...], int]) -> tuple[_Wanted, tuple[str, ...]]:
        """Add the offset of a key or an item if it is wanted; return the wanted values within, and the path."""
        is_key = self._is_object and self._key is None
        if is_key:
            part = event.value if type(event) is events.ScalarEvent else ""
            self._key = part
        else:
            part = str(self._count) if self._key is None else self._key
            self._key = None
            self._count += 1
        path = (*self._path, part)
        if part in self._wanted and (is_key or not self._is_object):
            offsets[path] = event.start_mark.index
        return ({} if is_key else self._wanted.get(part, {})), path


_DEPTHS: Final = {
    events.MappingStartEvent: 1,
    events.SequenceStartEvent: 1,
    events.MappingEndEvent: -1,
    events.SequenceEndEvent: -1,
}
_SCALARS: Final = (events.ScalarEvent, events.AliasEvent)
