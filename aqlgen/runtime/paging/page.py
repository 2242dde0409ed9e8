"""One page as the agent sees it: `items`, `pageInfo` with cursors, the API's other fields, and the next page (R-SEL-3).

The position of the next page is the one that the answer states, or it follows from counting.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

from ..decode.headers import read_links
from ..errors import Code, Failure
from ..schema import MISSING, at
from ..text import folded, line
from ..wire import at_host_of, without_credentials
from . import number
from .cursors import HASH, Cursors, Place

if TYPE_CHECKING:
    from ..wire import ApiRequest, ApiResponse
    from . import PagePlan


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
"""Fields beside the list that are only about its pages: `pageInfo` replaces them."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page: `items` of the API's page, from `place` on."""

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
    """True if more items come after it, None if `following` decides."""
    backward: bool = False
    """Whether pages before a cursor can be asked for."""
    marks: Sequence[Place] | None = None
    """The place after each item, where items between them were left out."""
    signs: Mapping[str, Any] = field(default_factory=dict)
    """What speaks for more items though no page is known to follow."""

    async def prepare(self) -> None:
        """Make its cursors those that every replica reads, before they are written."""
        await self.cursors.prepare()

    def data(self) -> dict[str, Any]:
        """Return the page as the agent sees it."""
        return {"items": self.items, "pageInfo": self.info(len(self.items)), **self.beside}

    def after(self, kept: int) -> Place:
        """Return the place after the first `kept` items."""
        if kept == len(self.items) and self.following is not None:
            return self.following
        if self.marks is not None:
            return self.marks[kept - 1] if kept else self.place
        return self.place._replace(skip=self.place.skip + kept)

    def info(self, kept: int) -> dict[str, Any]:
        """Return `pageInfo` of the first `kept` items."""
        whole = kept == len(self.items)
        more = not whole or (self.following is not None if self.more is None else self.more)
        info: dict[str, Any] = {"hasNextPage": more, "hasPreviousPage": self.previous}
        if self.backward and (kept or more):
            info["startCursor"] = self._cursor(self.place._replace(skip=self.place.skip + 1))
        if more:
            info["endCursor"] = self._cursor(self.after(kept))
        if self.total is not None:
            info["totalCount"] = self.total
        return info

    def _cursor(self, place: Place) -> str:
        return self.cursors.write(self.operation, self.filters, place)


def beside(plan: PagePlan, data: Any) -> dict[str, Any]:
    """Return the fields beside the list, except those about its pages."""
    if not isinstance(data, Mapping) or not plan.items:
        return {}
    paging_keys = {
        path[0] for path in (plan.items, plan.next, plan.has_more, plan.total) if path and not isinstance(path, str)
    }
    paging_keys |= {"items", "pageInfo"}
    return {key: value for key, value in data.items() if key not in paging_keys and folded(key) not in _BOOKKEEPING}


def items_hash(items: list[Any]) -> str:
    """Return a hash of a page's items, "" if these are scalars only, which may repeat."""
    if not any(isinstance(item, dict) and item for item in items):
        return ""
    text = json.dumps(items, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=HASH).hexdigest()


_NOTHING = re.compile(r";\s*results\s*=\s*\"?false\b", re.IGNORECASE)
"""An attribute of a link that leads nowhere: some APIs have such a link on each page."""
_AWAY = "//"
"""The prefix of a position outside of the API; the host follows. No path of the API begins so."""

_ROUND = (5, 6, 8, 9)
"""The page sizes that APIs choose themselves are multiples of one of these."""


def find_next_position(
    plan: PagePlan, place: Place, data: Any, items: Sequence[Any], response: ApiResponse, request: ApiRequest
) -> int | str | None:
    """Return the position of the next page; None if this one is the last."""
    if _flag(plan, data) is False or (not items and (plan.by_url or not isinstance(plan.next, tuple))):
        return None  # an empty page is not the last one if the answer names the next (AIP-158)
    value = _stated_next(plan, data, response)
    if plan.style in ("page", "offset"):
        return _next_number(plan, place, data, len(items), value)
    if plan.next is None and plan.item_cursor is not None:
        if "link" in response.headers:
            value = _link(response.headers["link"])  # not declared, yet more reliable
            return _relative(value, request, plan) if value else None
        if _flag(plan, data) is None and not _likely_more(plan, place, data, len(items)):
            return None
        value = at(items[-1], plan.item_cursor)
    position = _position(plan, value, request)
    return None if position == place.position else position


def _next_number(plan: PagePlan, place: Place, data: Any, count: int, value: Any) -> int | None:
    """Return the number of the next page, or the offset of its first item; `value` is what the answer states of it."""
    if not count:
        return None
    more = _flag(plan, data)
    if more is None:
        more = _likely_more(plan, place, data, count) if plan.next is None else bool(value)
    if not more:
        return None
    position = plan.start if place.position is None else int(place.position)
    named = number(value) if isinstance(plan.next, tuple) and plan.style in str(plan.next[-1:]) else None
    if named is not None and named > position:
        return named
    return position + (1 if plan.style == "page" else count)


