"""Finding operations and types by words (R-INT-6), and their other names (R-REQ-2).

Operations are found in the index that was made at generation. A project without one is searched by names, resources,
summaries and paths. Nothing is read before the first search. Other names are aliases, and the API's own spellings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import islice, zip_longest
from typing import NamedTuple

from ..protocol_operations import ProtocolOperation
from ..table import Row, Table
from ..text import folded, line
from .postings import FILE, Hit, Postings, index_text, plain_entry
from .ranking import Found, Ranking
from .vocabulary import plain_verbs, plain_words, same_words, stem, verb_class, words_of


class Alias(NamedTuple):
    """Another name of an operation; it is answered to the end of the day `until` (UTC), if there is one."""

    name: str
    operation: str
    until: date | None

    @property
    def ended(self) -> bool:
        """True when its last day has passed."""
        return self.until is not None and datetime.now(UTC).date() > self.until

    def describe(self, description: str) -> str:
        """Return an operation's description for an agent that asks for it by this name."""
        until = "" if self.until is None else f" and ends after {self.until.isoformat()}"
        return f"The name '{self.name}' is deprecated{until}: use '{self.operation}'. {description}"


class Aliases:
    """The aliases of a table, read when a name is asked for that no operation has."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @cached_property
    def _by_name(self) -> dict[str, Alias]:
        return {
            former.name: Alias(former.name, name, former.until)
            for name, _, (aliases,) in self._table.values("aliases")
            for former in aliases
        }

    def find(self, name: str) -> Alias | None:
        """Return the alias of that name, None if there is none or it has ended."""
        alias = self._by_name.get(name)
        return None if alias is None or alias.ended else alias

    def ended(self, name: str) -> Alias | None:
        """Return the alias of that name if it has ended."""
        alias = self._by_name.get(name)
        return alias if alias is not None and alias.ended else None


class Spellings:
    """Other spellings of a table's operations, collected at the first name that no operation has."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, text: str) -> str | None:
        """Return the operation that a text means beyond doubt.

        The text may be its operation id, its method and path, or these or its name in other case or with hyphens.
        """
        name = self._by_operation_id.get(text)
        if name is None:
            plain = folded(" ".join(text.split()))
            name = self._by_name.get(plain) or self._by_address.get(plain)
        return name

    @cached_property
    def _by_operation_id(self) -> Mapping[str, str]:
        return _unique((operation_id or name, name) for name, _, (operation_id,) in self._table.values("operation_id"))

    @cached_property
    def _by_name(self) -> Mapping[str, str]:
        rows = self._table.values("operation_id")
        return _unique((folded(known), name) for name, _, (id_,) in rows for known in (name, id_ or name))

    @cached_property
    def _by_address(self) -> Mapping[str, str]:
        rows = list(self._table.values("method", "path", "api"))
        keys = ((folded(f"{method} {path}"), name) for name, _, (method, path, _) in rows)
        of_apis = ((folded(f"{api}:{method} {path}"), name) for name, _, (method, path, api) in rows if api)
        return _unique((*keys, *of_apis))

    def at(self, text: str) -> list[str]:
        """Return the operations whose path a method and path, or a path alone, fits; those of that method first."""
        method, _, path = text.strip().rpartition(" ")
        if not path.startswith("/"):
            return []
        steps = path.partition("?")[0].rstrip("/").split("/")
        fitting = [
            (known_method.lower() != (method.lower() or "get"), known_path.count("{"), name)
            for name, _, (known_method, known_path) in self._table.values("method", "path")
            if len(known := known_path.rstrip("/").split("/")) == len(steps)
            and all(part == step or "{" in part for part, step in zip(known, steps, strict=True))
        ]
        fitting.sort(key=lambda item: item[:2])
        return [name for _, _, name in fitting]


