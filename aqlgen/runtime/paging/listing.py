"""`where`, `order_by` and `aggregate` of lists: computed here, over a bounded number of pages (R-SEL-4)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

from ..calls.absent import Absence, named_with_nearest
from ..calls.aggregates import Aggregates, read_aggregate
from ..calls.conditions import Matcher, compile_condition, order_key, values_at
from ..envelope import CallWarning
from ..errors import Failure, invalid
from .cursors import Place

if TYPE_CHECKING:
    from .page import Page

MOST_ITEMS: Final = 1000
MOST_PAGES: Final = 10
"""How much of a list one call looks through."""

_MOST_MATCHES: Final = 100
_LONGEST_PATH: Final = 200

BOUNDED: Final = "VALIDATION_LIST_BOUND_WARNING"
"""Code of the warning that there is more of the list than was looked through."""

PARTIAL: Final = "VALIDATION_PARTIAL_LIST_WARNING"
"""Code of the warning that there may be more of a list than the API gave."""

UNKNOWN_FIELD: Final = "VALIDATION_UNKNOWN_FIELD_WARNING"
"""Code of the warning that no item has a field that was asked about."""


@dataclass(frozen=True, slots=True)
class _Order:
    """The field that items are put in order by, and whether the highest comes first."""

    path: tuple[str, ...]
    descending: bool

    def sort(self, items: list[Any]) -> list[Any]:
        """Return items in order, equal ones as the API has them; those without a value come last."""
        keys = [(next(filter(None, map(order_key, values_at(item, self.path))), None), item) for item in items]
        ordered = sorted((pair for pair in keys if pair[0] is not None), key=itemgetter(0), reverse=self.descending)
        return [item for _, item in (*ordered, *(pair for pair in keys if pair[0] is None))]


@dataclass(slots=True)
class ListQuery:
    """What a call asks of a list beside its page; `warnings` and `scanned` tell of the items that were looked at."""

    matcher: Matcher | None
    aggregates: Aggregates | None
    absence: Absence
    order: _Order | None = None
    first: int | None = None
    after: str | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    """The part of the question that binds its cursors, beside the API's parameters."""
    total: int | None = None
    """How many items match of a whole list of which only the first are given."""
    scanned: int = 0
    pages: int = 0
    only_item: Any = None
    """The item of a list that has no other."""
    more: bool = False
    """True if there is more of the list than was looked at."""
    signs: Mapping[str, Any] = field(default_factory=dict)
    """What speaks for more items behind the last page."""

    def _matches(self, items: list[Any]) -> list[int]:
        """Return the indexes of the items that match."""
        self.scanned += len(items)
        self.only_item = items[0] if self.scanned == len(items) == 1 else None
        self.absence.see(items)
        return [index for index, item in enumerate(items) if self.matcher is None or self.matcher(item)]

    def over(self, items: list[Any]) -> list[Any]:
        """Return the items of a whole list that match; where aggregates are asked for they are computed."""
        chosen = [items[index] for index in self._matches(items)]
        if self.aggregates is not None:
            self.aggregates.add(chosen)
            return chosen
        if self.first is not None and len(chosen) > self.first:
            self.total = len(chosen)
        return (self.order.sort(chosen) if self.order is not None else chosen)[: self.first]

    async def _looked_at(self, pages: AsyncIterator[Page]) -> AsyncIterator[tuple[Page, list[int]]]:
        """Yield pages, each with the indexes of its items that match, to the end of the list or the bound."""
        async for page in pages:
            self.pages += 1
            self.more, self.signs = page.following is not None, page.signs
            yield page, self._matches(page.items)
            if self.pages >= MOST_PAGES or self.scanned >= MOST_ITEMS:
                return

    async def ordered(self, pages: AsyncIterator[Page]) -> Page:
        """Return a page of the items that match, in order."""
        assert self.order is not None  # noqa: S101 - asked of such queries only
        first: Page | None = None
        items: list[Any] = []
        async for page, matches in self._looked_at(pages):
            first = first or page
            items += [page.items[index] for index in matches]
        assert first is not None  # noqa: S101 - there is a page, or Failure was raised
        skip = 0
        if self.after is not None:
            await first.prepare()
            skip = first.cursors.read("after", self.after, first.operation, first.filters).skip
        end = skip + min(self.first or _MOST_MATCHES, _MOST_MATCHES)
        return replace(
            first,
            place=Place(skip=skip),
            items=self.order.sort(items)[skip:end],
            total=None if self.more else len(items),
            following=Place(skip=end) if end < len(items) else None,
            previous=skip > 0,
            backward=False,
        )

    async def filtered(self, pages: AsyncIterator[Page]) -> Page:
        """Return a page of the items that match, the first ones of the pages, with the cursor behind them."""
        wanted = min(self.first or _MOST_MATCHES, _MOST_MATCHES)
        first: Page | None = None
        items: list[Any] = []
        marks: list[Any] = []
        following = None
        async for page, matches in self._looked_at(pages):
            first, following = first or page, page.following
            chosen = matches[: wanted - len(items)]
            items += [page.items[index] for index in chosen]
            marks += [page.after(index + 1) for index in chosen]
            if len(items) == wanted:
                following = marks[-1] if chosen and chosen[-1] + 1 < len(page.items) else page.following
                break
        assert first is not None  # noqa: S101 - there is a page, or Failure was raised
        self.more = following is not None
        if self.more:
            self.signs = {}
        return replace(first, items=items, marks=marks, following=following, total=None, backward=False)

    async def aggregated(self, pages: AsyncIterator[Page]) -> dict[str, Any]:
        """Return the aggregates over the pages."""
        aggregates, total = self.aggregates, None
        assert aggregates is not None  # noqa: S101 - asked of such queries only
        async for page, matches in self._looked_at(pages):
            aggregates.add(page.items[index] for index in matches)
            if self.matcher is None and aggregates.only_counts and page.total is not None and self.pages == 1:
                total = page.total if not page.previous else None
                self.more = self.more and total is None
            if not self.more:
                break
        return {"aggregations": aggregates.results(total)}

    def warnings(self, *, declares: Callable[[str], bool]) -> list[CallWarning]:
        """Return the warnings: of the bound, if it ended the search and there is more, and of unknown fields."""
        warnings = []
        if self.more and (self.pages >= MOST_PAGES or self.scanned >= MOST_ITEMS):
            is_partial = self.aggregates is not None or self.order is not None
            what = "Aggregated" if self.aggregates is not None else "Ordered" if self.order is not None else "Searched"
            advice = "filter by the operation's own parameters" + (
                "" if is_partial else ", or go on after pageInfo.endCursor"
            )
            warnings.append(
                CallWarning(
                    BOUNDED,
                    f"{what} the first {self.scanned} items only: there are more; {advice}",
                    "high" if is_partial else "medium",
                    {"field": "items", "scanned_count": self.scanned, "pages": self.pages},
                )
            )
        absent = self.absence.fields
        if absent:
            message = f"No item has the field {named_with_nearest(absent)}: it counts as null"
            undeclared = {field: near for field, near in absent.items() if not declares(field)}
            details: dict[str, Any] = {"fields": list(absent), **({"undeclared": undeclared} if undeclared else {})}
            warnings.append(CallWarning(UNKNOWN_FIELD, message, "high" if undeclared else "medium", details))
        return warnings


