"""How a list pages, as the API shows: a small page of it, and what leads to the items that follow there.

A first answer has the order of the items. A parameter is the size of a page if it cuts the list to so many of them; a
header, a field, or another parameter leads on if the items come that follow next in that order. Names decide nothing:
they only say what is tried first.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    from .reads import Read
    from .requests import AdapterRequests

_MOST_PARAMETERS: Final = 3
_MOST_TOKENS: Final = 4
_MOST_TRIES: Final = 8
"""Requests for one list, beside its first read."""
_LONGEST: Final = 2000
_DEEPEST: Final = 3
_MOST_BESIDE: Final = 40
_OF_HTTP: Final = frozenset({"cache-control", "connection", "content-length", "content-type", "date", "etag", "server"})
"""Headers that say nothing of a list, and lead nowhere."""
_FAMILIES: Final = {"next_url": "link", "token": "cursor"}
"""Styles that are told apart by where the next page is named alone."""


class _Page(NamedTuple):
    """An answer with the address that it came from."""

    url: str
    response: ApiResponse
    data: Any


class _Step(NamedTuple):
    """A page to ask for, and the index in the first answer of the item with which it must begin; -1 for no item."""

    begins: int
    values: Mapping[str, Any]
    position: str = ""


class _Way(NamedTuple):
    """A way to the following pages as fields of `pagination`, and the steps that prove it."""

    stated: Mapping[str, Any]
    steps: Sequence[_Step]


@dataclass(slots=True)
class _List:
    """A list under observation: its first read, and the pages that were asked for."""

    requests: AdapterRequests
    read: Read
    pages: dict[tuple[Any, ...], _Page | None] = field(default_factory=dict)

    async def page(self, values: Mapping[str, Any], position: str = "") -> _Page | None:
        """Return a page by values of parameters, or at a path and query of the same address; None for a failure."""
        asked = (*sorted(values.items()), position)
        if asked not in self.pages and len(self.pages) < _MOST_TRIES:
            self.pages[asked] = await self._page(values, position)
        return self.pages.get(asked)

    async def _page(self, values: Mapping[str, Any], position: str) -> _Page | None:
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
    """Return the identity of an item: its `id`, else all of it."""
    identifier = item.get("id") if isinstance(item, dict) else None
    return item if identifier is None else identifier


async def observe_pages(requests: AdapterRequests, reads: Sequence[Read]) -> AsyncIterator[Observation]:
    """Yield how each list pages that a parameter or the answer itself may divide into pages."""
    for read in reads:
        if not read.success or read.row.method != "GET" or not any(_is_list(items) for _, items in lists_in(read.data)):
            continue
        if _numbers(read.row) or (read.response is not None and any(_addresses(read.response, read.data, "", ""))):
            seen = await _paging(_List(requests, read))
            if seen is not None:
                yield seen


async def _paging(subject: _List) -> Observation | None:
    """Return the `pagination` of a list, certain if a second page held the items that follow those of the first."""
    row, small = subject.read.row, await _smaller(subject)
    if small is None:
        return None
    ways = [way async for way in _proven(subject, small)]
    if not ways:
        if small.size is None or row.paging is not None:
            return None
        says = f"{small.size.wire} sets the page size, and nothing in the answers leads to the next page"
        return Observation(row.key, Fact.PAGES, says)
    size = {} if small.size is None else {"size_param": small.size.wire}
    stated = {**ways[0].stated, **size, "items": small.pointer, **_beside_list(small, subject.read.data)}
    lead = stated.get("next") or stated.get("page_param") or stated.get("offset_param") or stated.get("cursor_param")
    bound = f"; {small.size.wire} set the page size" if small.size is not None else ""
    says = f"{lead} led to a second page with the following items{bound}"
    settled = row.paging is not None and _is_same(row.paging, stated)
    return Observation(row.key, Fact.PAGES, says, {"pagination": stated}, certain=len(ways) == 1, settled=settled)


async def _smaller(subject: _List) -> _Small | None:
    """Ask for few items by each parameter that may bound a list; or take the first answer, where that leads on."""
    read = subject.read
    lists = [(pointer, items) for pointer, items in lists_in(read.data) if _is_list(items)]
    for parameter in _numbers(read.row)[:_MOST_PARAMETERS]:
        few = max(2 if any(len(items) > 2 for _, items in lists) else 1, number(parameter.schema.get("minimum")) or 0)
        page = await subject.page({parameter.name: _typed(parameter, few)})
        for pointer, items in lists:
            if page is not None and len(items) > few and _items(page.data, pointer) == items[:few]:
                return _Small(pointer, items, few, page, parameter)
    if read.response is None or not any(_addresses(read.response, read.data, "", "")):
        return None
    page, (pointer, items) = await subject.page({}), lists[0]
    return None if page is None else _Small(pointer, items, len(items), page, None)


async def _proven(subject: _List, small: _Small) -> AsyncIterator[_Way]:
    """Yield the ways whose pages hold the items that must follow: the first; of addresses without a size all."""
    row = subject.read.row
    ways = [*_by_address(small), *_by_token(small, row), *_by_number(small, row)]
    is_proven = False
    for way in sorted(ways, key=lambda way: not _is_stated(row.pagination, way.stated)):
        if is_proven and (small.size is not None or "next" not in way.stated or "cursor_param" in way.stated):
            return
        for step in way.steps:
            page = await subject.page({**small.values, **step.values}, step.position)
            is_end = step.begins < 0 and page is not None and _items(page.data, small.pointer) == []
            if page is None or not (is_end or small.begins(page.data, abs(step.begins))):
                break
        else:
            is_proven = True
            yield way


def _is_stated(paging: Pagination | None, stated: Mapping[str, Any]) -> bool:
    """Return True for the document's own way: tried first, it is confirmed and no other taken."""
    if paging is None or _FAMILIES.get(paging.style, paging.style) != _FAMILIES.get(stated["style"], stated["style"]):
        return False
    lead = paging.lead_param if paging.style in ("page", "offset") else paging.next
    return not lead or lead.lower() in {str(value).lower() for value in stated.values()}


