"""Pages through an API's list with `first` and `after`, however the API itself pages (R-SEL-3).

A page of the adapter lies within one of the API: a cursor states which, and how many of its items came before. So each
item is returned once, even if the API returns more or fewer than requested. A repeated page ends the list: some APIs
answer so for whatever comes after their last page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import Code, Failure, invalid
from ..schema import MISSING, at
from . import PagePlan, first_lead, number, prepare, put, request_size, signs_of_more
from .cursors import Cursors, Place
from .page import Page, beside, find_next_position, is_path, items_hash, page_url, stated_total, states_end

if TYPE_CHECKING:
    from ..calls import Exchanges
    from ..state.custody import State
    from ..table import Row, Table
    from ..wire import ApiRequest

_ASKED = ("where", "order_by", "aggregate", "first", "after", "last", "before")
_CONFLICTS = (
    ("first", "last", "Use 'first' for forward pagination or 'last' for backward pagination"),
    ("first", "before", "Use 'before' with 'last'"),
    ("last", "after", "Use 'after' with 'first'"),
    ("after", "before", "Use 'after' with 'first', or 'before' with 'last'"),
)


class Listing(NamedTuple):
    """A list as a call asks for it; `asked` is the rest of the question beside its page."""

    exchanges: Exchanges
    row: Row
    plan: PagePlan
    params: Mapping[str, Any]
    asked: Mapping[str, Any]

    @property
    def own_params(self) -> dict[str, Any]:
        """The parameters of the call without those of the API's pages."""
        return {name: value for name, value in self.params.items() if name not in self.row.hidden_parameters}

    @property
    def filters(self) -> Mapping[str, Any]:
        """The parameters and conditions that its cursors are bound to."""
        return {**self.own_params, "": self.asked} if self.asked else self.own_params


class Pager:
    """Requests the pages of lists; an operation is prepared at its first call."""

    def __init__(self, table: Table, state: State) -> None:
        self._table = table
        self._cursors = Cursors(state)
        self._plans: dict[str, PagePlan] = {}

    def listing(self, exchanges: Exchanges, row: Row, params: Mapping[str, Any], asked: Mapping[str, Any]) -> Listing:
        """Return the list of a call; its cursors continue only the same question."""
        plan = self._plans.get(row.cache_key)
        if plan is None:
            plan = self._plans[row.cache_key] = prepare(row, self._table)
        return Listing(exchanges, row, plan, params, asked)

    async def page(self, listing: Listing, arguments: Mapping[str, Any], first: int | None = None) -> Page:
        """Return the page of a call, of `first` items if it is given.

        Raises Failure for a combination that is not allowed, and for a foreign cursor.
        """
        row, plan = listing.row, listing.plan
        hidden = _checked(arguments, row, listing.params)
        if "last" in arguments:
            return await self._backward(listing, arguments)
        params = listing.own_params | hidden
        asked = first or arguments.get("first") or number(params.get(plan.size or ""))
        wanted = min(asked or plan.most, plan.most)
        size = request_size(row, plan, wanted) if asked or plan.size_demanded else None
        if "after" in arguments:
            await self._cursors.prepare()
            place = self._cursors.read("after", arguments["after"], row.name, listing.filters)
            if not (place.skip or plan.style == "page"):  # the number of a page counts pages of one size
                place = place._replace(size=size or place.size)
        else:
            place = _beginning(plan, params, size)
        return await self._forward(listing, place, wanted)

    async def pages(self, listing: Listing, arguments: Mapping[str, Any]) -> AsyncIterator[Page]:
        """Yield the page of a call that pages forward, as long as the API gives it, and those after it to the end."""
        page = await self.page(listing, arguments, listing.plan.most)
        yield page
        while page.following is not None:
            page = await self._forward(listing, page.following, listing.plan.most)
            yield page

    async def _forward(self, listing: Listing, place: Place, wanted: int) -> Page:
        exchanges, row, plan, _, _ = listing
        data, items, next_position, total = await self._fetch(listing, place)
        if next_position is not None and total == place.begin + len(items):
            total = None  # it counts the page
        is_compared = not place.skip and bool(place.seen)
        seen = items_hash(items) if is_compared or next_position is not None else ""
        previous = (place.position, place.skip) != (None, 0)
        if is_compared and seen in {place.seen, place.origin} - {""}:
            signs = _signs(exchanges, plan, data, place.begin)
            return Page(row.name, listing.filters, self._cursors, place, [], {}, None, None, previous, signs=signs)
        backward = "before" in row.adapter_parameters
        shown = items[place.skip : place.skip + wanted]
        reached = place.skip + len(shown)
        after: Place | None = None
        if reached < len(items):
            after = place._replace(skip=reached)
        elif next_position is not None:
            full = max(place.full, len(items))
            origin = place.origin or place.seen
            after = Place(next_position, place.begin + len(items), 0, place.size, full, seen, origin)
        if after is not None or backward:
            await self._cursors.prepare()
        is_end = after is not None or states_end(plan, place, data, len(items))
        signs = {} if is_end else _signs(exchanges, plan, data, place.begin + len(items))
        return Page(
            row.name,
            listing.filters,
            self._cursors,
            place,
            shown,
            beside(plan, data),
            total,
            after,
            previous,
            None,
            backward,
            signs=signs,
        )

    async def _fetch(self, listing: Listing, place: Place) -> tuple[Any, list[Any], int | str | None, int | None]:
        """Return the API's page: the answer, its items, the position of the next page, and the total count."""
        exchanges, row, plan, _, _ = listing
        params = listing.own_params
        if plan.size is not None and place.size is not None:
            put(params, plan, row, plan.size, place.size)
        url = is_path(plan, place.position)
        if plan.lead is not None and place.position is not None and not url:
            put(params, plan, row, plan.lead, place.position)
        elif plan.lead is not None and place.position is None:
            first = first_lead(row, plan)
            if first is not None:
                put(params, plan, row, plan.lead, first)
        sent: list[ApiRequest] = []

        def change(request: ApiRequest) -> ApiRequest:
            if url:
                request = replace(request, url=page_url(request, str(place.position)))
            sent.append(request)
            return request

        response = await exchanges.send(row, listing.params, change, page=params)
        data = await exchanges.decode(response, row, params)
        listed = data if isinstance(data, str) else at(data, plan.items)  # a text is not a list, and yet the answer
        items = listed if isinstance(listed, list) else [] if listed in (MISSING, None) else [listed]
        position = find_next_position(plan, place, data, items, response, sent[0])
        return data, items, position, stated_total(plan, data, place, len(items))

    async def _backward(self, listing: Listing, arguments: Mapping[str, Any]) -> Page:
        """Return the last items, of all or of those before a cursor, from a list that is counted by offset."""
        row, plan, filters = listing.row, listing.plan, listing.filters
        if "before" in arguments:
            await self._cursors.prepare()
            before = self._cursors.read("before", arguments["before"], row.name, filters)
            end = max(0, before.begin + before.skip - 1)
        else:
            probe = Place(size=request_size(row, plan, 2))
            _, probed, following, total = await self._fetch(listing, probe)
            if total is None and following is not None:  # all items, or the first of many
                rest = probe._replace(position=following, begin=len(probed))
                _, others, _, total = await self._fetch(listing, rest)
                if others and total is None:
                    message = (
                        "Cannot use 'last': the API does not say how many items there are. Use 'first' and 'after'."
                    )
                    raise invalid("last", message)
            end = len(probed) if total is None else total
        begin = max(0, end - min(arguments["last"], plan.most))
        data: Any = {}
        items: list[Any] = []
        total = None
        if end:
            for _ in range(2):
                place = Place(plan.start + begin, begin, 0, request_size(row, plan, end - begin))
                data, items, _, total = await self._fetch(listing, place)
                if not items or begin + len(items) >= end:
                    break
                begin = end - len(items)  # the API returned fewer than requested
        place = Place(plan.start + begin, begin, 0, request_size(row, plan, end - begin))
        shown = items[: end - begin]
        more = "before" in arguments
        await self._cursors.prepare()
        return Page(
            row.name, filters, self._cursors, place, shown, beside(plan, data), total, None, begin > 0, more, True
        )


