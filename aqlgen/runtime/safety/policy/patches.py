# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The operations of a patch (RFC 6902; RFC 7644, 3.5.2), read as changes of a field that a rule speaks of.

An operation that puts a value at the field, or at what holds it, says the value. Any other that touches the field, what
holds it or what is in it (`move`, `copy`, `remove`, one whose path cannot be read) cannot be told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from ...text import letters
from .values import HIDDEN, Spellings, is_operation, joined, walk

__all__ = ["patched"]

_MOST_PARTS = 20_000
_LONGEST = 2_000
_PUTS = frozenset({"add", "replace", "set", "test"})
_DIVIDED = re.compile(r"[/.:\[\]\s]+")
_INDEX = re.compile(r"-|[0-9]+")


def patched(value: Any, path: Sequence[Spellings], *, of_lists: bool) -> Iterator[Any]:
    """Yield what the operations anywhere in a value put at a path, HIDDEN where that cannot be told."""
    waiting, count = [value], 0
    while waiting:
        item = waiting.pop()
        count += 1
        if count > _MOST_PARTS:
            yield HIDDEN
            return
        if isinstance(item, list | tuple):
            waiting += item
        elif isinstance(item, Mapping):
            if is_operation(item):
                yield from _operation(item, path, of_lists=of_lists)
            waiting += item.values()


def _operation(operation: Mapping[str, Any], path: Sequence[Spellings], *, of_lists: bool) -> Iterator[Any]:
    """Yield what one operation puts at a path; a field of it that stands there twice may mean either."""
    fields: dict[str, list[Any]] = {}
    for key, inner in operation.items():
        fields.setdefault(letters(str(key)), []).append(inner)
    kinds = {letters(kind) if isinstance(kind, str) else "" for kind in fields["op"]}
    puts = kinds <= _PUTS and "value" in fields
    targets = fields.get("path", [""])
    if kinds != {"copy"}:
        targets = [*targets, *fields.get("from", ())]
    for target in targets:
        depth = _depth(target, path)
        if depth is None:
            continue
        is_item = of_lists and isinstance(target, str) and _INDEX.fullmatch(target.rpartition("/")[2]) is not None
        if depth > len(path) or not puts or is_item:
            yield HIDDEN
        else:
            for value in fields["value"]:
                yield from walk(value, path[depth:], of_lists=of_lists)


def _depth(target: Any, path: Sequence[Spellings]) -> int | None:
    """Return how many names of a path an operation's target has; more than there are for one below it or unreadable.

    None for a target elsewhere. A target that is no pointer may begin anywhere, as after the URN of a schema.
    """
    beyond = len(path) + 1
    if isinstance(target, list) and all(isinstance(step, str) for step in target):
        return _along(target, path)
    if not isinstance(target, str) or len(target) > _LONGEST:
        return beyond
    text = unquote(target.strip().removeprefix("#"))
    if not text or text.startswith("/"):
        return _along([step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]], path)
    steps = [step for step in _DIVIDED.split(text) if letters(step)]
    depths = (_along(steps[begin:], path) for begin in range(len(steps)))
    return next((depth for depth in depths if depth is not None), None if steps else beyond)


def _along(steps: Sequence[str], path: Sequence[Spellings]) -> int | None:
    """Return the same for the steps of a target, of which those that choose an item of a list are left out."""
    has_numbers = any(name.isdigit() for names in path for name in names)
    names = [letters(step) for step in steps if has_numbers or not _INDEX.fullmatch(step)]
    whole = "".join(names)
    for depth in range(len(path) + 1):
        if whole in joined(tuple(path[:depth])):
            return depth
    ends = joined(tuple(path))
    return len(path) + 1 if any("".join(names[:end]) in ends for end in range(1, len(names))) else None
