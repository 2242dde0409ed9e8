"""What a call carries besides its own operation: the requests of a batch, or the action that it chooses (R-SAFE-1).

The request is read as it will be sent. A call is harmless only if each place of it says so in the very words that the
document declares: another spelling, a second field of nearly the same name, a header or field that overrides a method,
a body that cannot be read, or too large a one, tells nothing, and what tells nothing counts as the worst.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from ..encode import is_framing, overrides_method
from ..schema import steps_of
from ..text import letters
from ..wire import FORM, is_json, media_type

if TYPE_CHECKING:
    from ..table import Carried, CarriedPlace, Row, Table
    from ..wire import ApiRequest

_METHODS = frozenset({"GET", "HEAD", "QUERY", "POST", "PUT", "PATCH", "DELETE"})
_PLAIN_PATH = re.compile(r"/?[A-Za-z0-9._~!$&'()*+,=:@-]+(?:/[A-Za-z0-9._~!$&'()*+,=:@-]+)*(?:\?[^#\\\s]*)?")
_NAMES = re.compile(r"[?&;=:,\s]+")
"""What parts the names in a query, a form or a header."""
_MOST = 5_000
_MOST_INNER = 100
"""How many different requests within one are looked at."""
_DEEPEST = 40


class Inner(NamedTuple):
    """A request within a request."""

    method: str
    path: str


class _Untold(Exception):
    """What a call carries destroys, or nobody can tell."""


def read_carried(carries: Carried, request: ApiRequest) -> tuple[list[Inner], bool]:
    """Return the requests that a request carries, and whether nothing else in it destroys or is untold."""
    inner: list[Inner] = []
    if not carries.places:
        return inner, False
    body: Any = None
    is_known, has_places = True, all(place.optional for place in carries.places)
    try:
        body = _body(request)
    except _Untold:
        is_known = all(place.location != "body" for place in carries.places)
    for place in carries.places:
        try:
            for item in _objects(place, request, body):
                is_known &= _is_told(place, item, inner)
                has_places |= not place.optional
        except _Untold:
            is_known = False
    inner = list(dict.fromkeys(inner))
    return inner[:_MOST_INNER], is_known and has_places and len(inner) <= _MOST_INNER


def _body(request: ApiRequest) -> Any:
    """Return the body as data; None for none."""
    if request.content is None:
        return None
    try:
        if is_json(request.content_type):
            return json.loads(request.content, object_pairs_hook=_once)
        if media_type(request.content_type) == FORM:
            return _pairs(request.content.decode())
    except (ValueError, RecursionError):
        pass
    raise _Untold


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises ValueError if a name is there twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError
    return values


def _pairs(text: str) -> dict[str, str]:
    """Return the pairs of a form or a query. Raises _Untold if a name is there twice, or is a path of names."""
    pairs = parse_qsl(text, keep_blank_values=True)
    values = dict(pairs)
    if len(values) < len(pairs) or any("[" in name or "." in name for name in values):
        raise _Untold
    return values


def _objects(place: CarriedPlace, request: ApiRequest, body: Any) -> Iterator[Any]:
    """Yield the objects at a place, which may have its field."""
    if place.location == "query":
        yield _pairs(request.url.partition("?")[2])
    elif body is not None or not place.optional:
        yield from _walk(body, steps_of(place.at))


def _walk(value: Any, steps: Sequence[str]) -> Iterator[Any]:
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if step == "*":
        if value is not None and not isinstance(value, Mapping | list):
            raise _Untold
        items = value.values() if isinstance(value, Mapping) else value or ()
        for item in items:
            yield from _walk(item, rest)
        return
    if isinstance(value, list):
        return  # another alternative of the body
    if not isinstance(value, Mapping) or any(key != step and letters(key) == letters(step) for key in value):
        raise _Untold
    if step in value and value[step] is not None:
        yield from _walk(value[step], rest)


def _is_told(place: CarriedPlace, item: Any, inner: list[Inner]) -> bool:
    """Return True if an object says at a place that it destroys nothing; add the request that it says."""
    if not isinstance(item, Mapping):
        return place.optional
    spellings = {name for name in item if letters(name) == letters(place.field)}
    if not spellings:
        return place.optional
    if place.address is not None:
        return _is_request(place, item, spellings, inner)
    if spellings != {place.field}:
        return False
    return not item[place.field] if place.holds else item[place.field] in place.harmless


def _is_request(place: CarriedPlace, item: Mapping[str, Any], spellings: set[str], inner: list[Inner]) -> bool:
    """Return True if an object says one HTTP method and one plain path, and nothing that overrides them."""
    method, path = item.get(place.field), item.get(place.address or "")
    addresses = {name for name in item if letters(name) == letters(place.address or "")}
    method = method.upper() if isinstance(method, str) and method.isascii() else ""
    if isinstance(path, str) and method:
        inner.append(Inner(method, path))
    is_plain = isinstance(path, str) and _PLAIN_PATH.fullmatch(path) is not None
    is_plain = is_plain and {".", ".."}.isdisjoint(str(path).partition("?")[0].split("/"))
    is_single = spellings == {place.field} and addresses == {place.address}
    return is_single and method in _METHODS and is_plain and not _overrides(item)


def _overrides(item: Any) -> bool:
    """Return True if a name or a text in a value puts another method or path in place, or there is too much of it."""
    waiting, count = [(item, 0)], 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if count > _MOST or depth > _DEEPEST:
            return True
        if isinstance(value, Mapping):
            waiting += [(part, depth + 1) for pair in value.items() for part in pair]
        elif isinstance(value, list):
            waiting += [(part, depth + 1) for part in value]
        elif (
            isinstance(value, str)
            and any(  # servers read it as another method or address (`X-Original-URL`)
                overrides_method(name) or (name[:2].lower() == "x-" and is_framing(name))
                for name in _NAMES.split(unquote(value))
            )
        ):
            return True
    return False


def matching(inner: Inner, carrying: Row, table: Table, request: ApiRequest) -> tuple[list[Row], bool]:
    """Return the operations that a request within a request may be, and whether it surely is one of them.

    It surely is one if its path is that of an operation of the same API, alone or behind the base path of the request
    around it. A path that only ends as an operation's does, in any case, may be meant by it, too.
    """
    steps = _steps(inner.path)
    around = _steps(request.url.partition("://")[2].partition("/")[2])
    base = around[: -len(_steps(carrying.path)) or None]
    rows: list[Row] = []
    is_sure = False
    for name, family, (method, path, api) in table.values("method", "path", "api"):
        template = _steps(path) if method == inner.method else []
        if not template or not _fits(steps[-len(template) :], template, str.casefold):
            continue
        row = table.find(name, family)
        if row is not None:
            rows.append(row)
            is_exact = api == carrying.api and _fits(steps[-len(template) :], template, str)
            is_sure |= is_exact and steps[: -len(template)] in ([], base)
    return rows, is_sure


def led_to(carrying: Row, table: Table, first: ApiRequest, changed: ApiRequest) -> list[Row]:
    """Return the operations that are at the path of a request which was made of another, as by the API's link."""
    before, path = (unquote(urlsplit(each.url).path) for each in (first, changed))
    count = len(_steps(carrying.path))
    is_same = _steps(path.casefold())[-count:] == _steps(before.casefold())[-count:]
    depth = len(_steps(path)) - len(_steps(before)) + count
    rows, _ = ([], False) if is_same else matching(Inner(changed.method, path), carrying, table, first)
    return [row for row in rows if len(_steps(row.path)) == depth]


def _steps(path: str) -> list[str]:
    """Return the names of a path, without what some servers leave out of them."""
    return [step.partition(";")[0] for step in path.partition("?")[0].partition("#")[0].split("/") if step]


def _fits(steps: list[str], template: list[str], spelled: Callable[[str], str]) -> bool:
    return len(steps) == len(template) and all(
        "{" in part or spelled(step) == spelled(part) for step, part in zip(steps, template, strict=True)
    )