def _position(plan: PagePlan, value: Any, request: ApiRequest) -> int | str | None:
    """Return the position that an answer states: a link as its path and query; None if it states none."""
    if value in (MISSING, None, "", False) or isinstance(value, (dict, list, bool)):
        return None
    position: int | str = value if isinstance(value, (int, str)) else str(value)
    is_link = isinstance(position, str) and (_is_link(plan) or (plan.in_header and is_address(position)))
    by_url = plan.by_url and (plan.lead is None or str(position).startswith(("http", "/", "?")))  # else its value
    return _relative(str(position), request, plan) if by_url or is_link else position


def is_path(plan: PagePlan, position: int | str | None) -> bool:
    """Return True for a position that is path and query of a page, rather than the value of a parameter."""
    if not isinstance(position, str):
        return False
    by_link = plan.by_url or _is_link(plan) or (plan.next is None and plan.item_cursor is not None)
    return (by_link and position.startswith("/")) or (plan.in_header and is_address(position))


def page_url(request: ApiRequest, position: str) -> str:
    """Return the URL of a page from its position, with the credentials of the present request.

    Raises Failure for a link that leads away from the API. The page that contains it is still returned.
    """
    if position.startswith(_AWAY):
        raise Failure(
            Code.INTERNAL_ERROR,
            "Internal error: the API's link to the next page leads away from the API, it is not followed",
            {"host": line(position.removeprefix(_AWAY), 200)},
        )
    return at_host_of(request, position)


def stated_total(plan: PagePlan, data: Any, place: Place, count: int) -> int | None:
    """Return the count of all items, if the answer states a plausible one."""
    if plan.total is None:
        return None
    total = number(at(data, plan.total))
    if total is None or total < place.begin + count:
        return None
    size = place.size or plan.usual
    if total == count and place.begin == 0 and size and count >= size:
        return None  # as likely a count of this page
    return total


def states_end(plan: PagePlan, place: Place, data: Any, count: int) -> bool:
    """Return True if an answer itself says that its page is the last one."""
    total = stated_total(plan, data, place, count)
    if _flag(plan, data) is False or (total is not None and place.begin + count >= total):
        return True
    return isinstance(plan.next, tuple) and at(data, plan.next) in (None, "", False)


def _stated_next(plan: PagePlan, data: Any, response: ApiResponse) -> Any:
    if plan.next is None:
        return MISSING
    if isinstance(plan.next, str):
        value = response.headers.get(plan.next.lower(), "").strip()
        if plan.by_url and not _is_link(plan) and not is_address(value):
            return MISSING
        return _link(value) if _is_link(plan) else value
    return at(data, plan.next)


def _flag(plan: PagePlan, data: Any) -> bool | None:
    value = MISSING if plan.has_more is None else at(data, plan.has_more)
    return value if isinstance(value, bool) else None


def _likely_more(plan: PagePlan, place: Place, data: Any, count: int) -> bool:
    """Return True if more items are likely, also in doubt: an empty page costs less than items that are never seen."""
    total = stated_total(plan, data, place, count)
    if total is not None:
        return place.begin + count < total
    if place.full:
        return count >= min(place.full, place.size or place.full)
    size = place.size or plan.usual
    if size and count >= size:
        return True
    allowed = 0 < size <= plan.surely
    return not allowed and any(count % step == 0 for step in _ROUND)


def _link(value: str) -> str | None:
    """Return the target of `rel="next"` (RFC 8288)."""
    links = (link for link in read_links(value) if "next" in link.relations)
    return next((link.target for link in links if not _NOTHING.search(link.parameters)), None)


def is_address(value: str) -> bool:
    """Return True if the value of a header is a URL, or a path with a query, rather than a token."""
    return value.startswith(("https://", "http://", "?")) or (value.startswith("/") and "?" in value)


def _is_link(plan: PagePlan) -> bool:
    return isinstance(plan.next, str) and plan.next.lower() == "link"


def _relative(url: str, request: ApiRequest, plan: PagePlan) -> str:
    """Return path and query of a link, without credentials, or a mark if it leads away from the API."""
    here = urlsplit(request.url)
    try:
        there = urlsplit(urljoin(request.url, url))
    except ValueError:  # no URL at all, such as http://[
        return _AWAY
    base = "/".join(here.path.split("/")[: -plan.depth]) if plan.depth else here.path
    same_api = there.hostname == here.hostname or there.path == here.path
    is_inside = there.path.startswith(f"{base}/") and ".." not in unquote(there.path).replace("\\", "/").split("/")
    if not same_api or not (is_inside or there.path == base):
        return f"{_AWAY}{there.hostname or ''}"
    path = "/" + there.path.lstrip("/")
    query = without_credentials(there.query, request)
    return f"{path}?{query}" if query else path
