"""What the parameters of an operation do for paging, by their names and kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from aqlgen.document.positions import escape
from aqlgen.ir import Json, Location
from aqlgen.words import split

from ..around import Around, Subject

__all__ = ["Given", "joined", "roles"]

SIZE: Final = frozenset(
    "perpage pagesize pagelimit limit maxresults maxitems itemsperpage resultsperpage recordsperpage entriesperpage top"
    " size count numresults numberofresults first take rows rpp max maxkeys listsize maxrecords batchsize numitems"
    " maxcount pagecount resultsize fetchsize numrows hitsperpage results maxpagesize resultlimit amount length".split()
)
PAGE: Final = frozenset("page pagenumber pageno pagenum pageindex currentpage pageidx pagenr".split())
OFFSET: Final = frozenset(
    "offset skip startindex startat firstresult pageoffset startrow startingindex startitem startoffset startposition"
    " resultoffset firstitem startrecord".split()
)
RANGE_START: Final = frozenset({"start", "from"})
"""An offset only where nothing says to what end."""

RANGE_END: Final = frozenset({"end", "to", "until", "stop", "endtime", "enddate"})
CURSOR: Final = frozenset(
    "cursor after startingafter nextcursor pagecursor afterid startcursor maxid startafter pageafter marker bookmark"
    " next lastid startingid startkey exclusivestartkey lastevaluatedkey startid aftercursor nextid nextmarker"
    " searchafter pageid nextkey lastkey lastitem".split()
)
TOKEN: Final = frozenset(
    "pagetoken nexttoken continuationtoken nextpagetoken continue continuation startingtoken paginationtoken scrollid"
    " skiptoken resumetoken paginationkey pagekey pagingtoken nextpage nextpagecursor pagestate".split()
)
BEFORE: Final = frozenset("before endingbefore beforeid pagebefore beforecursor previouscursor prevcursor".split())
_NAMES: Final = SIZE | PAGE | OFFSET | RANGE_START | CURSOR | TOKEN | BEFORE
NESTS: Final = frozenset("options pagination paging page search query paginationoptions pageinfo listoptions".split())
"""Objects of a body that hold what pages."""

PREFIXES: Final = ("pagination", "paging", "page", "odata", "query", "list", "filter")

_CALENDAR: Final = frozenset({"date", "date-time", "time", "unix-time", "timestamp"})
_TIME: Final = re.compile(r"\b(timestamp|iso.?8601|rfc.?3339|unix|epoch|datetime|date)\b", re.IGNORECASE)
_PAGING: Final = re.compile(r"\b(cursor|pag(e|es|ing|inat\w+)|next set|opaque|token)\b", re.IGNORECASE)
_MOST: Final = (
    re.compile(r"\bmax(?:imum)?\b[^.\d\n]{0,40}?(\d{1,6})\b", re.IGNORECASE),
    re.compile(r"\b(?:up to|at most|no more than|cannot exceed|not exceed)\s+(\d{1,6})\b", re.IGNORECASE),
    re.compile(r"\b(?:between|from|range)\s+\d+\s*(?:and|to|-)\s*(\d{1,6})\b", re.IGNORECASE),
)


@dataclass(frozen=True, slots=True)
class Given:
    """The parameter of each role by its wire name; `size_max` is the most that the document allows."""

    place: str = "query"
    within: str | None = None
    """JSON pointer of the object in the body that holds them."""
    page: str | None = None
    offset: str | None = None
    cursor: str | None = None
    token: str | None = None
    before: str | None = None
    size: str | None = None
    size_max: int | None = None
    switched: bool = False
    """Whether the cursor has to be asked for by a flag."""
    others: tuple[tuple[str, str], ...] = ()
    """Those that may be a cursor by what the answer says, as one run of letters and by wire name."""

    def __bool__(self) -> bool:
        return bool(self.pages or self.before or self.size)

    @property
    def pages(self) -> bool:
        """Whether one of them leads to the next page."""
        return bool(self.page or self.offset or self.cursor or self.token)


@dataclass(frozen=True, slots=True)
class _One:
    wire: str
    key: str
    kinds: frozenset[str]
    schema: Mapping[str, Json]
    description: str

    @property
    def number(self) -> bool:
        return not self.kinds or bool(self.kinds & {"integer", "number"})

    @property
    def text(self) -> bool:
        return not self.kinds or "string" in self.kinds

    @property
    def calendar(self) -> bool:
        """Whether it is a point in time, which filters and does not page."""
        if "cursor" in self.key:
            return False
        if str(self.schema.get("format")) in _CALENDAR:
            return True
        return bool(_TIME.search(self.description)) and not _PAGING.search(self.description)


@lru_cache(maxsize=16384)
def joined(wire: str) -> str:
    """Give a name as one run of letters, so that every spelling of it is the same; `page[size]` is pagesize."""
    return "".join(split(wire))


def roles(subject: Subject, around: Around) -> Given:
    """Give what pages in the query; where nothing does, what pages in the body or in an object of it."""
    found = _roles(list(_plain(subject, around)), "query")
    if found or subject.body is None:
        return found
    fields = around.schemas.properties(subject.body)
    if not any(_pages(joined(wire)) or joined(wire) in NESTS for wire in fields):
        return found
    found = _roles(list(_fields(fields, around)), "body")
    if found.pages:
        return found
    for wire, schema in fields.items():
        if joined(wire) in NESTS:
            nested = _roles(list(_fields(around.schemas.properties(schema), around)), "body")
            if nested.pages:
                return replace(nested, within=f"/{escape(wire)}")
    return found


def _plain(subject: Subject, around: Around) -> Iterator[_One]:
    for one in subject.operation.parameters:
        if one.location is Location.QUERY:
            schema = around.schemas.resolve(one.schema)
            yield _One(one.name, joined(one.name), around.schemas.kinds(one.schema), schema, one.description)


def _fields(fields: Mapping[str, Json], around: Around) -> Iterator[_One]:
    for wire, schema in fields.items():
        resolved = around.schemas.resolve(schema)
        described = resolved.get("description")
        kinds = around.schemas.kinds(schema)
        yield _One(wire, joined(wire), kinds, resolved, described if isinstance(described, str) else "")


@lru_cache(maxsize=16384)
def _pages(key: str) -> bool:
    """Whether a name is one of those that page, with a prefix that speaks of paging or without."""
    return key in _NAMES or any(key.startswith(prefix) and key.removeprefix(prefix) in _NAMES for prefix in PREFIXES)


def _roles(every: list[_One], place: str) -> Given:
    keys = {one.key for one in every}
    if not any(map(_pages, keys)):
        return Given(place)
    size = _first(every, SIZE, lambda one: one.number or _digits(one))
    ranged = bool(keys & RANGE_END)
    offset = _first(every, OFFSET, lambda one: one.number or _digits(one))
    if offset is None and size is not None and not ranged:
        offset = _first(every, RANGE_START, lambda one: bool(one.kinds & {"integer", "number"}) and not one.calendar)
    page = _first(every, PAGE, lambda one: one.number or _digits(one))
    cursor = _first(every, CURSOR, lambda one: not one.calendar and "boolean" not in one.kinds)
    token = _first(every, TOKEN, lambda one: not one.calendar and one.text)
    if token is None:  # a page or an offset that is a text is a token, whatever its name
        token = _first(every, PAGE | OFFSET, lambda one: one.text and not one.number and not _digits(one))
    if token is None:  # and so is an offset that may be a text, where the answer gives the next one
        token = _first(every, OFFSET, lambda one: "string" in one.kinds and one.number)
    before = _first(every, BEFORE, lambda one: not one.calendar and "boolean" not in one.kinds)
    paged = next((one for one in (cursor, token) if one is not None), None)
    switched = paged is not None and any(
        one.kinds == {"boolean"} and one.key != paged.key and one.key.endswith(paged.key) for one in every
    )
    return Given(
        place=place,
        page=_wire(page),
        offset=_wire(offset),
        cursor=_wire(cursor),
        token=_wire(token),
        before=_wire(before),
        size=_wire(size),
        size_max=_most(size) if size else None,
        switched=switched,
        others=tuple((one.key, one.wire) for one in every if not one.calendar and one.kinds & {"string", "integer"}),
    )


def _wire(one: _One | None) -> str | None:
    return one.wire if one is not None else None


def _first(every: list[_One], names: frozenset[str], test: Callable[[_One], bool]) -> _One | None:
    """Give the first parameter of such a name, with a prefix that speaks of paging or without."""
    for one in every:
        if one.key in names and test(one):
            return one
    for one in every:
        bare = next((one.key.removeprefix(prefix) for prefix in PREFIXES if one.key.startswith(prefix)), "")
        if bare in names and test(one):
            return one
    return None


def _digits(one: _One) -> bool:
    """Whether a text is a number after all, by its pattern, format, default or example."""
    if "string" not in one.kinds:
        return False
    values = (one.schema.get("default"), one.schema.get("example"))
    shaped = str(one.schema.get("pattern", "")).replace("[0-9]", r"\d")
    return (
        one.schema.get("format") in ("int32", "int64")
        or re.fullmatch(r"\^?\(?(?:\[1-9\])?\\d[*+]\)?\$?", shaped) is not None
        or any(isinstance(value, str) and value.isdigit() for value in values)
    )


def _most(one: _One) -> int | None:
    """Give the most items of a page, from the schema or from what is said of it."""
    most = one.schema.get("maximum")
    if isinstance(most, int) and not isinstance(most, bool) and most > 0:
        return most
    usual = one.schema.get("default")
    for pattern in _MOST:
        said = pattern.search(one.description)
        if said and int(said[1]) >= max(1, usual if isinstance(usual, int) else 1):
            return int(said[1])
    return None
