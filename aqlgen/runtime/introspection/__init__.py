"""A query of introspection: the check of its parameters (R-REQ-3, R-REQ-4), and how much one answer holds (R-INT-6).

A list is bounded in entries and in tokens, as estimated; what makes its entries is asked for no more than it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from ..errors import Code, Failure
from ..protocol_operations import CheckedParameters, ProtocolOperation
from ..text import alike, line, listed, tokens_of
from . import protocol

_Entry = TypeVar("_Entry")


@dataclass(frozen=True, slots=True)
class Bounds:
    """The part of a list that is wanted: behind the entry `after`, at most `first` entries, at most `tokens`.

    None is no bound. There is always one entry at least, if the list has any behind `after`.
    """

    after: str | None = None
    first: int | None = None
    tokens: int | None = None

    @classmethod
    def of(cls, params: Mapping[str, Any], first: int | None, tokens: int, *, counted: bool = False) -> Bounds:
        """Return the bounds in the parameters of introspect, with `first` and `tokens` unless they say otherwise.

        In a list that is `counted`, the client's own `first` is all that bounds it (pagination document, 2).
        """
        if params.get("all"):
            return cls(params.get("after"))
        asked = params.get("first")
        return cls(params.get("after"), asked or first, None if counted and asked else tokens)

    def page(self, entries: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
        """Return the entries, each with a `name`, that an answer holds, and how many follow. Raises Failure."""
        by_name = {entry["name"]: entry for entry in entries}
        return self.taken(list(by_name), by_name.__getitem__)

    def described(self, page: Sequence[Mapping[str, Any]], total: int, left: int) -> dict[str, Any]:
        """Return the description of a page: how many entries there are of all, and the one to go on after."""
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


_MOST_NAMES = 10


def as_query(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters of introspect as a query, also those that only name what is to be described.

    The name may be given as `operation`, and the query be left out or misspelt.
    """
    name = params.get("name", params.get("operation"))
    if name is None:
        return params
    query = params.get("query")
    spelled = [known for known in protocol.QUERIES if alike(str(query), known)]
    query = "search" if query is None else spelled[0] if spelled else query
    return {**{key: value for key, value in params.items() if key != "operation"}, "query": query, "name": name}


@lru_cache(4)
def _parameters(apis: tuple[str, ...]) -> CheckedParameters:
    """Return the check of the parameters of introspect; `api` is one of them where there are several APIs."""
    infos = (*protocol.INTROSPECT["parameters"], *([{**protocol.API, "enum": list(apis)}] if apis else []))
    schemas = {"category": {"enum": list(protocol.CATEGORIES)}, "name": {"type": ["string", "array"]}}
    return CheckedParameters(ProtocolOperation("introspect", "read", "", infos, {}, (), schemas=schemas))


def checked_query(params: Mapping[str, Any], apis: Collection[str] = ()) -> str:
    """Check the parameters of introspect and return the query; None counts as absent (R-REQ-3, R-REQ-4).

    `apis` are the names of several APIs, of which `api` may be one. Raises Failure.
    """
    checked = _parameters(tuple(apis))
    present = {name: value for name, value in params.items() if value is not None or name not in checked.parameters}
    if isinstance(present.get("category"), str):
        present["category"] = present["category"].upper()
    query = present.get("query")
    if isinstance(query, str) and query not in protocol.QUERIES:
        message = f"Parameter 'query' is '{line(query, 40)}'; allowed values: {listed(protocol.QUERIES)}. "
        message += "Give name to describe one of them, search to find some."
        raise Failure(Code.INVALID_VALUE, message)
    checked.check(present)
    return str(query)


def names_of(params: Mapping[str, Any], query: str) -> list[str] | None:
    """Return the names if several are asked for: a list, or of query search a text with commas; None otherwise.

    The protocol's own queries take one name, a text, and answer it as the protocol says. Raises Failure.
    """
    value = params.get("name")
    if isinstance(value, str) and query == "search":
        value = [part.strip(" \t\r\n\"'[]") for part in value.split(",", _MOST_NAMES + 1)]
    if not isinstance(value, list):
        return None
    if not all(isinstance(name, str) for name in value):
        raise Failure(Code.INVALID_TYPE, "Parameter 'name' expected 'string' or a list of them")
    names = [name for name in value if name]
    if not 1 <= len(names) <= _MOST_NAMES:
        count = len(names) if names else "none"
        raise Failure(Code.INVALID_VALUE, f"Parameter 'name' takes 1 to {_MOST_NAMES} names; it has {count}")
    return list(dict.fromkeys(names))
