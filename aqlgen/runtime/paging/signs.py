# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Signs in an answer that its list is not whole, where no page is known to follow (R-SEL-3).

A list is whole only on evidence. A doubt is raised by whatever leads on, or counts more than there is: a header or a
field beside the list with the address of this list and another query, a token, a flag, or a number above that of the
items. No request is made by a sign: it only makes the answer say that there may be more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from ..decode.headers import read_links
from ..schema.reader import at
from ..text import line
from .plan import number

if TYPE_CHECKING:
    from ..table import Row
    from ..wire import ApiRequest, ApiResponse

__all__ = ["signs_of_bound", "signs_of_more"]

_MOST: Final = 4
"""Signs that are named; one is enough."""
_MOST_MEMBERS: Final = 200
_LONGEST: Final = 200
_LONGEST_VALUE: Final = 2000
_LARGEST_COUNT: Final = 10**9
"""Larger numbers are points in time."""


class _Names(NamedTuple):
    """Words of names: those that are one of these, or begin or end so, since headers run words together."""

    words: frozenset[str]
    beginnings: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()

    def are_in(self, called: Sequence[str]) -> bool:
        return any(
            word in self.words or word.startswith(self.beginnings) or word.endswith(self.endings) for word in called
        )


_WORD = re.compile(r"[A-Z]?[a-z]{1,40}|[A-Z]{1,40}(?![a-z])")
_NEXT: Final = _Names(
    frozenset({"next", "more", "pagetoken", "skiptoken", "bookmark", "scrollid"}),
    ("continu", "incomplete", "hasmore", "nextpage", "nextcursor", "nexttoken", "nextlink", "nexturl", "nextkey"),
    ("cursor", "marker", "truncated"),
)
_COUNT: Final = _Names(
    frozenset(
        {
            "count",
            "counts",
            "found",
            "numfound",
            "hits",
            "matches",
            "records",
            "results",
            "rows",
            "items",
            "entries",
            "elements",
        }
    ),
    ("total", "itemcount", "itemscount", "recordcount", "resultcount", "rowcount"),
)
_SIZE: Final = _Names(frozenset({"limit", "per", "max", "perpage"}), (), ("size",))
_BACK: Final = _Names(frozenset({"before", "self", "sync", "cache"}), ("prev", "first", "current", "rate"))
_NO_COUNT: Final = _Names(
    frozenset({"code", "status", "version", "id", "year", "took", "duration", "page", "offset", "start"}), ("time",)
)
_ABOUT_PAGES: Final = _Names(frozenset({"link", "links", "cursor", "cursors", "next", "info"}), ("pag", "meta"))
"""Words in names of: what leads on, counts, page sizes, what leads back or is of something else, other numbers, and the
objects beside a list that tell of its pages.
"""
_NOTHING: Final = frozenset({"", "0", "-1", "false", "null", "none"})
_OWN_ADDRESSES: Final = frozenset({"location", "content-location", "operation-location", "content-length", "link"})
"""Headers that say something else of the answer, and the one whose links are read."""


class _Statement(NamedTuple):
    """A value that stands about a list; a number that is not `beside` it counts items only if it is called a count."""

    name: str
    value: Any
    beside: bool = False


def signs_of_bound(row: Row, params: Mapping[str, Any], count: int) -> dict[str, Any]:
    """Return the parameters by which the API may have bounded a list of `count` items, each with its value.

    One that is neither given nor has a default bounds the list by a number that nobody knows.
    """
    declared = {name: row.parameters[name] for name in row.partial_by if name in row.parameters}
    values = {name: params.get(name, item.preset or item.schema.get("default")) for name, item in declared.items()}
    return {
        f"parameter {name}": "not known" if number(value) is None else value
        for name, value in values.items()
        if count and count >= (number(value) or 0)
    }


