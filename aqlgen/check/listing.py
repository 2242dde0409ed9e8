"""A list of the stand-in that is paged as an operation's row says, of items with a number each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any
from urllib.parse import urlencode

from aqlgen.check.stand_in import Arrived, Reply
from aqlgen.runtime.schema import steps_of
from aqlgen.runtime.table import Pagination, Row

NUMBER = "aqlgenNumber"
"""The field of each item that holds its number; no document declares it, so that every adapter passes it on."""
_USUAL = 5
"""A size that APIs choose: by its number of items alone a page ends a list that was asked for more."""
_FROM = "check_from"


class PagedList:
    """The list: items after the one of `data`, which is what the API answers otherwise, each with more `fields`.

    The first page is asked for without its number, or by the number that its parameter begins with. With `size` all
    pages are of that size, whatever is asked for.
    """

    def __init__(
        self, row: Row, paging: Pagination, data: Any, fields: Sequence[Mapping[str, Any]], size: int | None = None
    ) -> None:
        self._size = size
        self._paging = paging
        self._data = data
        self._fields, self._count = fields, len(fields)
        lead = next((item for item in row.parameters.values() if item.wire == paging.lead_param), None)
        lead = lead or next(
            (item for item in (paging.parameters or {}).values() if item.wire == paging.lead_param), None
        )
        default = None if lead is None else lead.schema.get("default")
        self._start = int(str(default)) if str(default) in ("0", "1") else 1 if paging.style == "page" else 0
        self._is_known = False

    def reply(self, request: Arrived) -> Reply:
        """Return the page that a request asks for."""
        query = dict(request.query)
        size = self._size or _number(query.get(self._paging.size_param or "")) or _USUAL
        begin = self._begin(query, size)
        return self._page(request, begin, min(self._count, begin + size))

    def _begin(self, query: dict[str, str], size: int) -> int:
        if _FROM in query:
            return _number(query[_FROM]) or 0
        value = query.get(self._paging.lead_param or "")
        if self._paging.style in ("page", "offset"):
            number = self._start if value is None else _number(value) or 0
            if not self._is_known and number in (0, 1) and self._paging.style == "page":
                self._start, self._is_known = number, True
            return (number - self._start) * size if self._paging.style == "page" else number
        return _number((value or "").removeprefix("after-")) or 0

    def _page(self, request: Arrived, begin: int, end: int) -> Reply:
        paging, data = self._paging, deepcopy(self._data)
        items = [self._item(number) for number in range(begin, end)]
        is_last, headers = end >= self._count, {"Content-Type": "application/json"}
        numbers = {"page": begin // max(1, end - begin) + 1 + self._start, "offset": end}
        following: Any = numbers.get(paging.style, f"after-{end}")
        if paging.style in ("link", "next_url") or paging.next == "link":
            pairs = [pair for pair in request.query if pair[0] != _FROM]
            following = f"{request.base}{request.path}?{urlencode([*pairs, (_FROM, str(end))])}"
        for pointer, value in (
            (paging.items or "", items),
            (paging.next if paging.next_in != "header" else None, None if is_last else following),
            (paging.has_more, not is_last),
            (paging.total, self._count),
        ):
            data = data if pointer is None else placed(data, pointer, value)
        if paging.next is not None and paging.next_in == "header" and not is_last:
            is_link = paging.next.lower() == "link"
            headers[paging.next] = f'<{following}>; rel="next"' if is_link else str(following)
        return Reply(200, json.dumps(data).encode(), headers)

    def _item(self, number: int) -> dict[str, Any]:
        place = self._data
        for step in steps_of(self._paging.items or ""):
            place = place.get(step) if isinstance(place, dict) else None
        first = place[0] if isinstance(place, list) and place and isinstance(place[0], dict) else {}
        return {**first, NUMBER: number, **self._fields[number]}


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else None


def placed(data: Any, pointer: str, value: Any) -> Any:
    """Return data with a value at a pointer; what is not an object on the way becomes one."""
    return _placed(data, steps_of(pointer), value)


def _placed(data: Any, steps: Sequence[str], value: Any) -> Any:
    whole = data if isinstance(data, dict) else {}
    return {**whole, steps[0]: _placed(whole.get(steps[0]), steps[1:], value)} if steps else value
