"""Pages through an API's list with `first` and `after`, whatever the API's own way of it (R-SEL-3).

A page of the adapter lies within one of the API: a cursor tells which, and how many of its items were given already.
So every item is given once, also when the API gives more or fewer than it was asked for. A page that was there already
ends the list: some APIs answer so for whatever comes after their last one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .cursors import Cursors, Place
from .errors import Code, Failure
from .following import followed, following, total_of
from .pointers import MISSING, agent_path, at, schema_at
from .shapes import folded

if TYPE_CHECKING:
    from .exchanges import Exchanges
    from .state import State
    from .table import Parameter, Row, Table
    from .wire import ApiRequest

__all__ = ["Page", "Pager", "Plan"]

_MOST, _USUAL = 100, 20
_FROM_ZERO = re.compile(
    r"\b(?:zero|0)[- ](?:based|indexed)|\b(?:starts?|starting|begins?) (?:at|from|with) (?:0|zero)\b", re.I
)
_BOOKKEEPING = frozenset(
    {
        "count",
        "currentpage",
        "cursor",
        "cursors",
        "first",
        "hasmore",
        "hasnext",
        "hasnextpage",
        "href",
        "last",
        "limit",
        "link",
        "links",
        "more",
        "next",
        "nextcursor",
        "nextpage",
        "nextpagetoken",
        "nexttoken",
        "object",
        "offset",
        "page",
        "pageinfo",
        "pagenumber",
        "pages",
        "pagesize",
        "pagination",
        "paging",
        "perpage",
        "prev",
        "previous",
        "self",
        "size",
        "skip",
        "total",
        "totalcount",
        "totalitems",
        "totalpages",
        "totalresults",
    }
)
"""Fields beside the list that only tell of its pages; `pageInfo` does."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How one operation pages, under the agent's names. `next` is a path in the answer, or the name of a header."""

    style: str
    lead: str | None
    size: str | None
    before: str | None
    most: int
    usual: int
    surely: int
    start: int
    items: tuple[str, ...]
    next: tuple[str, ...] | str | None
    has_more: tuple[str, ...] | None
    total: tuple[str, ...] | None
    item_cursor: tuple[str, ...] | None
    within: tuple[str, ...]
    by_url: bool
    depth: int


@dataclass(frozen=True, slots=True)
class Page:
    """One page: `items` of those that the API gave, from `place` on."""

    operation: str
    filters: Mapping[str, Any]
    cursors: Cursors
    place: Place
    items: list[Any]
    beside: Mapping[str, Any]
    total: int | None
    following: Place | None
    previous: bool
    more: bool | None = None
    """Whether there is more after it, where that is not told by what follows."""

    def data(self) -> dict[str, Any]:
        """Give what the agent sees."""
        return {"items": self.items, "pageInfo": self.info(len(self.items)), **self.beside}

    def info(self, kept: int) -> dict[str, Any]:
        """Give `pageInfo` of the first `kept` items."""
        whole = kept == len(self.items)
        after = self.place._replace(skip=self.place.skip + kept)
        more = not whole or (self.following is not None if self.more is None else self.more)
        info: dict[str, Any] = {"hasNextPage": more, "hasPreviousPage": self.previous}
        if kept or more:
            info["startCursor"] = self._cursor(self.place._replace(skip=self.place.skip + 1))
            info["endCursor"] = self._cursor(self.following if whole and self.following is not None else after)
        if self.total is not None:
            info["totalCount"] = self.total
        return info

    def _cursor(self, place: Place) -> str:
        return self.cursors.write(self.operation, self.filters, place)


