# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""How a list pages, as the API shows: a small page of it, and what leads to the items that follow there.

A first answer has the order of the items. A parameter is the size of a page if it cuts the list to so many of them; a
header, a field, or another parameter leads on if the items come that follow next in that order. Names decide nothing:
they only say what is tried first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from ..decode.headers import read_links
from ..paging import number, start_of
from ..paging.page import page_url
from ..schema import MISSING, at
from ..text import folded
from .model import Fact, Observation
from .reads import is_plain, lists_in, read_json

if TYPE_CHECKING:
    from ..table import Pagination, Parameter, Row
    from ..wire import ApiRequest, ApiResponse
    from .model import Requests
    from .reads import Read

__all__ = ["observe_pages", "pages_maybe"]

_MOST_SIZES: Final = 3
_MOST_TOKENS: Final = 4
_MOST_TRIES: Final = 8
"""Requests for one list, beside its first read."""
_LONGEST: Final = 2000
_DEEPEST: Final = 3
_MOST_BESIDE: Final = 40


class _Page(NamedTuple):
    """An answer with the address that it came from."""

    url: str
    response: ApiResponse
    data: Any


@dataclass(slots=True)
class _List:
    """A list under observation: its first read, and the parameters that a request of it may carry."""

    requests: Requests
    read: Read
    tries: int = 0

    async def page(self, values: Mapping[str, Any], position: str = "") -> _Page | None:
        """Return a page by values of parameters, or at a path and query of the same address; None for a failure."""
        if self.tries >= _MOST_TRIES:
            return None
        self.tries += 1
        url = ""

        def change(request: ApiRequest) -> ApiRequest:
            nonlocal url
            url = request.url
            return replace(request, url=page_url(request, position)) if position else request

        response = await self.requests.send(self.read.row, {**self.read.params, **values}, change=change)
        if response is None or not 200 <= response.status < 300:
            return None
        data = read_json(response)
        return None if data is MISSING else _Page(url, response, data)


class _Small(NamedTuple):
    """A page that is smaller than the first answer's list: `few` items, asked for by a parameter or by none."""

    pointer: str
    whole: Sequence[Any]
    few: int
    page: _Page
    size: Parameter | None

    @property
    def values(self) -> dict[str, Any]:
        """The parameter of the size, with its value."""
        return {} if self.size is None else {self.size.name: _typed(self.size, self.few)}

    def begins(self, data: Any, first: int) -> bool:
        """Return True if a page begins with the item of that index of the first answer, and goes on as that does.

        What follows the whole of the first answer is not known: it must be other items.
        """
        items = [_identity(item) for item in _items(data, self.pointer) or ()]
        whole = [_identity(item) for item in self.whole]
        known = whole[first:]
        if not items or len(items) > self.few:
            return False
        shown = min(len(items), len(known))
        return items[:shown] == known[:shown] if known else not any(item in whole for item in items)


def _identity(item: Any) -> Any:
    """Return what an item is told from others by: its `id`, else all of it."""
    identifier = item.get("id") if isinstance(item, dict) else None
    return item if identifier is None else identifier


def pages_maybe(read: Read) -> bool:
    """Return True for a list of several items that a parameter or the answer itself may divide into pages."""
    if not read.success or read.row.method != "GET" or not any(_is_list(items) for _, items in lists_in(read.data)):
        return False
    return bool(_numbers(read.row)) or (read.response is not None and any(_ways(read.response, read.data, "", "")))