def read_query(options: Mapping[str, Any], agent_path: Callable[[str], str] = str) -> ListQuery:
    """Return the query of a list in the options. Raises Failure for a form that cannot be read.

    `agent_path` returns the path of a field in the agent's names.
    """
    where, aggregate, order_by = options.get("where"), options.get("aggregate"), options.get("order_by")
    for name in ("last", "before"):
        if name in options:
            raise invalid(
                name, f"Cannot use '{name}' with 'where', 'order_by' or 'aggregate'. Use 'first' and 'after'."
            )
    order = None if order_by is None else _read_order(order_by, agent_path)
    if order is not None and aggregate is not None:
        raise invalid("order_by", "Cannot use 'order_by' with 'aggregate', which gives numbers. Leave one of them out.")
    matcher = None if where is None else compile_condition(where, agent_path=agent_path)
    aggregates = None if aggregate is None else read_aggregate(aggregate, agent_path)
    return ListQuery(
        matcher,
        aggregates,
        Absence(
            {
                *map(agent_path, where or ()),
                *(() if aggregates is None else aggregates.fields),
                *(() if order is None else (".".join(order.path),)),
            }
        ),
        order,
        options.get("first"),
        options.get("after"),
        {name: options[name] for name in ("where", "order_by") if name in options},
    )


def _read_order(order_by: Any, agent_path: Callable[[str], str]) -> _Order:
    """Return the order that a text asks for: the path of a field, after a hyphen for the highest first."""
    path = order_by.removeprefix("-") if isinstance(order_by, str) and len(order_by) <= _LONGEST_PATH else ""
    steps = tuple(agent_path(path).split("."))
    if "" in steps:
        raise invalid(
            "order_by",
            "Parameter 'order_by' is the path of a field: 'created_at', or '-created_at' for the highest first.",
            actual_value=repr(order_by)[:100],
        )
    return _Order(steps, order_by.startswith("-"))


def partial_warning(signs: Mapping[str, Any], *, counted: bool) -> CallWarning:
    """Return the warning that a list may not be whole; `counted` if an agent asked for numbers, or for some items."""
    message = (
        "This may not be the whole list: see details.signs. Ask for the rest by the operation's own parameters; the "
        "adapter's owner can make it page (`pagination` in overrides.yaml)"
    )
    return CallWarning(PARTIAL, message, "high" if counted else "medium", {"field": "items", "signs": dict(signs)})


def no_list() -> Failure:
    """Return the refusal of a question that only a list can answer."""
    return invalid(
        "where", "The answer is not a list: call again without 'where', 'order_by', 'aggregate' and 'first'."
    )


def at_list(data: Any, path: tuple[str, ...], change: Callable[[list[Any]], Any]) -> Any:
    """Return the data with the list at a path changed. Raises Failure if there is none."""
    if not path:
        if not isinstance(data, list):
            raise no_list()
        return change(data)
    inner = data.get(path[0]) if isinstance(data, dict) else None
    return {**data, path[0]: at_list(inner, path[1:], change)}
