# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""A request as the API reads it: its body, its form and its query, by the API's names, and the operations of a patch.

The operations of a patch (RFC 6902; RFC 7644, 3.5.2) are read as changes of a field that a rule speaks of.

An operation that puts a value at the field, or at what holds it, says the value. Any other that touches the field, what
holds it or what is in it (`move`, `copy`, `remove`, one whose path cannot be read) cannot be told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from ...errors import Failure
from ...exact_json import ExactFloat
from ...text import letters
from ...wire import FORM, is_json, media_type
from .values import HIDDEN, MISSING, Spellings, is_operation, joined, spelled, walk

if TYPE_CHECKING:
    from ...wire import ApiRequest

__all__ = ["Sent", "patched"]

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

    None for a target elsewhere. A target that is not a pointer may begin anywhere, as after the URN of a schema.
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


class Sent(NamedTuple):
    """The decoded parts of a request."""

    body: Any
    pairs: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, build: Callable[[], ApiRequest]) -> Sent | None:
        """Return what a request says; None for one that cannot be made, and so is not sent."""
        try:
            request = build()
        except Failure:
            return None
        pairs = parse_qsl(request.url.partition("?")[2], keep_blank_values=True)
        kind = next((value for name, value in request.headers if name.lower() == "content-type"), "")
        body: Any = None
        try:
            if request.content is not None and is_json(kind):
                body = json.loads(request.content)
            elif request.content is not None and media_type(kind) == FORM:
                pairs += parse_qsl(request.content.decode(), keep_blank_values=True)
        except (ValueError, RecursionError):
            body = None
        return cls(body, pairs)

    def values(self, path: Sequence[Spellings], known: Sequence[Any], *, of_lists: bool) -> Iterator[Any]:
        """Yield the values at a path besides those that are `known` from the parameters."""
        if self.body is not None and not isinstance(self.body, str | int | float):
            for value in walk(self.body, path, of_lists=of_lists):
                if value is not MISSING:
                    yield value
            yield from patched(self.body, path, of_lists=of_lists)
        names = joined(tuple(path))
        texts = [text for name, text in self.pairs if spelled(name) in names]
        if len(texts) > 1 or not known:
            written = {text for value in known for text in _texts(value)}
            more = [text for text in texts if text not in written]
            yield from [texts] if of_lists and more else more


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, ExactFloat):
        yield value.text
    else:
        yield value if isinstance(value, str) else json.dumps(value, default=str)
