"""How an operation pages, under the agent's names, and signs that its list is not whole (R-SEL-3).

A page size is sent only where the call asks for one, or the API does; else the API's own page is what comes back.

A list is whole only on evidence. A doubt is raised by whatever leads on, or counts more than there is: a header or a
field beside the list with the address of this list and another query, a token, a flag, or a number above that of the
items. No request is made by a sign: it only makes the answer say that there may be more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from ..decode.headers import read_links
from ..schema import agent_path, at, schema_at
from ..table import first_success
from ..text import line

if TYPE_CHECKING:
    from ..table import JsonSchema, Parameter, Row, Table
    from ..wire import ApiRequest, ApiResponse

_MOST = 100
_DIGITS = 18
_FROM_ZERO = re.compile(
    r"\b(?:zero|0)[- ](?:based|indexed)|\b(?:starts?|starting|begins?) (?:at|from|with) (?:0|zero)\b", re.I
)


@dataclass(frozen=True, slots=True)
class PagePlan:
    """How one operation pages, under the agent's names. `next` is a path in the answer, or the name of a header."""

    style: str
    lead: str | None
    size: str | None
    before: str | None
    most: int
    usual: int
    """The size of the API's own page, 0 if the document does not say."""
    surely: int
    size_demanded: bool
    start: int
    items: tuple[str, ...]
    next: tuple[str, ...] | str | None
    has_more: tuple[str, ...] | None
    total: tuple[str, ...] | None
    item_cursor: tuple[str, ...] | None
    within: tuple[str, ...]
    by_url: bool
    depth: int

    @property
    def in_header(self) -> bool:
        """True if a header has the next one."""
        return isinstance(self.next, str)


def prepare(row: Row, table: Table) -> PagePlan:
    """Return the plan of an operation that the adapter pages."""
    paging = row.paging
    assert paging is not None  # noqa: S101 - asked of such operations only
    schema: JsonSchema = first_success(row.responses).get("schema") or {}
    parameters = list(row.parameters.values())

    def path(pointer: str | None, of: JsonSchema = schema) -> tuple[str, ...] | None:
        return None if pointer is None else agent_path(table.types, of, pointer)

    def named(wire: str | None) -> str | None:
        place = paging.location or "query"
        name = next(
            (parameter.name for parameter in parameters if (parameter.wire, parameter.location) == (wire, place)), None
        )
        return wire if name is None and paging.within is not None else name

    lead, size = named(paging.lead_param), named(paging.size_param)
    most = min(_MOST, _MOST if paging.size_max is None else paging.size_max)
    items = path(paging.items) or ()
    usual = _usual(row.parameters.get(size or ""))
    within = path(paging.within, {} if row.body is None else row.body.schema) or ()
    return PagePlan(
        style=paging.style,
        lead=lead,
        size=size,
        before=named(paging.before_param),
        most=most,
        usual=usual,
        surely=max(usual, paging.size_max or 0),
        size_demanded=size in paging.demanded,
        start=start_of(row.parameters.get(lead or ""), paging.style),
        items=items,
        next=paging.next.lower() if paging.next and paging.next_in == "header" else path(paging.next),
        has_more=path(paging.has_more),
        total=path(paging.total),
        item_cursor=path(paging.item_cursor, schema_at(table.types, schema, items, items=True)),
        within=within,
        by_url=paging.style in ("link", "next_url"),
        depth=len(row.path.partition("?")[0].strip("/").split("/")),
    )


def _usual(size: Parameter | None) -> int:
    """Return the size of the API's own page, 0 if the document does not say."""
    return 0 if size is None else number(size.schema.get("default")) or 0


def start_of(parameter: Parameter | None, style: str) -> int:
    """Return the number of the first page, or the first offset.

    A minimum of 1 says nothing of a number of items to skip, which is left out for the first page. Of an index, such
    as SCIM's `startIndex` (RFC 7644, 3.4.2.4), it is the first.
    """
    if parameter is not None:
        is_number = style == "page" or "index" in parameter.wire.lower()
        for key in ("default", "minimum"):
            value = number(parameter.schema.get(key))
            if value in (0, 1) and (key == "default" or (is_number and (value or style == "page"))):
                return value
        if _FROM_ZERO.search(parameter.description):
            return 0
    return 1 if style == "page" else 0


def first_lead(row: Row, plan: PagePlan) -> int | str | None:
    """Return the parameter's value for the first page; None if it can be left out.

    A page or an offset is sent if the API's own default may differ, or if it is required; a required cursor is empty,
    since there is none yet.
    """
    parameter = row.parameters.get(plan.lead or "")
    if parameter is None:
        return None
    demanded = parameter.name in (row.paging.demanded if row.paging is not None else ())
    default = parameter.schema.get("default")
    if plan.style in ("page", "offset"):
        is_known = number(default) is not None or plan.start > 0 or (number(parameter.schema.get("minimum")) or 0) > 0
        return plan.start if demanded or not is_known else None
    if not demanded:
        return None
    if isinstance(default, (int, str)):
        return default
    kinds = parameter.schema.get("type", "string")
    return "" if "string" in kinds else 0


def request_size(row: Row, plan: PagePlan, wanted: int) -> int | None:
    """Return the size to request from the API, within the bounds of its parameter; None if it has none."""
    if plan.size is None:
        return None
    parameter = row.parameters.get(plan.size)
    schema: Mapping[str, Any] = {} if parameter is None else parameter.schema
    options = sorted(option for option in schema.get("enum", ()) if isinstance(option, int))
    if options:
        return next((option for option in options if option >= wanted), options[-1])
    least, most = number(schema.get("minimum")), number(schema.get("maximum"))
    wanted = wanted if least is None else max(wanted, least)
    return wanted if most is None else min(wanted, most)


def put(params: dict[str, Any], plan: PagePlan, row: Row, name: str, value: int | str) -> None:
    """Set a parameter of the API, with the type that it has; objects of the body are copied before they are changed."""
    parameter = row.parameters.get(name)
    if parameter is not None:
        kind = parameter.schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        is_number = "integer" in kinds or "number" in kinds
        if isinstance(value, int) and "string" in kinds and not is_number:
            value = str(value)
        elif is_number and _is_count(value):
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


def _is_count(value: int | str) -> bool:
    """Return True for the text of a whole number that may be a token."""
    return isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _LONGEST


def number(value: Any) -> int | None:
    """Return a whole number, also one written as text; None for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _DIGITS:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_MOST_SIGNS: Final = 4
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
    frozenset("count counts found numfound hits matches records results rows items entries elements".split()),
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
    """Return the signs of more than the `seen` items, by header or field; empty without any.

    `path` is that of the list in the data.
    """
    url = "" if request is None else request.url
    statements = list(_statements(data, path, response))
    full = not any(value == seen and _called_total(_words(name)) for name, value, _ in statements)
    signs: dict[str, Any] = {}
    for statement in statements:
        if len(signs) < _MOST_SIGNS and _is_sign(statement, seen, response.status, url, full=full):
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
    """Yield the statements in the headers of an answer, also in those that are objects of JSON."""
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
    """Yield the plain members of an object, and of the objects in it that tell of pages, without the list."""
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
