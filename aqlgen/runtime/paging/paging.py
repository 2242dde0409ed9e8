# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Pages through an API's list with `first` and `after`, whatever the API's own way of it (R-SEL-3).

A page of the adapter lies within one of the API: a cursor tells which, and how many of its items were given already.
So every item is given once, also when the API gives more or fewer than it was asked for. A page that was there already
ends the list: some APIs answer so for whatever comes after their last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..schema.reader import MISSING, at
from .arguments import check
from .cursors import Cursors, Place
from .next_page import followed, following, total_of
from .pages import Page, beside, fingerprint
from .parameters import asked, first_lead, number, put
from .plans import Plan, prepare

if TYPE_CHECKING:
    from ..calls.exchanges import Exchanges
    from ..state import State
    from ..table import Row, Table
    from ..wire import ApiRequest

__all__ = ["Pager"]


class Pager:
    """Gives pages; prepared for an operation at its first call."""

    def __init__(self, table: Table, state: State | None) -> None:
        self._table = table
        self._cursors = Cursors(state)
        self._plans: dict[str, Plan] = {}

    async def page(self, exchanges: Exchanges, row: Row, params: Mapping[str, Any], own: Mapping[str, Any]) -> Page:
        """Return the page of a call. Raises Failure for a combination that is not allowed, and for a foreign cursor."""
        plan = self._plans.get(row.name)
        if plan is None:
            plan = self._plans[row.name] = prepare(row, self._table)
        check(own, [name for name in params if name in row.hidden_parameters])
        filters = {name: value for name, value in params.items() if name not in row.hidden_parameters}
        if "last" in own:
            return await self._backward(exchanges, row, plan, filters, own)
        wanted = min(own.get("first") or number(params.get(plan.size or "")) or plan.usual, plan.most)
        if "after" in own:
            place = self._cursors.read("after", own["after"], row.name, filters)
            if place.size is None or not (place.skip or plan.style == "page"):
                place = place._replace(size=asked(row, plan, wanted))
        else:
            place = Place(size=asked(row, plan, wanted))
            given = params.get(plan.lead or "")
            if given is not None:
                position = number(given) if plan.style in ("page", "offset") else given
                index = 0
                if isinstance(position, int):
                    index = max(0, position - plan.start) * (1 if plan.style == "offset" else place.size or 1)
                place = place._replace(position=position, begin=index)
        return await self._forward(exchanges, row, plan, filters, place, wanted)

    async def _forward(
        self, exchanges: Exchanges, row: Row, plan: Plan, filters: Mapping[str, Any], place: Place, wanted: int
    ) -> Page:
        data, items, following_, total = await self._fetch(exchanges, row, plan, filters, place)
        seen = fingerprint(items)
        previous = place.begin + place.skip > 0 or place.position is not None
        if seen and not place.skip and seen in (place.seen, place.saved, place.origin):
            return Page(row.name, filters, self._cursors, place, [], {}, None, None, previous)
        shown = items[place.skip : place.skip + wanted]
        reached = place.skip + len(shown)
        after: Place | None = None
        if reached < len(items):
            after = place._replace(skip=reached)
        elif following_ is not None:
            count = place.pages + 1
            saved = seen if count & (count - 1) == 0 else place.saved
            full = max(place.full, len(items))
            after = Place(
                following_, place.begin + len(items), 0, place.size, full, seen, saved, count, place.origin or seen
            )
        return Page(row.name, filters, self._cursors, place, shown, beside(plan, data), total, after, previous)

    async def _fetch(
        self, exchanges: Exchanges, row: Row, plan: Plan, filters: Mapping[str, Any], place: Place
    ) -> tuple[Any, list[Any], int | str | None, int | None]:
        """Return the API's page: the answer, its items, what asks for the next one, and how many there are of all."""
        params = dict(filters)
        if plan.size is not None and place.size is not None:
            put(params, plan, row, plan.size, place.size)
        by_link = plan.next == "link" or (plan.next is None and plan.item_cursor is not None)
        url = isinstance(place.position, str) and (plan.by_url or (by_link and place.position.startswith("/")))
        if plan.lead is not None and place.position is not None and not url:
            put(params, plan, row, plan.lead, place.position)
        elif plan.lead is not None and place.position is None:
            first = first_lead(row, plan)
            if first is not None:
                put(params, plan, row, plan.lead, first)
        sent: list[ApiRequest] = []

        def change(request: ApiRequest) -> ApiRequest:
            if url:
                request = replace(request, url=followed(request, str(place.position)))
            sent.append(request)
            return request

        response = await exchanges.send(row, params, change)
        data = exchanges.api.decode(response, row, params)
        found = at(data, plan.items)
        items = found if isinstance(found, list) else [] if found in (MISSING, None) else [found]
        position = following(plan, place, data, items, response, sent[0])
        return data, items, position, total_of(plan, data, place, len(items))

    async def _backward(
        self, exchanges: Exchanges, row: Row, plan: Plan, filters: Mapping[str, Any], own: Mapping[str, Any]
    ) -> Page:
        """Return the last items, of all or of those before a cursor, from a list that is counted by offset."""
        if "before" in own:
            before = self._cursors.read("before", own["before"], row.name, filters)
            end = max(0, before.begin + before.skip - 1)
        else:
            probe = Place(size=asked(row, plan, 2))
            _, probed, _, total = await self._fetch(exchanges, row, plan, filters, probe)
            end = len(probed) if total is None else total
        begin = max(0, end - min(own["last"], plan.most))
        data: Any = {}
        items: list[Any] = []
        total = None
        if end:
            for _ in range(2):
                place = Place(plan.start + begin, begin, 0, asked(row, plan, end - begin))
                data, items, _, total = await self._fetch(exchanges, row, plan, filters, place)
                if not items or begin + len(items) >= end:
                    break
                begin = end - len(items)  # the API gives fewer than it was asked for
        place = Place(plan.start + begin, begin, 0, None)
        shown = items[: end - begin]
        more = "before" in own
        return Page(row.name, filters, self._cursors, place, shown, beside(plan, data), total, None, begin > 0, more)
