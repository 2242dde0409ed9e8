# shared: the same in every adapter; `aqlgen update` merges its own changes into it.
"""One page as the agent sees it: `items`, `pageInfo`, and what the API tells beside the list (R-SEL-3)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..text import folded
from .cursors import Cursors, Place

if TYPE_CHECKING:
    from .plans import Plan

__all__ = ["Page", "beside", "fingerprint"]

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
        """Return what the agent sees."""
        return {"items": self.items, "pageInfo": self.info(len(self.items)), **self.beside}

    def info(self, kept: int) -> dict[str, Any]:
        """Return `pageInfo` of the first `kept` items."""
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


def beside(plan: Plan, data: Any) -> dict[str, Any]:
    """Return what the API tells beside the list, but for what tells of its pages."""
    if not isinstance(data, Mapping) or not plan.items:
        return {}
    own = {path[0] for path in (plan.items, plan.next, plan.has_more, plan.total) if path and not isinstance(path, str)}
    own |= {"items", "pageInfo"}
    return {key: one for key, one in data.items() if key not in own and folded(key) not in _BOOKKEEPING}


def fingerprint(items: list[Any]) -> str:
    """Tell a page by what it holds; one of numbers or texts may well be there twice."""
    if not any(isinstance(one, dict) and one for one in items):
        return ""
    text = json.dumps(items, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=6).hexdigest()
