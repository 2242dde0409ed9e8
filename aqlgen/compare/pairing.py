"""Which operation of one adapter is which of the other: by what it calls, before what it is called."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from aqlgen.compare.surface import Operation, Surface
from aqlgen.runtime.encode.urls import without_names

__all__ = ["Pairing", "address", "pair"]

_VERSION: Final = re.compile(
    r"^(?:v\d+(?:[._-]?\d+)*(?:(?:alpha|beta|rc)\d*)?|\d{4}-\d{2}(?:-\d{2})?|\d+\.\d+)$", re.IGNORECASE
)

Key = Callable[[Operation], str]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Operations that are there before and now, those that are gone, and those that are new."""

    kept: tuple[tuple[Operation, Operation], ...]
    by_name: frozenset[str]
    """Those of the kept, by today's name, that nothing but their name pairs."""
    gone: tuple[Operation, ...]
    come: tuple[Operation, ...]


def pair(old: Surface, new: Surface) -> Pairing:
    """Pair the operations: the surest sign first, and a sign counts only where it tells one from all others."""
    gone, come = dict(old.operations), dict(new.operations)
    kept: list[tuple[Operation, Operation]] = []
    named: set[str] = set()
    for key in _KEYS:
        before, after = _only(gone.values(), key), _only(come.values(), key)
        for sign in before.keys() & after.keys():
            kept.append((before[sign], after[sign]))
            named.update((after[sign].name,) if key is _called else ())
            del gone[before[sign].name], come[after[sign].name]
    kept.sort(key=lambda both: both[1].name)
    return Pairing(tuple(kept), frozenset(named), tuple(gone.values()), tuple(come.values()))


def _only(operations: Iterable[Operation], key: Key) -> dict[str, Operation]:
    """Give the operations by a sign that no other of them has."""
    found: dict[str, list[Operation]] = defaultdict(list)
    for one in operations:
        sign = key(one)
        if sign:
            found[sign].append(one)
    return {sign: those[0] for sign, those in found.items() if len(those) == 1}


def address(operation: Operation) -> str:
    """Give the method and the path, whatever its placeholders are called."""
    return without_names(operation.key)


def _unnamed(operation: Operation) -> str:
    return address(operation).rstrip("/")


def _unversioned(operation: Operation) -> str:
    """Give the method and the path without versions in it."""
    return "/".join(part for part in _unnamed(operation).split("/") if not _VERSION.match(part))


def _identified(operation: Operation) -> str:
    return operation.operation_id or ""


def _called(operation: Operation) -> str:
    """Give the name, of what does the same with the same resource."""
    return f"{operation.name} {operation.method} {operation.family}"


_KEYS: Final[tuple[Key, ...]] = (lambda one: one.key, _unnamed, _identified, _unversioned, _called)