class Pager:
    """Gives pages; prepared for an operation at its first call."""

    def __init__(self, table: Table, state: State | None) -> None:
        self._table = table
        self._cursors = Cursors(state)
        self._plans: dict[str, Plan] = {}

    async def page(self, exchanges: Exchanges, row: Row, params: Mapping[str, Any], own: Mapping[str, Any]) -> Page:
        """Give the page that is asked for. Raises Failure for what does not go together, and for a foreign cursor."""
        plan = self._plans.get(row.name)
        if plan is None:
            plan = self._plans[row.name] = _prepare(row, self._table)
        _check(own, [name for name in params if name in row.hidden])
        filters = {name: value for name, value in params.items() if name not in row.hidden}
        if "last" in own:
            return await self._backward(exchanges, row, plan, filters, own)
        wanted = min(own.get("first") or _number(params.get(plan.size or "")) or plan.usual, plan.most)
        if "after" in own:
            place = self._cursors.read("after", own["after"], row.name, filters)
            if place.size is None or not (place.skip or plan.style == "page"):
                place = place._replace(size=_asked(row, plan, wanted))
        else:
            place = Place(size=_asked(row, plan, wanted))
            given = params.get(plan.lead or "")
            if given is not None:
                position = _number(given) if plan.style in ("page", "offset") else given
                index = 0
                if isinstance(position, int):
                    index = max(0, position - plan.start) * (1 if plan.style == "offset" else place.size or 1)
                place = place._replace(position=position, begin=index)
        return await self._forward(exchanges, row, plan, filters, place, wanted)

    async def _forward(
        self, exchanges: Exchanges, row: Row, plan: Plan, filters: Mapping[str, Any], place: Place, wanted: int
    ) -> Page:
        data, items, following_, total = await self._fetch(exchanges, row, plan, filters, place)
        seen = _fingerprint(items)
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
        return Page(row.name, filters, self._cursors, place, shown, _beside(plan, data), total, after, previous)

    async def _fetch(
        self, exchanges: Exchanges, row: Row, plan: Plan, filters: Mapping[str, Any], place: Place
    ) -> tuple[Any, list[Any], int | str | None, int | None]:
        """Give the API's page: the answer, its items, what asks for the next one, and how many there are of all."""
        params = dict(filters)
        if plan.size is not None and place.size is not None:
            _put(params, plan, row, plan.size, place.size)
        url = isinstance(place.position, str) and (
            plan.by_url or (place.position.startswith("/") and plan.next == "link")
        )
        if plan.lead is not None and place.position is not None and not url:
            _put(params, plan, row, plan.lead, place.position)
        elif plan.lead is not None and plan.style in ("page", "offset") and _needed(row, plan):
            _put(params, plan, row, plan.lead, plan.start)
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
        """Give the last items, of all or of those before a cursor, from a list that is counted by offset."""
        if "before" in own:
            before = self._cursors.read("before", own["before"], row.name, filters)
            end = max(0, before.begin + before.skip - 1)
        else:
            probe = Place(size=_asked(row, plan, 2))
            _, probed, _, total = await self._fetch(exchanges, row, plan, filters, probe)
            end = len(probed) if total is None else total
        begin = max(0, end - min(own["last"], plan.most))
        data: Any = {}
        items: list[Any] = []
        total = None
        if end:
            for _ in range(2):
                place = Place(plan.start + begin, begin, 0, _asked(row, plan, end - begin))
                data, items, _, total = await self._fetch(exchanges, row, plan, filters, place)
                if not items or begin + len(items) >= end:
                    break
                begin = end - len(items)  # the API gives fewer than it was asked for
        place = Place(plan.start + begin, begin, 0, None)
        shown = items[: end - begin]
        more = "before" in own
        return Page(row.name, filters, self._cursors, place, shown, _beside(plan, data), total, None, begin > 0, more)


def _prepare(row: Row, table: Table) -> Plan:
    trait = row.pagination or {}
    good = sorted(status for status in row.responses if status.startswith("2")) or ["default"]
    schema = row.responses.get(good[0], {}).get("schema") or {}
    style = trait["style"]
    parameters = [row.parameters[name] for name in row.parameters]

    def path(key: str, of: Mapping[str, Any] = schema) -> tuple[str, ...] | None:
        return agent_path(table, of, trait[key]) if key in trait else None

    def named(key: str) -> str | None:
        place = trait.get("in", "query")
        found = [one for one in parameters if one.wire == trait.get(key) and one.location == place]
        return found[0].name if found else trait.get(key) if "within" in trait else None

    lead, size = named(f"{style}_param" if style in ("page", "offset") else "cursor_param"), named("size_param")
    most = min(_MOST, trait.get("size_max", _MOST))
    items = path("items") or ()
    sized = row.parameters.get(size or "")
    usual = 0 if sized is None else _number(sized.schema.get("default")) or 0
    within: tuple[str, ...] = ()
    if "within" in trait:
        body = row.body
        within = agent_path(table, {} if body is None else body.schema, trait["within"])
    told = trait.get("next")
    return Plan(
        style=style,
        lead=lead,
        size=size,
        before=named("before_param"),
        most=most,
        usual=min(_USUAL, most),
        surely=max(usual, trait.get("size_max", 0)),
        start=_start(row.parameters.get(lead or ""), style),
        items=items,
        next=told.lower() if trait.get("next_in") == "header" and told else path("next"),
        has_more=path("has_more"),
        total=path("total"),
        item_cursor=path("item_cursor", schema_at(table, schema, items, items=True)),
        within=within,
        by_url=style in ("link", "next_url"),
        depth=len(row.path.partition("?")[0].strip("/").split("/")),
    )