def _signs(exchanges: Exchanges, plan: PagePlan, data: Any, seen: int) -> Mapping[str, Any]:
    assert exchanges.last is not None  # noqa: S101 - it is what the page was read from
    return signs_of_more(data, plan.items, seen, exchanges.last, exchanges.request)


def _beginning(plan: PagePlan, params: Mapping[str, Any], size: int | None) -> Place:
    """Return the place at which a call without a cursor begins: that of the API's own parameter, if it is given."""
    lead = params.get(plan.lead or "")
    position = number(lead) if plan.style in ("page", "offset") else lead
    index = 0
    if isinstance(position, int):
        index = max(0, position - plan.start) * (1 if plan.style == "offset" else size or plan.usual or 1)
    return Place(position=position, begin=index, size=size)


def _checked(arguments: Mapping[str, Any], row: Row, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the API's own paging parameters. Raises Failure for arguments that conflict (pagination document, 2.3)."""
    hidden = {
        name: value
        for name, value in params.items()
        if name in row.hidden_parameters and value != row.presets.get(name)
    }
    asked = [name for name in _ASKED if name in arguments]
    for first_name, second_name, hint in _CONFLICTS:
        if first_name in arguments and second_name in arguments:
            raise _conflict(f"Cannot use '{first_name}' and '{second_name}' together", [first_name, second_name], hint)
    if "before" in arguments and "last" not in arguments:
        raise _conflict("Cannot use 'before' without 'last'", ["before"], "Give 'last' too: how many items")
    if asked and hidden:
        hint = "Page with 'first' and 'after' alone: the adapter asks the API for its pages"
        raise _conflict(f"Cannot use '{asked[0]}' and '{next(iter(hidden))}' together", [*asked, *hidden], hint)
    return hidden


def _conflict(message: str, provided: list[str], hint: str) -> Failure:
    details = {
        "param_name": "pagination",
        "expected_type": "valid pagination combination",
        "actual_type": "conflicting parameters",
        "provided": provided,
        "hint": hint,
    }
    return Failure(Code.INVALID_TYPE, f"{message}. {hint}.", details)
