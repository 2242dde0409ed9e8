# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""What a schema holds, and what the types hold that it reaches by references, recursive ones included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from ..table import JsonSchema
from .reader import Types

__all__ = ["reached"]

Found = TypeVar("Found")


def reached(
    schema: JsonSchema,
    types: Types,
    inspect: Callable[[JsonSchema], tuple[Found, frozenset[str]]],
    known: dict[str, tuple[Found, frozenset[str]]],
) -> Iterator[Found]:
    """Yield what `inspect` finds in a schema, then in each type that it reaches; `known` keeps that of the types.

    `inspect` returns what it finds and the names of the types that a schema refers to.
    """
    finding, references = inspect(schema)
    yield finding
    seen: set[str] = set()
    todo = list(references)
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        if name not in known:
            known[name] = inspect(types.get(name, {}))
        finding, references = known[name]
        yield finding
        todo.extend(references)