def signs_of_more(
    data: Any, path: Sequence[str], seen: int, response: ApiResponse, request: ApiRequest | None
) -> dict[str, Any]:
    """Return what speaks for more than the `seen` items, by header or field; empty if nothing does.

    `path` is that of the list in the data.
    """
    url = "" if request is None else request.url
    statements = list(_statements(data, path, response))
    full = not any(value == seen and _called_total(_words(name)) for name, value, _ in statements)
    signs: dict[str, Any] = {}
    for statement in statements:
        if len(signs) < _MOST and _is_sign(statement, seen, response.status, url, full=full):
            value = statement.value
            signs[line(statement.name, _LONGEST)] = line(value, _LONGEST) if isinstance(value, str) else value
    return signs


def _statements(data: Any, path: Sequence[str], response: ApiResponse) -> Iterator[_Statement]:
    if response.status == 206:
        yield _Statement("incomplete by its status", True)
    yield from _of_headers(response)
    if path and not isinstance(at(data, path), list):
        others = at(data, path[:-1])
        for key, value in list(others.items())[:_MOST_MEMBERS] if isinstance(others, Mapping) else ():
            if isinstance(value, list):
                yield _Statement(f"total of {key}", len(value))
    for depth, step in enumerate(path):
        yield from _members("", at(data, path[:depth]), (step,))


def _of_headers(response: ApiResponse) -> Iterator[_Statement]:
    """Yield what the headers of an answer state, also those that are objects of JSON."""
    for name, value in list(response.headers.items())[:_MOST_MEMBERS]:
        if name == "link":
            yield from (_Statement("link next", link.target) for link in read_links(value) if "next" in link.relations)
        elif name == "content-range":
            yield _Statement("content-range total", number(value.rpartition("/")[2].strip()))
        elif value.startswith("{") and len(value) <= _LONGEST_VALUE:
            yield from _members(name, _read(value), ())
        elif name not in _OWN_ADDRESSES and len(value) <= _LONGEST_VALUE:
            yield _Statement(name, value if number(value) is None else number(value))


def _members(name: str, members: Any, listed: Sequence[str]) -> Iterator[_Statement]:
    """Yield the plain members of an object, and of the objects in it that tell of pages, but for the list."""
    for key, value in list(members.items())[:_MOST_MEMBERS] if isinstance(members, Mapping) else ():
        path = f"{name}.{key}" if name else str(key)
        if isinstance(value, Mapping):
            if key not in listed and path.count(".") < 2 and _ABOUT_PAGES.are_in(_words(path)):
                yield from _members(path, value, ())
        elif isinstance(value, (str, int)):
            yield _Statement(path, value, beside=not name)


def _is_sign(statement: _Statement, seen: int, status: int, url: str, *, full: bool) -> bool:
    """Return True if a statement speaks for more items; with `full` a page size says so that equals their number."""
    name, value, beside = statement
    called = _words(name)
    if value is None or _BACK.are_in(called):
        return False
    leads_on = _NEXT.are_in(called) or (beside and "token" in called)
    if isinstance(value, bool):
        return value and leads_on
    if isinstance(value, str):
        return value.strip().lower() not in _NOTHING and (leads_on or _is_same_list(value, url))
    return bool(value > 0) if leads_on else _is_count_of_more(statement, seen, status, full=full)


def _is_count_of_more(statement: _Statement, seen: int, status: int, *, full: bool) -> bool:
    """Return True if a number counts more pages than one, or more items than were seen."""
    _, value, beside = statement
    called = _words(statement.name)
    is_count = _COUNT.are_in(called)
    if "pages" in called or ("page" in called and is_count):
        return bool(value > 1)
    if _SIZE.are_in(called) and not _called_total(called):
        return full and bool(value == seen > 0)
    may_be_count = beside and seen > 0 and value != status and value < _LARGEST_COUNT and not _NO_COUNT.are_in(called)
    return bool(value > seen) and (is_count or may_be_count)


def _is_same_list(value: str, url: str) -> bool:
    """Return True for the address of the list that was asked for, with another query."""
    if not url or len(value) > _LONGEST_VALUE or not value.startswith(("/", "?", "http://", "https://")):
        return False
    try:
        here, there = urlsplit(url), urlsplit(urljoin(url, value))
    except ValueError:
        return False
    return there.path == here.path and there.query not in ("", here.query)


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name[:_LONGEST])]


def _called_total(called: Sequence[str]) -> bool:
    return any(word.startswith("total") for word in called)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