async def observe_pages(requests: Requests, read: Read) -> Observation | None:
    """Return how a list pages, with its `pagination`; None where nothing was seen that could be told.

    It is certain if a second page held the items that follow those of the first.
    """
    row, subject = read.row, _List(requests, read)
    small = await _smaller(subject)
    if small is None:
        return None
    way, certain = await _way_on(subject, small)
    if way is None:
        if small.size is None or row.paging is not None:
            return None
        says = f"{small.size.wire} bounds the list, and nothing that was seen leads to the rest of it"
        return Observation(row.key, Fact.PAGES, says)
    stated = {
        **way,
        **({} if small.size is None else {"size_param": small.size.wire}),
        "items": small.pointer,
        **_beside_list(small, read.data),
    }
    lead = stated.get("next") or stated.get("page_param") or stated.get("offset_param") or stated.get("cursor_param")
    sized = f", {small.size.wire} bounds them" if small.size is not None else ""
    says = f"two pages with items that follow each other: {lead} leads on{sized}"
    settled = row.paging is not None and _is_same(row.paging, stated)
    return Observation(row.key, Fact.PAGES, says, {"pagination": stated}, certain=certain, settled=settled)


async def _smaller(subject: _List) -> _Small | None:
    """Ask for few items by each parameter that may bound a list; or take the first answer, where that leads on."""
    read = subject.read
    lists = [(pointer, items) for pointer, items in lists_in(read.data) if _is_list(items)]
    for parameter in _numbers(read.row)[:_MOST_SIZES]:
        few = max(2 if any(len(items) > 2 for _, items in lists) else 1, number(parameter.schema.get("minimum")) or 0)
        page = await subject.page({parameter.name: _typed(parameter, few)})
        for pointer, items in lists:
            if page is not None and len(items) > few and _items(page.data, pointer) == items[:few]:
                return _Small(pointer, items, few, page, parameter)
    if read.response is None or not any(_ways(read.response, read.data, "", "")):
        return None
    page, (pointer, items) = await subject.page({}), lists[0]
    return None if page is None else _Small(pointer, items, len(items), page, None)


async def _way_on(subject: _List, small: _Small) -> tuple[dict[str, Any] | None, bool]:
    """Return what leads to the page after a small one, as fields of `pagination`, and whether nothing else does."""
    paging = subject.read.row.pagination
    stated: dict[str, Any] | None = None
    if paging is not None and paging.style in ("page", "offset"):
        stated = await _by_stated_number(subject, small, paging)
    elif paging is not None and paging.style in ("cursor", "token"):
        stated = await _by_token(subject, small)
    if stated is not None:
        return stated, True
    ways = [way async for way in _by_answer(subject, small)]
    if ways:
        return ways[0], len(ways) == 1
    return await _by_token(subject, small) or await _by_number(subject, small), True


async def _by_stated_number(subject: _List, small: _Small, paging: Pagination) -> dict[str, Any] | None:
    """Ask for the second page as the document says it."""
    wire = paging.lead_param
    parameter = next((item for item in _query(subject.read.row) if item.wire == wire), None)
    if parameter is None or wire is None:
        return None
    second = small.few if paging.style == "offset" else start_of(parameter, "page") + 1
    page = await subject.page({**small.values, parameter.name: _typed(parameter, second)})
    is_second = page is not None and small.begins(page.data, small.few)
    return {"style": paging.style, f"{paging.style}_param": wire} if is_second else None


async def _by_answer(subject: _List, small: _Small) -> AsyncIterator[dict[str, Any]]:
    """Follow the addresses of the same list in a header or a field."""
    page, paging = small.page, subject.read.row.pagination
    positions: set[str] = set()
    ways = list(_ways(page.response, page.data, page.url, small.pointer))
    for name, in_header, position in sorted(ways, key=lambda way: not _is_stated(paging, way[0])):
        following = None if position in positions else await subject.page(small.values, position)
        positions.add(position)
        if following is not None and small.begins(following.data, small.few):
            yield {"style": "link", "next": name, "next_in": "header"} if in_header else {
                "style": "next_url", "next": name
            }  # fmt: skip
            if small.size is not None:
                return