def _start(parameter: Parameter | None, style: str) -> int:
    """Give the number of the first page, or the first offset."""
    if parameter is not None:
        for key in ("default", "minimum"):
            told = _number(parameter.schema.get(key))
            if told is not None and (key == "default" or told > 0 or style == "page") and told in (0, 1):
                return told
        if _FROM_ZERO.search(parameter.description):
            return 0
    return 1 if style == "page" else 0


def _needed(row: Row, plan: Plan) -> bool:
    """Whether the first page has to be asked for by its number: some default of the API says another."""
    parameter = row.parameters.get(plan.lead or "")
    return parameter is not None and _number(parameter.schema.get("default")) is None and plan.start == 0


def _asked(row: Row, plan: Plan, wanted: int) -> int | None:
    """Give the size to ask the API for, as its parameter allows; None when it has none."""
    if plan.size is None:
        return None
    parameter = row.parameters.get(plan.size)
    schema: Mapping[str, Any] = {} if parameter is None else parameter.schema
    options = sorted(one for one in schema.get("enum", ()) if isinstance(one, int))
    if options:
        return next((one for one in options if one >= wanted), options[-1])
    least, most = _number(schema.get("minimum")), _number(schema.get("maximum"))
    wanted = wanted if least is None else max(wanted, least)
    return wanted if most is None else min(wanted, most)


def _put(params: dict[str, Any], plan: Plan, row: Row, name: str, value: int | str) -> None:
    """Set a parameter of the API, as text where it is one; one within an object of the body as a copy of that."""
    parameter = row.parameters.get(name)
    if parameter is not None:
        kind = parameter.schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        if isinstance(value, int) and "string" in kinds and "integer" not in kinds and "number" not in kinds:
            value = str(value)
        elif isinstance(value, str) and value.isdigit() and ("integer" in kinds or "number" in kinds):
            value = int(value)
        params[name] = value
        return
    body = row.body
    path = plan.within if body is None or body.shape == "fields" else (body.parameter or "", *plan.within)
    here = params
    for step in path:
        inner = here.get(step)
        here[step] = here = dict(inner) if isinstance(inner, Mapping) else {}
    here[name] = value


def _beside(plan: Plan, data: Any) -> dict[str, Any]:
    """Give what the API tells beside the list, but for what tells of its pages."""
    if not isinstance(data, Mapping) or not plan.items:
        return {}
    own = {path[0] for path in (plan.items, plan.next, plan.has_more, plan.total) if path and not isinstance(path, str)}
    own |= {"items", "pageInfo"}
    return {key: one for key, one in data.items() if key not in own and folded(key) not in _BOOKKEEPING}


def _fingerprint(items: list[Any]) -> str:
    """Tell a page by what it holds; one of numbers or texts may well be there twice."""
    if not any(isinstance(one, dict) and one for one in items):
        return ""
    text = json.dumps(items, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=6).hexdigest()


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isdigit():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_CONFLICTS = (
    ("first", "last", "Use 'first' for forward pagination or 'last' for backward pagination"),
    ("first", "before", "Use 'before' with 'last'"),
    ("last", "after", "Use 'after' with 'first'"),
    ("after", "before", "Use 'after' with 'first', or 'before' with 'last'"),
)


def _check(own: Mapping[str, Any], hidden: list[str]) -> None:
    """Refuse what does not go together (pagination document, 2.3)."""
    asked = [name for name in ("first", "after", "last", "before") if name in own]
    for one, other, hint in _CONFLICTS:
        if one in own and other in own:
            raise _conflict(f"Cannot use '{one}' and '{other}' together", [one, other], hint)
    for one, other in (("after", "first"), ("before", "last")):
        if one in own and other not in own:
            raise _conflict(f"Cannot use '{one}' without '{other}'", [one], f"Give '{other}' too: how many items")
    if asked and hidden:
        raise _conflict(
            f"Cannot use '{asked[0]}' and '{hidden[0]}' together",
            [*asked, *hidden],
            "Page with 'first' and 'after' alone: the adapter asks the API for its pages",
        )


def _conflict(message: str, provided: list[str], hint: str) -> Failure:
    details = {"param_name": "pagination", "provided": provided, "hint": hint}
    return Failure(Code.INVALID_VALUE, f"{message}. {hint}.", details)