def _by_address(small: _Small) -> Iterator[_Way]:
    """Yield the addresses of the same list in a header or a field."""
    positions: set[str] = set()
    for name, in_header, position in _addresses(small.page.response, small.page.data, small.page.url, small.pointer):
        if position not in positions:
            positions.add(position)
            stated = {"style": "link", "next": name, "next_in": "header"} if in_header else {"next": name}
            yield _Way({"style": "next_url", **stated}, [_Step(small.few, {}, position)])


def _by_token(small: _Small, row: Row) -> list[_Way]:
    """Return the texts beside the list, and the identifier of its last item, as values of parameters."""
    pairs = [
        (
            _alike(name, item.wire),
            _Way(
                {"style": "cursor", "cursor_param": item.wire, **stated},
                [_Step(small.few * page, {item.name: token}) for page, token in enumerate(tokens, 1)],
            ),
        )
        for name, tokens, stated in _tokens(small)
        for item in _query(row)
        if item.name not in small.values and _may_be_token(tokens[0], item) and is_plain(name.rpartition("/")[2])
    ]
    pairs.sort(key=lambda pair: (_is_stated(row.pagination, pair[1].stated), pair[0]), reverse=True)
    return [way for _, way in pairs[:_MOST_TOKENS]]


def _tokens(small: _Small) -> Iterator[tuple[str, list[Any], dict[str, str]]]:
    """Yield possible cursors: the name, the values that lead to the pages that follow, and the fields of the paging."""
    for pointer, value in _beside(small.page.data, small.pointer):
        yield pointer, [value], {"next": pointer}
    for name, value in [pair for pair in small.page.response.headers.items() if pair[0] not in _OF_HTTP]:
        yield name, [value], {"next": name.title(), "next_in": "header"}
    last, second = (_identifier(small.whole, count) for count in (small.few, 2 * small.few))
    is_told = str(last) not in ("2", str(small.few)) if len(small.whole) > small.few else not str(last).isdigit()
    if second is not None or is_told:  # else it may be taken for the number of a page, or for an offset
        yield "id", [last] if second is None else [last, second], {"item_cursor": "/id"}


def _identifier(items: Sequence[Any], count: int) -> Any:
    """Return the `id` of the last of so many items, None where there are fewer."""
    item = items[count - 1] if count <= len(items) else None
    return item.get("id") if isinstance(item, dict) else None