async def _by_token(subject: _List, small: _Small) -> dict[str, Any] | None:
    """Try the texts beside the list, and the identifier of its last item, as values of parameters."""
    beside = [
        *((pointer, value, {"next": pointer}) for pointer, value in _beside(small.page.data, small.pointer)),
        *(
            (name, value, {"next": name.title(), "next_in": "header"})
            for name, value in small.page.response.headers.items()
        ),
    ]
    last = (_items(small.page.data, small.pointer) or [None])[-1]
    if isinstance(last, dict):
        beside.append(("id", last.get("id"), {"item_cursor": "/id"}))
    paging = subject.read.row.pagination
    pairs = [
        (_is_stated(paging, *stated.values(), item.wire), _alike(name, item.wire), value, stated, item)
        for name, value, stated in beside
        for item in _query(subject.read.row)
        if item.name not in small.values and _may_be_token(value, item) and is_plain(name.rpartition("/")[2])
    ]
    for *_, value, stated, item in sorted(pairs, key=lambda pair: pair[:2], reverse=True)[:_MOST_TOKENS]:
        following = await subject.page({**small.values, item.name: value})
        if following is not None and small.begins(following.data, small.few):
            return {"style": "cursor", "cursor_param": item.wire, **stated}
    return None


def _may_be_token(value: Any, parameter: Parameter) -> bool:
    """Return True for a text or a number that a parameter takes, and that is not a URL."""
    kind = "integer" if isinstance(value, int) else "string"
    is_value = isinstance(value, (str, int)) and not isinstance(value, bool) and 0 < len(str(value)) <= _LONGEST
    return is_value and kind in _kinds(parameter) and not str(value).startswith(("http://", "https://", "/"))


async def _by_number(subject: _List, small: _Small) -> dict[str, Any] | None:
    """Count pages or items: an offset of 1 begins with the second item, and the second page after those of the first.

    A list of two items cannot tell them apart.
    """
    if small.few < 2 or small.size is None:
        return None
    for parameter in [item for item in _numbers(subject.read.row) if item is not small.size][:_MOST_SIZES]:
        pages: list[_Page] = []
        for value in (1, 2):
            page = await subject.page({**small.values, parameter.name: _typed(parameter, value)})
            pages += [] if page is None else [page]
        if len(pages) < 2:
            continue
        if small.begins(pages[0].data, 1) and small.begins(pages[1].data, 2):
            return {"style": "offset", "offset_param": parameter.wire}
        passed = 1 - start_of(parameter, "page")  # pages before the one of number 1
        ends = passed and _items(pages[1].data, small.pointer) == []
        if small.begins(pages[0].data, passed * small.few) and (
            ends or small.begins(pages[1].data, (passed + 1) * small.few)
        ):
            return {"style": "page", "page_param": parameter.wire}
    return None


def _is_stated(paging: Pagination | None, *names: str) -> bool:
    """Return True if the document pages by one of these already: tried first, it is confirmed and no other taken."""
    stated = () if paging is None else (paging.next, paging.item_cursor)
    return any(name.lower() == (each or "").lower() for name in names for each in stated)


def _numbers(row: Row) -> list[Parameter]:
    """Return the parameters that may page by a number: those of the document's word for it first."""
    paging = row.pagination
    stated = [wire for _, wire in paging.roles][::-1] if paging is not None else []
    stated += [row.parameters[name].wire for name in row.partial_by if name in row.parameters]
    numbers = [item for item in _query(row) if item.wire in stated or _kinds(item) & {"integer", "number"}]
    return sorted(numbers, key=lambda item: stated.index(item.wire) if item.wire in stated else len(stated))


def _query(row: Row) -> Iterator[Parameter]:
    """Yield the optional parameters of the query that are free."""
    for item in row.parameters.values():
        if item.location == "query" and not item.schema.get("enum") and item.preset is None:
            yield item


def _kinds(parameter: Parameter) -> set[str]:
    kind = parameter.schema.get("type", ["string", "integer"])
    return set(kind) if isinstance(kind, list) else {kind}


