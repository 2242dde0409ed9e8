"""The events of a YAML parser, the positions of values among them, and the loader of what is no document.

The only place that chooses between libyaml and PyYAML's own parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import yaml
from yaml import events

try:
    from yaml import CSafeLoader as SafeLoader
    from yaml._yaml import CParser as _Parser
except ImportError:  # PyYAML built without libyaml: the same events and nodes, more slowly
    from yaml import SafeLoader  # type: ignore[assignment]
    from yaml import SafeLoader as _Parser  # type: ignore[assignment]

__all__ = ["SafeLoader", "parser_events", "scan", "without_tabs"]

_TABS: Final = re.compile(r"^ *+\t[ \t]*+(?=#|\r?$)", re.MULTILINE)

_Wanted: TypeAlias = dict[str, "_Wanted"]


def without_tabs(text: str) -> str:
    """Return YAML with spaces for the tabs before a comment or in an empty line, which the parser rejects.

    YAML 1.2.2 allows them (6.6 and 6.7). No position changes. In a block scalar such tabs may have a meaning.
    """
    return _TABS.sub(lambda match: match[0].replace("\t", " "), text)


def parser_events(text: str) -> Iterator[Any]:
    """Yield the parser's events. Raises yaml.YAMLError."""
    get_event = _Parser(text).get_event
    while (event := get_event()) is not None:
        yield event


def scan(text: str, wanted: _Wanted, offsets: dict[tuple[str, ...], int]) -> None:
    """Add the character offset of each wanted path to `found`, in one pass over the text."""
    try:
        _scan(text, wanted, offsets)
    except yaml.YAMLError:  # the text was read without its harmless tabs
        _scan(without_tabs(text), wanted, offsets)


def _scan(text: str, wanted: _Wanted, offsets: dict[tuple[str, ...], int]) -> None:
    """Follow the events along with their path; `depth` counts the open collections without wanted values."""
    stack: list[tuple[_Wanted, tuple[str, ...], bool]] = []
    index: list[int] = []
    key: str | None = None
    here: tuple[_Wanted, tuple[str, ...]] = (wanted, ())
    depth = 0
    for event in parser_events(text):
        kind = type(event)
        starts = kind is events.MappingStartEvent or kind is events.SequenceStartEvent
        ends = kind is events.MappingEndEvent or kind is events.SequenceEndEvent
        if depth:
            depth += 1 if starts else -1 if ends else 0
            continue
        if ends:
            stack.pop()
            index.pop()
            key = None
            continue
        if not (starts or kind is events.ScalarEvent or kind is events.AliasEvent):
            continue
        if stack:
            inside, path, is_object = stack[-1]
            if is_object and key is None:
                key = event.value if kind is events.ScalarEvent else ""
                if key in inside:
                    offsets[*path, key] = event.start_mark.index
                continue
            part = key if key is not None else str(index[-1])
            here = (inside.get(part, {}), (*path, part))
            if not is_object:
                index[-1] += 1
                if part in inside:
                    offsets[here[1]] = event.start_mark.index
            key = None
        else:
            offsets[()] = event.start_mark.index
            if not wanted:
                return
        if starts and here[0]:
            stack.append((*here, kind is events.MappingStartEvent))
            index.append(0)
        elif starts:
            depth = 1
