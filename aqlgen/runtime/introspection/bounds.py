# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How much of a list one answer of introspection holds, and how an agent goes on (R-INT-6).

A list is bounded in entries and in tokens, as estimated; what makes its entries is asked for no more than it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..errors import Code, Failure

__all__ = ["UNBOUNDED", "Bounds", "refuse_narrowing", "tokens_of"]

_Entry = TypeVar("_Entry")


def tokens_of(value: Any) -> int:
    """Return how many tokens the JSON of a value is at most, as a rule."""
    from .. import tokens  # only introspection that is asked for needs it

    return tokens.tokens_of(value)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The part of a list that is wanted: behind the entry `after`, at most `first` entries, at most `tokens`.

    None is no bound. There is always one entry at least, if the list has any behind `after`.
    """

    after: str | None = None
    first: int | None = None
    tokens: int | None = None

    @classmethod
    def of(cls, params: Mapping[str, Any], first: int | None, tokens: int) -> Bounds:
        """Return what the parameters of introspect ask for, with `first` and `tokens` unless they say otherwise."""
        if params.get("all"):
            return cls(params.get("after"))
        return cls(params.get("after"), params.get("first") or first, tokens)

    def page(self, entries: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
        """Return the entries, each with a `name`, that an answer holds, and how many follow. Raises Failure."""
        by_name = {entry["name"]: entry for entry in entries}
        return self.taken(list(by_name), by_name.__getitem__)

    def described(self, page: Sequence[Mapping[str, Any]], total: int, left: int) -> dict[str, Any]:
        """Return what an answer says of a page: how many there are of all, and the entry to go on after."""
        return {"total": total, "first": self.first or total, "next": page[-1]["name"] if page and left else None}

    def taken(self, names: Sequence[str], make: Callable[[str], _Entry]) -> tuple[list[_Entry], int]:
        """Return the entries made from the names that an answer holds, and how many follow. Raises Failure."""
        start = 0 if self.after is None else self._start(names)
        entries: list[_Entry] = []
        spent = 0
        for name in names[start:][: self.first]:
            entry = make(name)
            if self.tokens is not None:
                spent += tokens_of(entry)
                if entries and spent > self.tokens:
                    break
            entries.append(entry)
        return entries, len(names) - start - len(entries)

    def _start(self, names: Sequence[str]) -> int:
        if self.after not in names:
            raise Failure(
                Code.INVALID_VALUE,
                "Parameter 'after' is not an entry of this list. Give the name of the last entry of the page before, "
                "such as `_protocol.page.next`.",
            )
        return names.index(self.after) + 1


UNBOUNDED = Bounds()


def refuse_narrowing(params: Mapping[str, Any], query: str, names: Sequence[str]) -> None:
    """Raise Failure for one of these parameters, by which a query is not narrowed."""
    for name in names:
        if params.get(name) is not None:
            raise Failure(Code.INVALID_VALUE, f"Parameter '{name}' does not narrow query '{query}'; give name")
