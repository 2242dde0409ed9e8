"""Pairs of operations that are the same in both adapters: by what they call first, by their names last."""

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
    r"^(?:v\d+(?:[._-]\d+)*(?:(?:alpha|beta|rc)\d*)?|\d{4}-\d{2}(?:-\d{2})?|\d+\.\d+)$", re.IGNORECASE
)

Key = Callable[[Operation], str]
"""Returns what identifies an operation, or "" if it lacks that."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Operations that both adapters have, as (old, new), those that are gone, and those that are new."""

    kept: tuple[tuple[Operation, Operation], ...]
    by_name: frozenset[str]
    """The new names of the kept operations that nothing but their name pairs."""
    removed: tuple[Operation, ...]
    added: tuple[Operation, ...]


def pair(old: Surface, new: Surface) -> Pairing:
    """Pair the operations by one key after the other, the surest first; a key counts only where it is unique."""
    removed, added = dict(old.operations), dict(new.operations)
    kept: list[tuple[Operation, Operation]] = []
    by_name: set[str] = set()
    for key in _KEYS:
        before, after = _by_unique_key(removed.values(), key), _by_unique_key(added.values(), key)
        for value in before.keys() & after.keys():
            kept.append((before[value], after[value]))
            if key is _name:
                by_name.add(after[value].name)
            del removed[before[value].name], added[after[value].name]
    kept.sort(key=lambda operations: operations[1].name)
    return Pairing(tuple(kept), frozenset(by_name), tuple(removed.values()), tuple(added.values()))


def _by_unique_key(operations: Iterable[Operation], key: Key) -> dict[str, Operation]:
    """Return the operations by a key, without those whose key is empty or shared."""
    groups: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        groups[key(operation)].append(operation)
    return {value: group[0] for value, group in groups.items() if value and len(group) == 1}


def address(operation: Operation) -> str:
    """Return the method and the path, whatever the placeholders are called."""
    return without_names(operation.key)


def _address_without_slash(operation: Operation) -> str:
    return address(operation).rstrip("/")


def _operation_id(operation: Operation) -> str:
    return operation.operation_id or ""


def _address_without_version(operation: Operation) -> str:
    return "/".join(part for part in _address_without_slash(operation).split("/") if not _VERSION.match(part))


def _name(operation: Operation) -> str:
    """Return the name, together with the method and the tool: the same name for something else is no sign."""
    return f"{operation.name} {operation.method} {operation.family}"


_KEYS: Final[tuple[Key, ...]] = (
    lambda operation: operation.key,
    _address_without_slash,
    _operation_id,
    _address_without_version,
    _name,
)