def _typed(parameter: Parameter, value: int) -> int | str:
    return value if _kinds(parameter) & {"integer", "number"} else str(value)


def _is_list(items: Sequence[Any]) -> bool:
    """Return True for a list of several items that can be told apart."""
    return len(items) > 1 and items[0] != items[1]


def _items(data: Any, pointer: str) -> list[Any] | None:
    items = at(data, tuple(pointer.split("/")[1:]))
    return items if isinstance(items, list) else None


def _ways(response: ApiResponse, data: Any, url: str, items: str) -> Iterator[tuple[str, bool, str]]:
    """Yield headers and fields with the address of the same list and another query, as path and query."""
    for link in read_links(response.headers.get("link", "")[:_LONGEST]):
        if "next" in link.relations and (position := _position(link.target, url)):
            yield "Link", True, position
    for name, value in list(response.headers.items())[:_MOST_BESIDE]:
        if name != "link" and is_plain(name) and (position := _position(value, url)):
            yield name.title(), True, position
    for pointer, value in _beside(data, items):
        if isinstance(value, str) and (position := _position(value, url)):
            yield pointer, False, position


def _position(value: str, url: str) -> str:
    """Return path and query of the same address with another query, "" for anything else; without `url` of any."""
    if len(value) > _LONGEST or not value.startswith(("/", "?", "http://", "https://")):
        return ""
    try:
        here, there = urlsplit(url), urlsplit(urljoin(url, value))
    except ValueError:
        return ""
    same = not url or (there.path == here.path and there.query != here.query)
    return f"{there.path}?{there.query}" if same and there.query else ""


def _beside(data: Any, items: str) -> list[tuple[str, Any]]:
    """Return the plain values beside a list with their pointers; none of a list, or of another list's items."""
    values: list[tuple[str, Any]] = []

    def walk(value: Any, pointer: str, depth: int) -> None:
        if isinstance(value, dict) and depth <= _DEEPEST:
            for key, inner in list(value.items())[:_MOST_BESIDE]:
                if is_plain(key):
                    walk(inner, f"{pointer}/{key}", depth + 1)
        elif not isinstance(value, (dict, list)) and pointer != items and len(values) < _MOST_BESIDE:
            values.append((pointer, value))

    walk(data, "", 0)
    return values


def _beside_list(small: _Small, data: Any) -> dict[str, str]:
    """Return the count of all items and the flag of a next page, where two pages show them.

    A count stays as it is, whatever the size of the page; a flag is off at the end.
    """
    if not small.pointer:
        return {}
    whole = dict(_beside(data, small.pointer))
    values = _beside(small.page.data, small.pointer)
    total = [
        pointer
        for pointer, value in values
        if number(value) == len(small.whole) and isinstance(value, int) and whole.get(pointer) == value
    ]
    more = [pointer for pointer, value in values if value is True and whole.get(pointer) is False]
    pointers = {"total": total, "has_more": more}
    return {key: places[0] for key, places in pointers.items() if len(places) == 1}


def _alike(pointer: str, wire: str) -> int:
    """Return how much two names have in common at their ends: `/meta/next_cursor` and `cursor`."""
    name, other = folded(pointer.rpartition("/")[2]), folded(wire)
    return next((length for length in range(min(len(name), len(other)), 0, -1) if name[-length:] == other[-length:]), 0)


def _is_same(paging: Pagination, stated: Mapping[str, Any]) -> bool:
    """Return True if the adapter pages so already."""
    address = ("link", "next_url")
    same_style = (
        paging.style == stated["style"]
        or {paging.style, stated["style"]} <= {*address}
        or {paging.style, stated["style"]} <= {"cursor", "token"}
    )
    keys = ("page_param", "offset_param", "cursor_param", "next", "size_param", "items")
    return same_style and all(
        str(getattr(paging, key) or "").lower() == str(stated[key]).lower() for key in keys if key in stated
    )