def _unique(spellings: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return names by their spellings, without the spellings that two operations share."""
    names_by_spelling: dict[str, set[str]] = {}
    for spelling, name in spellings:
        names_by_spelling.setdefault(spelling, set()).add(name)
    return {spelling: next(iter(names)) for spelling, names in names_by_spelling.items() if len(names) == 1}


def spellings_of_resource(resource: str) -> set[str]:
    """Return the possible names in the table of a resource that an agent names, in the singular or the plural."""
    wanted = resource.strip().lower().replace("-", "_").replace(" ", "_")
    return {wanted, wanted.removesuffix("s"), wanted.removesuffix("es"), re.sub("ies$", "y", wanted)}


_MOST_NEAR, _MOST_LIKE, _MOST_RESOURCES = 5, 3, 60
_CALLER = "current authenticated user account"  # what `get_me`, `who am i` and a verb alone are about


class Search:
    """The search of an adapter's operations, those of the protocol included."""

    def __init__(
        self, table: Table, operations: Iterable[ProtocolOperation] = (), prefixes: Collection[str] = ()
    ) -> None:
        self._table = table
        self._prefixes = prefixes
        self._operations = tuple(operations)

    def find(self, text: str, wanted: Callable[[Hit], bool] | None = None) -> Found:
        """Return the operations that a text may mean; the one that has it as its name is the first."""
        return self._ranking.search(text, self._admitted(wanted))

    @cached_property
    def resources(self) -> dict[str, int]:
        """Return the resources with the most operations, each with how many it has."""
        hits = filter(self._admitted(None) or bool, self._ranking.hits())
        return dict(Counter(hit.resource for hit in hits if hit.resource).most_common(_MOST_RESOURCES))

    def near(
        self, text: str, spellings: Spellings, param_names: Collection[str] = (), family: str | None = None
    ) -> tuple[list[Hit], str | None]:
        """Return the operations that an unknown name may mean, by path or words, and the one that it surely means.

        `param_names` are the names of the call's parameters, and `family` is that of its tool.
        """
        from .nearest import Unknown  # most sessions name no operation wrongly

        by_path = spellings.at(text)
        if by_path:
            rows = self._rows(by_path)
            at_path = [Hit(row.name, "", "", "", (), line(row.summary, 200)) for row in rows[:_MOST_NEAR]]
            return at_path, by_path[0] if len({row.api for row in rows}) == 1 else None
        spoken = " ".join(words_of(text))
        text = text if plain_verbs(spoken) == spoken else plain_verbs(spoken)
        words = plain_words(text)
        is_me = len(words) < 2 and ({*words_of(text)} & {"i", "me"} or any(map(verb_class, map(stem, words))))
        asked = f"{text} {_CALLER}" if is_me else text
        unknown = Unknown(asked, param_names, family)
        texts = dict.fromkeys((asked, " ".join((asked, *islice(param_names, _MOST_NEAR), *unknown.owner[:1]))))
        results = [self._ranking.search(words, self._admitted(None), _MOST_NEAR * 4).hits for words in texts]
        results.append(self._ranking.search(asked, self._admitted(lambda hit: hit.family == "read"), 1).hits)
        hits = {hit.name: hit for at in zip_longest(*results) for hit in at if hit}
        others = [hit for name, hit in hits.items() if self._table.find(name) is None]
        rows = unknown.ordered(self._rows(hits), self._table.types)
        near = [*(hits[row.name] for row in rows), *others]
        same = [hit for hit in near if same_words(text, hit.name)]
        is_first = same[:1] == near[:1] and bool(rows) and unknown.fits(rows[0], self._table.types)
        sure = same[0].name if same and (is_first or same[0] in others) else None
        near.sort(key=lambda hit: hit.name != sure)
        matches = results[0][:_MOST_NEAR] if near else []
        return [*dict.fromkeys((*near[:_MOST_LIKE], *matches, *near))][:_MOST_NEAR], sure

    def _rows(self, names: Iterable[str]) -> list[Row]:
        return [row for name in names if (row := self._table.find(name)) is not None]

    def _admitted(self, wanted: Callable[[Hit], bool] | None) -> Callable[[Hit], bool] | None:
        """Return the filter of a search: all that is offered, and of that what is wanted."""
        if not self._table.read_only:
            return wanted
        known = {operation.name for operation in self._operations}
        offered = self._table.raw("read")
        return lambda hit: (hit.name in known or hit.name in offered) and (wanted is None or wanted(hit))

    @cached_property
    def _ranking(self) -> Ranking:
        postings = self._postings()
        postings.include([plain_entry(item.name, item.family, "", "", item.description) for item in self._operations])
        return Ranking(postings, self._prefixes)

    def _postings(self) -> Postings:
        text = self._table.text(FILE)
        if text is not None:
            try:
                return Postings(text)
            except ValueError:
                pass  # of another format: as if there were none
        rows = self._table.values("danger", "resource", "summary", "path")
        return Postings(
            index_text(
                plain_entry(name, family, danger, resource, summary, path)
                for name, family, (danger, resource, summary, path) in rows
            )
        )
