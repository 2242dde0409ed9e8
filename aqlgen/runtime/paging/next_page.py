# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""The next page: the position that the answer states, or that counting gives (R-SEL-3)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urljoin, urlsplit

from ..errors import Code, Failure
from ..schema.reader import MISSING, at
from .parameters import number

if TYPE_CHECKING:
    from ..wire import ApiRequest, ApiResponse
    from .cursors import Place
    from .plans import Plan

__all__ = ["followed", "following", "total_of"]

_LINK = re.compile(r"<([^>]*)>((?:[^,\"]|\"[^\"]*\")*)")
_RELATION = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^;,\s]+))", re.IGNORECASE)
_NOTHING = re.compile(r";\s*results\s*=\s*\"?false\b", re.IGNORECASE)
"""What a link says that leads to no more: there is one on every page of some APIs."""
_AWAY = "//"
"""What the position of a page begins with that is not of the API; its host comes after. No path of ours begins so."""

_ROUND = 5
"""Bounds that APIs set themselves are multiples of this."""


def following(
    plan: Plan, place: Place, data: Any, items: Sequence[Any], response: ApiResponse, request: ApiRequest
) -> int | str | None:
    """Return the position of the next page; None when this one is the last."""
    told = _told(plan, data, response)
    if _flag(plan, data) is False or (not items and (plan.by_url or not isinstance(plan.next, tuple))):
        return None  # while a page of nothing is not the last one where the answer names the next (AIP-158)
    if plan.style in ("page", "offset"):
        if not items:
            return None
        more = _flag(plan, data)
        if more is None and plan.next is not None:
            more = bool(told)
        if more is None:
            more = _counted(plan, place, len(items), total_of(plan, data, place, len(items)))
        position = plan.start if place.position is None else int(place.position)
        named = number(told) if isinstance(plan.next, tuple) and plan.style in str(plan.next[-1:]) else None
        if more and named is not None and named > position:
            return named
        return None if not more else position + (1 if plan.style == "page" else len(items))
    if plan.next is None and plan.item_cursor is not None and "link" in response.headers:
        told = _link(response.headers["link"])  # not declared, and surer all the same
        return _relative(told, request, plan) if told else None
    if plan.next is None and plan.item_cursor is not None:
        told = at(items[-1], plan.item_cursor)
        if _flag(plan, data) is None and not _counted(plan, place, len(items), total_of(plan, data, place, len(items))):
            return None
    if told in (MISSING, None, "", False) or isinstance(told, (dict, list, bool)):
        return None
    found: int | str = told if isinstance(told, (int, str)) else str(told)
    if plan.by_url or (isinstance(found, str) and _is_link(plan)):
        found = _relative(str(found), request, plan)
    return None if found == place.position else found


def followed(request: ApiRequest, position: str) -> str:
    """Return the URL of a page from its position, with the credentials of the present request.

    Raises Failure for a link that leads away from the API. The page that it stands on was given all the same.
    """
    if position.startswith(_AWAY):
        raise Failure(
            Code.INTERNAL_ERROR,
            "Internal error: the API's link to the next page leads away from the API, it is not followed",
            {"host": position.removeprefix(_AWAY)},
        )
    parts = urlsplit(request.url)
    own = [pair for pair in parts.query.split("&") if _is_secret(pair, request)]
    path, _, query = position.partition("?")
    query = "&".join(one for one in (query, *own) if one)
    return f"{parts.scheme}://{parts.netloc}{path}" + (f"?{query}" if query else "")


def total_of(plan: Plan, data: Any, place: Place, count: int) -> int | None:
    """Return the count of all items, if the answer states a plausible one."""
    if plan.total is None:
        return None
    told = at(data, plan.total)
    total = int(told) if isinstance(told, str) and told.isdigit() else told
    if not isinstance(total, int) or isinstance(total, bool) or total < place.begin + count:
        return None
    if total == count and place.begin == 0 and place.size is not None and count >= place.size:
        return None  # as likely a count of this page
    return total


def _told(plan: Plan, data: Any, response: ApiResponse) -> Any:
    if plan.next is None:
        return MISSING
    if isinstance(plan.next, str):
        value = response.headers.get(plan.next.lower(), "")
        return _link(value) if plan.next.lower() == "link" else value
    return at(data, plan.next)


def _flag(plan: Plan, data: Any) -> bool | None:
    told = MISSING if plan.has_more is None else at(data, plan.has_more)
    return told if isinstance(told, bool) else None


def _counted(plan: Plan, place: Place, count: int, total: int | None) -> bool:
    """Return True if more items are likely, also in doubt: an empty page costs less than items that are never seen."""
    if total is not None:
        return place.begin + count < total
    if place.full:
        return count >= place.full
    if place.size is None or count >= place.size:
        return True
    surely = place.size <= plan.surely
    return not surely and count % _ROUND == 0


def _link(value: str) -> str | None:
    """Return the target of `rel="next"` (RFC 8288)."""
    for target, rest in _LINK.findall(value):
        for quoted, bare in _RELATION.findall(rest):
            if "next" in (quoted or bare).lower().split() and not _NOTHING.search(rest):
                return str(target)
    return None


def _is_link(plan: Plan) -> bool:
    return isinstance(plan.next, str) and plan.next.lower() == "link"


def _relative(url: str, request: ApiRequest, plan: Plan) -> str:
    """Return path and query of a link, without credentials, or a mark where it leads away from the API."""
    here = urlsplit(request.url)
    there = urlsplit(urljoin(request.url, url))
    base = "/".join(here.path.split("/")[: -plan.depth]) if plan.depth else here.path
    own = there.hostname == here.hostname or there.path == here.path
    if not own or not (there.path == base or there.path.startswith(f"{base}/")) or "/../" in f"{there.path}/":
        return f"{_AWAY}{there.hostname or ''}"
    path = "/" + there.path.lstrip("/")
    query = "&".join(pair for pair in there.query.split("&") if pair and not _is_secret(pair, request))
    return f"{path}?{query}" if query else path


def _is_secret(pair: str, request: ApiRequest) -> bool:
    values: Mapping[str, str] = dict(parse_qsl(pair, keep_blank_values=True))
    return any(value and value in request.secrets for value in values.values())