def _may_be_token(value: Any, parameter: Parameter) -> bool:
    """Return True for a text or a number that a parameter takes, and that is not a URL."""
    kind = "integer" if isinstance(value, int) else "string"
    is_value = isinstance(value, (str, int)) and not isinstance(value, bool) and 0 < len(str(value)) <= _LONGEST
    return is_value and kind in _kinds(parameter) and not str(value).startswith(("http://", "https://", "/"))


def _by_number(small: _Small, row: Row) -> Iterator[_Way]:
    """Yield parameters that count: an offset of 1 begins with the second item, the second page after the first's.

    A list of two items cannot tell them apart, but confirm the document.
    """
    paging, few = row.pagination, small.few
    for parameter in [item for item in _numbers(row) if item is not small.size][:_MOST_PARAMETERS]:
        start = start_of(parameter, "page")

        def step(begins: int, value: int, parameter: Parameter = parameter) -> _Step:
            return _Step(begins, {parameter.name: _typed(parameter, value)})

        stated = {"style": paging.style, f"{paging.style}_param": parameter.wire} if paging is not None else {}
        if paging is not None and paging.style in ("page", "offset") and _is_stated(paging, stated):
            yield _Way(stated, [step(few, few if paging.style == "offset" else start + 1)])
        if few > 1 and small.size is not None:
            yield _Way({"style": "offset", "offset_param": parameter.wire}, [step(1, 1), step(2, 2)])
            second = step(few, 2) if start else step(-2 * few, 2)
            yield _Way({"style": "page", "page_param": parameter.wire}, [step(few * (1 - start), 1), second])


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


def _addresses(response: ApiResponse, data: Any, url: str, items: str) -> Iterator[tuple[str, bool, str]]:
    """Yield headers and fields with the address of the same list and another query, as path and query."""
    links = read_links(response.headers.get("link", "")[:_LONGEST])
    named = [("Link", True, link.target) for link in links if "next" in link.relations]
    headers = list(response.headers.items())[:_MOST_BESIDE]
    named += [(name.title(), True, value) for name, value in headers if name != "link" and is_plain(name)]
    named += [(pointer, False, value) for pointer, value in _beside(data, items) if isinstance(value, str)]
    for name, in_header, value in named:
        if position := _position(value, url):
            yield name, in_header, position


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


def _beside(data: Any, items: str, pointer: str = "") -> list[tuple[str, Any]]:
    """Return the plain values beside a list with their pointers; none of a list, or of another list's items."""
    if not isinstance(data, dict):
        return [] if isinstance(data, list) or pointer == items else [(pointer, data)]
    plain = (pair for pair in list(data.items())[:_MOST_BESIDE] if is_plain(pair[0]) and pointer.count("/") <= _DEEPEST)
    return [pair for key, value in plain for pair in _beside(value, items, f"{pointer}/{key}")][:_MOST_BESIDE]


def _beside_list(small: _Small, data: Any) -> dict[str, str]:
    """Return the count of all items and the flag of a next page, where two pages show them.

    A count stays as it is, whatever the size of the page; a flag is off at the end.
    """
    if not small.pointer:
        return {}
    whole = dict(_beside(data, small.pointer))
    values = _beside(small.page.data, small.pointer)
    counts = [(pointer, value) for pointer, value in values if isinstance(value, int) and whole.get(pointer) == value]
    total = [pointer for pointer, value in counts if number(value) == len(small.whole)]
    more = [pointer for pointer, value in values if value is True and whole.get(pointer) is False]
    return {key: places[0] for key, places in (("total", total), ("has_more", more)) if len(places) == 1}


def _alike(pointer: str, wire: str) -> int:
    """Return how much two names have in common at their ends: `/meta/next_cursor` and `cursor`."""
    name, other = folded(pointer.rpartition("/")[2]), folded(wire)
    return next((length for length in range(min(len(name), len(other)), 0, -1) if name[-length:] == other[-length:]), 0)


def _is_same(paging: Pagination, stated: Mapping[str, Any]) -> bool:
    """Return True if the adapter pages so already."""
    keys = ("page_param", "offset_param", "cursor_param", "next", "size_param", "items")
    return _FAMILIES.get(paging.style, paging.style) == _FAMILIES.get(stated["style"], stated["style"]) and all(
        str(getattr(paging, key) or "").lower() == str(stated[key]).lower() for key in keys if key in stated
    )
